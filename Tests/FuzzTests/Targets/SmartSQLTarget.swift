import Database
import Foundation
import JSON
import SmartStore
import Support
import TestSupport

/// Smart SQL, and the keys of `match` and `like` queries, on a real store. Whatever the text: it never writes, it ends within a
/// number of steps, its rows are JSON, and its errors are documented.
struct SmartSQLTarget: FuzzTarget {
  let name = "smart-sql"
  let usualRounds = 500
  let parts = ["smart", "match", "like"]
  let sessionRounds = 5_000
  let dictionary = [
    "{s}", "{s:Id}", "{s:n}", "{s:t}", "{s:o.x}", "{s:_soup}", "{s:_soupEntryId}", "{t}", "{t:Id}", "{s}_fts", "SELECT ",
    " FROM ",
    " WHERE ", " MATCH ", " LIKE ", " ESCAPE '\\'", " GLOB ", " ORDER BY ", " GROUP BY ", " HAVING ", " LIMIT ", " OFFSET ",
    " UNION ALL ",
    " EXCEPT ", " JOIN ", " LEFT JOIN ", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) ", "VALUES(1)",
    "DELETE FROM {s}",
    "INSERT INTO {s} VALUES(1)", "UPDATE {s} SET soup='{}'", "REPLACE INTO {s}", "DROP TABLE {s}", "CREATE TABLE x(a)",
    "CREATE TEMP TABLE x(a)",
    "PRAGMA user_version=5", "PRAGMA journal_mode=DELETE", "ATTACH 'x.db' AS x", "DETACH main", "VACUUM INTO 'x.db'", "REINDEX",
    "ANALYZE",
    "BEGIN", "COMMIT", "SAVEPOINT a", "RETURNING *", "EXPLAIN ", "load_extension('x')", "writefile('x','y')",
    "readfile('/etc/passwd')",
    "fts5_rebuild", "sqlite_master", "soup_attrs", "TABLE_1", "soup_index_map", "json_extract(", "json_each(",
    "json_tree({s:_soup})",
    "zeroblob(", "randomblob(", "printf('%", "hex(", "replace(", "group_concat(", "count(*)", "char(0)", "x'00'", "--", "/*",
    "*/", ";", "[",
    "]", "`", "CAST(", " AS ", "OVER (", "NEAR(", " NOT ", " AND ", " OR ", "Id:", "^a", "{t: a}", "INDEXED BY ",
    "COLLATE NOCASE", "rowid",
    "pragma_table_info('TABLE_1')", "sqlite_offset(", "?", "?1", "?99999", ":a", "@a", "$a",
  ]

  func open() throws -> any FuzzSession { try Session() }

  func generated(_ random: inout SeededGenerator) -> [UInt8]? {
    var grammar = SmartSQLGrammar(random: random)
    defer { random = grammar.random }
    return Array(grammar.statement().utf8)
  }

  private final class Session: FuzzSession, @unchecked Sendable {
    private let temporary: TemporaryStore
    /// A second connection: its `data_version` changes with each commit of another one.
    private let observer: Connection
    private let before: Int64
    private let files: [String]
    private let entries: String

    init() throws {
      temporary = try TemporaryStore(
        soup: "s",
        [
          IndexSpec(path: "Id", type: .string), IndexSpec(path: "n", type: .integer), IndexSpec(path: "f", type: .floating),
          IndexSpec(path: "t", type: .fullText), IndexSpec(path: "o.x", type: .json1),
        ])
      try temporary.store.registerSoup("t", indexSpecs: [IndexSpec(path: "Id", type: .string)])
      let rows = (0..<24).map { i in
        #"{"Id":"00\#(i % 7)","n":\#(i),"f":\#(Double(i) / 4),"t":"ann bo \#(i) é%_","o":{"x":[\#(i),null]}}"#
      }
      try temporary.store.upsert("[" + rows.joined(separator: ",") + "]", into: "s")
      try temporary.store.upsert(#"[{"Id":"001"},{"Id":"x"}]"#, into: "t")
      observer = try Connection(store: temporary.path, mode: .readOnly)
      before = try Self.version(observer)
      files = try FileManager.default.contentsOfDirectory(atPath: temporary.folder.path).sorted()
      entries = try Self.entries(temporary.store)
    }

    private static func version(_ connection: Connection) throws -> Int64 {
      guard case .integer(let version)? = try connection.firstValue("PRAGMA data_version") else {
        throw FuzzFailure(message: "no data_version")
      }
      return version
    }

    private static func entries(_ store: Store) throws -> String {
      try store.rows("SELECT {s:_soup} FROM {s} ORDER BY 1") + store.rows("SELECT {t:_soup} FROM {t} ORDER BY 1")
    }

    func run(_ input: [UInt8]) throws -> FuzzOutcome {
      let (part, bytes) = PartedInput.split(input), text = String(decoding: bytes, as: UTF8.self)
      guard let spec = Self.spec(part, text) else { return .refused("no such part") }
      let outcome = try answer(spec, part)
      try FuzzFailure.unless(try Self.version(observer) == before, "\(part): the query wrote to the store")
      let files = try FileManager.default.contentsOfDirectory(atPath: temporary.folder.path).sorted()
      try FuzzFailure.unless(files == self.files, "\(part): the query made files: \(files)")
      return outcome
    }

    private static func spec(_ part: String, _ text: String) -> QuerySpec? {
      var spec: QuerySpec
      switch part {
      case "smart": return .smart(text, pageSize: 50)
      case "match":
        spec = QuerySpec(kind: .match)
        (spec.indexPath, spec.matchKey) = ("t", .string(text))
      case "like":
        spec = QuerySpec(kind: .like)
        (spec.indexPath, spec.likeKey) = ("Id", text)
      default: return nil
      }
      spec.pageSize = 50
      return spec
    }

    private func answer(_ spec: QuerySpec, _ part: String) throws -> FuzzOutcome {
      do {
        let rows = try value(of: temporary.store.query(spec, soup: "s", cancellation: Self.endingSoon()))
        guard let rows = rows.arrayValue else { throw FuzzFailure(message: "\(part): the page is not an array") }
        try FuzzFailure.unless(rows.count <= 50, "\(part): a page of \(rows.count) rows")
        let isRow = rows.allSatisfy { spec.kind == .smart ? $0.arrayValue != nil : $0.objectValue != nil }
        try FuzzFailure.unless(isRow, "\(part): a row of the wrong kind")
        if spec.kind != .smart, rows.count < 50 {
          let total = try temporary.store.count(spec, soup: "s")
          try FuzzFailure.unless(total == rows.count, "\(part): \(rows.count) rows, and a count of \(total)")
        }
        return .accepted("\(part) \(FuzzSignal.magnitude(rows.count)) \(FuzzSignal.shape(rows.first ?? .null))")
      } catch let error as StoreError {
        try Self.check(error, part)
        return .refused("\(part) \(error.code) \(error.message)")
      }
    }

    private func value(of bytes: [UInt8]) throws -> JSONValue {
      do { return try JSONValue(parsing: bytes) } catch {
        throw FuzzFailure(message: "the page is not JSON: \(error): \(String(decoding: bytes.prefix(300), as: UTF8.self))")
      }
    }

    /// Ends a query after a number of steps: an endless one takes about half a second.
    private static func endingSoon() -> QueryCancellation {
      let cancellation = QueryCancellation()
      cancellation.endSoon()
      return cancellation
    }

    /// The errors that `Store.query` documents.
    private static func check(_ error: StoreError, _ part: String) throws(FuzzFailure) {
      let known: Set<StoreError.Code> = [
        .noSuchSoup, .invalidSmartSql, .invalidQuerySpec, .notReadOnly, .queryLimit, .cancelled, .pathNotIndexed,
      ]
      try FuzzFailure.unless(known.contains(error.code), "\(part): the error \(error.code): \(error.message)")
      try FuzzFailure.unless(!error.message.isEmpty, "\(part): \(error.code) without a message")
    }

    func close() async {
      observer.close()
    }

    /// The entries are as they were.
    func finish() throws {
      try FuzzFailure.unless(try Self.entries(temporary.store) == entries, "entries have changed")
    }
  }
}

