import JSON
import SandboxServer

/// Who asks, and with what rights.
struct Caller: Sendable {
  var isMaster = false
  /// Reads as master and may not write.
  var isReadOnly = false
  var userId: String?
  var token: String?
  var installationId: String?
  /// Whom access lists may name to let this caller in: `*`, the user, its roles.
  var groups = ["*"]

  /// - Throws: ``ParseError`` 119 for writes with the read-only key and for what clients may not do with installations.
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

/// One call whose caller is known: a request, or an item of a batch.
struct ParseCall: Sendable {
  var method: String
  /// Those after the mount.
  var segments: [String]
  /// What the route's placeholders stand for.
  var parameters: [String: String] = [:]
  var body = JSONObject()
  /// Query parameters, each tried as JSON.
  var query = JSONObject()
  var caller: Caller
  let settings: ParseSettings
  /// Seconds since 1970 UTC.
  let now: Int64
  /// The same in milliseconds.
  let milliseconds: Int64
  /// What addresses of the API begin with, as this client has it.
  let base: String
  /// The path of the request with its mount.
  let path: String
  let mountPath: String
  let applicationId: String
  let faults: [FaultDraw]

  func parameter(_ name: String) -> String { parameters[name] ?? "" }

  /// What a read says of itself: the body, then the query over it.
  var options: JSONObject {
    var all = body
    for (name, value) in query { all[name] = value }
    return all
  }

  func fault(_ kind: String) -> FaultDraw? { faults.first { $0.kind == kind } }

  /// Milliseconds since 1970 UTC that a write is stamped with.
  func stamp(_ state: inout ParseState) -> Int64 {
    if let draw = fault("staleStamps") { return now * 1_000 - Int64(draw.integer("milliseconds") ?? 10_000) }
    if let draw = fault("tiedStamps") {
      let step = Int64(draw.integer("milliseconds") ?? 1_000)
      return now * 1_000 / step * step
    }
    return state.stamp(at: milliseconds)
  }
}

/// What a handler answers.
struct ParseAnswer: Sendable {
  var status = 200
  var value: JSONValue
  /// Path below the API of what was made.
  var location: String?
  /// In place of all that, for what is not JSON.
  var reply: ServerReply?

  init(_ value: JSONValue, status: Int = 200, location: String? = nil) {
    self.value = value
    self.status = status
    self.location = location
  }
}

typealias ParseHandler = @Sendable (ParseCall, inout ParseState) throws -> ParseAnswer
