/// What a ``ScriptedServer`` does with one request.
public struct ScriptedAnswer: Sendable {
  public enum Delivery: Sendable, Equatable {
    case whole
    /// Sends the head and the first bytes of the body, then closes the connection.
    case closeAfter(bytes: Int)
    /// Keeps the connection open without answering until the server stops.
    case never
    case closeBeforeAnswering
  }

  public var status: Int
  public var headers: [(name: String, value: String)]
  public var body: [UInt8]
  public var delivery: Delivery
  /// Sends the body in chunks of 1,000 bytes, without `Content-Length`.
  public var isChunked: Bool

  public init(
    status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    delivery: Delivery = .whole, isChunked: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.delivery = delivery
    self.isChunked = isChunked
  }

  public static func json(
    _ text: String, status: Int = 200, headers: [(name: String, value: String)] = [], delivery: Delivery = .whole
  ) -> ScriptedAnswer {
    ScriptedAnswer(
      status: status, headers: [("Content-Type", "application/json;charset=UTF-8")] + headers, body: Array(text.utf8),
      delivery: delivery)
  }

  public static func text(
    _ text: String, status: Int = 200, type: String = "text/plain", headers: [(name: String, value: String)] = []
  ) -> ScriptedAnswer {
    ScriptedAnswer(status: status, headers: [("Content-Type", type)] + headers, body: Array(text.utf8))
  }

  /// Creates an error array of the Salesforce REST API.
  public static func restError(
    _ status: Int, _ code: String, _ message: String, headers: [(name: String, value: String)] = []
  ) -> ScriptedAnswer {
    .json(#"[{"message":"\#(message)","errorCode":"\#(code)"}]"#, status: status, headers: headers)
  }

  public static func status(_ status: Int, headers: [(name: String, value: String)] = []) -> ScriptedAnswer {
    ScriptedAnswer(status: status, headers: headers)
  }

  public static let never = ScriptedAnswer(delivery: .never)
  public static let closed = ScriptedAnswer(delivery: .closeBeforeAnswering)

  /// The bytes to send; nil if nothing is sent. The response to a HEAD has a length and no body.
  func wire(toHead isHead: Bool) -> [UInt8]? {
    guard delivery != .never, delivery != .closeBeforeAnswering else { return nil }
    let hasBody = status != 204 && status != 304
    var head = "HTTP/1.1 \(status) Scripted\r\n"
    for header in headers { head += "\(header.name): \(header.value)\r\n" }
    if hasBody { head += isChunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: \(body.count)\r\n" }
    var content = body
    if case .closeAfter(let bytes) = delivery { content = Array(body.prefix(bytes)) }
    let payload = isChunked ? chunks(content, isComplete: delivery == .whole) : content
    return Array((head + "\r\n").utf8) + (hasBody && !isHead ? payload : [])
  }

  private func chunks(_ content: [UInt8], isComplete: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: content.count, by: 1000) {
      let part = content[start..<min(start + 1000, content.count)]
      bytes += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
    }
    return bytes + (isComplete ? Array("0\r\n\r\n".utf8) : [])
  }
}

/// A request as it arrived.
public struct RecordedRequest: Sendable {
  public let method: String
  /// The path with its query, as in the request line.
  public let target: String
  public let headers: [(name: String, value: String)]
  public let body: [UInt8]

  public var path: String { String(target.prefix { $0 != "?" }) }
  /// Without the `?`; still percent-encoded.
  public var query: String { String(target.dropFirst(path.count + 1)) }
  public var text: String { String(decoding: body, as: UTF8.self) }

  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}
