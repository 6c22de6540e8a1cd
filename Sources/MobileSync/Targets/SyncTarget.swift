import JSON
import RecordScan

/// The fields of a record's id and modification date, which every target has. Either may be inside
/// an object, with dots in the path.
package struct TargetFields: Sendable, Equatable {
  package let id: String
  package let modificationDate: String
  /// Further members that the server sets by itself at each change; they do not count as contents
  /// of a record.
  package let others: [String]
  package let dates: RecordDates
  /// Whether the server ignores the case of field names.
  package let ignoresCase: Bool

  package init(
    id: String, modificationDate: String, others: [String] = [], dates: RecordDates = .timeStamps, ignoresCase: Bool = false
  ) {
    self.id = id
    self.modificationDate = modificationDate
    self.others = others
    self.dates = dates
    self.ignoresCase = ignoresCase
  }

  /// - Parameter defaults: The names for keys that the target lacks.
  package init(_ json: JSONObject, defaults: TargetFields) throws(SyncError) {
    id = try TargetFields.name(json, "idFieldName") ?? defaults.id
    modificationDate = try TargetFields.name(json, "modificationDateFieldName") ?? defaults.modificationDate
    others = defaults.others
    dates = defaults.dates
    ignoresCase = defaults.ignoresCase
  }

  // MARK: Records

  /// Returns the id of a record; nil if it has none, or if it is not text.
  package func id(of record: JSONObject) -> String? { Projection.value(record, id)?.stringValue }

  /// Returns the modification date of a record, unparsed.
  package func date(of record: JSONObject) -> JSONValue? { Projection.value(record, modificationDate) }

  /// Returns when the record was last changed; nil if it has no valid date. See ``RecordDates``.
  package func stamp(of record: JSONObject) -> Int64? { date(of: record).flatMap(dates.stamp) }

  // MARK: Members of the server within others

  /// The paths of the id, the date and the server's other members that are within objects.
  private var ownPaths: [String] { ([id, modificationDate] + others).filter { $0.utf8.contains(UInt8(ascii: ".")) } }

  /// Returns a record without what only the server sets within its members.
  func withoutOwnPaths(_ record: JSONObject) -> JSONObject {
    ownPaths.reduce(record) { Projection.removing($1, from: $0) }
  }

  /// Returns a field name; nil if the key is missing or null.
  package static func name(_ json: JSONObject, _ key: String) throws(SyncError) -> String? {
    guard let value = json[key], !value.isNull else { return nil }
    guard let name = value.stringValue, !name.isEmpty else {
      throw SyncError(.invalidTarget, "target: '\(key)' must be a field name, got \(value.shownKind)").at(.key(key))
    }
    guard !JSONWalker.isTooDeep(name) else {
      throw SyncError(.invalidTarget, "target: '\(key)' can have \(JSONWalker.maximumDepth) names at most").at(.key(key))
    }
    return name
  }

  /// Returns the JSON with both names, as stored targets have them.
  package func written(to json: JSONObject) -> JSONObject {
    var json = json
    write(to: &json)
    return json
  }

  /// Writes both names into a target's JSON, as stored targets have them.
  package func write(to json: inout JSONObject) {
    json["idFieldName"] = .string(id)
    json["modificationDateFieldName"] = .string(modificationDate)
  }
}

/// A format of record dates. Two formats are equal if their names are.
package struct RecordDates: Sendable, Equatable {
  private let name: String
  private let read: @Sendable (String) -> Int64?

  /// - Parameter read: Parses the contents of a text, or a number as spelled. Returns ms since 1970
  ///   UTC, or another number that grows with each change; nil if it is not a date.
  package init(name: String, read: @escaping @Sendable (String) -> Int64?) {
    self.name = name
    self.read = read
  }

  /// ISO 8601 with an offset.
  package static let timeStamps = RecordDates(name: "time stamps") { TimeStamp.milliseconds($0) }

  /// Kept within bounds, so that a millisecond can be subtracted.
  package func stamp(_ text: String) -> Int64? { read(text)?.bounded }

  package func stamp(_ value: JSONValue) -> Int64? {
    switch value {
    case .string(let text): stamp(text)
    case .integer, .number: stamp(value.text)
    case .decimal(let text): stamp(text) ?? value.doubleValue.flatMap { stamp("\($0)") }
    default: nil
    }
  }

  package static func == (a: RecordDates, b: RecordDates) -> Bool { a.name == b.name }
}

extension JSONValue {
  /// The value in messages: texts are shown, other values are named by their kind.
  package var shownKind: String { stringValue.map { "'\($0)'" } ?? kindName }
}

/// Reads the keys of a target's JSON; each error names the target and the key.
package struct TargetReader {
  package let json: JSONObject
  /// The name in messages, such as `mru target`.
  package let label: String

  package init(json: JSONObject, label: String) {
    self.json = json
    self.label = label
  }

  /// - Throws: ``SyncError`` `.invalidTarget` if the key is missing, empty or not a string.
  package func string(_ key: String) throws(SyncError) -> String {
    guard let text = try optionalString(key), !text.isEmpty else { throw missing(key) }
    return text
  }

  package func optionalString(_ key: String) throws(SyncError) -> String? {
    guard let value = json[key], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw wrong(key, "a string", value) }
    return text
  }

  package func fieldlist(_ key: String) throws(SyncError) -> [String] {
    let label = label
    guard
      let list = try SyncOptions.fieldlist(
        json[key],
        {
          SyncError(.invalidTarget, "\(label): '\(key)' " + $0).at(.key(key))
        })
    else {
      throw missing(key)
    }
    return list
  }

  package func object(_ key: String) throws(SyncError) -> JSONObject {
    guard let value = json[key], !value.isNull else { throw missing(key) }
    guard let object = value.objectValue else { throw wrong(key, "an object", value) }
    return object
  }

  /// Returns a positive integer, at most `limit`; returns `limit` if the key is missing or null.
  package func count(_ key: String, limit: Int) throws(SyncError) -> Int {
    guard let value = json[key], !value.isNull else { return limit }
    guard let count = value.integerValue, count > 0 else {
      throw SyncError(.invalidTarget, "\(label): '\(key)' must be a positive integer, got \(value.text)").at(.key(key))
    }
    return min(limit, Int(clamping: count))
  }

  package func wrong(_ key: String, _ expected: String, _ value: JSONValue) -> SyncError {
    SyncError(.invalidTarget, "\(label): '\(key)' must be \(expected), got \(value.kindName)").at(.key(key))
  }

  private func missing(_ key: String) -> SyncError { SyncError(.invalidTarget, "\(label): '\(key)' is missing") }
}

extension [String] {
  /// Returns the list with these fields appended, unless it has them.
  package func including(_ fields: String...) -> [String] {
    filter { $0 != LocalField.attributes }
      + fields.filter { field in !contains { $0.lowercased() == field.lowercased() } }
  }
}
