import JSON

extension SyncState {
  /// The state as scripts get it: also with its id and name under the keys that calls use.
  public var scriptJSON: JSONObject {
    var json = json
    json[SyncState.memoryKey] = nil
    json[SyncState.codeKey] = nil
    json["syncId"] = .integer(id)
    if let name { json["syncName"] = .string(name) }
    return json
  }

  private static let memoryKey = "targetMemory", codeKey = "usesRegisteredCode"

  /// The state as stored in its row.
  public var json: JSONObject {
    var json: JSONObject = ["_soupEntryId": .integer(id), "type": .string(type.rawValue)]
    if let name { json["name"] = .string(name) }
    json["target"] = .object(target)
    json["options"] = .object(options.json)
    json["soupName"] = .string(soupName)
    json["status"] = .string(status.rawValue)
    json["progress"] = .integer(Int64(progress))
    json["totalSize"] = .integer(Int64(totalSize))
    json["maxTimeStamp"] = .integer(maxTimeStamp)
    json["startTime"] = .integer(startTime)
    json["endTime"] = .integer(endTime)
    json["error"] = .string(error)
    for field in SyncCounts.fields { json[field.name] = .integer(Int64(counts[keyPath: field.path])) }
    json["limitInfo"] = .string(limitInfo)
    json["warnings"] = .array(warnings.map { .string($0) })
    json["queued"] = .bool(isQueued)
    json["coveredTimeStamp"] = .integer(coveredTimeStamp)
    json["ghostsCheckedUntil"] = .integer(ghostsCheckedUntil)
    json["inDoubtUntil"] = .integer(inDoubtUntil)
    json["hasMore"] = .bool(hasMore)
    json["incomplete"] = .bool(isIncomplete)
    json["resumeAt"] = .integer(resumeAt)
    json["connection"] = connection.map { .string($0) }
    json["orgId"] = orgId.map { .string($0) }
    json["leftOut"] = leftOut > 0 ? .integer(Int64(leftOut)) : nil
    if usesRegisteredCode { json[SyncState.codeKey] = true }
    if !memory.isEmpty { json[SyncState.memoryKey] = .object(memory) }
    return json
  }

  /// Parses a stored row. Missing numbers get the values of a new sync.
  /// - Throws: ``SyncError`` `.invalidState`, naming the key, if the engine did not write the row.
  init(_ json: JSONObject) throws(SyncError) {
    func text(_ key: String) throws(SyncError) -> String {
      guard let value = json[key]?.stringValue else { throw SyncState.unreadable(json, "'\(key)' is not a string") }
      return value
    }
    guard let id = json["_soupEntryId"]?.integerValue else { throw SyncState.unreadable(json, "it has no _soupEntryId") }
    guard let type = SyncType(rawValue: try text("type")) else { throw SyncState.unreadable(json, "unknown type") }
    guard let status = SyncStatus(rawValue: try text("status")) else {
      throw SyncState.unreadable(json, "unknown status")
    }
    self.init(
      id: id, type: type, name: json["name"]?.stringValue, target: json["target"]?.objectValue ?? [:],
      options: try SyncOptions(json["options"]?.objectValue), soupName: try text("soupName"))
    self.status = status
    readNumbers(json)
    error = json["error"]?.stringValue ?? ""
    limitInfo = json["limitInfo"]?.stringValue ?? ""
    hasMore = json["hasMore"]?.boolValue ?? false
    leftOut = json["leftOut"]?.integerValue.map { Int(clamping: $0) } ?? 0
    isIncomplete = json["incomplete"]?.boolValue ?? false
    orgId = json["orgId"]?.stringValue
    usesRegisteredCode = json[SyncState.codeKey].map { !$0.isNull && $0 != false } ?? false
    memory = json[SyncState.memoryKey]?.objectValue ?? [:]
    warnings = (json["warnings"]?.arrayValue ?? []).compactMap(\.stringValue)
  }

  private mutating func readNumbers(_ json: JSONObject) {
    func number(_ key: String, _ missing: Int64) -> Int64 { json[key]?.boundedInteger ?? missing }
    progress = Int(clamping: number("progress", 0))
    totalSize = Int(clamping: number("totalSize", -1))
    maxTimeStamp = number("maxTimeStamp", TimeStamp.never)
    coveredTimeStamp = number("coveredTimeStamp", TimeStamp.never)
    ghostsCheckedUntil = number("ghostsCheckedUntil", TimeStamp.never)
    inDoubtUntil = number("inDoubtUntil", 0)
    resumeAt = number("resumeAt", 0)
    startTime = number("startTime", 0)
    endTime = number("endTime", 0)
    for field in SyncCounts.fields { counts[keyPath: field.path] = Int(clamping: number(field.name, 0)) }
  }

  private static func unreadable(_ json: JSONObject, _ reason: String) -> SyncError {
    let id = json["_soupEntryId"]?.integerValue.map { " \($0)" } ?? ""
    return SyncError(.invalidState, "the stored sync\(id) cannot be read: \(reason)")
  }
}
