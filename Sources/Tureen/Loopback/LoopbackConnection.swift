import Glibc

/// One connection of a client: one request, one response, close.
package final class LoopbackConnection: @unchecked Sendable {  // used on the server's thread only
  enum Event {
    case request(LoopbackRequest)
    case refused
    /// The response is with the client.
    case answered
    case closed
  }

  private enum Phase {
    case reading, waiting, answering, streaming
    /// Nothing more is written. Bytes that the client still sends are read, because the system would discard the response for
    /// their sake.
    case ending
  }

  let socket: Int32
  /// Monotonic milliseconds: when the request must be complete, the response be read, or the connection be closed.
  var deadline: Int64
  private var phase = Phase.reading
  private var reader: LoopbackRequestReader
  private var isHead = false
  private var output: [UInt8] = []
  private var sent = 0
  private let answerMs: Int64
  private let now: () -> Int64

  /// - Parameters:
  ///   - socket: Not blocking. The connection closes it.
  ///   - deadline: When the request must be complete, in monotonic milliseconds.
  ///   - answerMs: How long the client may take to read a response, in milliseconds.
  ///   - now: A clock in monotonic milliseconds.
  init(socket: Int32, requestBytes: Int, deadline: Int64, answerMs: Int, now: @escaping () -> Int64) {
    self.socket = socket
    self.deadline = deadline
    self.answerMs = Int64(answerMs)
    self.now = now
    reader = LoopbackRequestReader(limit: requestBytes)
  }

  deinit { close(socket) }

  /// What to wait for, in terms of `poll`.
  var events: Int16 {
    switch phase {
    case .answering: Int16(POLLIN | POLLOUT)
    case .streaming where sent < output.count: Int16(POLLIN | POLLOUT)
    default: Int16(POLLIN)
    }
  }

  /// Whether nothing is lost if the connection is closed: its request is not complete, or it has its answer.
  var isIdle: Bool {
    switch phase {
    case .reading, .ending: true
    case .waiting, .answering, .streaming: false
    }
  }

  // MARK: Answers

  /// Starts to send a response; the first one counts.
  package func answer(_ answer: LoopbackAnswer) {
    guard case .waiting = phase else { return }
    output = answer.wire(toHead: isHead)
    phase = .answering
    deadline = now() + answerMs
  }

  /// Starts a response whose body follows bit by bit.
  package func begin(_ head: LoopbackAnswer) {
    guard case .waiting = phase else { return }
    output = head.wire(toHead: isHead, isStream: true)
    phase = isHead ? .answering : .streaming
    deadline = isHead ? now() + answerMs : .max
  }

  /// Adds to a response that ``begin(_:)`` started.
  package func send(_ bytes: [UInt8]) {
    guard case .streaming = phase else { return }
    if sent == output.count { (output, sent) = ([], 0) }
    output += bytes
  }

  /// The bytes of a stream that the client has not read yet.
  package var waitingBytes: Int { output.count - sent }

  /// Ends a response that ``begin(_:)`` started, once the client has read it.
  package func finish() {
    guard case .streaming = phase else { return }
    phase = .answering
    deadline = now() + answerMs
  }

  // MARK: Bytes

  /// Reads and writes what is possible now.
  func proceed() -> Event? {
    if let event = read() { return event }
    return write()
  }

  private func read() -> Event? {
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = recv(socket, &chunk, chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return nil }
      guard count > 0 else { return .closed }
      guard case .reading = phase else { continue }
      switch reader.take(chunk[..<count]) {
      case .more: continue
      case .tooLong: return .closed
      case .refused:
        phase = .waiting
        deadline = .max
        return .refused
      case .request(let request):
        phase = .waiting
        deadline = .max
        isHead = request.method == "HEAD"
        return .request(request)
      }
    }
  }

  private func write() -> Event? {
    switch phase {
    case .answering, .streaming: break
    case .reading, .waiting, .ending: return nil
    }
    while sent < output.count {
      let count = output.withUnsafeBytes { buffer in
        buffer.baseAddress.map { Glibc.send(socket, $0 + sent, buffer.count - sent, Int32(MSG_NOSIGNAL)) } ?? 0
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return nil }
      guard count > 0 else { return .closed }
      sent += count
    }
    guard case .answering = phase else { return nil }
    phase = .ending
    (output, sent) = ([], 0)
    shutdown(socket, Int32(SHUT_WR))
    return .answered
  }
}
