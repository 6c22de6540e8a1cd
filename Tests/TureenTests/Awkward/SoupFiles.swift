import JSON
import SmartStore
import TestSupport
import Tureen

/// What `tureen export` and `tureen import` do with a soup, in this process.
struct SoupFiles {
  let store: Store
  let soup: String
  let externalIdPath: String
  /// The type of new records.
  var recordType: String?

  /// Returns what an export writes: the cells of each entry by column, and the records.
  func exported() throws -> (columns: [String], cells: [[String]], records: [String]) {
    var columns = EntryColumns(), cells: [[String]] = [], records: [String] = []
    let rows = try JSONValue(parsing: store.rows("SELECT {\(soup):_soupEntryId} FROM {\(soup)}", pageSize: 100_000))
    let ids = (rows.arrayValue ?? []).compactMap { $0.arrayValue?.first?.integerValue }.sorted()
    let texts = try store.readBlocking { try $0.storedEntries(ids, in: soup) }.filter {
      try JSONValue(parsing: $0.text)["__locally_deleted__"] != true
    }.map { EntryText($0.text) }
    for text in texts { columns.note(text, withOwnFields: false) }
    for text in texts {
      let known = text.leaves
      cells.append(columns.names.map { known[$0]?.text ?? "" })
      var record: [UInt8] = []
      text.appendRecord(to: &record)
      records.append(String(decoding: record, as: UTF8.self))
    }
    return (columns.names, cells, records)
  }

  /// Returns the file that an export writes.
  func exported(_ format: ImportFormat) throws -> [UInt8] {
    let exported = try exported()
    switch format {
    case .csv: return CellFile(columns: exported.columns, cells: exported.cells).bytes
    case .json: return Array("[\(exported.records.joined(separator: ",\n"))]".utf8)
    case .jsonl: return Array(exported.records.joined(separator: "\n").utf8)
    }
  }

  /// Imports a file, unless a line is bad.
  func imported(_ bytes: [UInt8], _ format: ImportFormat) throws -> ImportReport {
    func open() throws -> ImportFile { try ImportFile(ByteReader(bytes), format: format) }
    let calls = StoreCalls(store: store, soup: soup)
    let specs = try store.indexSpecs(ofSoup: soup).map { (path: $0.path, type: $0.type.rawValue) }
    var rules = try calls.importRules(soup, externalIdPath: externalIdPath, columns: open().columns, specs: specs)
    rules.recordType = recordType
    let run = ImportRun(calls: calls, soup: soup, rules: rules)
    let trial = try run.run(open(), isApplied: false)
    return trial.problems.isEmpty ? try run.run(open(), isApplied: true) : trial
  }
}

/// A CSV file.
struct CellFile {
  var columns: [String]
  var cells: [[String]]

  var bytes: [UInt8] {
    var out: [UInt8] = []
    CSVText.append(columns, to: &out)
    for row in cells { CSVText.append(row, to: &out) }
    return out
  }

  mutating func set(id: PlainJSON?, _ idField: String, _ column: String, _ cell: String) {
    guard let place = columns.firstIndex(where: { $0 == column }), let key = columns.firstIndex(where: { $0 == idField }),
      let row = cells.firstIndex(where: { $0[key] == id?.plain ?? "" })
    else { return }
    cells[row][place] = cell
  }
}

/// The calls of an import, straight to the store.
private struct StoreCalls: ImportCalls {
  let store: Store
  let soup: String

  func value(_ service: String, _ action: String, _ arguments: JSONObject) throws -> JSONValue {
    guard action == "patchSoupEntries" else { return false }
    let patches = try (arguments["patches"]?.arrayValue ?? []).enumerated().map {
      try EntryPatch($0.element.objectValue ?? [:], position: $0.offset)
    }
    let path = arguments["externalIdPath"]?.stringValue ?? ""
    return try JSONValue(parsing: store.patch(patches, in: soup, externalIdPath: path).text)
  }

  func rows(_ sql: String, _ arguments: [JSONValue]) throws -> [[JSONValue]] {
    // A store has the soup of its syncs when it has a sync manager.
    guard try !sql.contains("{syncs_soup}") || store.soupExists("syncs_soup") else { return [] }
    return try JSONValue(parsing: store.rows(sql, arguments, pageSize: 100_000)).arrayValue?.compactMap(\.arrayValue) ?? []
  }
}
