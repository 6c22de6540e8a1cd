import JSON

/// The calls of the bridge that an import makes on its store.
package protocol ImportCalls {
  /// Makes a call; `service` is the name without its prefix.
  func value(_ service: String, _ action: String, _ arguments: JSONObject) throws -> JSONValue
  /// Returns all rows of smart SQL.
  func rows(_ sql: String, _ arguments: [JSONValue]) throws -> [[JSONValue]]
}

/// The result of an import, or of its trial run.
package struct ImportReport {
  package var records = 0, created = 0, updated = 0, unchanged = 0
  package var problems: [ImportProblem] = []
  /// Whether the changes were stored.
  package var isApplied = false

  package init() {}

  package var json: JSONObject {
    [
      "applied": .bool(isApplied), "records": .integer(Int64(records)), "created": .integer(Int64(created)),
      "updated": .integer(Int64(updated)), "unchanged": .integer(Int64(unchanged)), "bad": .integer(Int64(problems.count)),
      "problems": .array(
        problems.map { ["line": $0.line.map { .integer(Int64($0)) } ?? .null, "message": .string($0.message)] }),
    ]
  }
}

/// Merges the records of a file into a soup, in batches of a few hundred. Each batch is one transaction; if the file is
/// imported again, the records of stored batches count as unchanged.
package struct ImportRun {
  private let calls: any ImportCalls
  private let soup: String
  private let rules: ImportRules

  private static let batch = 500

  package init(calls: any ImportCalls, soup: String, rules: ImportRules) {
    self.calls = calls
    self.soup = soup
    self.rules = rules
  }

  /// - Parameter isApplied: Whether to store the changes; otherwise they are only counted.
  package func run(_ file: ImportFile, isApplied: Bool) throws -> ImportReport {
    var file = file, report = ImportReport(), seen: IdMap<Int> = [:], batch: [(record: ImportRecord, id: JSONValue)] = []
    report.isApplied = isApplied
    while let next = try file.next() {
      report.records += 1
      do {
        let record = try next.get(),
          id = try Self.located(record.line) { () throws(ImportProblem) in try rules.externalId(of: record) }
        let key = ImportRules.key(id) ?? ""
        if let line = seen[key] {
          throw ImportProblem("\(rules.externalIdPath) '\(key)' is already in line \(line)", line: record.line)
        }
        seen[key] = record.line
        batch.append((record, id))
      } catch let problem as ImportProblem {
        report.problems.append(problem)
      }
      if batch.count == Self.batch { try work(&batch, &report) }
    }
    try work(&batch, &report)
    report.problems.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    return report
  }

  private static func located<T>(_ line: Int, _ body: () throws(ImportProblem) -> T) throws(ImportProblem) -> T {
    do throws(ImportProblem) {
      return try body()
    } catch {
      throw ImportProblem(error.message, line: line)
    }
  }

  private func work(_ batch: inout [(record: ImportRecord, id: JSONValue)], _ report: inout ImportReport) throws {
    guard !batch.isEmpty else { return }
    let entries = try entries(batch.map(\.id))
    var changes: [JSONValue] = [], lines: [Int] = []
    for (record, id) in batch {
      do throws(ImportProblem) {
        let found = entries[ImportRules.key(id) ?? ""] ?? []
        switch try Self.located(record.line, { () throws(ImportProblem) in try rules.decide(record, entries: found) }) {
        case .create(let entry):
          report.created += 1
          changes.append(.object(ImportPatch.creating(entry, externalId: id, idField: rules.idField)))
          lines.append(record.line)
        case .update(let entry):
          report.updated += 1
          changes.append(.object(ImportPatch.updating(found.first ?? [:], to: entry, externalId: id)))
          lines.append(record.line)
        case .unchanged: report.unchanged += 1
        }
      } catch {
        report.problems.append(error)
      }
    }
    batch = []
    guard report.isApplied, !changes.isEmpty else { return }
    // A sync or another import may have written meanwhile: each edit names only what the file changes.
    let edited = try calls.value(
      "smartstore", "patchSoupEntries",
      ["soupName": .string(soup), "patches": .array(changes), "externalIdPath": .string(rules.externalIdPath)])
    for (line, entry) in zip(lines, edited.arrayValue ?? []) where entry.isNull {
      report.updated -= 1
      report.problems.append(ImportProblem("the entry was removed while the file was imported", line: line))
    }
  }

  /// Returns the entries with these external ids, by external id.
  private func entries(_ ids: [JSONValue]) throws -> IdMap<[JSONObject]> {
    let marks = ids.map { _ in "?" }.joined(separator: ", ")
    let sql = "SELECT {\(soup):_soup} FROM {\(soup)} WHERE {\(soup):\(rules.externalIdPath)} IN (\(marks))"
    var found: IdMap<[JSONObject]> = [:]
    for row in try calls.rows(sql, ids) {
      guard let entry = row.first?.objectValue, let id = entry.value(at: rules.externalIdPath).flatMap(ImportRules.key) else {
        continue
      }
      found[id, default: []].append(entry)
    }
    return found
  }
}

