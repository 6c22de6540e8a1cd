import Database
import JSON
import RecordScan
import Support

/// Writes the entries of one soup: splices their text, fills the index columns, and updates only
/// changed columns.
///
/// This is the hot path of a sync down: it creates no strings or dictionaries per record, and its
/// statements stay prepared. Belongs to the writer connection, inside a transaction.
final class SoupWriter {
  let soup: Soup
  unowned let connection: Connection
  /// The specs that have a column, with their positions.
  let columns: [Column]
  let projection = IndexProjection()
  let body = TextBuffer(capacity: 1 << 16)
  private let insertStatement: Lazy
  /// By the columns they change. With 20 columns, each takes about 10 KB in SQLite.
  private var updates: [UInt64: Statement] = [:]
  /// The last one used: the records of a page mostly differ in the same columns.
  private var lastUpdate: (key: UInt64, statement: Statement)?
  private var finders: IdMap<Statement> = [:]
  private var lastId: Int64?
  /// Set while a program's edits are saved, and the store keeps a history.
  var history: HistoryRows?
  /// The time stamp for the entries of this transaction, in ms since 1970 UTC.
  var stamp: Int64 = 0

  struct Column {
    let spec: Int
    let name: String
  }

  /// A statement that is prepared on first use.
  final class Lazy { var statement: Statement? }

  /// Beyond this number of index columns, updates set all of them instead of the changed ones.
  private static let maskedColumns = 60

  init(soup: Soup, connection: Connection) {
    self.soup = soup
    self.connection = connection
    columns = soup.specs.indices.compactMap { i in soup.column(i).map { Column(spec: i, name: $0) } }
    insertStatement = Lazy()
  }

  /// Call at the start of each batch: reads the id sequence and the time anew, because another
  /// process may have written meanwhile.
  func begin() {
    lastId = nil
    stamp = SystemClock.millisecondsSince1970()
  }

  /// Returns the next id. Ids are counted in memory; the sequence is read once per batch.
  func takeId() throws -> Int64 {
    if lastId == nil {
      let last = try connection.firstValue("SELECT seq FROM sqlite_sequence WHERE name = ?", [.text(soup.table)])
      if case .integer(let last)? = last { lastId = last } else { lastId = 0 }
    }
    guard let last = lastId, last < .max else {
      throw StoreError(.sqlite, "soup \(soup.name) has no entry ids left")
    }
    lastId = last + 1
    return last + 1
  }

  // MARK: Statements

  /// Returns a statement that finds rows. Its columns: id, owner, dirty (1, 0 or NULL), the index
  /// columns, the time of the last write, and with `withText` the version and the soup text.
  func finder(where condition: String, withDirty: Bool, withText: Bool = false) throws -> Statement {
    let key = (withDirty ? withText ? "dt" : "d-" : withText ? "-t" : "--") + condition
    if let known = finders[key] { return known }
    let fields =
      ["id", "owner", withDirty ? soup.dirtyCondition : "0"] + columns.map(\.name) + ["lastModified"]
      + (withText ? ["version", "soup"] : [])
    let statement = try connection.prepare(
      "SELECT \(fields.joined(separator: ", ")) FROM \(soup.table) WHERE \(condition)")
    finders[key] = statement
    return statement
  }

  /// The position of the first index column in a finder's row.
  static let firstColumn: Int32 = 3

  /// The position of the time of the last write in a finder's row.
  var stampColumn: Int32 { SoupWriter.firstColumn + Int32(columns.count) }

  func insert(_ id: Int64, owner: Int64?, _ values: borrowing [IndexValue]) throws {
    let statement = try insertStatement.statement ?? prepareInsert()
    statement.bind(1, id)
    statement.bind(2, text: body.bytes)
    statement.bind(3, stamp)
    statement.bind(4, stamp)
    if let owner { statement.bind(5, owner) } else { statement.bindNull(5) }
    for i in 0..<values.count { values[i].bind(to: statement, Int32(6 + i)) }
    try statement.run()
  }

  private func prepareInsert() throws -> Statement {
    let names = ["id", "soup", "created", "lastModified", "owner"] + columns.map(\.name)
    let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
    let statement = try connection.prepare(
      "INSERT INTO \(soup.table) (\(names.joined(separator: ", "))) VALUES (\(marks))")
    insertStatement.statement = statement
    return statement
  }

  /// Returns the index columns that differ from the finder's current row, one bit per column.
  func changedColumns(_ values: borrowing [IndexValue], in row: Statement) -> UInt64 {
    if columns.count > SoupWriter.maskedColumns { return .max }
    var mask: UInt64 = 0
    for i in 0..<values.count where values[i].differs(from: row, SoupWriter.firstColumn + Int32(i)) { mask |= 1 << UInt64(i) }
    return mask
  }

  /// Updates a row: its text, its time stamp and version, and the index columns in `mask`. SQLite
  /// rewrites the index entry of every column that an UPDATE names, changed or not, so the others
  /// are left out.
  func update(_ id: Int64, setOwner owner: Int64?, mask: UInt64, _ values: borrowing [IndexValue]) throws {
    // Bit 63 distinguishes the forms with and without the owner.
    let key = mask == .max ? mask : mask | (owner == nil ? 0 : 1 << 63)
    let statement = try updateStatement(key, mask: mask, setsOwner: owner != nil || mask == .max)
    statement.bind(1, id)
    statement.bind(2, text: body.bytes)
    statement.bind(3, stamp)
    if let owner { statement.bind(4, owner) } else { statement.bindNull(4) }
    for i in 0..<values.count where mask == .max || mask >> UInt64(i) & 1 == 1 {
      values[i].bind(to: statement, Int32(5 + i))
    }
    try statement.run()
  }

  private func updateStatement(_ key: UInt64, mask: UInt64, setsOwner: Bool) throws -> Statement {
    if let lastUpdate, lastUpdate.key == key { return lastUpdate.statement }
    // The records differ in ever-changing columns, so the prepared statements are unlikely to be
    // reused soon.
    if updates[key] == nil, updates.count >= Tuning.updateStatements { updates.removeAll() }
    let statement = try updates[key] ?? prepareUpdate(key, mask: mask, setsOwner: setsOwner)
    lastUpdate = (key, statement)
    return statement
  }

  private func prepareUpdate(_ key: UInt64, mask: UInt64, setsOwner: Bool) throws -> Statement {
    var sets = ["soup = ?2", "lastModified = ?3", "version = version + 1"]
    if setsOwner { sets.append("owner = coalesce(?4, owner)") }
    for (i, column) in columns.enumerated() where mask == .max || mask >> UInt64(i) & 1 == 1 {
      sets.append("\(column.name) = ?\(5 + i)")
    }
    let statement = try connection.prepare("UPDATE \(soup.table) SET \(sets.joined(separator: ", ")) WHERE id = ?1")
    updates[key] = statement
    return statement
  }
}
