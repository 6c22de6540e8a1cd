import JSON
import RestClient

/// One write of an object, as a request of its own or as an item of a batch.
struct ObjectRequest: Sendable, Equatable {
  enum Verb: String, Sendable { case create = "POST", update = "PUT", delete = "DELETE" }

  let verb: Verb
  /// The path below the API's root.
  let path: String
  /// nil for a delete.
  let body: JSONObject?

  static func create(_ className: String, _ body: JSONObject) throws(ParseProblem) -> ObjectRequest {
    try check(className, body)
    return ObjectRequest(verb: .create, path: ParseNames.path(of: className), body: body)
  }

  /// The id is only in the path, because one in the body could rename another row.
  static func update(_ className: String, _ id: String, _ body: JSONObject) throws(ParseProblem) -> ObjectRequest {
    try check(className, body)
    return ObjectRequest(verb: .update, path: try path(className, id), body: body)
  }

  static func delete(_ className: String, _ id: String) throws(ParseProblem) -> ObjectRequest {
    try ParseNames.checkClass(className)
    return ObjectRequest(verb: .delete, path: try path(className, id), body: nil)
  }

  private static func path(_ className: String, _ id: String) throws(ParseProblem) -> String {
    guard !id.isEmpty, !ParsePointer(className: className, objectId: id).isLocal else {
      throw ParseProblem(description: "an object of class \(className) has no server id yet: create it first")
    }
    return ParseNames.path(of: className, id: PercentEncoding.encode(id))
  }

  private static func check(_ className: String, _ body: JSONObject) throws(ParseProblem) {
    try ParseNames.checkClass(className)
    for key in body.keys where key.hasPrefix("_") || ParseNames.serverFields.contains(key) {
      throw ParseProblem(description: "field '\(key)' of class \(className) must not be sent: only the server sets it")
    }
  }

  /// Whether sending the request twice has the same effect as sending it once. If not, and the
  /// response is lost, look for the result before repeating it.
  var isRepeatable: Bool {
    switch verb {
    case .create: false
    // A new password ends the session that would repeat the request.
    case .update: !changesPassword && FieldOperation.isRepeatable(body ?? [:])
    case .delete: true
    }
  }

  /// Whether this changes the password of an existing user.
  var changesPassword: Bool { verb == .update && path.hasPrefix(ParseNames.path(of: "_User") + "/") && body?["password"] != nil }

  var kind: RequestKind {
    switch verb {
    case .create: .create
    case .update: .update
    case .delete: .delete
    }
  }

  /// The write as a request of its own.
  var request: RestRequest {
    RestRequest(
      HTTPMethod(rawValue: verb.rawValue) ?? .POST, path, body: body?.serialized(), isRepeatable: isRepeatable)
  }
}
