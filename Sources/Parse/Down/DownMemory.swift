import JSON
import RestClient
import Support

/// The state that a sync down of a class keeps between runs.
struct DownMemory: Sendable {
  /// The last row of a stored page that was followed by another page.
  var cursor: KeysetWalk.Position?
  /// Whether the cursor's row is newer than the overlap of later runs, so that rows may still
  /// appear before it.
  var isRecent = false
  /// Identifies the account; computed with ``salt``.
  var account: String?
  /// Whether the class may be read but not counted.
  var mayNotCount = false
  let salt: String
  private let fingerprint: String

  /// - Parameter target: The target's definition. The state of a different definition is discarded.
  init(_ json: JSONObject, target: JSONObject) throws {
    fingerprint = String(try Digest.sha256Hex(JSONValue.object(target).text).prefix(16))
    let isSame = json["target"]?.stringValue == fingerprint
    salt = (isSame ? json["salt"]?.stringValue : nil) ?? RestConnection.newSalt()
    guard isSame else { return }
    account = json["account"]?.stringValue
    mayNotCount = json["mayNotCount"] == true
    isRecent = json["recent"] == true
    if let id = json["objectId"]?.stringValue, let updatedAt = json["updatedAt"]?.stringValue {
      cursor = KeysetWalk.Position(updatedAt: updatedAt, objectId: id)
    }
  }

  var json: JSONObject {
    var json: JSONObject = ["target": .string(fingerprint), "salt": .string(salt)]
    if let account { json["account"] = .string(account) }
    if mayNotCount { json["mayNotCount"] = true }
    if let cursor, let updatedAt = cursor.updatedAt {
      json["objectId"] = .string(cursor.objectId)
      json["updatedAt"] = .string(updatedAt)
      if isRecent { json["recent"] = true }
    }
    return json
  }
}
