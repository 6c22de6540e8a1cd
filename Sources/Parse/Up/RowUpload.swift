import JSON
import MobileSync
import RestClient
import Support

/// What is sent of one entry.
struct RowUpload: Sendable {
  let upload: PlannedUpload
  /// As it stands in the soup.
  let entry: JSONObject
  /// With the ids of the server that are known by now.
  var resolved: JSONObject
  let base: JSONObject?
  let key: JSONObject?
  /// The create leaves something out, which an update right behind it brings.
  var isPartial = false
  /// Members with pointers that the create leaves out.
  var leftOut = Set<String>()
  /// The id that a create takes over instead of making an object.
  var adopted: String?
  var request: ObjectRequest?

  var localId: String? {
    entry["objectId"]?.stringValue.flatMap { $0.hasPrefix(LocalField.localIdPrefix) ? $0 : nil }
  }

  /// Changes with whatever a script writes into the entry.
  var contentHash: String {
    let own = entry.filtered { key, _ in !LocalField.all.contains(key) && !key.hasPrefix("_soup") }
    return String(SHA2.hex(JSONValue.object(own).text).prefix(16))
  }

  /// What the server said of the same content before.
  var refusedBefore: JSONValue? {
    guard let text = entry[LocalField.lastError]?.stringValue,
      let error = try? JSONValue(parsing: Array(text.utf8)), error["content"]?.stringValue == contentHash
    else { return nil }
    return error
  }

  // MARK: Results

  /// - Parameter answer: Of the write; empty for one that needed no request.
  func succeeded(_ answer: JSONObject) -> UploadResult {
    let written = WriteAnswer(answer), body = request?.body ?? [:]
    guard upload.action != .delete else { return UploadResult(isSuccess: true) }
    let id = upload.action == .create ? adopted ?? answer["objectId"]?.stringValue : nil
    var merged = written.merged(into: resolved, sent: body)
    if let field = key?["field"]?.stringValue, let value = key?["value"], upload.action == .create {
      // An object that was there before has a key of its own, or none.
      if adopted == nil { merged[field] = value } else if merged[field] == value { merged[field] = nil }
    }
    if let id { merged["objectId"] = .string(id) }
    var result = UploadResult(isSuccess: true, id: id)
    result.record = merged.filtered { key, value in entry[key] != value && !LocalField.all.contains(key) }
    result.outdated = entry.keys.filter {
      merged[$0] == nil && !LocalField.all.contains($0) && !leftOut.contains($0)
    }
    result.stamp = merged["updatedAt"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
    result.keepsLocalId = upload.action == .create
    result.isPartial = isPartial
    return result
  }

  func failed(_ refusal: ServerRefusal, at time: Int64, isLasting: Bool, says: UploadResult.Says = []) -> UploadResult {
    var error = (try? JSONValue(parsing: Array(refusal.kept(at: time).utf8)).objectValue) ?? [:]
    if isLasting { error["content"] = .string(contentHash) }
    return UploadResult(isSuccess: false, error: .object(error), status: refusal.status, says: says)
  }

  func failed(_ message: String, code: Int? = nil, at time: Int64, isLasting: Bool = false) -> UploadResult {
    failed(ServerRefusal(status: nil, code: code, message: message), at: time, isLasting: isLasting)
  }
}
