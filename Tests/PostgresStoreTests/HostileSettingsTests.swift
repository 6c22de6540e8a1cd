import PostgresStore
import SmartStore
import TestSupport
import Testing

/// Settings and texts that would make PostgreSQL read our SQL in another way than SQLite does.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct HostileSettingsTests {
  private static let settings = [
    "standard_conforming_strings=off", "backslash_quote=on", "transform_null_equals=on", "array_nulls=off", "datestyle=german",
    "intervalstyle=sql_standard", "bytea_output=escape", "extra_float_digits=-15", "quote_all_identifiers=on",
  ]

  /// Where the settings come from.
  enum Source: CaseIterable { case server, role, address }

  private func store(_ source: Source) throws -> Store {
    let cluster = try PostgresCluster.running(), hosts = try Hosts()
    if source == .role {
      let changes = Self.settings.map { "ALTER ROLE hostile SET \($0);" }.joined(separator: " ")
      try cluster.connect().execute("CREATE ROLE hostile LOGIN SUPERUSER; \(changes)")
    }
    var address = cluster.address(user: source == .role ? "hostile" : "tureen", schema: hosts.schema)
    if source == .address { address.options["options"] = Self.settings.map { "-c \($0)" }.joined(separator: " ") }
    let engines = PostgresEngines(PostgresConnector(address), org: "acme", user: "ada")
    defer { engines.close() }
    let store = Store(name: "main", isGlobal: false, engine: try engines.open("main", isGlobal: false))
    try fill(store)
    return store
  }

  private func fill(_ store: Store) throws {
    try store.registerSoup("a", indexSpecs: [IndexSpec(path: "name", type: .string), IndexSpec(path: "j", type: .json1)])
    try store.upsert(#"[{"name":"one","j":1.2345678901234567,"x'":1}]"#, into: "a")
  }

  /// Statements that mean the same to both, or that PostgreSQL's translation refuses. Each would end a text early.
  private static let attacks = [
    #"SELECT 'a\' AS x, ' COLLATE "C") AS x, (SELECT max(nspname) FROM pg_catalog.pg_namespace) AS y) AS q --' AS y FROM {a}"#,
    #"SELECT '\\', '\''' , 'x\' FROM {a}"#,
    #"SELECT {a:name} || '\', {a:name} = 'one\' OR {a:j} = '\' OR {a:name} LIKE '\', '/' FROM {a}"#,
    "SELECT 'b''\u{301}', '\u{301}' FROM {a}",
    "SELECT json_extract({a:_soup}, '$.x''\u{301}], 1), (SELECT max(nspname) FROM pg_catalog.pg_namespace), (''') FROM {a}",
    "SELECT {a:x'\u{301}] AS z, (SELECT max(nspname) FROM pg_catalog.pg_namespace), '} FROM {a}",
    "SELECT count(*) FROM {a} WHERE {a:j} = 'b''\u{301}) COLLATE \"C\") OR ((''x'",
    "SELECT count(*) FROM {a} WHERE {a:name} = NULL",
  ]

  @Test(arguments: Source.allCases) func smartSql_whateverTheSettings_readsTextsAsSQLiteDoes(_ source: Source) throws {
    let store = try store(source), sqlite = try TemporaryStore()
    defer { store.close() }
    try fill(sqlite.store)
    for sql in Self.attacks {
      let expected = Result { try sqlite.store.rows(sql) }.shown, found = Result { try store.rows(sql) }.shown
      #expect(found == expected || found == "error notOnThisEngine", "\(sql)")
      #expect(!found.contains("pg_toast"), "\(sql)")
    }
    #expect(try store.rows("SELECT {a:j} FROM {a}") == "[[1.2345678901234567]]")
  }
}

extension Result<String, any Error> {
  fileprivate var shown: String {
    switch self {
    case .success(let text): text
    case .failure(let error): "error \((error as? StoreError)?.code.rawValue ?? "\(error)")"
    }
  }
}
