import JSON
import RecordScan

/// Servers that ignore the case of field names: a list may name `title` for the member `Title` of the entries.
extension DirtyBatch.Plan {
  /// Returns the plan with the listed names spelled as in the entries.
  /// - Returns: nil if the entries have them as they are listed.
  func spelled(as scanned: RecordScanner, _ text: [UInt8]) -> DirtyBatch.Plan? {
    let listed = (create ?? []) + (update ?? [])
    func isMissing(_ name: Int, _ i: Int) -> Bool {
      scanned.value(record: i, field: Field.first + name).kind == .missing
    }
    var spellings: IdMap<String> = [:], members: [Int: [String]] = [:]
    for (n, name) in listed.enumerated() where spellings[name] == nil && !name.contains(".") {
      let folded = name.lowercased()
      for i in scanned.records.indices where spellings[name] == nil && isMissing(n, i) {
        let keys = members[i] ?? scanned.object(i, in: text).keys
        members[i] = keys
        spellings[name] = keys.first { $0.utf8.count == name.utf8.count && $0.lowercased() == folded }
      }
    }
    guard !spellings.isEmpty else { return nil }
    let kept = IdSet(
      listed.indices.filter { n in
        spellings[listed[n]] != nil && scanned.records.indices.contains { !isMissing(n, $0) }
      }.map { listed[$0] })
    return DirtyBatch.Plan(
      fields: fields, externalIdField: externalIdField, create: create.map { spelled($0, spellings, kept) },
      update: update.map { spelled($0, spellings, kept) })
  }

  /// - Parameter kept: Names that some entries have as they are listed.
  private func spelled(_ list: [String], _ spellings: IdMap<String>, _ kept: IdSet) -> [String] {
    list.flatMap { name in
      guard let spelling = spellings[name], !list.contains(spelling) else { return [name] }
      return kept.contains(name) ? [name, spelling] : [spelling]
    }
  }
}
