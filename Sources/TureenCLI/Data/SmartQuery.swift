import JSON
import Tureen

/// Smart SQL, read page by page through one cursor.
struct SmartQuery {
  let calls: BridgeCalls
  let sql: String
  let arguments: [JSONValue]

  /// Rows of the first page, which decides the size of the others. SQLite counts up to each page of a cursor, so a few large
  /// pages are faster than many small ones.
  private static let probe: Int64 = 500
  /// The intended size of a page in bytes.
  private static let pageBytes: Int64 = 8 << 20
  private static let mostRows: Int64 = 100_000

  func forEachRow(_ body: ([ResultCell]) throws -> Void, pageEnds: () throws -> Void) throws {
    var page = try open(Self.probe)
    if let rows = page.rest["totalEntries"]?.integerValue, rows > 2 * Self.probe {
      let bytes = max(1, Int64(page.byteCount) / Self.probe)
      let wanted = max(Self.probe, min(Self.mostRows, Self.pageBytes / bytes))
      if wanted > Self.probe {
        try close(page)
        page = try open(wanted)
      }
    }
    let pages = page.rest["totalPages"]?.integerValue ?? 0
    try page.forEachRow(body)
    try pageEnds()
    for index in 1..<max(1, pages) {
      let text = try calls.text(
        "smartstore", "pgMoveCursorToPageIndex", ["cursorId": page.rest["cursorId"] ?? 0, "index": .integer(index)])
      try ResultPage(text)?.forEachRow(body)
      try pageEnds()
    }
    try close(page)
  }

  private func open(_ size: Int64) throws -> ResultPage {
    var spec: JSONObject = ["queryType": "smart", "smartSql": .string(sql), "pageSize": .integer(size)]
    if !arguments.isEmpty { spec["args"] = .array(arguments) }
    let text = try calls.text("smartstore", "pgRunSmartQuery", ["querySpec": .object(spec)])
    guard let page = ResultPage(text) else { throw CallFailure(domain: "bridge", code: "internal", "the answer is not a page") }
    return page
  }

  private func close(_ page: ResultPage) throws {
    _ = try calls.text("smartstore", "pgCloseCursor", ["cursorId": page.rest["cursorId"] ?? 0])
  }

  // MARK: Names

  /// Returns the names of the columns.
  /// - Parameter count: The number of columns in the first row; nil without rows.
  func columns(_ list: SelectList, count: Int?) throws -> [String] {
    try list.columns(count) { soup in
      let specs = try calls.indexSpecs(of: soup)
      let paths = specs.filter { $0.type != "json1" }.map(\.path)
      return ["_soupEntryId", "_soup", "_soupCreatedDate", "_soupLastModifiedDate"] + paths + ["version", "owner"]
    }
  }

  /// Suggests a name for the one that the query's failure reports.
  func explained(_ failure: CallFailure, _ list: SelectList) -> CallFailure {
    var failure = failure
    func word(after text: String) -> String? {
      guard let range = failure.message.firstRange(of: text) else { return nil }
      return String(failure.message[range.upperBound...].prefix { $0 != " " && $0 != "(" && $0 != "," })
    }
    switch failure.code {
    case "noSuchSoup":
      if let name = word(after: "Unknown soup "), let soups = try? calls.soupNames() {
        failure.hint = BridgeCalls.hint(for: name, among: soups)
      }
    case "invalidSmartSql":
      if let name = word(after: "no such column: "), let meant = reference(for: name, list) {
        failure.hint = "; did you mean \(meant)?"
      } else if let name = word(after: "no such table: "), let soups = try? calls.soupNames() {
        failure.hint = NearestName.find(name, among: soups).map { "; did you mean {\($0)}?" } ?? "; write a soup as {soup}"
      }
    case "notReadOnly": failure.hint = "; tureen query only reads. Write with tureen import, tureen exec or a script"
    default: break
    }
    return failure
  }

  /// A plain name is probably a path of one of the soups.
  private func reference(for name: String, _ list: SelectList) -> String? {
    for soup in Set(list.references.map(\.soup)).sorted() {
      guard let paths = try? knownPaths(of: soup) else { continue }
      if let near = NearestName.find(name, among: paths) { return "{\(soup):\(near)}" }
    }
    return nil
  }

  private func knownPaths(of soup: String) throws -> [String] {
    let indexed = try calls.indexSpecs(of: soup).map(\.path)
    return indexed + (try calls.memberNames(of: soup)).filter { !indexed.contains($0) }
  }

  /// Warns about a path that is not indexed and that no entry has, if there is a similar name: it yields only nulls.
  func warnings(_ list: SelectList) -> [String] {
    list.references.compactMap { reference in
      guard let path = reference.path, !path.hasPrefix("_"), let specs = try? calls.indexSpecs(of: reference.soup),
        !specs.contains(where: { $0.path == path })
      else { return nil }
      let first = String(path.prefix { $0 != "." && $0 != "[" })
      guard let names = try? calls.memberNames(of: reference.soup), !names.isEmpty, !names.contains(first),
        let near = NearestName.find(first, among: names)
      else { return nil }
      return "warning: the first entries of '\(reference.soup)' have no '\(first)'; did you mean '\(near)'?"
    }
  }
}
