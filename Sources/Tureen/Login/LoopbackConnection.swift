import Glibc

/// One connection of a browser: one request, one response, close. Used by the listener's thread.
final class LoopbackConnection {
  enum Event {
    case request(LoopbackRequest)
    case refused
    /// The response is with the browser.
    case answered
    case closed
  }

  private enum Phase {
    case reading, waiting
    case writing([UInt8], sent: Int)
    /// Nothing more is written. Bytes that the browser still sends are read, because the system would discard the response for
    /// their sake.
    case ending
  }

  let socket: Int32
  /// Monotonic milliseconds: when the request must be complete, when a held browser is answered, or when to close.
  var deadline: Int64
  /// True once the final page is being sent.
  private(set) var hasPage = false
  private var phase = Phase.reading
  private var reader: LoopbackRequestReader
  private var isHead = false

  /// - Parameter socket: Not blocking. The connection closes it.
  init(socket: Int32, requestBytes: Int, deadline: Int64) {
    self.socket = socket
    self.deadline = deadline
    reader = LoopbackRequestReader(limit: requestBytes)
  }

  deinit { close(socket) }

  /// What to wait for, in terms of `poll`.
  var events: Int16 {
    if case .writing = phase { return Int16(POLLIN | POLLOUT) }
    return Int16(POLLIN)
  }

  /// Reads and writes what is possible now.
  func proceed() -> Event? {
    if let event = read() { return event }
    return write()
  }

  /// Starts to send a response; the first one counts.
  ///
  /// - Parameter isEnding: True for the final page of the sign-in.
  func answer(_ answer: LoopbackAnswer, isEnding: Bool = false) -> Event? {
    switch phase {
    case .reading, .waiting: break
    case .writing, .ending: return nil
    }
    hasPage = isEnding
    phase = .writing(answer.wire(toHead: isHead), sent: 0)
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
        return .refused
      case .request(let request):
        phase = .waiting
        isHead = request.method == "HEAD"
        return .request(request)
      }
    }
  }

  private func write() -> Event? {
    guard case .writing(let bytes, var sent) = phase else { return nil }
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        buffer.baseAddress.map { send(socket, $0 + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) } ?? 0
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
        phase = .writing(bytes, sent: sent)
        return nil
      }
      guard count > 0 else { return .closed }
      sent += count
    }
    phase = .ending
    shutdown(socket, Int32(SHUT_WR))
    return .answered
  }
}

extension LoopbackAnswer {
  /// The bytes of the response, after which the connection is closed.
  fileprivate func wire(toHead isHead: Bool) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(LoopbackAnswer.reasons[status] ?? "")\r\n"
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    text += "Connection: close\r\n"
    if status != 204 { text += "Content-Length: \(body.utf8.count)\r\n" }
    return Array((text + "\r\n" + (isHead ? "" : body)).utf8)
  }

  private static let reasons = [
    200: "OK", 204: "No Content", 303: "See Other", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone",
  ]
}