/// Smart SQL made from SQLite's grammar: mostly queries, some of which are valid, and some statements that write.
struct SmartSQLGrammar {
  var random: SeededGenerator

  private static let columns = [
    "{s:Id}", "{s:n}", "{s:f}", "{s:t}", "{s:o.x}", "{s:_soup}", "{s:_soupEntryId}", "{s:_soupLastModifiedDate}", "{s:gone.a}",
    "n", "*",
    "1", "NULL", "'é'", "count(*)", "max({s:n})", "x'ff'", "1e999", "-9223372036854775808", "json_extract({s:_soup},'$.o')",
  ]

  mutating func statement() -> String {
    if random.chance(12) {
      return "match\n"
        + list(1...4, " ") {
          $0.random.pick([
            "ann", "bo*", "\"ann bo\"", "AND", "OR", "NOT", "(", ")", "t:", "{t}:", "^", "NEAR(", "é", "-", "+", "''",
          ])
        }
    }
    if random.chance(20) { return "like\n" + list(1...4, "") { $0.random.pick(["0", "%", "_", "\\", "é", "00", "[", "x"]) } }
    if random.chance(10) { return "smart\n" + writing() }
    return "smart\n" + query(depth: 0) + random.pick(["", "", ";", " -- end", "; SELECT 1"])
  }

