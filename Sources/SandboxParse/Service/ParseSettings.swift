import JSON
import SandboxServer

/// The switches of a Parse server, with its names for them where it has any. Set at the start or through the control interface,
/// also while it runs.
public struct ParseSettings: Sendable, Equatable {
  /// Clients may make classes by writing to them. Off on a stock server.
  public var allowClientClassCreation = true
  /// New objects may bring an id of their own.
  public var allowCustomObjectId = false
  /// New users are hidden from everyone else.
  public var enforcePrivateUsers = true
  /// Who is not logged in may upload files. Off on a stock server.
  public var enableForPublic = true
  /// Objects of a page at most; more are not refused, but cut. 0: as many as are asked for.
  public var maxLimit = 0
  /// A request id that was seen before is refused.
  public var idempotency = false
  /// Seconds that request ids are remembered, and that a session lives.
  public var idempotencySeconds = Tuning.requestIdSeconds, sessionSeconds = Tuning.sessionSeconds

  public init() {}

  /// Reads words such as `maxLimit=100` or `allowClientClassCreation=false`.
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, naming the setting and what it takes.
  public init(words: [String]) throws(SandboxError) {
    var given = JSONObject()
    for word in words.flatMap({ $0.split(separator: " ") }) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw SandboxError(status: 400, code: "INVALID_ARGUMENT", message: "'\(word)' must have the form name=value")
      }
      given[parts[0]] = Self.value(parts[1])
    }
    try apply(ControlArguments(given))
  }

  private static func value(_ word: String) -> JSONValue {
    if let number = Int64(word) { return .integer(number) }
    return word == "true" ? true : word == "false" ? false : .string(word)
  }
}

extension ParseSettings {
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, naming the field and what it takes.
  mutating func apply(_ given: ControlArguments) throws(SandboxError) {
    for (name, _) in given.values where json[name] == nil {
      throw SandboxError(
        status: 400, code: "INVALID_ARGUMENT",
        message: "'\(name)' is not a setting of the Parse server; there are \(json.keys.joined(separator: ", "))", fields: [name])
    }
    allowClientClassCreation = try given.optionalFlag("allowClientClassCreation") ?? allowClientClassCreation
    allowCustomObjectId = try given.optionalFlag("allowCustomObjectId") ?? allowCustomObjectId
    enforcePrivateUsers = try given.optionalFlag("enforcePrivateUsers") ?? enforcePrivateUsers
    enableForPublic = try given.optionalFlag("enableForPublic") ?? enableForPublic
    idempotency = try given.optionalFlag("idempotency") ?? idempotency
    maxLimit = try given.optionalInteger("maxLimit", 0...1_000_000) ?? maxLimit
    idempotencySeconds = try given.optionalInteger("idempotencySeconds", 1...86_400) ?? idempotencySeconds
    sessionSeconds = try given.optionalInteger("sessionSeconds", 1...ServerTuning.faultSeconds) ?? sessionSeconds
  }

  var json: JSONObject {
    [
      "allowClientClassCreation": .bool(allowClientClassCreation), "allowCustomObjectId": .bool(allowCustomObjectId),
      "enforcePrivateUsers": .bool(enforcePrivateUsers), "enableForPublic": .bool(enableForPublic),
      "maxLimit": .integer(Int64(maxLimit)), "idempotency": .bool(idempotency),
      "idempotencySeconds": .integer(Int64(idempotencySeconds)), "sessionSeconds": .integer(Int64(sessionSeconds)),
    ]
  }
}
