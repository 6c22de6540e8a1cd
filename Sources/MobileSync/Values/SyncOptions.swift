import JSON

/// What happens when both sides changed a record.
public enum MergeMode: String, Sendable, CaseIterable {
  /// The side that is written to loses its change.
  case overwrite = "OVERWRITE"
  /// The side that is written to keeps its change.
  case leaveIfChanged = "LEAVE_IF_CHANGED"
}

/// How one sync runs.
public struct SyncOptions: Sendable, Equatable {
  public var mergeMode: MergeMode
  /// Fields to send, where the sync up target has no list of its own. Sync down ignores it.
  public var fieldlist: [String]?

  public init(mergeMode: MergeMode = .overwrite, fieldlist: [String]? = nil) {
    self.mergeMode = mergeMode
    self.fieldlist = fieldlist
  }

  /// - Parameter json: nil and a missing `mergeMode` mean `OVERWRITE`.
  /// - Throws: ``SyncError`` `.invalidOptions`, naming the key.
  public init(_ json: JSONObject?) throws(SyncError) {
    self.init()
    guard let json else { return }
    if let word = json["mergeMode"], !word.isNull {
      guard let mode = word.stringValue.flatMap(MergeMode.init(rawValue:)) else {
        let shown = word.stringValue.map { "'\($0)'" } ?? word.kindName
        throw SyncError(.invalidOptions, "options: mergeMode must be OVERWRITE or LEAVE_IF_CHANGED, got \(shown)")
      }
      mergeMode = mode
    }
    fieldlist = try SyncOptions.fieldlist(json["fieldlist"]) { SyncError(.invalidOptions, "options: fieldlist " + $0) }
  }

  /// A list of field names; nil when it is absent or null.
  static func fieldlist(_ json: JSONValue?, _ failure: (String) -> SyncError) throws(SyncError) -> [String]? {
    guard let json, !json.isNull else { return nil }
    guard let elements = json.arrayValue else { throw failure("must be an array of field names, got \(json.kindName)") }
    var fields: [String] = []
    for element in elements {
      guard let field = element.stringValue else { throw failure("must hold field names only, found \(element.kindName)") }
      fields.append(field)
    }
    return fields
  }

  public var json: JSONObject {
    var json = JSONObject()
    if let fieldlist { json["fieldlist"] = .array(fieldlist.map { .string($0) }) }
    json["mergeMode"] = .string(mergeMode.rawValue)
    return json
  }
}
