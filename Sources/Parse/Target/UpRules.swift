import JSON
import MobileSync

/// How a soup's changes are uploaded to a class.
struct UpRules: Sendable {
  enum OnDuplicate: String, Sendable, CaseIterable {
    /// Flag the record.
    case error
    /// Adopt the existing object.
    case adopt
    /// Create the object nevertheless.
    case create
  }

  /// nil uses the field lists in the sync's options.
  let createFields: [String]?
  let updateFields: [String]?
  /// A field sent with each create, to find the object if the response is lost.
  let clientKeyField: String?
  let maxBatchSize: Int
  let isTransaction: Bool
  /// Groups of fields whose combined values are unique among objects.
  let uniqueBy: [[String]]
  let onDuplicate: OnDuplicate
  let lostCreateWaitMs: Int64?

  static let keys = [
    "createFieldlist", "updateFieldlist", "externalIdFieldName", "maxBatchSize", "transaction", "uniqueBy", "onDuplicate",
    "lostCreateWaitMs",
  ]

  /// - Throws: ``SyncError`` `.invalidTarget`, which names the key.
  init(_ json: JSONObject, _ target: ParseTarget) throws(SyncError) {
    let reader = TargetReader(json: json, label: ParseTarget.label), className = target.className
    createFields = try ParseTarget.columns(json, "createFieldlist", of: className)
    updateFields = try ParseTarget.columns(json, "updateFieldlist", of: className)
    let key = try reader.optionalString("externalIdFieldName")
    clientKeyField = key
    if let key {
      try ParseTarget.checked("externalIdFieldName") { () throws(ParseProblem) in
        try ParseNames.checkField(key, of: className)
      }
    }
    maxBatchSize = try reader.count("maxBatchSize", limit: Tuning.batchOperations)
    if let value = json["transaction"], !value.isNull {
      guard let flag = value.boolValue else { throw reader.wrong("transaction", "true or false", value) }
      isTransaction = flag
    } else {
      isTransaction = false
    }
    var groups: [[String]] = []
    for value in try ParseTarget.list(json, "uniqueBy") {
      guard value.arrayValue != nil || value.objectValue?.isEmpty == true else {
        throw ParseTarget.wrong(
          "uniqueBy", "'uniqueBy' must be a list of lists of fields, such as [[\"name\"]], got \(value.text)")
      }
      let group = try ParseTarget.columns(["uniqueBy": value], "uniqueBy", of: className) ?? []
      guard !group.isEmpty else { throw ParseTarget.wrong("uniqueBy", "'uniqueBy' must be a list of lists of fields") }
      groups.append(group)
    }
    uniqueBy = groups
    let word = try reader.optionalString("onDuplicate") ?? OnDuplicate.error.rawValue
    guard let onDuplicate = OnDuplicate(rawValue: word) else {
      throw ParseTarget.wrong("onDuplicate", "'onDuplicate' must be one of 'error', 'adopt', 'create', got '\(word)'")
    }
    self.onDuplicate = onDuplicate
    lostCreateWaitMs = try UploadSettings.wait(json)
  }
}
