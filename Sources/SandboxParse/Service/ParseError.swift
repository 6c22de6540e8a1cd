import JSON
import SandboxServer

/// Why the server refused a request, in parse-server's words.
struct ParseError: Error, Equatable {
  enum Form: Equatable {
    /// `{"code":101,"error":"..."}`
    case coded(Int)
    /// `{"error":"..."}`: an error without a Parse code.
    case plain(status: Int)
    /// An unexpected exception: 500 `{"code":1,"message":"Internal server error."}`; in a batch
    /// `{"error":"..."}`.
    case unexpected
  }

  let form: Form
  let message: String

  init(_ code: Code, _ message: String) {
    form = .coded(code.rawValue)
    self.message = message
  }

  init(_ form: Form, _ message: String) {
    self.form = form
    self.message = message
  }

  enum Code: Int {
    case internalServerError = 1
    case objectNotFound = 101
    case invalidQuery = 102
    case invalidClassName = 103
    case missingObjectId = 104
    case invalidKeyName = 105
    case invalidJSON = 107
    case commandUnavailable = 108
    case incorrectType = 111
    case operationForbidden = 119
    case invalidNestedKey = 121
    case invalidFileName = 122
    case invalidACL = 123
    case invalidEmail = 125
    case fileSaveError = 130
    case missingField = 135
    case immutableField = 136
    case duplicateValue = 137
    case scriptFailed = 141
    case validationError = 142
    case fileDeleteError = 153
    case duplicateRequest = 159
    case invalidValue = 162
    case usernameMissing = 200
    case passwordMissing = 201
    case usernameTaken = 202
    case emailTaken = 203
    case sessionMissing = 206
    case invalidSessionToken = 209
    case unsupportedService = 252
    case invalidSchemaOperation = 255
  }

  static let notFound = ParseError(.objectNotFound, "Object not found.")
  static let invalidSession = ParseError(.invalidSessionToken, "Invalid session token")
  static let wrongLogin = ParseError(.objectNotFound, "Invalid username/password.")
  static let masterKeyRequired = ParseError(.plain(status: 403), "unauthorized: master key is required")
  static let duplicateValue = ParseError(
    .duplicateValue, "A duplicate value for a field with unique values was provided")

  static func unexpected(_ message: String) -> ParseError { ParseError(.unexpected, message) }
  static func badField(_ name: String) -> ParseError { ParseError(.invalidKeyName, "Invalid field name: \(name).") }

  static func unknownClass(_ name: String) -> ParseError {
    ParseError(.operationForbidden, "This user is not allowed to access non-existent class: \(name)")
  }

  /// The response to a single request.
  var reply: ServerReply {
    switch form {
    case .coded(let code):
      let status = code == 101 ? 404 : code == 1 ? 500 : 400
      return .parse(status, ["code": .integer(Int64(code)), "error": .string(message)])
    case .plain(let status): return .parse(status, ["error": .string(message)])
    case .unexpected: return Self.internalError
    }
  }

  /// The `error` of a batch item.
  var item: JSONValue {
    guard case .coded(let code) = form else { return ["error": .string(message)] }
    return ["code": .integer(Int64(code)), "error": .string(message)]
  }

  static let internalError = ServerReply.parse(500, ["code": 1, "message": "Internal server error."])
}

extension ServerReply {
  static func parse(_ status: Int, _ value: JSONValue, headers: [(name: String, value: String)] = []) -> ServerReply {
    ServerReply(
      status: status, headers: [("Content-Type", "application/json; charset=utf-8")] + headers, body: value.serialized())
  }

  /// Missing or wrong credentials; the response has no content type.
  static let unauthorized = ServerReply(status: 403, headers: [], body: Array(#"{"error":"unauthorized"}"#.utf8))

  /// The web framework's response to an unknown route.
  static func noRoute(_ method: String, _ path: String) -> ServerReply {
    let safe = path.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    return .text(
      404,
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <title>Error</title>
      </head>
      <body>
      <pre>Cannot \(method) \(safe)</pre>
      </body>
      </html>

      """, type: "text/html; charset=utf-8")
  }
}
