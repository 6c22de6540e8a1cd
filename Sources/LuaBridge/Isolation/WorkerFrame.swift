import CIsolation

/// Invalid data from a worker. The worker is ended.
struct WorkerViolation: Error, Equatable {
  let detail: String

  init(_ detail: String) { self.detail = detail }
}

/// One frame of a worker. Its parts are unverified: the code that uses them checks them.
struct WorkerFrame {
  enum Kind: UInt32 {
    case ready = 1, call, cancel, plug, unplug, answer, emit, done
  }

  let kind: Kind
  let number: Int64
  let parts: (UInt32, UInt32, UInt32, UInt32)
  let body: [UInt8]

  /// Splits the body into pieces of these lengths, and the rest.
  /// - Throws: If the body is too short.
  func split(_ lengths: UInt32...) throws(WorkerViolation) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = [], at = 0
    for length in lengths {
      guard Int(length) <= body.count - at else { throw WorkerViolation("the parts of a frame are longer than the frame") }
      pieces.append(body[at..<at + Int(length)])
      at += Int(length)
    }
    return pieces + [body[at...]]
  }

  /// The name of a service, an action or an event.
  static func name(_ bytes: ArraySlice<UInt8>) throws(WorkerViolation) -> String {
    guard bytes.count <= Int(TUREEN_NAME_MOST) else { throw WorkerViolation("a name of \(bytes.count) bytes") }
    guard !bytes.contains(0), let name = String(validating: bytes, as: UTF8.self) else {
      throw WorkerViolation("a name that is not UTF-8")
    }
    return name
  }
}

/// Assembles the frames of a worker from the bytes of its socket. A value that does no I/O.
struct WorkerFrameReader {
  private var bytes: [UInt8] = []
  private var start = 0

  /// The bytes of an incomplete frame.
  var pending: Int { bytes.count - start }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    if start == bytes.count {
      bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
      start = 0
    } else if start > bytes.count / 2 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Returns the next frame; nil if it is incomplete.
  /// - Throws: If the header is invalid, even before the body has arrived.
  mutating func next() throws(WorkerViolation) -> WorkerFrame? {
    let headerSize = MemoryLayout<tureen_frame>.size
    guard bytes.count - start >= headerSize else { return nil }
    let header = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: tureen_frame.self) }
    guard let kind = WorkerFrame.Kind(rawValue: header.kind) else { throw WorkerViolation("a frame of the kind \(header.kind)") }
    guard Int(header.length) <= WorkerFrame.mostBytes else { throw WorkerViolation("a frame of \(header.length) bytes") }
    let from = start + headerSize, to = from + Int(header.length)
    guard bytes.count >= to else { return nil }
    start = to
    return WorkerFrame(kind: kind, number: header.number, parts: header.part, body: Array(bytes[from..<to]))
  }
}

extension WorkerFrame {
  /// The maximum size of a body in bytes: TUREEN_FRAME_MOST, which Swift does not import because of its shift.
  static let mostBytes = 64 << 20
}

/// The bytes of frames that wait to be sent to a worker.
struct WorkerOutbox {
  private var bytes: [UInt8] = []
  private var sent = 0

  /// The number of bytes that wait to be written.
  var count: Int { bytes.count - sent }

  mutating func append(
    _ kind: Int, number: Int64 = 0, parts: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0), _ body: UnsafeRawBufferPointer
  ) {
    let header = tureen_frame(length: UInt32(body.count), kind: UInt32(kind), number: number, part: parts)
    withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: body)
  }

  mutating func append(
    _ kind: Int, number: Int64 = 0, parts: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0), _ body: [UInt8] = []
  ) {
    body.withUnsafeBytes { append(kind, number: number, parts: parts, $0) }
  }

  /// An error in place of a call's answer.
  mutating func refuse(_ call: Int64, _ error: BridgeError) {
    append(Int(TUREEN_FRAME_MESSAGE), number: call, parts: (UInt32(Mailbox.Kind.error.rawValue), 0, 0, 0), error.serialized)
  }

  /// The reply to a frame for which the worker waits.
  mutating func reply(_ status: Int64, _ error: BridgeError? = nil) {
    append(Int(TUREEN_FRAME_REPLY), number: status, error?.serialized ?? [])
  }

  /// Passes the waiting bytes to `write`, which returns the number of bytes written; 0 if it would block.
  mutating func flush(_ write: (UnsafeRawBufferPointer) -> Int) {
    while count > 0 {
      let written = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      guard written > 0 else { return }
      sent += written
    }
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
    sent = 0
  }

  mutating func drop() {
    bytes = []
    sent = 0
  }
}
