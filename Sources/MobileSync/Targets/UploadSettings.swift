import JSON

/// The settings that all sync up targets have.
package struct UploadSettings: Sendable {
  /// The JSON as stored: normalized.
  package let json: JSONObject
  package let fields: TargetFields
  /// The field that turns a create into an upsert if the record has a value in it.
  package let externalIdFieldName: String?
  package let createFieldlist: [String]?
  package let updateFieldlist: [String]?
  /// The number of records that are sent and written back together.
  package let maxBatchSize: Int
  /// How long the server may work on one request, in ms; nil for the configuration's value.
  package let lostCreateWaitMs: Int64?

  /// - Parameters:
  ///   - type: The type for JSON without one.
  ///   - defaults: The field names for JSON without them.
  ///   - largestBatch: The maximum number of records that the server accepts in one request; larger
  ///     sizes are reduced to it.
  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  package init(_ json: JSONObject, type: String, defaults: TargetFields, largestBatch: Int) throws(SyncError) {
    fields = try TargetFields(json, defaults: defaults)
    externalIdFieldName = try TargetFields.name(json, "externalIdFieldName")
    createFieldlist = try UploadSettings.fieldlist(json, "createFieldlist")
    updateFieldlist = try UploadSettings.fieldlist(json, "updateFieldlist")
    maxBatchSize = try TargetReader(json: json, label: "sync up target").count("maxBatchSize", limit: largestBatch)
    lostCreateWaitMs = try UploadSettings.wait(json)
    var stored = fields.written(to: json)
    if stored["type"].map(\.isNull) ?? true { stored["type"] = .string(type) }
    stored["maxBatchSize"] = .integer(Int64(maxBatchSize))
    for (key, list) in [("createFieldlist", createFieldlist), ("updateFieldlist", updateFieldlist)] {
      if let list { stored[key] = .array(list.map { .string($0) }) }
    }
    self.json = stored
  }

  /// - Throws: ``SyncError`` `.invalidTarget` unless the value is a time in ms, or missing.
  package static func wait(_ json: JSONObject) throws(SyncError) -> Int64? {
    guard let value = json["lostCreateWaitMs"], !value.isNull else { return nil }
    guard let wait = value.integerValue, (0...longestWaitMs).contains(wait) else {
      throw SyncError(
        .invalidTarget, "sync up target: 'lostCreateWaitMs' must be an integer from 0 to \(longestWaitMs), got \(value.text)")
    }
    return wait
  }

  /// Creates the settings of a target that parses its own JSON.
  /// - Parameters:
  ///   - json: The JSON to store.
  ///   - create: The first-level members that a create may send; nil leaves it to the options.
  ///   - update: The same for an update.
  package init(
    json: JSONObject, fields: TargetFields, create: [String]?, update: [String]?, maxBatchSize: Int, lostCreateWaitMs: Int64?
  ) {
    self.json = json
    self.fields = fields
    externalIdFieldName = nil
    createFieldlist = create
    updateFieldlist = update
    self.maxBatchSize = maxBatchSize
    self.lostCreateWaitMs = lostCreateWaitMs
  }

  /// The number of conditional updates that are compared at once.
  package static let comparedAhead = 200

  /// A day in ms.
  private static let longestWaitMs: Int64 = 86_400_000

  package static func fieldlist(_ json: JSONObject, _ key: String) throws(SyncError) -> [String]? {
    try SyncOptions.fieldlist(json[key]) {
      SyncError(.invalidTarget, "sync up target: '\(key)' " + $0).at(.key(key))
    }
  }

  /// Returns a plan of the fields to find in each entry.
  /// - Parameter fieldlist: The options' list, for targets without lists of their own.
  package func plan(fieldlist: [String]?) -> DirtyBatch.Plan {
    DirtyBatch.Plan(
      fields: fields, externalIdField: externalIdFieldName, create: createFieldlist ?? fieldlist,
      update: updateFieldlist ?? fieldlist)
  }
}
