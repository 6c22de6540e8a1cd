import JSON
import RestClient
import Support

/// What a sync down of a class remembers between runs.
struct DownMemory: Sendable {
  /// The last row of a page that was stored, where the list went on behind it.
  var cursor: KeysetWalk.Position?
  /// The row is younger than the time that later runs look back: some of its neighbours may still appear before it.
  var isRecent = false
  /// Tells accounts apart; made with ``salt``.
  var account: String?
  /// The class may be read and not counted.
  var mayNotCount = false
  let salt: String
  private let fingerprint: String

  /// - Parameter target: What another definition of the target has left is not used.
  init(_ json: JSONObject, target: JSONObject) {
    fingerprint = String(SHA2.hex(JSONValue.object(target).text).prefix(16))
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
