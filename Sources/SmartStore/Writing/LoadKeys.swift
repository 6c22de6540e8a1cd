import RecordScan

/// The external ids of a load that puts its indexes off, as hashes: tells afterwards, without looking through the table, that
/// no record came twice.
///
/// A table of 64-bit hashes at most half full: 16 bytes a record, so 16 MB for a million. Two different ids with one hash
/// are possible and only cost the look that is otherwise saved. Belongs to the writer connection.
final class LoadKeys {
  private var slots: UnsafeMutableBufferPointer<UInt64>
  private var count = 0
  /// Some id may have come more than once.
  private(set) var mayRepeat = false

  init() {
    slots = .allocate(capacity: 1 << 16)
    slots.initialize(repeating: 0)
  }

  deinit { slots.deallocate() }

  /// Takes the ids of a page.
  func note(_ page: ScannedPage) {
    let bytes = page.bytes
    for i in 0..<page.count where !mayRepeat {
      let id = page.scanner.value(record: i, field: page.plan.idField)
      // Numbers and escapes have several spellings: the table tells those apart, a hash of the text does not.
      guard id.kind == .plainString else {
        mayRepeat = true
        return
      }
      note(UnsafeRawBufferPointer(rebasing: bytes[id.start..<id.start + id.count]))
    }
  }

  private func note(_ id: UnsafeRawBufferPointer) {
    if (count + 1) * 2 > slots.count { grow() }
    let hash = LoadKeys.hash(id)
    var i = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[i] != 0 {
      if slots[i] == hash {
        mayRepeat = true
        return
      }
      i = (i + 1) & (slots.count - 1)
    }
    slots[i] = hash
    count += 1
  }

  private func grow() {
    let old = slots
    slots = .allocate(capacity: old.count * 2)
    slots.initialize(repeating: 0)
    for hash in old where hash != 0 {
      var i = Int(truncatingIfNeeded: hash) & (slots.count - 1)
      while slots[i] != 0 { i = (i + 1) & (slots.count - 1) }
      slots[i] = hash
    }
    old.deallocate()
  }

  /// Never 0, which means an empty slot.
  private static func hash(_ id: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(id.count), i = 0
    while i + 8 <= id.count {
      hash = mixed(hash ^ id.loadUnaligned(fromByteOffset: i, as: UInt64.self))
      i += 8
    }
    var tail: UInt64 = 0
    while i < id.count {
      tail = tail << 8 | UInt64(id[i])
      i += 1
    }
    return max(1, mixed(hash ^ tail))
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
    return product.high ^ product.low
  }
}
