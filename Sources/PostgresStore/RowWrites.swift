import JSON
import RecordScan
import SmartStore
import Support

/// Rows of a soup to insert and update, in one statement each. An entry may occur once.
final class RowWrites {
  private unowned let transaction: PostgresTransaction
  let table: SoupTable
  /// The specs whose columns are written.
  let columns: [Int]
  private var inserted: Rows, updated: Rows
  private(set) var touched: Set<Int64> = []
  /// Entries that get a base from their row as it is, and those that lose theirs with their conflict.
  private var edited: [Int64] = [], cleaned: [Int64] = []
  private var joined: [Int64] = []

  private struct Rows {
    var ids: [Int64] = []
    var texts = PostgresArray(of: .text)
    var columns: [PostgresArray]

    var parameters: [PostgresParameter] { [.int64s(ids), .array(texts)] + columns.map { .array($0) } }

    mutating func append(_ id: Int64, _ text: [UInt8], _ values: [IndexValue]) {
      ids.append(id)
      text.withUnsafeBytes { texts.append($0) }
      for (i, value) in values.enumerated() { columns[i].append(value) }
    }
  }

  init(_ transaction: PostgresTransaction, _ table: SoupTable) {
    self.transaction = transaction
    self.table = table
    columns = table.projected
    let empty = Rows(columns: columns.map { PostgresArray(of: table.form($0).element) })
    (inserted, updated) = (empty, empty)
  }

  var isEmpty: Bool { touched.isEmpty }

  /// Makes room for the texts of so many entries.
  func reserve(inserts: Int, updates: Int, bytesEach: Int) {
    inserted.texts.reserve(elements: inserts, bytes: inserts * bytesEach)
    updated.texts.reserve(elements: updates, bytes: updates * bytesEach)
    touched.reserveCapacity(inserts + updates)
  }

  func insert(_ id: Int64, _ text: [UInt8], _ values: [IndexValue]) {
    inserted.append(id, text, values)
    touched.insert(id)
  }

  /// - Parameter becomes: Whether the entry gets or loses local changes; nil if neither.
  func update(_ id: Int64, _ text: [UInt8], _ values: [IndexValue], becomesDirty: Bool?) {
    if let becomesDirty { if becomesDirty { edited.append(id) } else { cleaned.append(id) } }
    updated.append(id, text, values)
    touched.insert(id)
  }

  /// Adds the page's sync to the owners of an entry that has one.
  func join(_ id: Int64) { joined.append(id) }

  /// Adds the statements to the transaction.
  /// - Parameter owner: The owner of new entries, and of those without one.
  func flush(owner: Int64?) {
    let schema = transaction.schema, number = PostgresParameter.int64(table.soup.number)
    if !edited.isEmpty {
      transaction.add(
        """
        INSERT INTO \(schema).soup_bases (soup, entry, base) SELECT $1, id, soup FROM \(table.sql) WHERE id = ANY ($2)
        ON CONFLICT DO NOTHING
        """, [number, .int64s(edited)])
    }
    if !cleaned.isEmpty {
      for other in ["soup_bases", "soup_conflicts"] {
        transaction.add("DELETE FROM \(schema).\(other) WHERE soup = $1 AND entry = ANY ($2)", [number, .int64s(cleaned)])
      }
    }
    let names = columns.map { table.column($0) }, marks = (0..<(columns.count + 2)).map { "$\($0 + 3)" }.joined(separator: ", ")
    let fixed: [PostgresParameter] = [.int64(transaction.stamp), .optional(owner)]
    if !inserted.ids.isEmpty {
      transaction.add(
        """
        INSERT INTO \(table.sql) (\((["created", "lastModified", "owner", "id", "soup"] + names).joined(separator: ", ")))
        SELECT $1, $1, $2::bigint, u.* FROM unnest(\(marks)) AS u
        """, fixed + inserted.parameters)
      transaction.keepLastId(table)
      transaction.note(.created, inserted.ids, in: table)
    }
    if !updated.ids.isEmpty {
      let sources = (["id", "soup"] + names.indices.map { "c\($0)" }).map { "u_\($0)" }.joined(separator: ", ")
      let sets = names.enumerated().map { ", \($1) = u_c\($0)" }.joined()
      transaction.byIndex {
        transaction.add(
          """
          UPDATE \(table.sql) SET soup = u_soup, lastModified = $1, version = version + 1,
          owner = coalesce(owner, $2::bigint)\(sets)
          FROM unnest(\(marks)) AS u(\(sources)) WHERE id = u_id
          """, fixed + updated.parameters)
      }
      transaction.note(.updated, updated.ids, in: table)
    }
    if !joined.isEmpty, let owner {
      transaction.add(
        """
        INSERT INTO \(schema).soup_members (soup, entry, owner) SELECT $1, e, $3 FROM unnest($2) AS e ON CONFLICT DO NOTHING
        """, [number, .int64s(joined), .int64(owner)])
    }
    let empty = Rows(columns: columns.indices.map { PostgresArray(of: inserted.columns[$0].element) })
    (inserted, updated, touched, edited, cleaned, joined) = (empty, empty, [], [], [], [])
  }
}

