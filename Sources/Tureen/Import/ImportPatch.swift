import JSON
import SmartStore

/// The edits of an import, in the form of the action `patchSoupEntries`. They name only what the file changes, so they undo
/// nothing of a sync that runs beside the import.
package enum ImportPatch {
  /// Returns the edit that turns an entry into its changed form.
  package static func updating(_ entry: JSONObject, to changed: JSONObject, externalId: JSONValue) -> JSONObject {
    var set = JSONObject(), unset: [JSONValue] = [], operations = JSONObject()
    for (key, value) in changed where !OwnField.contains(key) && entry[key] != value {
      guard let before = entry[key]?.objectValue, let after = value.objectValue, isStep(key) else {
        set[key] = value
        continue
      }
      add(before, after, key, &operations)
    }
    for key in entry.keys where changed[key] == nil && !OwnField.contains(key) { unset.append(.string(key)) }
    return [
      "externalId": externalId, "set": .object(set), "unset": .array(unset), "operations": .object(operations),
      "flags": [SoupField.locallyUpdated: true], "ifExists": true,
    ]
  }

  /// Returns the edit that adds an entry. If a sync has added the record meanwhile, it gets the values of the file.
  /// - Parameter idField: The field with the server's id, which only a new entry may have from the file.
  package static func creating(_ entry: JSONObject, externalId: JSONValue, idField: String) -> JSONObject {
    let members = entry.filtered { key, _ in !OwnField.contains(key) && key != idField && key != "attributes" }
    return [
      "externalId": externalId, "set": .object(members), "flags": [SoupField.locallyUpdated: true],
      "create": .object(entry),
    ]
  }

  /// Adds operations for the members of an object that differ.
  private static func add(_ before: JSONObject, _ after: JSONObject, _ path: String, _ operations: inout JSONObject) {
    guard (before.keys + after.keys).allSatisfy(isStep) else {
      operations[path] = ["__op": "Set", "value": .object(after)]
      return
    }
    for key in before.keys where after[key] == nil { operations["\(path).\(key)"] = ["__op": "Delete"] }
    for (key, value) in after where before[key] != value {
      if let inner = before[key]?.objectValue, let new = value.objectValue {
        add(inner, new, "\(path).\(key)", &operations)
      } else {
        operations["\(path).\(key)"] = ["__op": "Set", "value": value]
      }
    }
  }

  /// Whether a key can be a step of a path.
  private static func isStep(_ key: String) -> Bool { !key.contains(".") }
}
