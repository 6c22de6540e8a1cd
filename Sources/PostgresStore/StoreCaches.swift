import SmartStore

/// What a connection knows of a store's soups; valid while the store's number of changes to them stays.
final class StoreCaches {
  private(set) var version: Int64 = -1
  /// By name; the bytes decide.
  private var tables: [SoupTable] = []
  private(set) var smartSql: IdMap<TranslatedSmartSql> = [:]
  let check = SmartSqlCheck()
  let wantedIndexes: WantedIndexes
  /// This connection as the owner of bulk loads.
  let loader = BulkLoad.Owner()

  init(_ wantedIndexes: WantedIndexes) { self.wantedIndexes = wantedIndexes }

  func forget() {
    version = -1
    tables = []
    smartSql = [:]
  }

  func set(_ tables: [SoupTable], version: Int64) {
    forget()
    self.tables = tables
    self.version = version
  }

  var all: [SoupTable] { tables }

  func find(_ name: String) -> SoupTable? { tables.first { $0.soup.name.utf8.elementsEqual(name.utf8) } }

  func keep(_ translated: TranslatedSmartSql) {
    if smartSql.count >= Tuning.smartStatements { smartSql.removeAll() }
    smartSql[translated.source] = translated
  }
}
