import Database

/// Data that syncs keep about the pages of a list, such as validators, under a name that the target
/// gives each page. It is stored apart from the sync state, which would otherwise grow with every
/// page.
extension SQLiteTransaction {
  func keepSyncPage(_ page: String, _ value: [UInt8], of sync: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO sync_pages (sync, page, value) VALUES (?, ?, ?)",
      [.integer(sync), .text(page), .text(String(decoding: value, as: UTF8.self))])
  }

  func forgetSyncPage(_ page: String, of sync: Int64) throws {
    try connection.run("DELETE FROM sync_pages WHERE sync = ? AND page = ?", [.integer(sync), .text(page)])
  }

  func forgetSyncPages(of sync: Int64) throws {
    try connection.run("DELETE FROM sync_pages WHERE sync = ?", [.integer(sync)])
  }
}

extension SQLiteSnapshot {
  func syncPages(of sync: Int64) throws -> IdMap<String> {
    let statement = try connection.statement("SELECT page, value FROM sync_pages WHERE sync = ?")
    try statement.bind([.integer(sync)])
    defer { statement.reset() }
    var pages: IdMap<String> = [:]
    while try statement.step() { pages[statement.string(0)] = statement.string(1) }
    return pages
  }
}
