import JSON
import LuaBridge
import MobileSync
import SmartStore

/// Implements `patchSoupEntries` and `mergeServerRecords`.
extension Host {
  func patch(_ call: ActionCall, _ store: Store) throws -> [UInt8] {
    var patches: [EntryPatch] = []
    for (i, patch) in try call.array("patches").enumerated() {
      patches.append(try EntryPatch(patch.objectValue ?? [:], position: i))
    }
    let path = call.value("externalIdPath")?.stringValue ?? "Id"
    return try store.patch(patches, in: call.string("soupName"), externalIdPath: path).text
  }

  func merge(_ call: ActionCall, _ store: Store) throws -> [UInt8] {
    let word = try call.string("mode")
    guard let mode = MergeMode(rawValue: word) else {
      let known = MergeMode.allCases.map(\.rawValue).joined(separator: ", ")
      throw BridgeError(
        domain: "bridge", code: "invalidArguments", message: "argument 'mode' must be \(known), got '\(word)'")
    }
    var records = ServerRecords(try call.array("records").compactMap(\.objectValue), mergeMode: mode)
    if let path = call.value("externalIdPath")?.stringValue { records.idField = path }
    if let name = call.value("modificationDateFieldName")?.stringValue { records.modificationDateField = name }
    records.isPartial = call.value("partial")?.boolValue ?? false
    records.onlyKnown = call.value("onlyKnown")?.boolValue ?? false
    records.kept = call.value("kept")?.arrayValue?.compactMap(\.stringValue) ?? []
    return try store.merge(records, into: call.string("soupName")).text
  }
}
