import JSON
import SmartStore

/// Compares indexes with the entries that they were made from.
extension StoreCheckup {
  /// Entries of each soup that are compared, unless all are.
  private static let sample = 1000

  /// Returns the indexes of texts that differ from the entries: a search by them misses entries.
  /// - Parameter isDeep: Whether all entries are compared; otherwise the first ones.
  func staleIndexes(of soup: String, _ specs: [IndexSpec], isDeep: Bool) throws -> [HealthCheck] {
    // Other types convert their values, and other paths lead through lists.
    let paths = specs.filter { ($0.type == .string || $0.type == .fullText) && !$0.path.utf8.contains(where: Self.isSpecial) }
      .map(\.path)
    guard !paths.isEmpty, try !look.store.readBlocking({ try $0.isBulkLoading(soup: soup) }) else { return [] }
    var wrong: IdMap<Int> = [:], compared = 0, last = Int64.min
    while isDeep || compared == 0 {
      let from = last
      let step = try look.store.readBlocking { try Self.compare(paths, of: soup, after: from, in: $0) }
      guard let end = step.last else { break }
      for path in step.wrong { wrong[path, default: 0] += 1 }
      compared += step.count
      last = end
    }
    return paths.compactMap { path in wrong[path].map { stale(path, soup, $0, of: compared) } }
  }

  private static func isSpecial(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "[") || byte == UInt8(ascii: "\"") }

  /// One step of a comparison.
  private struct Step {
    var count = 0
    var last: Int64?
    /// The paths of differences, each as often as it differs.
    var wrong: [String] = []
  }

  private static func compare(_ paths: [String], of soup: String, after last: Int64, in snapshot: StoreSnapshot) throws -> Step {
    var step = Step(), texts: [Int64: JSONObject] = [:]
    for path in paths {
      let rows = try snapshot.recordRows(.after(last, limit: sample), in: soup, idPath: path, stampPath: path)
      if texts.isEmpty {
        (step.count, step.last) = (rows.count, rows.last?.entryId)
        for entry in try snapshot.storedEntries(rows.map(\.entryId), in: soup) { texts[entry.id] = try entry.object() }
      }
      for row in rows {
        let value = texts[row.entryId].flatMap { Projection.value($0, path) } ?? .null
        guard value.isNull || value.stringValue != nil else { continue }
        let isSame = value.stringValue.map { text in row.recordId.map(text.hasSameBytes) ?? false } ?? (row.recordId == nil)
        if !isSame { step.wrong.append(path) }
      }
    }
    return step
  }

  private func stale(_ path: String, _ soup: String, _ count: Int, of compared: Int) -> HealthCheck {
    HealthCheck(
      "store", .fail, "\(place)the index on '\(path)' of soup '\(soup)' differs from \(count) of \(compared) entries",
      fix: "tureen doctor --fix, or reIndexSoup", ["soup": .string(soup), "staleIndex": .string(path)])
  }

  // MARK: Refused entries

  /// Warns of entries that the server refuses again and again.
  func refused(_ soup: SoupOverview) throws -> [HealthCheck] {
    guard soup.count(.refused) > 0 else { return [] }
    let again = try look.dirtyEntries(inSoup: soup.name, states: [.refused]).filter { $0.runs ?? 0 > 1 }
    guard let first = again.first else { return [] }
    return [
      HealthCheck(
        "sync", .warn, "\(place)the server has refused entries of '\(soup.name)' in every run: \(again.count)",
        fix: "tureen dirty --refused says why; \(first.remedies.last ?? "correct them")", ["soup": .string(soup.name)])
    ]
  }
}
