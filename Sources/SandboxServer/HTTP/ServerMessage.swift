import JSON

/// A request as services see it: whole, decoded, without a trace of the HTTP library.
package struct ServerRequest: Sendable {
  package let method: String
  /// As sent, without the query.
  package let path: String
  /// Percent-decoded; empty ones at the end dropped, so that a trailing slash makes no difference. A mounted service sees
  /// those after its mount.
  package var segments: [String]
  package let query: [(name: String, value: String)]
  /// Lower-case names.
  package var headers: [String: String]
  package var body: [UInt8]
  /// `http` or `https`.
  package var scheme = "http"
  /// The path of the mount the request came through, such as `/parse`; empty for the main service.
  package var mountPath = ""
  /// The parts of a request inside another one that came with files; all others have them in `body`.
  package var form: [FormPart]?
  /// Faults that the service itself brings about.
  package var faults: [FaultDraw] = []
  /// The port of the server that it came in on; 0 for a request inside another one.
  package var localPort = 0

  package init(
    method: String, path: String, segments: [String], query: [(name: String, value: String)], headers: [String: String],
    body: [UInt8], scheme: String = "http"
  ) {
    self.method = method
    self.path = path
    self.segments = segments
    self.query = query
    self.headers = headers
    self.body = body
    self.scheme = scheme
  }

  package func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
  package func header(_ name: String) -> String? { headers[name] }

  /// `https://127.0.0.1:<port>`: the server as this client addresses it.
  package var origin: String { "\(scheme)://\(header("host") ?? "localhost")" }
}

/// What a service answers.
package struct ServerReply: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// In place of `body` when it is long.
  package var stream: ByteStream?
  /// Who was signed in, for the request log.
  package var user: String?
  /// The connection is closed without a byte of an answer.
  package var isDropped = false

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// As `application/json;charset=UTF-8`, spelled this way: a client of the org compares it.
  package static func json(_ status: Int, _ body: [UInt8], headers: [(name: String, value: String)] = []) -> ServerReply {
    ServerReply(status: status, headers: [("Content-Type", "application/json;charset=UTF-8")] + headers, body: body)
  }

  package static func json(_ status: Int, _ value: JSONValue, headers: [(name: String, value: String)] = []) -> ServerReply {
    json(status, value.serialized(), headers: headers)
  }

  package static func text(_ status: Int, _ text: String, type: String = "text/plain;charset=UTF-8") -> ServerReply {
    ServerReply(status: status, headers: [("Content-Type", type)], body: Array(text.utf8))
  }

  package static func empty(_ status: Int) -> ServerReply { ServerReply(status: status, headers: [], body: []) }

  /// No answer: the connection is closed.
  package static let dropped: ServerReply = {
    var reply = ServerReply.empty(0)
    reply.isDropped = true
    return reply
  }()
}

/// Why the server refused a request before any service saw it.
package struct ServerRefusal: Sendable {
  package let status: Int
  package let code: String
  package let message: String

  package init(status: Int, code: String, message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  package static let headersTooLarge = ServerRefusal(
    status: 431, code: "REQUEST_HEADER_FIELDS_TOO_LARGE",
    message: "the request target and headers are longer than \(ServerTuning.requestHeadBytes) bytes")
  package static let tooManyUploads = ServerRefusal(
    status: 503, code: "SERVER_UNAVAILABLE", message: "too many large uploads at once; send this one again later")

  /// - Parameter limit: Bytes this resource takes.
  package static func bodyTooLarge(_ limit: Int) -> ServerRefusal {
    ServerRefusal(
      status: 413, code: "REQUEST_ENTITY_TOO_LARGE", message: "the request body is larger than \(limit) bytes")
  }
}

/// Something that answers requests: a pretend API. Several can be mounted on one server.
package protocol ServerService: Sendable {
  func reply(to request: ServerRequest) async -> ServerReply
  /// The body clients of this API can read.
  func refusal(_ refusal: ServerRefusal) -> ServerReply
  /// Bytes the body of a request may have, as far as its head tells; also after it is decompressed.
  func bodyLimit(for request: ServerRequest) -> Int
  /// Faults that the service can bring about in itself, beside those of any HTTP service.
  var faultKinds: [FaultKind] { get }
  /// Whether the query and the body of a request hold secrets that the log must not keep.
  func isSecret(_ request: ServerRequest) -> Bool
  /// The request as the service sees it, before anything else looks at it: a service may have several base paths.
  func received(_ request: ServerRequest) -> ServerRequest
  /// The OAuth grant that a request asks for, by a name the service knows, for the log; nil for all other requests.
  func grant(of request: ServerRequest) -> String?
  /// Names of the control actions it has beside those of any server.
  var controlActions: [String] { get }
  /// Runs a control action; on a thread that may block. nil: it has none of that name.
  func control(_ action: String, _ arguments: ControlArguments) throws -> JSONValue?
  /// Puts back what clients have changed: the service answers as after its start, unless the arguments of the control action
  /// say something else that it knows.
  func reset(_ arguments: ControlArguments) throws
  /// The server listens: its time, and what the service's addresses begin with. Called once.
  func begin(clock: any SandboxClock, url: String)
}

extension ServerService {
  package func bodyLimit(for request: ServerRequest) -> Int { ServerTuning.requestBodyBytes }
  package func isSecret(_ request: ServerRequest) -> Bool { false }
  package func received(_ request: ServerRequest) -> ServerRequest { request }
  package func grant(of request: ServerRequest) -> String? { nil }
  package var controlActions: [String] { [] }
  package func control(_ action: String, _ arguments: ControlArguments) throws -> JSONValue? { nil }
  package func reset(_ arguments: ControlArguments) throws {}
  package func begin(clock: any SandboxClock, url: String) {}

  package func refusal(_ refusal: ServerRefusal) -> ServerReply {
    .json(refusal.status, ["code": .string(refusal.code), "message": .string(refusal.message)])
  }

  package var faultKinds: [FaultKind] { [] }
}
