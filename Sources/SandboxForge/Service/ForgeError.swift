import JSON
import SandboxServer

/// Why the forge refused a request, in GitHub's words.
struct ForgeError: Error {
  /// One problem with the request.
  struct Item {
    enum Code: String { case missing, missing_field, invalid, already_exists, unprocessable, custom }
    let resource: String
    let field: String
    let code: Code
    var message: String?

    var json: JSONValue {
      var object: JSONObject = ["resource": .string(resource), "field": .string(field), "code": .string(code.rawValue)]
      if let message { object["message"] = .string(message) }
      return .object(object)
    }
  }

  let status: Int
  let message: String
  var items: [Item] = []
  var headers: [(name: String, value: String)] = []

  static let documentation = "https://docs.github.com/rest"
  static let notFound = ForgeError(status: 404, message: "Not Found")
  static let badCredentials = ForgeError(status: 401, message: "Bad credentials")
  static let requiresAuthentication = ForgeError(status: 401, message: "Requires authentication")
  static let notJSON = ForgeError(status: 400, message: "Problems parsing JSON")
  static let notAnObject = ForgeError(status: 400, message: "Body should be a JSON object")

  static func forbidden(_ message: String) -> ForgeError { ForgeError(status: 403, message: message) }

  static func invalid(_ items: [Item]) -> ForgeError { ForgeError(status: 422, message: "Validation Failed", items: items) }

  var reply: ServerReply {
    var object: JSONObject = ["message": .string(message)]
    if !items.isEmpty { object["errors"] = .array(items.map(\.json)) }
    object["documentation_url"] = .string(Self.documentation)
    object["status"] = .string("\(status)")
    return .forge(status, .object(object), headers: headers)
  }
}

extension ServerReply {
  static func forge(_ status: Int, _ value: JSONValue, headers: [(name: String, value: String)] = []) -> ServerReply {
    ServerReply(
      status: status, headers: [("Content-Type", "application/json; charset=utf-8")] + headers, body: value.serialized())
  }
}
