import Database

extension SQLiteSnapshot {
  func queryPlan(of spec: QuerySpec) throws -> SmartQueryPlan {
    try spec.validate()
    return try translatingErrors(spec) {
      let statement = try connection.prepare("EXPLAIN QUERY PLAN " + smartSql(spec).sql)
      try statement.bind(spec.bindings(nil))
      let clauses = SmartSqlClauses(spec.smartSql ?? "")
      var steps: [SmartQueryPlan.Step] = [], scans: [SmartQueryPlan.Scan] = []
      while try statement.step() {
        let text = statement.string(3)
        steps.append(
          SmartQueryPlan.Step(id: statement.int64(0), parent: statement.int64(1), text: inPaths(withoutIndexNames(text))))
        guard let name = SQLiteSnapshot.scanned(text), let soup = try soup(called: name, clauses),
          !scans.contains(where: { $0.soupName == soup.name })
        else { continue }
        scans.append(clauses.scan(of: soup.name, soup.specs))
      }
      return SmartQueryPlan(steps: steps, scans: scans)
    }
  }

  /// Returns what a step calls the table that it reads as a whole; nil for other steps.
  private static func scanned(_ step: String) -> String? {
    let words = step.split(separator: " ")
    guard words.first == "SCAN", !words.contains("INDEX"), !words.contains("VIRTUAL") else { return nil }
    // Until SQLite 3.35 a step was `SCAN TABLE name AS alias`.
    let name = words.dropFirst().first == "TABLE" ? words.dropFirst(2).first : words.dropFirst().first
    return words.firstIndex(of: "AS").flatMap { words.dropFirst($0 + 1).first.map(String.init) } ?? name.map(String.init)
  }

  private func soup(called name: String, _ clauses: SmartSqlClauses) throws -> Soup? {
    for (known, soupName) in clauses.soups {
      guard let soup = try find(soupName), known == name || soup.table == name else { continue }
      return soup
    }
    return nil
  }

  /// Says `USING INDEX` without the index's own name, which only repeats the column.
  private func withoutIndexNames(_ step: String) -> String {
    let words = step.split(separator: " ", omittingEmptySubsequences: false)
    return words.enumerated().filter { i, word in i == 0 || words[i - 1] != "INDEX" || !word.hasPrefix("TABLE_") }
      .map(\.element).joined(separator: " ")
  }
}
