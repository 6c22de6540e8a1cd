import JSON
import RestClient

/// The state that a collection's sync keeps between runs.
struct CollectionMemory: Sendable {
  var known = RunPlan.Known()
  /// The position of an interrupted walk.
  var cursor: JSONObject?
  /// Identifies the account of the stored validators; computed with ``salt``.
  var account: String?
  let salt: String
  private let fingerprint: Int64

  init(_ target: RestTarget, salt: String = RestConnection.newSalt()) {
    fingerprint = target.fingerprint
    self.salt = salt
  }

  /// Discards the state of an earlier definition of the target.
  init(_ json: JSONObject, _ target: RestTarget) {
    guard json["target"]?.integerValue == target.fingerprint, let salt = json["salt"]?.stringValue else {
      self.init(target)
      return
    }
    self.init(target, salt: salt)
    known.watermark = json["watermark"]?.boundedInteger
    known.token = json["token"]?.stringValue
    known.lastRunMs = json["lastRunMs"]?.boundedInteger
    known.lastFullWalkMs = json["lastFullWalkMs"]?.boundedInteger
    known.lacksDates = json["lacksDates"]?.boolValue ?? false
    known.owesRemoval = json["owesRemoval"]?.boolValue ?? false
    cursor = json["cursor"]?.objectValue
    account = json["account"]?.stringValue
  }

  var json: JSONObject {
    var json: JSONObject = ["target": .integer(fingerprint), "salt": .string(salt)]
    for (key, value) in [
      ("watermark", known.watermark), ("lastRunMs", known.lastRunMs), ("lastFullWalkMs", known.lastFullWalkMs),
    ] {
      if let value { json[key] = .integer(value) }
    }
    if let token = known.token { json["token"] = .string(token) }
    if known.owesRemoval { json["owesRemoval"] = .bool(true) }
    if known.lacksDates { json["lacksDates"] = .bool(true) }
    if let account { json["account"] = .string(account) }
    if let cursor { json["cursor"] = .object(cursor) }
    return json
  }
}
