import RecordScan

/// The external ids of a bulk load as hashes, to prove without a table scan that no record arrived
/// twice.
///
/// An open-addressing hash table, at most half full and sized for the announced number of records:
/// 8 MB for a million. A slot holds 32 bits of an id's hash and its position about 20 more, so
/// false positives are rare and only cost the table scan. Belongs to the writer connection.
final class BulkLoadKeys {
  private let slots: UnsafeMutableBufferPointer<UInt32>
  private var count = 0
  /// Whether an id may have occurred more than once.
  private(set) var mayRepeat = false

  /// - Parameter expected: The announced number of records. With many more, or more than four
  ///   million, a repetition cannot be ruled out.
  init(expected: Int) {
    let wanted = min(max(expected, 1 << 14), 1 << 22) * 9 / 4
    slots = .allocate(capacity: 1 << (Int.bitWidth - (wanted - 1).leadingZeroBitCount))
    slots.initialize(repeating: 0)
  }

  deinit { slots.deallocate() }

  /// Adds the ids of a page.
  func note(_ page: ScannedPage) {
    let bytes = page.bytes
    for i in 0..<page.count where !mayRepeat {
      let id = page.scanner.value(record: i, field: page.plan.idField)
      // Numbers and escaped strings have several spellings. The table treats them as equal, a hash
      // of the text does not.
      guard id.kind == .plainString else {
        mayRepeat = true
        return
      }
      note(UnsafeRawBufferPointer(rebasing: bytes[id.start..<id.start + id.count]))
    }
  }

  private func note(_ id: UnsafeRawBufferPointer) {
    let hash = BulkLoadKeys.hash(id), mark = max(1, UInt32(truncatingIfNeeded: hash >> 32))
    var i = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[i] != 0 {
      if slots[i] == mark {
        mayRepeat = true
        return
      }
      i = (i + 1) & (slots.count - 1)
    }
    slots[i] = mark
    count += 1
    if count * 2 > slots.count { mayRepeat = true }
  }

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
    return mixed(hash ^ tail)
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
    return product.high ^ product.low
  }
}
