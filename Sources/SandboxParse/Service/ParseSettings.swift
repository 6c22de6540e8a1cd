import JSON
import SandboxServer

/// Settings of a Parse server, named as in parse-server where it has them. The control interface
/// can change them at any time.
public struct ParseSettings: Sendable, Equatable {
  /// Lets clients create classes by writing to them. Off by default in parse-server.
  public var allowClientClassCreation = true
  /// Lets new objects choose their id.
  public var allowCustomObjectId = false
  /// Hides new users from everyone else.
  public var enforcePrivateUsers = true
  /// Lets callers upload files without logging in. Off by default in parse-server.
  public var enableForPublic = true
  /// The maximum number of objects per page; a larger `limit` is reduced, not refused. 0 for no
  /// maximum.
  public var maxLimit = 0
  /// Refuses a request id that was used before.
  public var idempotency = false
  /// Seconds for which request ids are remembered, and for which a session is valid.
  public var idempotencySeconds = Tuning.requestIdSeconds, sessionSeconds = Tuning.sessionSeconds

  public init() {}

  /// Reads words such as `maxLimit=100` or `allowClientClassCreation=false`.
  ///
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, which names the setting and its allowed values.
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
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, which names the field and its allowed values.
  mutating func apply(_ given: ControlArguments) throws(SandboxError) {
    for (name, _) in given.values where json[name] == nil {
      throw SandboxError(
        status: 400, code: "INVALID_ARGUMENT",
        message: "'\(name)' is not a setting of the Parse server; the settings are \(json.keys.joined(separator: ", "))",
        fields: [name])
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
