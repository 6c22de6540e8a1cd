import JSON
import SmartStore
import TestSupport
import Testing

extension IndexSpec {
  static func string(_ path: String) -> IndexSpec { IndexSpec(path: path, type: .string) }
  static func integer(_ path: String) -> IndexSpec { IndexSpec(path: path, type: .integer) }
  static func floating(_ path: String) -> IndexSpec { IndexSpec(path: path, type: .floating) }
  static func json1(_ path: String) -> IndexSpec { IndexSpec(path: path, type: .json1) }
}

/// Returns the code of the ``StoreError`` that `body` throws; nil if it throws none.
func code(_ body: () throws -> Void) -> StoreError.Code? { failure(body)?.code }

func failure(_ body: () throws -> Void) -> StoreError? {
  do {
    try body()
    return nil
  } catch {
    return error as? StoreError
  }
}

/// Parses a query spec from JSON text.
func spec(_ text: String) throws -> QuerySpec { try QuerySpec(try #require(JSONValue(parsing: text).objectValue)) }

extension Store {
  /// Returns the entries or rows of a query as JSON text.
  func found(_ text: String, in soup: String?, pageIndex: Int = 0) throws -> String {
    String(decoding: try query(try spec(text), soup: soup, pageIndex: pageIndex), as: UTF8.self)
  }

  /// Returns the ids in the result of an upsert.
  func ids(_ entries: [JSONValue]) -> [Int64] { entries.compactMap { $0["_soupEntryId"]?.integerValue } }

  func count(of soup: String) throws -> Int { try count(.smart("SELECT {\(soup):_soupEntryId} FROM {\(soup)}")) }

  /// Returns how often a row was written.
  func version(_ id: Int64, in soup: String) throws -> Int64? { try readBlocking { try $0.entry(id, in: soup)?.version } }

  func base(_ id: Int64, in soup: String) throws -> String? {
    try readBlocking { try $0.base(of: id, in: soup).map { String(decoding: $0, as: UTF8.self) } }
  }

  /// Stores a page of records as a sync down does.
  @discardableResult
  func sync(
    _ records: String, into soup: String, by idPath: String = "Id", overlay: JSONObject = [:], removing: [String] = [],
    ownedKeys: [String]? = nil, keepDirty: Bool = false, owner: Int64 = 1, expecting total: Int? = nil
  ) throws -> StoreOutcome {
    try writeBlocking(.pulled) { transaction in
      let plan = try transaction.pagePlan(soup: soup, idPath: idPath, ownedKeys: ownedKeys ?? (overlay.keys + removing))
      return try transaction.storeRecords(
        try plan.scan(ByteArrayPage(Array(records.utf8)), recordsKey: nil), in: soup,
        PageStorage(
          idPath: idPath, members: overlay, dropped: removing, keepDirty: keepDirty, owner: owner, expectedTotal: total))
    }
  }

  func finishBulkLoad(_ soup: String) throws { try writeBlocking(.synced) { try $0.finishBulkLoad(soup: soup) } }

  /// The number of alterations that are not finished. On PostgreSQL each is one transaction.
  func unfinishedAlterations() throws -> String {
    try TestEngine.isSQLite ? rows("SELECT count(*) FROM long_operations_status") : "[[0]]"
  }

  /// What SQLite knows of the tables and indexes; elsewhere the specs of all soups.
  func schemaText() throws -> String {
    guard TestEngine.isSQLite else { return try soupNames().map { "\($0) \(try indexSpecs(ofSoup: $0))" }.joined() }
    return try rows("SELECT * FROM sqlite_master")
  }

  /// Returns the names of the indexes of the only soup. Of SQLite alone.
  func indexNames() throws -> String {
    try rows("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name LIKE 'TABLE%' ORDER BY 1")
  }
}
