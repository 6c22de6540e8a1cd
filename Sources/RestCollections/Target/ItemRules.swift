import JSON
import MobileSync

/// Describes the items of a page: where they are, what is stored of them, and which are tombstones.
struct ItemRules: Sendable, Equatable {
  /// The array of a page.
  let itemsPath: ValuePath
  /// Whether a page without the array is empty instead of an error.
  let takesMissingItems: Bool
  /// The item's path in each array element; nil for the element itself.
  let itemPath: ValuePath?
  let idField: ValuePath
  let dateField: ValuePath?
  let dateFormat: DateFormat
  /// The time zone of dates without an offset.
  let zone: TimeZoneRules
  /// The total number of items.
  let totalPath: ValuePath?
  let conditions: [Condition]
  /// Members to add or rename, in order.
  let map: [Mapping]
  /// Members that are never stored, as key paths in the item.
  let omit: [[[UInt8]]]
  let deletion: Deletion

  /// A condition that items must meet to be stored.
  struct Condition: Sendable, Equatable {
    let path: ValuePath
    let test: Test

    enum Test: Sendable, Equatable {
      case exists(Bool)
      /// Texts, numbers, booleans or null.
      case oneOf([JSONValue])
    }
  }

  struct Mapping: Sendable, Equatable {
    let name: String
    let source: ValuePath
    /// The top-level member that the mapping renames, and thus removes. Nested sources, the id and
    /// the date are copied instead.
    let renamed: String?
  }

  /// How tombstones are marked.
  struct Deletion: Sendable, Equatable {
    /// Looked up in the element, then in the item.
    let path: ValuePath?
    /// Values that mark a tombstone; nil means any value but null and false.
    let values: [JSONValue]?
    let idPath: ValuePath?
    /// A separate array of the page with deleted ids or items.
    let itemsPath: ValuePath?
  }

  init(_ reader: TargetReader, zoneFile: (String) -> [UInt8]?) throws(RestTargetError) {
    itemsPath = try reader.path("itemsPath", orElse: "$")
    takesMissingItems = try reader.choice("itemsMissing", of: Missing.self) == .empty
    itemPath = try reader.path("itemPath")
    idField = try reader.path("idField", orElse: "id")
    guard idField.steps?.isEmpty == false else { throw reader.error("idField", "must lead into the item") }
    dateField = try reader.path("modificationDateField")
    dateFormat = try ItemRules.dateFormat("dateFormat", reader) ?? .iso8601
    let incremental = reader["incremental"]?.objectValue
    zone = try ItemRules.zone(incremental?["timeZone"], reader, zoneFile)
    totalPath = try reader.path("totalPath", taking: .header)
    conditions = try ItemRules.conditions(reader)
    let kept = [idField.singleKey, dateField?.singleKey].compactMap { $0 }
    map = try ItemRules.map(reader, keeping: kept)
    omit = try ItemRules.omit(reader, keeping: kept)
    deletion = try ItemRules.deletion(reader)
  }

  private enum Missing: String, CaseIterable { case error, empty }

  static func dateFormat(_ key: String, _ reader: TargetReader) throws(RestTargetError) -> DateFormat? {
    guard let text = try reader.text(key) else { return nil }
    do {
      return try DateFormat(text)
    } catch {
      throw reader.error(key, "is not a date format: '\(text)' \(error.description)")
    }
  }

  private static func zone(
    _ value: JSONValue?, _ reader: TargetReader, _ zoneFile: (String) -> [UInt8]?
  ) throws(RestTargetError) -> TimeZoneRules {
    guard let value, !value.isNull else { return .utc }
    guard let name = value.stringValue, let zone = TimeZoneRules(name, zoneFile: zoneFile) else {
      throw RestTargetError(
        description: "rest target, incremental: 'timeZone' must be UTC, an offset such as +01:00, or a name that "
          + "\(TimeZoneRules.folder) has, not \(value.stringValue.map { "'\($0)'" } ?? TargetReader.article(value.kindName))",
        place: [.key("incremental"), .key("timeZone")])
    }
    return zone
  }

