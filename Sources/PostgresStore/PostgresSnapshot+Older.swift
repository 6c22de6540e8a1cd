/// The tables as this build's statements read them, also in a store of an older version that nothing may
/// change; see ``StoreTables``.
extension PostgresSnapshot {
  /// With the alias `a` of `soup_attrs`.
  var loadingColumn: String { version < 2 ? "NULL::text" : "a.loading" }

  var uploadsTable: String {
    guard version < 3 else { return "\(schema).uploads" }
    return """
      (SELECT soup, entry, version,
        CASE WHEN operation = 'customCreate' AND sent IS NOT NULL THEN 'create' ELSE operation END AS operation,
        CASE WHEN operation = 'customCreate' AND sent IS NOT NULL THEN 'repeatable' WHEN inDoubt THEN 'inDoubt' ELSE 'sent' END
          AS state, sync, fence, sentAt, clockOffset, resendAt, sent, NULL::text AS earlier, NULL::text AS entryText
        FROM \(schema).outbox WHERE operation <> 'echo') uploads
      """
  }

  /// Without an alias that a caller does not give.
  var uploadedTable: String {
    guard version < 3 else { return "\(schema).uploaded" }
    return """
      (SELECT soup, entry, version, fence AS sequence, resendAt AS stamp, NULL::text AS sent, sent AS deletedId
        FROM \(schema).outbox WHERE operation = 'echo')
      """
  }

  var arrivalsTable: String { version < 3 ? "\(schema).outbox_arrivals" : "\(schema).arrivals" }
}
