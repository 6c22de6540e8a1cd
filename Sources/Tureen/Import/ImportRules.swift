import FoundationEssentials
import JSON
import SmartStore

/// Decides how an imported record changes a soup. It uses neither a store nor a file, so that its rules are easy to test.
package struct ImportRules: Sendable {
  package enum Decision: Sendable, Equatable {
    /// The entry to store, marked for the next sync up.
    case create(JSONObject)
    case update(JSONObject)
    case unchanged
  }

  /// The path by which records find their entries.
  package let externalIdPath: String
  /// Whether the index of that path holds texts, so that a cell finds its entry by its text.
  package var findsByText = false
  /// The types of columns that the user has specified.
  package var givenTypes: IdMap<CellType> = [:]
  /// The types of columns that were inferred from the soup.
  package var foundTypes: IdMap<CellType> = [:]
  /// The field with the server's id.
  package var idField = "Id"
  /// The field with the server's date of the last change; nil if there is none. Records do not change it.
  package var dateField: String?
  /// Whether the server assigns the ids. Then a record whose id belongs to no entry is refused instead of created.
  package var serverGivesIds = false
  /// The `attributes.type` for new records that have none.
  package var recordType: String?
  /// Whether a sync up needs that type.
  package var needsRecordType = false
  /// Whether an empty cell keeps the field's value; otherwise it sets the field to null.
  package var keepsEmpty = false

  package init(externalIdPath: String) { self.externalIdPath = externalIdPath }

  // MARK: External ids

  /// Returns the value by which the record's entry is found.
  /// - Throws: ``ImportProblem`` if the record has no such value or it cannot be an id.
  package func externalId(of record: ImportRecord) throws(ImportProblem) -> JSONValue {
    let value: JSONValue
    switch record[externalIdPath] {
    case .cell(let cell)?:
      value = cell.isEmpty ? .null : findsByText ? .string(cell) : try typed(cell, externalIdPath, nil)
    case .json(let given)?: value = given
    case nil: value = Self.object(of: record).value(at: externalIdPath) ?? .null
    }
    guard value != .null, value != "" else { throw ImportProblem("the record has no \(externalIdPath)") }
    guard Self.key(value) != nil else {
      throw ImportProblem("\(externalIdPath) must be text or a number, not \(value.kindName)")
    }
    return value
  }

  /// Returns a key that is equal for ids that an index treats as equal; nil for values that cannot be ids.
  package static func key(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .integer(let number): String(number)
    case .number(let number): Int64(exactly: number).map { String($0) } ?? String(number)
    case .decimal(let text): value.integerValue.map { String($0) } ?? text
    default: nil
    }
  }

  private static func object(of record: ImportRecord) -> JSONObject {
    JSONObject(
      record.members.compactMap { name, value in
        if case .json(let value) = value { (name, value) } else { nil }
      })
  }

  // MARK: Decisions

  /// Returns the change that a record makes.
  /// - Parameter entries: The entries of the soup with the record's external id.
  /// - Throws: ``ImportProblem``.
  package func decide(_ record: ImportRecord, entries: [JSONObject]) throws(ImportProblem) -> Decision {
    guard let entry = entries.first else { return .create(try created(record)) }
    guard entries.count == 1 else {
      let id = (try? externalId(of: record)).flatMap(Self.key) ?? ""
      throw ImportProblem("the soup has more than one entry with \(externalIdPath) '\(id)'")
    }
    guard let changed = try changed(entry, try edits(of: entry, in: record)) else { return .unchanged }
    guard !entry.hasFlag(SoupField.locallyDeleted) else {
      throw ImportProblem("the entry is marked for deletion here; take that back with unmark before you change it")
    }
    return .update(Self.marked(changed, SoupField.locallyUpdated))
  }

  /// Returns the record without the fields that only the server may change in an entry.
  /// - Throws: ``ImportProblem`` if the record has the id of another one on the server: a sync up would overwrite that.
  private func edits(of entry: JSONObject, in record: ImportRecord) throws(ImportProblem) -> ImportRecord {
    var record = record
    record.members.removeAll { $0.name == dateField }
    guard let given = record[idField] else { return record }
    let known = entry[idField].flatMap(Self.key) ?? "", isKnown = !known.isEmpty && !known.hasPrefix(SoupField.localIdPrefix)
    let id: String? =
      switch given {
      case .cell(let cell): cell
      case .json(let value): value == .null ? "" : Self.key(value)
      }
    if id == "" || id == known {
      record.members.removeAll { $0.name == idField }
    } else if isKnown {
      throw ImportProblem("the entry with \(externalIdPath) of this record has \(idField) '\(known)', which cannot be changed")
    }
    return record
  }

  private func created(_ record: ImportRecord) throws(ImportProblem) -> JSONObject {
    var entry = try changed([:], record) ?? [:]
    if let id = entry[idField].flatMap(Self.key), !id.isEmpty {
      guard !serverGivesIds || id.hasPrefix(SoupField.localIdPrefix) else {
        throw ImportProblem(
          "the soup has no entry with \(idField) '\(id)'; the server gives new records their ids, so leave it empty for one")
      }
      guard externalIdPath != idField || !Self.isGenerated(id) else {
        throw ImportProblem(
          "the soup has no entry with the local \(idField) '\(id)' any more: it got the server's, or was removed; "
            + "export it again")
      }
    } else {
      entry[idField] = .string(SoupField.localIdPrefix + UUID().uuidString.lowercased())
    }
    var attributes = entry["attributes"]?.objectValue ?? [:]
    if attributes["type"]?.stringValue == nil {
      guard recordType != nil || !needsRecordType else {
        throw ImportProblem("the new record has no attributes.type; name its type with --record-type")
      }
      attributes["type"] = recordType.map { .string($0) }
    }
    if !attributes.isEmpty { entry["attributes"] = .object(attributes) }
    return Self.marked(entry, SoupField.locallyCreated)
  }

  /// Whether an entry was given this local id by a program: the prefix, and a UUID or a number.
  private static func isGenerated(_ id: String) -> Bool {
    guard id.hasPrefix(SoupField.localIdPrefix) else { return false }
    let rest = id.dropFirst(SoupField.localIdPrefix.count)
    return UUID(uuidString: String(rest)) != nil || !rest.isEmpty && rest.allSatisfy(\.isNumber)
  }

  /// Returns the entry with the record's values; nil if the entry already has all of them.
  private func changed(_ entry: JSONObject, _ record: ImportRecord) throws(ImportProblem) -> JSONObject? {
    var result = entry, isChanged = false
    let members = placed(record, entry)
    try Self.checkPlaces(members)
    for (name, keys, given) in members {
      let current = entry.value(at: keys), value: JSONValue
      switch given {
      case .json(let json): value = json
      case .cell(let cell):
        if cell.isEmpty, keepsEmpty { continue }
        // CSV cannot distinguish an empty text from a missing value.
        value = cell.isEmpty ? (current == "" ? "" : .null) : try typed(cell, name, current)
      }
      guard !Self.isSame(current ?? .null, value) else { continue }
      isChanged = true
      if case .json = given { try Self.checkFinite(value, name) }
      try Self.checkParents(of: keys, in: result, column: name)
      result.set(value, at: keys)
    }
    return isChanged ? result : nil
  }

  private typealias Placed = (name: String, keys: [String], value: ImportRecord.Value)

  /// Returns the members of a record that say something new, without the cells that an export of the entry has; and the keys to
  /// their places in the entry.
  private func placed(_ record: ImportRecord, _ entry: JSONObject) -> [Placed] {
    let exported = EntryText(entry.serialized()).leaves
    return record.members.compactMap { name, given in
      guard !OwnField.contains(name) else { return nil }
      guard case .cell(let cell) = given else { return (name, [name], given) }
      let leaf = exported[name]
      guard givenTypes[name] != nil || cell != leaf?.text ?? "" else { return nil }
      return (name, leaf?.keys ?? CellPath.keys(to: name, in: entry), given)
    }
  }

  /// Refuses a record that sets a member and a part of it.
  private static func checkPlaces(_ members: [Placed]) throws(ImportProblem) {
    let columns = members.filter { member in
      if case .cell(let cell) = member.value { !cell.isEmpty } else { false }
    }
    let places = IdMap(columns.map { ($0.name, $0.keys) }) { first, _ in first }
    for column in columns {
      for whole in CellPath.parents(of: column.name) {
        guard let parent = places[whole], column.keys.starts(with: parent, by: ==) else { continue }
        throw ImportProblem("'\(whole)' and a part of it both have values; a member can have only one of them")
      }
    }
  }

  /// Refuses a member of something that is not an object.
  private static func checkParents(of keys: [String], in entry: JSONObject, column: String) throws(ImportProblem) {
    for count in 1..<keys.count {
      guard let parent = entry.value(at: keys.prefix(count)), !parent.isNull, parent.objectValue == nil else { continue }
      throw ImportProblem("column '\(column)': '\(keys[count - 1])' of the entry is a \(parent.kindName), not an object")
    }
  }

  /// Refuses numbers beyond the range of a double.
  private static func checkFinite(_ value: JSONValue, _ name: String) throws(ImportProblem) {
    switch value {
    case .array(let list): for element in list { try checkFinite(element, name) }
    case .object(let object): for (_, element) in object { try checkFinite(element, name) }
    default:
      guard value.doubleValue?.isFinite ?? true else { throw ImportProblem("'\(name)' has a number that is too large") }
    }
  }

  private func typed(_ cell: String, _ column: String, _ current: JSONValue?) throws(ImportProblem) -> JSONValue {
    let type = givenTypes[column] ?? current.flatMap(CellType.init(of:)) ?? foundTypes[column] ?? .text
    return try type.value(of: cell, column: column)
  }

  /// Returns whether two values are equal; numbers are compared by value, members in any order.
  static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
    switch (a, b) {
    case (.integer(let a), .number(let b)), (.number(let b), .integer(let a)): Int64(exactly: b) == a
    case (.decimal, _), (_, .decimal): a.isSameNumber(as: b)
    case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { isSame($0, $1) }
    case (.object(let a), .object(let b)):
      a.count == b.count && a.allSatisfy { key, value in b[key].map { isSame(value, $0) } ?? false }
    default: a == b
    }
  }

  /// Returns the entry with the flags that a sync up looks for, like `mobilesync.markUpdated` and `newRecord`.
  private static func marked(_ entry: JSONObject, _ flag: String) -> JSONObject {
    var entry = entry
    for name in [SoupField.locallyCreated, SoupField.locallyUpdated, SoupField.locallyDeleted] {
      entry[name] = .bool(name == flag || entry.hasFlag(name))
    }
    entry[SoupField.local] = true
    return entry
  }
}
