import Glibc

/// Stores pieces of text at stable addresses until ``clear()``.
final class TextArena {
  private var block: UnsafeMutableRawBufferPointer
  private var used = 0
  private var full: [UnsafeMutableRawBufferPointer] = []

  init(capacity: Int = 1 << 14) { block = .allocate(byteCount: capacity, alignment: 8) }

  deinit {
    clear()
    block.deallocate()
  }

  func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    if used + bytes.count > block.count {
      full.append(block)
      block = .allocate(byteCount: max(block.count, bytes.count), alignment: 8)
      used = 0
    }
    let copy = UnsafeMutableRawBufferPointer(rebasing: block[used..<used + bytes.count])
    copy.copyBytes(from: bytes)
    used += bytes.count
    return UnsafeRawBufferPointer(copy)
  }

  func clear() {
    used = 0
    guard !full.isEmpty else { return }
    for block in full { block.deallocate() }
    full.removeAll()
  }
}

/// A growing byte buffer without uniqueness checks: the text of the entry being written.
final class TextBuffer {
  private(set) var start: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 4096) {
    self.capacity = capacity
    start = Self.resized(nil, to: capacity)
  }

  deinit { free(start) }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  func clear() { count = 0 }

  func reserve(_ more: Int) {
    guard count + more > capacity else { return }
    capacity = max(capacity * 2, count + more)
    start = Self.resized(start, to: capacity)
  }

  /// Uses the C library's memory, which can move large blocks without copying them.
  private static func resized(_ start: UnsafeMutablePointer<UInt8>?, to capacity: Int) -> UnsafeMutablePointer<UInt8> {
    guard let memory = realloc(start, capacity) else { fatalError("there is no memory") }
    return memory.assumingMemoryBound(to: UInt8.self)
  }

  func append(_ bytes: UnsafeRawBufferPointer) {
    guard let from = bytes.baseAddress else { return }
    reserve(bytes.count)
    memcpy(start + count, from, bytes.count)
    count += bytes.count
  }

  func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

  func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  func append(byte: UInt8) {
    reserve(1)
    start[count] = byte
    count += 1
  }

  /// Appends decimal digits without creating a string.
  func append(_ value: Int64) {
    reserve(20)
    if value < 0 { append(byte: UInt8(ascii: "-")) }
    var digits: (UInt64, UInt64, UInt64) = (0, 0, 0), rest = value.magnitude
    withUnsafeMutableBytes(of: &digits) { buffer in
      var i = 24
      repeat {
        i -= 1
        buffer[i] = UInt8(truncatingIfNeeded: 48 + rest % 10)
        rest /= 10
      } while rest > 0
      memcpy(start + count, buffer.baseAddress! + i, 24 - i)
      count += 24 - i
    }
  }
}
