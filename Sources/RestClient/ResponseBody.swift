import Glibc
import JSON

/// The immutable bytes of one response, followed by ``padding`` readable zero bytes: the record
/// scanner reads eight bytes at a time and may look past the end.
///
/// Threads: any, concurrently. The memory is freed with the last reference.
public final class ResponseBody: @unchecked Sendable {  // nothing is written after init
  /// Number of readable zero bytes after the body.
  public static let padding = 64

  /// Length in bytes, without the padding.
  public let count: Int
  private let memory: UnsafeMutableRawPointer

  public init(_ bytes: [UInt8]) {
    count = bytes.count
    guard let memory = malloc(count + Self.padding) else { fatalError("there is no memory for a copy") }
    self.memory = memory
    bytes.withUnsafeBytes { memory.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: $0.count) }
    memory.advanced(by: count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
  }

  /// Takes ownership of memory from `malloc` that has room for the padding.
  init(adopting memory: UnsafeMutableRawPointer, count: Int) {
    self.count = count
    self.memory = memory
    memory.advanced(by: count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.padding)
  }

  deinit { free(memory) }

  /// Calls `body` with the bytes, which are valid only during the call. The ``padding`` after them
  /// is readable, too.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(start: memory, count: count))
  }

  /// The body as text; bytes that are not UTF-8 become U+FFFD.
  public var text: String {
    withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// Parses the body; it may begin with a byte order mark.
  ///
  /// - Throws: `JSONError` with the offset. ``RestResponse/json()`` throws a ``RestError`` instead.
  public func json() throws -> JSONValue { try parsed() }

  func parsed() throws(JSONError) -> JSONValue {
    try withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws(JSONError) in
      try JSONValue(parsing: Self.withoutByteOrderMark(bytes))
    }
  }

  package static func withoutByteOrderMark(_ body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    body.starts(with: [0xef, 0xbb, 0xbf]) ? UnsafeRawBufferPointer(rebasing: body[3...]) : body
  }
}

/// Assembles the parts of a body in one block of memory. One owner at a time.
struct BodyBuilder {
  private(set) var count = 0
  private var capacity = 0
  private var memory: UnsafeMutableRawPointer?
  /// Whether a part was lost because there was no memory for it.
  private(set) var lacksMemory = false

  /// Allocates once if the length is known beforehand.
  mutating func reserve(_ bytes: Int) {
    guard bytes + ResponseBody.padding > capacity else { return }
    // The C library moves large blocks without copying them.
    guard let larger = realloc(memory, bytes + ResponseBody.padding) else {
      lacksMemory = true
      return
    }
    memory = larger
    capacity = bytes + ResponseBody.padding
  }

  mutating func append(_ part: UnsafeRawBufferPointer) {
    guard let source = part.baseAddress, part.count > 0 else { return }
    guard makeRoom(part.count) else { return }
    memory?.advanced(by: count).copyMemory(from: source, byteCount: part.count)
    count += part.count
  }

  /// Lets `fill` write behind the bytes so far, where there is room for one byte or more; it returns the number of bytes that it
  /// wrote.
  ///
  /// - Parameter limit: The most bytes to make room for.
  mutating func write(upTo limit: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
    guard makeRoom(1) else { return }
    let room = min(limit, capacity - count - ResponseBody.padding)
    count += fill(UnsafeMutableRawBufferPointer(start: memory?.advanced(by: count), count: room))
  }

  private mutating func makeRoom(_ bytes: Int) -> Bool {
    if count + bytes + ResponseBody.padding > capacity { reserve(max(count + bytes, 2 * capacity, Tuning.smallestBodyBuffer)) }
    return !lacksMemory
  }

  /// Returns the body and leaves the builder empty.
  mutating func finish() -> ResponseBody {
    guard let memory else { return ResponseBody([]) }
    defer { self = BodyBuilder() }
    return ResponseBody(adopting: memory, count: count)
  }

  /// Frees the memory of a body that will not be delivered.
  mutating func discard() {
    free(memory)
    self = BodyBuilder()
  }
}
