import Glibc

/// A buffer for secret bytes that is wiped when it is released.
final class Secret {
  private let buffer: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int) { buffer = .allocate(byteCount: capacity, alignment: 1) }

  deinit {
    if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) }
    buffer.deallocate()
  }

  func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }

  /// The free part of the buffer.
  var rest: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: buffer[count...]) }

  /// Adds to ``count`` the bytes that were written to ``rest``.
  func add(_ bytes: Int) { count = min(buffer.count, count + bytes) }

  /// Removes one trailing line break, which editors and `echo` add.
  func dropLineBreak() {
    if count > 0, buffer[count - 1] == UInt8(ascii: "\n") { count -= 1 }
  }
}
