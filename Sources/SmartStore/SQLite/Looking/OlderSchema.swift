import Database

/// Lets this build's statements read a file of an older schema: what was added since is there as temporary
/// views of this connection, which have what the file knows of it.
enum OlderSchema {
  /// Call before the connection is restricted to reading.
  /// - Parameter version: The version of the file's schema, at most ``Schema/version``.
  static func complete(_ connection: Connection, from version: Int64) throws {
    guard version < Schema.version else { return }
    // Views are kept in a database of their own, which must not become a file.
    try connection.execute("PRAGMA temp_store = MEMORY")
    for view in views(version) { try connection.execute("CREATE TEMP VIEW \(view)") }
  }

  private static func views(_ version: Int64) -> [String] {
    var views = history + (version < 5 ? afterFour(outbox: version < 3 ? outboxOfTwo : "outbox") : [])
    if version < 4 { views.append("sync_pages AS SELECT 0 AS sync, '' AS page, '' AS value WHERE 0") }
    if version < 2 {
      views.append(
        """
        soup_conflicts AS SELECT 0 AS soup, 0 AS entry, 0 AS sync, '' AS state, NULL AS server, '' AS idField, '' AS dateField,
        0 AS detectedAt WHERE 0
        """)
    }
    return views
  }

  /// The tables of version 6, which earlier files have nothing for.
  private static let history = [
    "actors AS SELECT 0 AS id, '' AS kind, NULL AS name, '' AS host, NULL AS uid, '' AS version WHERE 0",
    """
    sync_runs AS SELECT 0 AS id, 0 AS sync, NULL AS name, '' AS kind, '' AS status, NULL AS pid, 0 AS actor, NULL AS job,
    0 AS startedAt, NULL AS endedAt, NULL AS state, NULL AS plan WHERE 0
    """,
    """
    run_events AS SELECT 0 AS id, 0 AS run, 0 AS at, '' AS kind, NULL AS soup, NULL AS rows, NULL AS bytes, NULL AS server,
    NULL AS method, NULL AS path, NULL AS status, NULL AS attempt, NULL AS ms, NULL AS error WHERE 0
    """,
    """
    entry_log AS SELECT 0 AS id, 0 AS at, NULL AS run, 0 AS actor, 0 AS soup, 0 AS entry, 0 AS version, '' AS cause,
    NULL AS reason, NULL AS fields, NULL AS recordId, NULL AS before, NULL AS sent WHERE 0
    """,
    "store_id AS SELECT '' AS id WHERE 0",
  ]

  /// The uploads of a file of version 1 or 2, with the columns of version 3.
  private static let outboxOfTwo =
    "(SELECT *, 0 AS fence, NULL AS clockOffset, NULL AS resendAt, NULL AS sent FROM outbox)"

  /// The tables that version 5 made of earlier ones; see ``Schema``.
  private static func afterFour(outbox: String) -> [String] {
    [
      """
      uploads AS SELECT soup, entry, version,
      iif(operation = 'customCreate' AND sent IS NOT NULL, 'create', operation) AS operation,
      CASE WHEN operation = 'customCreate' AND sent IS NOT NULL THEN 'repeatable' WHEN inDoubt THEN 'inDoubt' ELSE 'sent' END
      AS state, sync, fence, sentAt, clockOffset, resendAt, sent, NULL AS earlier, NULL AS entryText
      FROM \(outbox) WHERE operation <> 'echo'
      """,
      """
      uploaded AS SELECT soup, entry, version, fence AS sequence, resendAt AS stamp, NULL AS sent, sent AS deletedId
      FROM \(outbox) WHERE operation = 'echo'
      """,
      "arrivals AS SELECT 0 AS soup, 0 AS entry WHERE 0",
      "soup_creators AS SELECT soup, entry, -owner AS sync FROM soup_members WHERE owner < 0",
      "assigned_ids AS SELECT 0 AS soup, '' AS localId, '' AS id, 0 AS arrivedAt WHERE 0",
      "counters AS SELECT 'uploads' AS name, fence AS value FROM leases WHERE name = 'uploads written back'",
    ]
  }
}
