import JSON
import RecordScan
import Support

/// What the store knows of one soup: its table and where each indexed path lives.
package struct Soup: Sendable, Equatable {
  package let name: String
  /// `n` of `TABLE_n`. Never used again after the soup is removed.
  let number: Int64
  let specs: [IndexSpec]
  /// Set while a large first load goes on: the indexes are missing and look-ups by external id are not possible.
  let loading: LoadMark?

  /// What registering refuses as a name.
  static func validate(name: String) throws(StoreError) {
    guard !name.isEmpty else { throw StoreError(.invalidSoupName, "Bogus soup name: it is empty") }
    guard !name.utf8.contains(where: "{}:\0".utf8.contains) else {
      throw StoreError(.invalidSoupName, "soup name '\(name)': '{', '}' and ':' cannot be used, smart SQL needs them")
    }
  }

  var table: String { "TABLE_\(number)" }

  /// The column of the i-th spec, nil for json1.
  func column(_ i: Int) -> String? { specs[i].type.columnType == nil ? nil : "\(table)_\(i)" }

  func indexName(_ i: Int) -> String { "\(table)_\(i)_idx" }

  /// The expression that the i-th index is over.
  func indexedExpression(_ i: Int) -> String { column(i) ?? Soup.extract(specs[i].path) }

  func createIndex(_ i: Int) -> String {
    "CREATE INDEX IF NOT EXISTS \(indexName(i)) ON \(table) ( \(indexedExpression(i)) )"
  }

  /// `json_extract` of a path, on the table's own or a qualified `soup` column.
  static func extract(_ path: String, qualifier: String? = nil) -> String {
    let quoted = path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    return "json_extract(\(qualifier.map { $0 + "." } ?? "")soup, '$.\(quoted)')"
  }

  /// The SQL expression for any path of the soup, without a table in front.
  func expression(_ path: String) -> String {
    switch path {
    case SoupField.entryId: "id"
    case SoupField.lastModified: "lastModified"
    case SoupField.created: "created"
    case SoupField.soup: "soup"
    default: specs.firstIndex { $0.path == path }.map(indexedExpression) ?? Soup.extract(path)
    }
  }

  /// True for entries whose `__local__` is JSON true, whatever the type of its index. So are 1 and the texts of both: files of
  /// earlier releases may hold them, and an edit must not pass for none.
  var dirtyCondition: String {
    guard let i = specs.firstIndex(where: { $0.path == SoupField.local }) else {
      return "\(Soup.extract(SoupField.local)) IN (1, 'true', '1')"
    }
    return switch specs[i].type {
    case .string, .fullText: "\(indexedExpression(i)) IN ('true', '1')"
    // An integer column holds no text.
    case .integer:
      "(\(indexedExpression(i)) = 1 OR \(indexedExpression(i)) IS NULL AND \(Soup.extract(SoupField.local)) IN ('true', '1'))"
    case .json1: "\(indexedExpression(i)) IN (1, 'true', '1')"
    case .floating: "\(Soup.extract(SoupField.local)) IN (1, 'true', '1')"
    }
  }
}

/// Names that the store, and the sync engine on top of it, give to fields of every entry.
package enum SoupField {
  package static let entryId = "_soupEntryId"
  package static let lastModified = "_soupLastModifiedDate"
  static let created = "_soupCreatedDate"
  static let soup = "_soup"
  package static let local = "__local__"
  package static let syncId = "__sync_id__"
  package static let locallyCreated = "__locally_created__"
  package static let locallyUpdated = "__locally_updated__"
  package static let locallyDeleted = "__locally_deleted__"
  /// An id that starts so was made here, before the server gave one.
  package static let localIdPrefix = "local_"
  /// That an entry was edited here, and how.
  static let localFlags = [local, locallyCreated, locallyUpdated, locallyDeleted]
}

extension ScannedValue {
  /// Whether it marks an entry as edited: what ``Soup/dirtyCondition`` takes for true.
  package func isFlagSet(in text: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .true: return true
    case .number, .plainString:
      let slice = text[start..<start + count]
      return slice.elementsEqual("1".utf8) || (kind == .plainString && slice.elementsEqual("true".utf8))
    default: return false
    }
  }
}

extension JSONObject {
  /// Whether a member marks the entry as edited, by the same rule.
  package func hasFlag(_ name: String) -> Bool {
    switch self[name] {
    case .bool(let isSet)?: isSet
    case .integer(let number)?: number == 1
    case .string(let text)?: text == "1" || text == "true"
    default: false
    }
  }
}

/// Who is loading a soup whose indexes are still to be built, and by which path its rows must be unique in the end.
struct LoadMark: Sendable, Equatable {
  var idPath: String
  var process: ProcessIdentity

  /// As it stands in `soup_attrs.loading`.
  var text: String { "\(process.text) \(idPath)" }

  init(idPath: String, process: ProcessIdentity) {
    self.idPath = idPath
    self.process = process
  }

  init?(text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let process = ProcessIdentity(text: String(parts[0])) else { return nil }
    self.init(idPath: String(parts[1]), process: process)
  }
}
