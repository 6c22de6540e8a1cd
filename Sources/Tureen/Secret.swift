import Glibc

/// A few secret bytes outside of Swift's own memory, wiped when they are let go of.
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

  /// What is still free.
  var rest: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(rebasing: buffer[count...]) }

  /// Counts bytes that were written into ``rest``.
  func add(_ bytes: Int) { count = min(buffer.count, count + bytes) }

  /// Takes one line break off the end: editors and `echo` put it there.
  func dropLineBreak() {
    if count > 0, buffer[count - 1] == UInt8(ascii: "\n") { count -= 1 }
  }
}