  private mutating func list(_ counts: ClosedRange<Int>, _ separator: String, _ item: (inout SmartSQLGrammar) -> String) -> String
  {
    (0..<Int.random(in: counts, using: &random)).map { _ in item(&self) }.joined(separator: separator)
  }

  private mutating func writing() -> String {
    let write = random.pick([
      "DELETE FROM {s}", "INSERT INTO {s}(id) VALUES(99)", "UPDATE {s} SET soup='{}'", "DROP TABLE {s}",
      "CREATE INDEX i ON {s}(id)",
      "ALTER TABLE {s} RENAME TO x", "PRAGMA writable_schema=1", "ATTACH ':memory:' AS x", "VACUUM",
      "INSERT INTO {s}_fts({s}_fts) VALUES('rebuild')",
    ])
    return random.pick(["", "EXPLAIN ", "WITH a AS (SELECT 1) ", "/* */ ", "SELECT 1; ", "(", " -- \n"]) + write
      + random.pick(["", " RETURNING *", ";"])
  }

  private mutating func query(depth: Int) -> String {
    let columns = list(1...3, ", ") { $0.random.pick(Self.columns) }
    let source = random.pick([
      "{s}", "{s}", "{s} JOIN {t} ON {s:Id} = {t:Id}", "{s} a", "(SELECT 1 n)", "json_each('[1,2]')", "{s} LEFT JOIN {t}",
    ])
    var text = "SELECT \(random.pick(["", "DISTINCT "]))\(columns) FROM \(source)"
    if random.chance(2) { text += " WHERE " + condition(depth: depth) }
    if random.chance(6) { text += " GROUP BY {s:Id}" + random.pick(["", " HAVING count(*) > 1"]) }
    if random.chance(3) { text += " ORDER BY " + random.pick(["1", "{s:n} DESC", "{s:Id}, 1", "random()"]) }
    if random.chance(3) { text += " LIMIT " + random.pick(["5", "0", "-1", "1e3", "5 OFFSET 99"]) }
    if depth < 2, random.chance(8) { text += random.pick([" UNION ALL ", " EXCEPT "]) + query(depth: depth + 1) }
    return text
  }

  private mutating func condition(depth: Int) -> String {
    if depth < 3, random.chance(3) {
      return "(\(condition(depth: depth + 1)) \(random.pick(["AND", "OR"])) \(condition(depth: depth + 1)))"
    }
    switch random.below(7) {
    case 0:
      return "{s:Id} \(random.pick(["=", "<", "LIKE", "GLOB", "IS NOT"])) \(random.pick(["'001'", "'00%'", "NULL", "?", "5"]))"
    case 1: return "{s:n} BETWEEN \(random.below(9)) AND \(random.below(30))"
    case 2: return "{s}_fts MATCH \(random.pick(["'ann'", "'{s:t}:bo'", "'\"'", "''", "'a NEAR b'"]))"
    case 3: return "{s:_soupEntryId} IN (SELECT {s:_soupEntryId} FROM {s} LIMIT 3)"
    case 4 where depth < 2: return "EXISTS (\(query(depth: depth + 1)))"
    case 5: return "{s:f} > {s:n} / 0"
    default: return "NOT " + random.pick(["{s:t} = ''", "0", "{s:o.x} IS NULL"])
    }
  }
}
