import JSON

/// A request as services see it: whole, decoded, without a trace of the HTTP library.
struct ServerRequest: Sendable {
  let method: String
  /// As sent, without the query.
  let path: String
  /// Percent-decoded; empty ones at the end dropped, so that a trailing slash makes no difference.
  let segments: [String]
  let query: [(name: String, value: String)]
  /// Lower-case names.
  let headers: [String: String]
  let body: [UInt8]

  func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }
  func header(_ name: String) -> String? { headers[name] }
}

/// What a service answers.
struct ServerReply: Sendable {
  var status: Int
  var headers: [(name: String, value: String)]
  var body: [UInt8]

  /// `application/json;charset=UTF-8`, spelled as Salesforce does: one client compares it.
  static func json(_ status: Int, _ body: [UInt8], headers: [(name: String, value: String)] = []) -> ServerReply {
    ServerReply(status: status, headers: [("Content-Type", "application/json;charset=UTF-8")] + headers, body: body)
  }

  static func json(_ status: Int, _ value: JSONValue, headers: [(name: String, value: String)] = []) -> ServerReply {
    json(status, value.serialized(), headers: headers)
  }

  static func text(_ status: Int, _ text: String) -> ServerReply {
    ServerReply(status: status, headers: [("Content-Type", "text/plain;charset=UTF-8")], body: Array(text.utf8))
  }

  static func empty(_ status: Int) -> ServerReply { ServerReply(status: status, headers: [], body: []) }
}

/// Something that answers requests: the Salesforce API here, other APIs beside it later.
protocol ServerService: Sendable {
  func reply(to request: ServerRequest) async -> ServerReply
}
