import JSON
import LuaBridge
import Support
import Tureen

/// The result of an import, or of its trial run.
struct ImportReport {
  var records = 0, created = 0, updated = 0, unchanged = 0
  var problems: [ImportProblem] = []
  /// Whether the changes were stored.
  var isApplied = false

  var json: JSONObject {
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
struct ImportRun {
  let calls: BridgeCalls
  let soup: String
  let rules: ImportRules

  private static let batch = 500

  /// - Parameter isApplied: Whether to store the changes; otherwise they are only counted.
  func run(_ file: ImportFile, isApplied: Bool) throws -> ImportReport {
    var file = file, report = ImportReport(), seen: [String: Int] = [:], batch: [(record: ImportRecord, id: JSONValue)] = []
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
    var changes: [JSONValue] = []
    for (record, id) in batch {
      do throws(ImportProblem) {
        let found = entries[ImportRules.key(id) ?? ""] ?? []
        switch try Self.located(record.line, { () throws(ImportProblem) in try rules.decide(record, entries: found) }) {
        case .create(let entry):
          report.created += 1
          changes.append(.object(entry))
        case .update(let entry):
          report.updated += 1
          changes.append(.object(entry))
        case .unchanged: report.unchanged += 1
        }
      } catch {
        report.problems.append(error)
      }
    }
    batch = []
    guard report.isApplied, !changes.isEmpty else { return }
    // Search by the external id again, because a sync or another import may have added the record meanwhile.
    _ = try calls.text(
      "smartstore", "pgUpsertSoupEntries",
      ["soupName": .string(soup), "entries": .array(changes), "externalIdPath": .string(rules.externalIdPath)])
  }

  /// Returns the entries with these external ids, by external id.
  private func entries(_ ids: [JSONValue]) throws(CallFailure) -> [String: [JSONObject]] {
    let marks = ids.map { _ in "?" }.joined(separator: ", ")
    let sql = "SELECT {\(soup):_soup} FROM {\(soup)} WHERE {\(soup):\(rules.externalIdPath)} IN (\(marks))"
    var found: [String: [JSONObject]] = [:]
    for row in try calls.rows(sql, ids) {
      guard let entry = row.first?.objectValue, let id = entry.value(at: rules.externalIdPath).flatMap(ImportRules.key) else {
        continue
      }
      found[id, default: []].append(entry)
    }
    return found
  }
}

extension BridgeCalls {
  /// Returns the rules for a soup, which follow from its syncs and its entries.
  /// - Throws: A failure that suggests a path or a soup with a similar name.
  func importRules(_ soup: String, externalIdPath path: String, columns: [String]) throws -> ImportRules {
    let specs = try indexSpecs(of: soup)
    guard let spec = specs.first(where: { $0.path == path }) else {
      throw CallFailure(
        domain: "smartstore", code: "pathNotIndexed",
        "soup '\(soup)' has no index on '\(path)', by which its entries could be found"
          + NearestName.hint(for: path, among: specs.map(\.path).filter { !OwnField.contains($0) }))
    }
    var rules = ImportRules(externalIdPath: path)
    for column in columns where !OwnField.contains(column) {
      rules.foundTypes[column] =
        try storedType(of: column, in: soup)
        ?? specs.first { $0.path == column }.flatMap { CellType(indexType: $0.type) }
    }
    if let type = CellType(indexType: spec.type) { rules.foundTypes[path] = rules.foundTypes[path] ?? type }
    // Opens the sync manager, which saves the syncs of the configuration files.
    _ = try value("mobilesync", "isStopped")
    for row in try rows("SELECT {syncs_soup:_soup} FROM {syncs_soup}") {
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
      """)
    rules.recordType = types.count == 1 ? types[0].first?.stringValue : nil
    return rules
  }

  /// Returns the type at a path in the first entry that has a value there.
  private func storedType(of path: String, in soup: String) throws(CallFailure) -> CellType? {
    let steps = path.split(separator: ".").map { "\"\($0.replacingBytes("\"", with: ""))\"" }
    let place = (["$"] + steps).joined(separator: ".").quoted(with: UInt8(ascii: "'"))
    let sql = "SELECT {\(soup):_soup} FROM {\(soup)} WHERE json_extract({\(soup):_soup}, \(place)) IS NOT NULL LIMIT 1"
    return try rows(sql, limit: 1).first?.first?.objectValue?.value(at: path).flatMap(CellType.init(of:))
  }
}
