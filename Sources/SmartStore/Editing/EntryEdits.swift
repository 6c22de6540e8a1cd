import JSON
import Support

/// An entry after an edit.
public struct EditedEntry: Sendable {
  public let entryId: Int64
  /// The version of its row, which every write raises.
  public let version: Int64
  public let outcome: EditOutcome
  /// JSON text of the whole entry.
  public let entry: [UInt8]

  /// The form that scripts get, as JSON text.
  package var text: [UInt8] {
    let head = "{\"entryId\":\(entryId),\"version\":\(version),\"outcome\":\"\(outcome.rawValue)\",\"entry\":"
    return Array(head.utf8) + entry + [UInt8(ascii: "}")]
  }
}

extension [EditedEntry?] {
  /// The form that scripts get, as the text of a JSON array.
  package var text: [UInt8] {
    var out: [UInt8] = [UInt8(ascii: "[")]
    for (i, one) in enumerated() {
      if i > 0 { out.append(UInt8(ascii: ",")) }
      out += one?.text ?? [UInt8]("null".utf8)
    }
    return out + [UInt8(ascii: "]")]
  }
}

/// The entries that one call edits: read with a few calls of the store, changed in memory, and written
/// with one.
package struct EntryEdits {
  let soup: String
  package var rows: [EditedRow] = []
  private var positions: [Int64: Int] = [:]

  package init(soup: String) { self.soup = soup }

  /// Reads entries; skips missing ids and those that were read before.
  package mutating func read(_ ids: some Sequence<Int64>, in snapshot: StoreSnapshot) throws {
    let asked = Set(ids).filter { positions[$0] == nil }.sorted()
    guard !asked.isEmpty else { return }
    let bases = try snapshot.bases(of: asked, in: soup)
    for stored in try snapshot.storedEntries(asked, in: soup) {
      positions[stored.id] = rows.count
      rows.append(try EditedRow(stored, base: bases[stored.id]))
    }
  }

  /// Finds the entries with external ids, and reads them.
  /// - Returns: By external id, the positions in ``rows``; nil where there is no entry.
  /// - Throws: ``StoreError`` `.pathNotIndexed`, `.ambiguousExternalId`, `.missingExternalId`.
  package mutating func find(_ ids: [JSONValue], at path: String, in snapshot: StoreSnapshot) throws -> [Int?] {
    guard !ids.isEmpty else { return [] }
    guard let spec = try snapshot.indexSpecs(of: soup).first(where: { $0.path == path }) else {
      throw StoreError(.pathNotIndexed, "\(soup) does not have an index on \(path)")
    }
    let keys = try ids.map { try Self.key($0, spec) }
    let found = try snapshot.entryIds(in: soup, where: path, equalsEach: keys)
    guard found.allSatisfy({ $0.count < 2 }) else {
      throw StoreError(.ambiguousExternalId, "There are more than one soup elements where \(path) is one of the given values")
    }
    try read(found.joined(), in: snapshot)
    return found.map { $0.first.flatMap { positions[$0] } }
  }

  package func position(of id: Int64) -> Int? { positions[id] }

  /// Returns the value of an index for an external id.
  private static func key(_ id: JSONValue, _ spec: IndexSpec) throws -> SQLValue {
    switch (id, spec.type) {
    case (.string(let text), _): return .text(text)
    case (.integer(let number), .string), (.integer(let number), .fullText): return .text(String(number))
    case (.integer(let number), _): return .integer(number)
    case (.number, _), (.decimal, _):
      if let whole = id.integerValue { return try key(.integer(whole), spec) }
      if case .decimal(let text) = id, [.string, .fullText].contains(spec.type) { return .text(text) }
      if let number = id.doubleValue { return .real(number) }
    default: break
    }
    throw StoreError(.missingExternalId, "an external id at '\(spec.path)' must be text or a number, not \(id.kindName)")
  }

  /// Writes the changed entries, all or none.
  /// - Returns: The entries as stored, by position in ``rows``.
  package func write(in transaction: StoreTransaction) throws -> [EditedEntry] {
    var text: [UInt8] = [UInt8(ascii: "[")], written: [Int] = []
    for (i, row) in rows.enumerated() {
      guard let changed = try row.changedText() else { continue }
      if !written.isEmpty { text.append(UInt8(ascii: ",")) }
      text += changed
      written.append(i)
    }
    var ids = rows.map { $0.id ?? 0 }
    if !written.isEmpty {
      let stored = try transaction.upsert(
        text + [UInt8(ascii: "]")], into: soup, externalIdPath: SoupField.entryId)
      let entries = try JSONValue(parsing: stored).arrayValue ?? []
      for (i, entry) in zip(written, entries) { ids[i] = entry[SoupField.entryId]?.integerValue ?? ids[i] }
    }
    for (row, id) in zip(rows, ids) where row.isBaseChanged && row.isDirty {
      guard let base = row.base else { continue }
      try transaction.setBase(of: id, in: soup, to: JSONValue.object(base).serialized())
    }
    let after = Dictionary(
      try transaction.storedEntries(Set(ids).sorted(), in: soup).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    return zip(rows, ids).map { row, id in
      EditedEntry(
        entryId: id, version: after[id]?.version ?? row.version, outcome: row.outcome, entry: after[id]?.text ?? row.text)
    }
  }
}