  private static func conditions(_ reader: TargetReader) throws(RestTargetError) -> [Condition] {
    var conditions: [Condition] = []
    for condition in try reader.insideEach("where", known: ["path", "exists", "in"]) {
      let path = try condition.required("path", condition.path("path"))
      switch (try condition.flag("exists"), try condition.list("in")) {
      case (let exists?, nil): conditions.append(Condition(path: path, test: .exists(exists)))
      case (nil, let values?):
        try checkScalars(values, "in", condition)
        conditions.append(Condition(path: path, test: .oneOf(values)))
      default: throw condition.refusal("path", "needs exactly one of 'exists' and 'in'")
      }
    }
    return conditions
  }

  private static func checkScalars(_ values: [JSONValue], _ key: String, _ reader: TargetReader) throws(RestTargetError) {
    for value in values where value.arrayValue != nil || value.objectValue != nil {
      throw reader.error(key, "must hold texts, numbers, booleans or null, not \(TargetReader.article(value.kindName))")
    }
  }

  private static func map(_ reader: TargetReader, keeping kept: [String]) throws(RestTargetError) -> [Mapping] {
    var map: [Mapping] = []
    for pair in try reader.pairs("map") ?? [] {
      guard !isSystemField(pair.name) else { throw reader.error("map", "cannot write '\(pair.name)': it belongs to the engine") }
      let source = try reader.path(pair.value, "map", taking: .each)
      let renamed = source.singleKey.flatMap { kept.contains($0) || $0 == pair.name ? nil : $0 }
      map.append(Mapping(name: pair.name, source: source, renamed: renamed))
    }
    return map
  }

  private static func isSystemField(_ name: String) -> Bool { name.hasPrefix("__") || name.hasPrefix("_soup") }

  private static func omit(_ reader: TargetReader, keeping kept: [String]) throws(RestTargetError) -> [[[UInt8]]] {
    var omit: [[[UInt8]]] = []
    for text in try reader.texts("omit") ?? [] {
      let path = try reader.path(text, "omit")
      guard let steps = path.steps, !steps.isEmpty else {
        throw reader.error("omit", "cannot leave out the whole item: '\(text)'")
      }
      let keys = steps.compactMap { step in if case .member(let key, _) = step { key } else { nil } }
      guard keys.count == steps.count else { throw reader.error("omit", "takes members only, not '\(text)'") }
      if let key = path.singleKey, kept.contains(key) {
        throw reader.error("omit", "cannot leave out '\(key)': the sync needs it")
      }
      omit.append(keys)
    }
    return omit
  }

  private static func deletion(_ reader: TargetReader) throws(RestTargetError) -> Deletion {
    let path = try reader.path("deletedPath"), itemsPath = try reader.path("deletedItemsPath")
    let idPath = try reader.path("deletedIdPath")
    var values: [JSONValue]?
    if let value = reader["deletedValue"] {
      guard path != nil else { throw reader.error("deletedValue", "needs 'deletedPath'") }
      values = value.arrayValue ?? [value]
      try checkScalars(values ?? [], "deletedValue", reader)
    }
    if idPath != nil, path == nil, itemsPath == nil {
      throw reader.error("deletedIdPath", "needs 'deletedPath' or 'deletedItemsPath'")
    }
    return Deletion(path: path, values: values, idPath: idPath, itemsPath: itemsPath)
  }
}

// MARK: - Dates of records

extension ItemRules {
  /// How the engine parses the dates that decide whether a record has changed.
  var recordDates: RecordDates {
    RecordDates(name: dateFormat.text) { [dateFormat, zone] in dateFormat.date($0.utf8, zone: zone)?.position }
  }

  /// Returns the record's date in ms since 1970 UTC; nil without a readable date.
  func recordDate(of entry: JSONObject) -> Int64? { dateField?.value(in: .object(entry)).flatMap(recordDates.stamp) }
}
