import JSON

/// A request as services see it: complete, decoded, and independent of the HTTP library.
package struct ServerRequest: Sendable {
  package let method: String
  /// As sent, without the query.
  package let path: String
  /// The percent-decoded segments without empty ones at the end, so that a trailing slash makes no
  /// difference. A mounted service sees the segments after its mount.
  package var segments: [String]
  package let query: [(name: String, value: String)]
  /// The header fields by name in lower case.
  package var headers: [String: String]
  package var body: [UInt8]
  /// `http` or `https`.
  package var scheme = "http"
  /// The path of the mount that the request came through, such as `/parse`; empty for the main
  /// service.
  package var mountPath = ""
  /// The parts of a multipart subrequest; nil for all other requests, whose parts are in `body`.
  package var form: [FormPart]?
  /// Faults that the service itself has to cause.
  package var faults: [FaultDraw] = []
  /// The server's port on which the request arrived; 0 for a subrequest.
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

  /// The server's base URL as this client addresses it, such as `https://127.0.0.1:<port>`.
  package var origin: String { "\(scheme)://\(header("host") ?? "localhost")" }
}

/// The response of a service.
package struct ServerReply: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// Replaces `body` for long bodies.
  package var stream: ByteStream?
  /// The signed-in user, for the request log.
  package var user: String?
  /// Closes the connection without sending a byte.
  package var isDropped = false

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Creates a response of type `application/json;charset=UTF-8`. A client compares this exact
  /// spelling.
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

  /// Closes the connection instead of answering.
  package static let dropped: ServerReply = {
    var reply = ServerReply.empty(0)
    reply.isDropped = true
    return reply
  }()
}

/// Why the server refused a request before a service saw it.
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

  /// - Parameter limit: The maximum number of bytes for this resource.
  package static func bodyTooLarge(_ limit: Int) -> ServerRefusal {
    ServerRefusal(
      status: 413, code: "REQUEST_ENTITY_TOO_LARGE", message: "the request body is larger than \(limit) bytes")
  }
}

/// A pretend API that answers requests. A server can have several.
package protocol ServerService: Sendable {
  func reply(to request: ServerRequest) async -> ServerReply
  /// Renders a refusal in the API's error format.
  func refusal(_ refusal: ServerRefusal) -> ServerReply
  /// The maximum size of a request body in bytes, judged by the request's head. It also applies to
  /// the decompressed body.
  func bodyLimit(for request: ServerRequest) -> Int
  /// Kinds of faults that the service causes itself, in addition to those of any HTTP service.
  var faultKinds: [FaultKind] { get }
  /// Returns true if the query and the body hold secrets that the log must not keep.
  func isSecret(_ request: ServerRequest) -> Bool
  /// Rewrites a request before anything else sees it; lets a service have several base paths.
  func received(_ request: ServerRequest) -> ServerRequest
  /// The OAuth grant of a token request, for the log; nil for all other requests.
  func grant(of request: ServerRequest) -> String?
  /// Names of the service's control actions, in addition to those of every server.
  var controlActions: [String] { get }
  /// Runs a control action, on a thread that may block. Returns nil if the service has no such
  /// action.
  func control(_ action: String, _ arguments: ControlArguments) throws -> JSONValue?
  /// Undoes the changes of clients: the service answers as after its start, unless the action's
  /// arguments ask for another state.
  func reset(_ arguments: ControlArguments) throws
  /// Provides the clock and the service's base URL. Called once, when the server listens.
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