extension PostgresArray {
  /// Appends the value of an index column in the array's type.
  mutating func append(_ value: IndexValue) {
    switch (value, element) {
    case (.null, _): appendNull()
    case (.integer(let integer), .text): append(String(integer))
    case (.integer(let integer), .double): append(Double(integer))
    case (.integer(let integer), _): append(integer)
    case (.real(let real), .text): append("\(real)")
    case (.real(let real), _): append(real)
    case (.text(let bytes), _):
      if PostgresText.hasZero(bytes) {
        append(PostgresText.storable(String(decoding: bytes, as: UTF8.self)))
      } else {
        append(bytes)
      }
    }
  }
}

extension IndexValue {
  /// A copy that outlives the record.
  var copy: SQLValue {
    switch self {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    }
  }
}

/// Finds entries by external id and splices their texts; shared by all kinds of writes.
struct EntryTexts {
  let table: SoupTable
  let projection = IndexProjection()

  /// Starts an entry's text with the two members that the store owns.
  /// - Parameter bytes: The size of what will follow.
  static func begin(_ id: Int64, _ stamp: Int64, reserving bytes: Int = 0) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(idMember.count + stampMember.count + 40 + bytes)
    text += idMember
    JSONText.append(id, to: &text)
    text += stampMember
    JSONText.append(stamp, to: &text)
    return text
  }

  private static let idMember = Array("{\"\(SoupField.entryId)\":".utf8)
  private static let stampMember = Array(",\"\(SoupField.lastModified)\":".utf8)

  /// Appends the members of a record, and the brace that ends it.
  /// - Parameter dropping: The members to leave out; nil if the record has none of them.
  static func append(
    _ record: ScannedRecord, of page: ScannedPage, dropping: Set<[UInt8]>?, to text: inout [UInt8]
  ) throws {
    let whole = UnsafeRawBufferPointer(rebasing: page.bytes[record.start..<record.start + record.count])
    if let dropping {
      var members: [UInt8] = []
      try EntryText.appendMembers(whole, dropping: dropping, to: &members)
      if !members.isEmpty { text.append(UInt8(ascii: ",")) }
      text += members
    } else if !record.isEmpty {
      text.append(UInt8(ascii: ","))
      text += whole[1..<(whole.count - 1)]
    }
    text.append(UInt8(ascii: "}"))
  }

  /// Returns the key of a record for an external id path; nil if it has no value there.
  func externalKey(_ page: ScannedPage, _ i: Int, _ path: String) throws -> SQLValue? {
    let value = page.scanner.value(record: i, field: page.plan.idField)
    guard value.kind != .missing, value.kind != .null else { return nil }
    var type = table.soup.specs.first { $0.path == path }?.type ?? .string
    if type == .json1 {
      // json1 keeps the type of each value, and containers match nothing.
      switch value.kind {
      case .number: return projection.ownClass(value, in: page.bytes).copy
      case .true, .false: type = .integer
      case .plainString, .escapedString: type = .string
      default: return nil
      }
    }
    let key = try projection.value(value, type: type, path: path, in: page.bytes, record: page.scanner.records[i]).copy
    return key == .null ? nil : key
  }
}
