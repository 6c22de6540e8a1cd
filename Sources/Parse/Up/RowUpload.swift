import JSON
import MobileSync
import RestClient
import Support

/// The upload of one entry.
struct RowUpload: Sendable {
  let upload: PlannedUpload
  /// The entry in the soup.
  let entry: JSONObject
  /// The entry with assigned ids in place of local ones.
  var resolved: JSONObject
  let base: JSONObject?
  let key: JSONObject?
  /// The create omits a part, which an update sends right after it.
  var isPartial = false
  /// Members with pointers that the create omits.
  var leftOut = IdSet()
  /// The id of an existing object that is adopted instead of creating one.
  var adopted: String?
  var request: ObjectRequest?
  /// Whether the entry was the server's object, as far as is known, apart from its local changes.
  var isCurrent = true

  /// Whether the object was deleted there and is made anew, by an entry that was received before.
  var isRecreated: Bool { upload.action == .create && localId == nil && entry["objectId"]?.stringValue != nil }

  var localId: String? {
    entry["objectId"]?.stringValue.flatMap { $0.hasPrefix(LocalField.localIdPrefix) ? $0 : nil }
  }

  /// Whether the request must not be sent twice, because it changes the server's values by operations.
  var sendsOperations: Bool {
    guard let request, request.verb == .update, !request.changesPassword else { return false }
    return !request.isRepeatable
  }

  /// A hash that changes with any member written by a script.
  func contentHash() throws(OpenSSLProblem) -> String {
    let own = entry.filtered { key, _ in !LocalField.all.contains(key) && !key.hasPrefix("_soup") }
    return String(try Digest.sha256Hex(JSONValue.object(own).text).prefix(16))
  }

  /// The server's earlier refusal of the same content.
  func refusedBefore() throws(OpenSSLProblem) -> JSONValue? {
    guard let text = entry[LocalField.lastError]?.stringValue, let error = try? JSONValue(parsing: Array(text.utf8)),
      let refused = error["content"]?.stringValue, refused == (try contentHash())
    else { return nil }
    return error
  }

  // MARK: Results

  /// - Parameter answer: The response to the write; empty if no request was needed.
  func succeeded(_ answer: JSONObject) -> UploadResult {
    let written = WriteAnswer(answer), body = request?.body ?? [:]
    guard upload.action != .delete else { return UploadResult(isSuccess: true) }
    let id = upload.action == .create ? adopted ?? answer["objectId"]?.stringValue : nil
    var merged = written.merged(into: resolved, sent: body)
    if let field = key?["field"]?.stringValue, let value = key?["value"], upload.action == .create {
      // An adopted object has its own client key or none.
      if adopted == nil { merged[field] = value } else if merged[field] == value { merged[field] = nil }
    }
    if let id { merged["objectId"] = .string(id) }
    var result = UploadResult(isSuccess: true, id: id)
    result.record = merged.filtered { key, value in entry[key] != value && !LocalField.all.contains(key) }
    result.outdated = entry.keys.filter {
      merged[$0] == nil && !LocalField.all.contains($0) && !leftOut.contains($0)
    }
    result.stamp = merged["updatedAt"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
    // With the new date, the next sync down would take the entry for the whole object.
    if !isCurrent { result.record?["updatedAt"] = nil }
    if isRecreated {
      // The server has only what was sent.
      let known = IdSet(body.keys).union(answer.keys).union(ParseNames.serverFields)
      result.outdated += entry.keys.filter {
        !known.contains($0) && !LocalField.all.contains($0) && !leftOut.contains($0) && !result.outdated.contains($0)
      }
    }
    result.keepsLocalId = upload.action == .create
    result.operated = FieldOperation.columns(in: body)
    result.isPartial = isPartial
    return result
  }

  /// - Parameter isLasting: The same content would be refused again, so that it is not sent again.
  func failed(
    _ refusal: ServerRefusal, at time: Int64, isLasting: Bool, says: UploadResult.Says = []
  ) throws(OpenSSLProblem) -> UploadResult {
    var error = (try? JSONValue(parsing: Array(refusal.lastError(at: time).utf8)).objectValue) ?? [:]
    if isLasting { error["content"] = .string(try contentHash()) }
    var result = UploadResult(isSuccess: false, error: .object(error), status: refusal.status, says: says)
    result.followsLostAttempt = refusal.followsLostAttempt
    return result
  }

  func failed(
    _ message: String, code: Int? = nil, at time: Int64, isLasting: Bool = false
  ) throws(OpenSSLProblem) -> UploadResult {
    try failed(ServerRefusal(status: nil, code: code, message: message), at: time, isLasting: isLasting)
  }
}
