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
  /// The types of columns that the user has specified.
  package var givenTypes: [String: CellType] = [:]
  /// The types of columns that were inferred from the soup.
  package var foundTypes: [String: CellType] = [:]
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
    case .cell(let cell)?: value = cell.isEmpty ? .null : try typed(cell, externalIdPath, nil)
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
    let members = untouched(by: record, entry)
    try Self.checkPaths(members)
    for (name, given) in members {
      let current = entry.value(at: name), value: JSONValue
      switch given {
      case .json(let json): value = try Self.finite(json, name)
      case .cell(let cell):
        if cell.isEmpty, keepsEmpty { continue }
        // CSV cannot distinguish an empty text from a missing value.
        value = cell.isEmpty ? (current == "" ? "" : .null) : try typed(cell, name, current)
      }
      guard !Self.isSame(current ?? .null, value) else { continue }
      isChanged = true
      if case .json = given { result[name] = value } else { try result.set(value, at: name) }
    }
    return isChanged ? result : nil
  }

  /// Returns the members of a record that say something new: without the cells that an export of the entry has.
  private func untouched(by record: ImportRecord, _ entry: JSONObject) -> [(name: String, value: ImportRecord.Value)] {
    let exported = EntryText(entry.serialized()).cells
    return record.members.filter { name, given in
      guard !OwnField.contains(name) else { return false }
      guard case .cell(let cell) = given, givenTypes[name] == nil else { return true }
      return cell != exported[name] ?? ""
    }
  }

  /// Refuses a record that sets a member and a part of it.
  private static func checkPaths(_ members: [(name: String, value: ImportRecord.Value)]) throws(ImportProblem) {
    let columns = members.compactMap { name, value in
      if case .cell(let cell) = value, !cell.isEmpty { name } else { nil }
    }
    for name in columns where columns.contains(where: { $0.hasPrefix(name + ".") }) {
      throw ImportProblem("'\(name)' and a part of it both have values; a member can have only one of them")
    }
  }

  /// Refuses numbers beyond the range of a double.
  private static func finite(_ value: JSONValue, _ name: String) throws(ImportProblem) -> JSONValue {
    switch value {
    case .array(let list): for element in list { _ = try finite(element, name) }
    case .object(let object): for (_, element) in object { _ = try finite(element, name) }
    default:
      guard value.doubleValue?.isFinite ?? true else { throw ImportProblem("'\(name)' has a number that is too large") }
    }
    return value
  }

  private func typed(_ cell: String, _ column: String, _ current: JSONValue?) throws(ImportProblem) -> JSONValue {
    let type = givenTypes[column] ?? current.flatMap(CellType.init(of:)) ?? foundTypes[column] ?? .text
    return try type.value(of: cell, column: column)
  }

  /// Returns whether two values are equal; numbers are compared by value, members in any order.
  static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
    switch (a, b) {
    case (.integer, .number), (.number, .integer): a.doubleValue == b.doubleValue
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

extension JSONObject {
  /// Returns the value at a path such as `Account.Name`, or of the member whose name is the whole path.
  package func value(at path: String) -> JSONValue? {
    if let value = self[path] { return value }
    return path.split(separator: ".").reduce(Optional(JSONValue.object(self))) { $0?[String($1)] }
  }

  /// Sets the value at a path and creates missing objects on the path.
  fileprivate mutating func set(_ value: JSONValue, at path: String) throws(ImportProblem) {
    guard self[path] == nil, let dot = path.firstIndex(of: ".") else {
      self[path] = value
      return
    }
    let name = String(path[..<dot]), rest = String(path[path.index(after: dot)...])
    var inner: JSONObject
    switch self[name] {
    case nil, .null?: inner = [:]
    case .object(let object)?: inner = object
    case let other?: throw ImportProblem("column '\(path)': '\(name)' of the entry is a \(other.kindName), not an object")
    }
    try inner.set(value, at: rest)
    self[name] = .object(inner)
  }
}
