import JSON
import SandboxServer

/// The caller and its rights.
struct Caller: Sendable {
  var isMaster = false
  /// Can read like the master but not write.
  var isReadOnly = false
  var userId: String?
  var token: String?
  var installationId: String?
  /// The subjects that grant this caller access in access lists: `*`, the user, and its roles.
  var groups = ["*"]

  /// - Throws: ``ParseError`` 119 for writes with the read-only key, and for operations on
  ///   installations that clients may not perform.
  func check(_ operation: String, _ className: String) throws(ParseError) {
    if className == "_Installation", !isMaster, operation == "delete" || operation == "find" {
      throw ParseError(
        .operationForbidden,
        "Clients aren't allowed to perform the \(operation) operation on the installation collection.")
    }
    if isReadOnly, ["create", "update", "delete"].contains(operation) {
      throw ParseError(
        .operationForbidden, "read-only masterKey isn't allowed to perform the \(operation) operation.")
    }
  }

  /// - Throws: ``ParseError`` 403 without the master key.
  func requireMaster(toWrite: Bool = false) throws(ParseError) {
    guard isMaster else { throw .masterKeyRequired }
    if toWrite, isReadOnly {
      throw ParseError(.operationForbidden, "read-only masterKey isn't allowed to do this.")
    }
  }
}

/// A call with a known caller: a request or an item of a batch.
struct ParseCall: Sendable {
  var method: String
  /// The segments after the mount.
  var segments: [String]
  /// The values of the route's placeholders.
  var parameters: [String: String] = [:]
  var body = JSONObject()
  /// Query parameters, each parsed as JSON if possible.
  var query = JSONObject()
  /// Query parameters as they were sent.
  var queryTexts = JSONObject()
  var caller: Caller
  let settings: ParseSettings
  /// Seconds since 1970 UTC.
  let now: Int64
  /// Milliseconds since 1970 UTC.
  let milliseconds: Int64
  /// The API's base URL, as this client addresses it.
  let base: String
  /// The path of the request, including the mount.
  let path: String
  let mountPath: String
  let applicationId: String
  let faults: [FaultDraw]

  func parameter(_ name: String) -> String { parameters[name] ?? "" }

  /// The options of a read: the body, overridden by the query.
  var options: JSONObject {
    var all = body
    for (name, value) in query { all[name] = value }
    return all
  }

  /// The options of a sign-in, whose values are texts: a password such as `12345` is not a number.
  var signInOptions: JSONObject {
    var all = body
    for (name, value) in queryTexts { all[name] = value }
    return all
  }

  func fault(_ kind: String) -> FaultDraw? { faults.first { $0.kind == kind } }

  /// Returns the timestamp of a write, in milliseconds since 1970 UTC.
  func stamp(_ state: inout ParseState) -> Int64 {
    if let draw = fault("staleStamps") { return now * 1_000 - Int64(draw.integer("milliseconds") ?? 10_000) }
    if let draw = fault("tiedStamps") {
      let step = Int64(draw.integer("milliseconds") ?? 1_000)
      return now * 1_000 / step * step
    }
    return state.stamp(at: milliseconds)
  }
}

/// The answer of a handler.
struct ParseAnswer: Sendable {
  var status = 200
  var value: JSONValue
  /// The path of a created object, below the API's base URL.
  var location: String?
  /// Replaces all of the above, for a response that is not JSON.
  var reply: ServerReply?

  init(_ value: JSONValue, status: Int = 200, location: String? = nil) {
    self.value = value
    self.status = status
    self.location = location
  }
}

typealias ParseHandler = @Sendable (ParseCall, inout ParseState) throws -> ParseAnswer