extension ImportCalls {
  /// Returns the rules for a soup, which follow from its syncs and its entries.
  /// - Parameter specs: The indexes of the soup, as path and type.
  package func importRules(
    _ soup: String, externalIdPath path: String, columns: [String], specs: [(path: String, type: String)]
  ) throws -> ImportRules {
    var rules = ImportRules(externalIdPath: path)
    for column in columns where !OwnField.contains(column) {
      rules.foundTypes[column] =
        try storedType(of: column, in: soup)
        ?? specs.first { $0.path == column }.flatMap { CellType(indexType: $0.type) }
    }
    if let type = specs.first(where: { $0.path == path }).flatMap({ CellType(indexType: $0.type) }) {
      rules.foundTypes[path] = rules.foundTypes[path] ?? type
      rules.findsByText = type == .text
    }
    // Opens the sync manager, which saves the syncs of the configuration files.
    _ = try value("mobilesync", "isStopped", [:])
    for row in try rows("SELECT {syncs_soup:_soup} FROM {syncs_soup}", []) {
      guard let sync = row.first, sync["soupName"]?.stringValue == soup, let target = sync["target"] else { continue }
      rules.idField = target["idFieldName"]?.stringValue ?? rules.idField
      let isOfOrg = !["rest", "parse", "custom"].contains(target["type"]?.stringValue)
      rules.dateField =
        target["modificationDateFieldName"]?.stringValue ?? rules.dateField ?? (isOfOrg ? "LastModifiedDate" : nil)
      rules.serverGivesIds = rules.serverGivesIds || target["type"]?.stringValue != "rest"
      rules.needsRecordType = rules.needsRecordType || isOfOrg
    }
    let types = try rows(
      """
      SELECT DISTINCT type FROM (SELECT json_extract({\(soup):_soup}, '$.attributes.type') AS type FROM {\(soup)} LIMIT 1000) \
      WHERE type IS NOT NULL
      """, [])
    rules.recordType = types.count == 1 ? types[0].first?.stringValue : nil
    return rules
  }

  /// Returns the type of a column in the first entry that has a value there.
  private func storedType(of column: String, in soup: String) throws -> CellType? {
    let places = CellPath.places(of: column).map { keys in
      let steps = ["$"] + keys.map { "\"\($0.replacingBytes("\"", with: ""))\"" }
      return "json_extract({\(soup):_soup}, \(steps.joined(separator: ".").quoted(with: UInt8(ascii: "'")))) IS NOT NULL"
    }
    let sql = "SELECT {\(soup):_soup} FROM {\(soup)} WHERE \(places.joined(separator: " OR ")) LIMIT 1"
    guard let entry = try rows(sql, []).first?.first?.objectValue else { return nil }
    let keys = EntryText(entry.serialized()).leaves[column]?.keys ?? CellPath.keys(to: column, in: entry)
    return entry.value(at: keys).flatMap(CellType.init(of:))
  }
}
