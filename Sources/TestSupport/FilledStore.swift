import Database
import JSON
import SmartStore
import Support

/// A store with rows in all its tables, and the contents of a file, for tests of copies.
package enum FilledStore {
  /// The soups that ``fill(_:seed:)`` makes. The names differ only in their bytes, or need quotes.
  package static let soups = ["contacts", "odd 'soup' \u{e9}", "odd 'soup' e\u{301}", "empty"]

  package static let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .string), IndexSpec(path: "n", type: .integer),
    IndexSpec(path: "f", type: .floating), IndexSpec(path: "j", type: .json1), IndexSpec(path: "__local__", type: .string),
    IndexSpec(path: "o.k", type: .string),
  ]

  private static let values = [
    "null", "true", "0", "-1", "2.5", "-0.0", "1e3", "9223372036854775807", "-9223372036854775808", "1e300", "1e999", "\"\"",
    "\"A\"", "\"a\"", "\"\u{e9}\"", "\"e\\u0301\"", "\"a\\u0000b\"", "\"\\ufffd\"", "\"a'b\\\\\"", "[1,{\"x\":2}]",
    "{\"k\":\"v\"}",
    "\"\\ud83d\\ude00\"",
  ]

  /// Fills an empty store through the calls that scripts and syncs use.
  package static func fill(_ store: Store, seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    func pick() -> String { values[Int.random(in: 0..<values.count, using: &random)] }
    for soup in soups { try store.registerSoup(soup, indexSpecs: specs) }
    for soup in soups.dropLast() {
      for page in 0..<3 {
        let records = (0..<20).map { i in
          "{\"Id\":\"r\(page)\(i)\",\"Name\":\(pick()),\"n\":\(pick()),\"f\":\(pick()),\"j\":\(pick()),\"o\":{\"k\":\(pick())}}"
        }
        try sync("[\(records.joined(separator: ","))]", into: soup, owner: Int64(page + 1), store)
      }
      try edit(soup, store)
      try keepNotes(soup, store)
    }
    // Columns without values, although the entries have some.
    try store.alterSoup("contacts", indexSpecs: specs + [IndexSpec(path: "late", type: .string)], reIndexData: false)
    try keepOthers(store)
  }

  private static func sync(_ records: String, into soup: String, owner: Int64, _ store: Store) throws {
    _ = try store.writeBlocking(.pulled) { transaction in
      let plan = try transaction.pagePlan(soup: soup, idPath: "Id", ownedKeys: ["__local__"])
      return try transaction.storeRecords(
        try plan.scan(ByteArrayPage(Array(records.utf8)), recordsKey: nil), in: soup,
        PageStorage(
          idPath: "Id", members: ["__local__": false], dropped: [], keepDirty: true, owner: owner, expectedTotal: nil))
    }
  }

  /// Local edits of every kind. The edited entries keep the server's version as their base.
  private static func edit(_ soup: String, _ store: Store) throws {
    let edits = (0..<5).map {
      "{\"Id\":\"r0\($0)\",\"Name\":\"edited\",\"late\":\"x\",\"__local__\":true,\"__locally_updated__\":true}"
    }
    let created = (0..<4).map {
      "{\"Id\":\"local_\($0)\",\"Name\":\"new\",\"__local__\":true,\"__locally_created__\":true}"
    }
    _ = try store.upsert(Array("[\((edits + created).joined(separator: ","))]".utf8), into: soup, externalIdPath: "Id")
    // Their ids are not given again.
    try store.remove([7, 8, 64], from: soup)
  }

  private static func keepNotes(_ soup: String, _ store: Store) throws {
    try store.writeBlocking(.synced) { transaction in
      try transaction.join(20, in: soup, owner: 9)
      try transaction.join(20, in: soup, owner: 8)
      try transaction.noteMaker(5, of: 62, in: soup)
      for (id, server) in [(1, .record(Array("{\"Name\":\"theirs\"}".utf8))), (2, .deleted), (3, .unknown)]
        as [(Int64, ConflictRecord.Server)]
      {
        try transaction.noteConflict(
          ConflictRecord(
            entryId: id, syncId: 3, server: server, idField: "Id", dateField: "LastModifiedDate", detectedAt: 1_700_000_000_000),
          in: soup)
      }
      try transaction.journal(
        [
          UploadRecord(
            entryId: 61, version: 1, syncId: 4, fence: 1, operation: .create, state: .inDoubt, sentAt: 5, clockOffset: -7,
            resendAt: 9, sent: Array("{\"id\":\"local_0\"}".utf8), earlier: Array("[{\"fields\":{}}]".utf8),
            entryText: Array("{}".utf8)),
          UploadRecord(entryId: 4, version: 2, syncId: 4, fence: 1, operation: .update, sentAt: 6),
        ], in: soup)
      try transaction.noteArrivals([10, 11], in: soup)
      try transaction.noteAssignedId("003A", for: "local_9", in: soup, now: 12)
      try transaction.noteAssignedId("003B", for: "local_\u{fc}", in: soup, now: 13)
      try transaction.expectEchoes([12, 13], in: soup)
      try transaction.noteOwnStamp(1_700_000_000_123, of: 12, in: soup)
      try transaction.removeUploaded(14, externalId: "r013", from: soup)
    }
  }

  private static func keepOthers(_ store: Store) throws {
    try store.writeBlocking(.synced) { transaction in
      try transaction.keepSyncPage("https://example.com/a?page=1", Array("{\"etag\":\"x\"}".utf8), of: 3)
      try transaction.keepSyncPage("https://example.com/a?page=2", Array("{}".utf8), of: 3)
      try transaction.setKeyValue("a", to: [0, 1, 2, 255], in: "settings")
      try transaction.setKeyValue("b/\u{e9}", to: [], in: "settings")
      try transaction.setKeyValue("a", to: Array("text".utf8), in: "other")
      for sync in [3, 4] {
        var lease = try transaction.acquireLease("sync:\(sync)", owner: "someone", now: 0, duration: 1) { _ in true }
        if let taken = lease { try transaction.releaseLease(taken) }
        lease = try transaction.acquireLease("sync:\(sync)", owner: "someone", now: 0, duration: 1) { _ in true }
        if let taken = lease { try transaction.releaseLease(taken) }
      }
    }
  }

  // MARK: Contents

  /// Returns the rows of all tables of a store's file but its id, with its tables, indexes and triggers, a line each.
  package static func dump(_ path: String) throws -> [String] {
    let connection = try Connection(path: path, mode: .readOnly)
    defer { connection.close() }
    var lines = try texts(
      """
      SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master
      WHERE name NOT LIKE '%\\_fts\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite_autoindex%' AND name NOT LIKE '%lookup%'
      ORDER BY name
      """, connection)
    let tables = try texts(
      """
      SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_fts\\_%' ESCAPE '\\' AND name <> 'store_id'
      ORDER BY name
      """, connection)
    for table in tables {
      let columns = try texts("SELECT name FROM pragma_table_info('\(table)') ORDER BY cid", connection)
      let row = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ' ' || ")
      // A soup that never had an entry may or may not have a row here, and the ids of past alterations do not matter.
      let condition = table == "sqlite_sequence" ? " WHERE seq > 0 AND name <> 'long_operations_status'" : ""
      lines += try texts("SELECT '\(table): ' || \(row) FROM \"\(table)\"\(condition) ORDER BY 1", connection)
    }
    return lines
  }

  private static func texts(_ sql: String, _ connection: Connection) throws -> [String] {
    let statement = try connection.prepare(sql)
    var texts: [String] = []
    while try statement.step() { texts.append(statement.string(0)) }
    return texts
  }

  /// Changes a store's file behind its engine.
  package static func tamper(_ path: String, _ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    try connection.execute(sql)
  }
}
