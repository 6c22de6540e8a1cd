import SmartStore
import Support

extension PostgresTransaction {
  // MARK: Owners

  func join(_ id: Int64, in name: String, owner: Int64) throws {
    let table = try table(name)
    let changed = try query(
      "UPDATE \(table.sql) SET owner = $1 WHERE id = $2 AND owner IS NULL RETURNING id", [.int64(owner), .int64(id)])
    guard changed.count == 0 else { return note(.updated, [id], in: table) }
    add(
      """
      INSERT INTO \(schema).soup_members (soup, entry, owner) SELECT $1, $2, $3
      WHERE NOT EXISTS (SELECT FROM \(table.sql) WHERE id = $2 AND owner = $3) ON CONFLICT DO NOTHING
      """, [.int64(table.soup.number), .int64(id), .int64(owner)])
  }

  func absorb(_ other: Int64, into id: Int64, in name: String) throws {
    let table = try table(name)
    let owners = try ids(
      """
      SELECT owner FROM \(table.sql) WHERE id = $1 AND owner IS NOT NULL
      UNION SELECT owner FROM \(schema).soup_members WHERE soup = $2 AND entry = $1 ORDER BY 1
      """, [.int64(other), .int64(table.soup.number)])
    for owner in owners { try join(id, in: name, owner: owner) }
    try remove([other], from: name)
  }

  func noteMaker(_ syncId: Int64, of id: Int64, in name: String) throws {
    let table = try table(name)
    add(
      """
      INSERT INTO \(schema).soup_creators (soup, entry, sync)
      SELECT $1, id, $2 FROM \(table.sql) WHERE id = $3 AND owner IS NULL ON CONFLICT DO NOTHING
      """, [.int64(table.soup.number), .int64(syncId), .int64(id)])
  }

  // MARK: Conflicts

  func noteConflict(_ conflict: ConflictRecord, in soup: String) throws {
    let state: String, server: PostgresParameter
    switch conflict.server {
    case .record(let text): (state, server) = ("record", .utf8(text))
    case .deleted: (state, server) = ("deleted", .null)
    case .unknown: (state, server) = ("unknown", .null)
    }
    add(
      """
      INSERT INTO \(schema).soup_conflicts (soup, entry, sync, state, server, idField, dateField, detectedAt)
      VALUES ($1, $2, $3, $4, $5::text, $6, $7, $8)
      ON CONFLICT (soup, entry) DO UPDATE SET sync = excluded.sync, state = excluded.state, server = excluded.server,
      idField = excluded.idField, dateField = excluded.dateField, detectedAt = excluded.detectedAt
      """,
      [
        try number(soup), .int64(conflict.entryId), .int64(conflict.syncId), .text(state), server, .text(conflict.idField),
        .text(conflict.dateField), .int64(conflict.detectedAt),
      ])
  }

  func forgetConflict(of id: Int64, in soup: String) throws {
    add("DELETE FROM \(schema).soup_conflicts WHERE soup = $1 AND entry = $2", [try number(soup), .int64(id)])
  }

  func setBase(of id: Int64, in soup: String, to text: [UInt8]) throws {
    add(
      """
      INSERT INTO \(schema).soup_bases (soup, entry, base) VALUES ($1, $2, $3)
      ON CONFLICT (soup, entry) DO UPDATE SET base = excluded.base
      """, [try number(soup), .int64(id), .utf8(text)])
  }

  func forgetBase(of id: Int64, in soup: String) throws {
    add("DELETE FROM \(schema).soup_bases WHERE soup = $1 AND entry = $2", [try number(soup), .int64(id)])
  }

  // MARK: Uploads

  func claim(
    _ uploads: [UploadRecord], in soup: String, isLive: (UploadRecord) throws -> Bool
  ) throws -> [ClaimOutcome] {
    let table = try table(soup)
    try forgetArrivals(in: soup)
    var first: [UploadRecord] = [], seen: Set<Int64> = []
    for upload in uploads where seen.insert(upload.entryId).inserted { first.append(upload) }
    var claimed = try claim(first, table)
    return try uploads.map { upload in
      // An entry's second upload finds its first one.
      if claimed.remove(upload.entryId) != nil { return .claimed }
      guard let other = try unsettledUpload(of: upload.entryId, in: soup) else { return .changed }
      if try isLive(other) { return .held }
      if other.isUnknownCreate { return .unsettled }
      guard try versions(of: [upload.entryId], in: soup)[upload.entryId] == upload.version else { return .changed }
      try endAttempts([other.entryId], in: soup, sentBy: nil)
      return try claim([upload.following(other)], table).isEmpty ? .changed : .claimed
    }
  }

  /// Writes attempts for different entries, except those whose row has changed or that have one already.
  /// - Returns: The entries that are claimed.
  private func claim(_ uploads: [UploadRecord], _ table: SoupTable) throws -> Set<Int64> {
    guard !uploads.isEmpty else { return [] }
    func texts(_ text: (UploadRecord) -> [UInt8]?) -> PostgresParameter {
      var array = PostgresArray(of: .text)
      for upload in uploads {
        if let text = text(upload) { text.withUnsafeBytes { array.append($0) } } else { array.appendNull() }
      }
      return .array(array)
    }
    var offsets = PostgresArray(of: .int64)
    for upload in uploads { if let offset = upload.clockOffset { offsets.append(offset) } else { offsets.appendNull() } }
    let rows = try byIndex {
      try query(
        """
        INSERT INTO \(schema).uploads
        (soup, entry, version, operation, state, sync, fence, sentAt, clockOffset, sent, earlier, entryText)
        SELECT $1, t.id, t.version, u_operation, 'sent', u_sync, u_fence, u_sentAt, u_offset, u_sent, u_earlier, u_text
        FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        AS u(u_id, u_version, u_sync, u_fence, u_operation, u_sentAt, u_offset, u_sent, u_earlier, u_text)
        JOIN \(table.sql) AS t ON t.id = u_id AND t.version = u_version ON CONFLICT (soup, entry) DO NOTHING RETURNING entry
        """,
        [
          .int64(table.soup.number), .int64s(uploads.map(\.entryId)), .int64s(uploads.map(\.version)),
          .int64s(uploads.map(\.syncId)), .int64s(uploads.map(\.fence)), .texts(uploads.map(\.operation.rawValue)),
          .int64s(uploads.map(\.sentAt)), .array(offsets), texts(\.sent), texts(\.earlier), texts(\.entryText),
        ])
    }
    return Set(try rows.map { try $0.int64(0) })
  }

  func journal(_ uploads: [UploadRecord], in soup: String) throws {
    let number = try number(soup)
    func text(_ bytes: [UInt8]?) -> PostgresParameter { bytes.map { .utf8($0) } ?? .null }
    for upload in uploads {
      add(
        """
        INSERT INTO \(schema).uploads
        (soup, entry, version, operation, state, sync, fence, sentAt, clockOffset, resendAt, sent, earlier, entryText)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint, $10::bigint, $11::text, $12::text, $13::text)
        ON CONFLICT (soup, entry) DO UPDATE SET version = excluded.version, operation = excluded.operation,
        state = excluded.state, sync = excluded.sync, fence = excluded.fence, sentAt = excluded.sentAt,
        clockOffset = excluded.clockOffset, resendAt = excluded.resendAt, sent = excluded.sent, earlier = excluded.earlier,
        entryText = excluded.entryText
        """,
        [
          number, .int64(upload.entryId), .int64(upload.version), .text(upload.operation.rawValue),
          .text(upload.state.rawValue), .int64(upload.syncId), .int64(upload.fence), .int64(upload.sentAt),
          .optional(upload.clockOffset), .optional(upload.resendAt), text(upload.sent), text(upload.earlier),
          text(upload.entryText),
        ])
    }
  }

  func endAttempts(_ entryIds: [Int64], in soup: String, sentBy run: (syncId: Int64, fence: Int64)?) throws {
    var parameters = [try number(soup), .int64s(entryIds)]
    if let run { parameters += [.int64(run.syncId), .int64(run.fence)] }
    add(
      "DELETE FROM \(schema).uploads WHERE soup = $1 AND entry = ANY ($2)" + (run == nil ? "" : " AND sync = $3 AND fence = $4"),
      parameters)
  }

  func keepWaiting(_ entryIds: [Int64], in soup: String, until time: Int64) throws {
    add(
      "UPDATE \(schema).uploads SET resendAt = $1 WHERE soup = $2 AND entry = ANY ($3) AND operation = 'create'",
      [.int64(time), try number(soup), .int64s(entryIds)])
  }

  func forgetEndedUpdates(in name: String, isLive: (UploadRecord) throws -> Bool) throws {
    let table = try table(name)
    let clean = try ids(
      """
      SELECT u.entry FROM \(schema).uploads u WHERE u.soup = $1 AND u.operation = 'update'
      AND NOT EXISTS (SELECT FROM \(table.sql) WHERE id = u.entry AND \(table.isDirty) IS TRUE)
      """, [.int64(table.soup.number)])
    guard !clean.isEmpty else { return }
    let ended = try unsettledUploads(of: clean, in: name).filter { try !isLive($0) }
    try endAttempts(ended.map(\.entryId), in: name, sentBy: nil)
  }

  func noteArrivals(_ entryIds: [Int64], in soup: String) throws {
    add(
      "INSERT INTO \(schema).arrivals (soup, entry) SELECT $1, e FROM unnest($2) AS e ON CONFLICT DO NOTHING",
      [try number(soup), .int64s(entryIds)])
  }

  func forgetArrivals(in soup: String) throws {
    add(
      """
      DELETE FROM \(schema).arrivals WHERE soup = $1
      AND NOT EXISTS (SELECT FROM \(schema).uploads WHERE soup = $1 AND \(Self.isUnknownCreate))
      """, [try number(soup)])
  }

  func noteAssignedId(_ id: String, for localId: String, in soup: String, now: Int64) throws {
    add(
      """
      INSERT INTO \(schema).assigned_ids (soup, localId, id, arrivedAt) VALUES ($1, $2, $3, $4)
      ON CONFLICT (soup, \(schema).digest(localId)) DO UPDATE SET id = excluded.id, arrivedAt = excluded.arrivedAt
      """, [try number(soup), .text(PostgresText.storable(localId)), .text(id), .int64(now)])
  }

  func forgetAssignedIds(before time: Int64) throws {
    add("DELETE FROM \(schema).assigned_ids WHERE arrivedAt < $1", [.int64(time)])
  }

  // MARK: Echoes

  func expectEchoes(_ entryIds: [Int64], in name: String) throws {
    guard !entryIds.isEmpty else { return }
    let table = try table(name)
    advanceUploads()
    add(
      """
      INSERT INTO \(schema).uploaded (soup, entry, version, sequence, sent)
      SELECT $1, id, CASE WHEN \(table.isDirty) IS TRUE THEN 0 ELSE version END, (SELECT uploads FROM \(schema).state),
      (SELECT u.sent FROM \(schema).uploads u WHERE u.soup = $1 AND u.entry = id) FROM \(table.sql) WHERE id = ANY ($2)
      ON CONFLICT (soup, entry) DO UPDATE SET version = excluded.version, sequence = excluded.sequence, stamp = NULL,
      sent = excluded.sent, deletedId = NULL
      """, [.int64(table.soup.number), .int64s(entryIds)])
  }

  func noteOwnStamp(_ stamp: Int64, of id: Int64, in name: String) throws {
    add(
      "UPDATE \(schema).uploaded SET stamp = $1 WHERE soup = $2 AND entry = $3",
      [.int64(stamp), try number(name), .int64(id)])
  }

  func removeUploaded(_ id: Int64, externalId: String?, from name: String) throws {
    let table = try table(name)
    let isShared = try query(
      """
      SELECT owner IS NOT NULL
      OR EXISTS (SELECT FROM \(schema).soup_creators m WHERE m.soup = $2 AND m.entry = $1)
      FROM \(table.sql) WHERE id = $1
      """, [.int64(id), .int64(table.soup.number)]
    ).first?.bool(0)
    try remove([id], from: name)
    guard let externalId, isShared == true else { return }
    advanceUploads()
    add(
      """
      INSERT INTO \(schema).uploaded (soup, entry, version, sequence, deletedId)
      VALUES ($1, $2, 0, (SELECT uploads FROM \(schema).state), $3) ON CONFLICT DO NOTHING
      """, [.int64(table.soup.number), .int64(id), .text(PostgresText.storable(externalId))])
  }

  private func advanceUploads() { add("UPDATE \(schema).state SET uploads = uploads + 1") }

  func forgetStaleEchoes(in name: String) throws {
    let table = try table(name)
    add(
      """
      DELETE FROM \(schema).uploaded o WHERE o.soup = $1 AND NOT EXISTS (
        SELECT FROM \(table.sql) WHERE id = o.entry
        AND (version = o.version OR (o.stamp IS NOT NULL OR o.sent IS NOT NULL) AND \(table.isDirty) IS TRUE))
      """, [.int64(table.soup.number)])
  }

  // MARK: Leases

  private static let timeMs = "clock_timestamp() + $3 * interval '1 ms'"

  /// A time that PostgreSQL can represent.
  private static func time(_ duration: Int64) -> PostgresParameter { .double(Double(min(duration, Tuning.longestLeaseMs))) }

  /// By the server's clock, which all hosts share.
  func acquireLease(
    _ name: String, owner: String, now: Int64, duration: Int64, takeover: (Lease) -> Bool
  ) throws -> Lease? {
    let stored = PostgresParameter.text(PostgresText.storable(name))
    let isHeld = try query(
      "SELECT expires > clock_timestamp() FROM \(schema).leases WHERE name = $1 FOR NO KEY UPDATE", [stored]
    ).first?.bool(0)
    if isHeld == true, let held = try lease(name), !takeover(held) { return nil }
    let row = try query(
      """
      INSERT INTO \(schema).leases AS l (name, owner, fence, expires) VALUES ($1, $2, 1, \(Self.timeMs))
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = l.fence + 1, expires = excluded.expires RETURNING fence
      """, [stored, .text(owner), Self.time(duration)]
    ).only()
    return Lease(
      name: name, owner: owner, fence: try row.int64(0), expiresAt: SystemClock.millisecondsSince1970() + duration)
  }

  func renewLease(_ lease: Lease, now: Int64, duration: Int64) throws -> Lease {
    let renewed = try query(
      "UPDATE \(schema).leases SET expires = \(Self.timeMs) WHERE name = $1 AND owner = $2 AND fence = $4 RETURNING fence",
      [.text(PostgresText.storable(lease.name)), .text(lease.owner), Self.time(duration), .int64(lease.fence)])
    guard renewed.count == 1 else { throw lost(lease) }
    return Lease(
      name: lease.name, owner: lease.owner, fence: lease.fence, expiresAt: SystemClock.millisecondsSince1970() + duration)
  }

  func releaseLease(_ lease: Lease) throws {
    add(
      "UPDATE \(schema).leases SET owner = '', expires = 'epoch' WHERE name = $1 AND owner = $2 AND fence = $3",
      [.text(PostgresText.storable(lease.name)), .text(lease.owner), .int64(lease.fence)])
  }

  func verify(_ lease: Lease) throws {
    let found = try query(
      "SELECT FROM \(schema).leases WHERE name = $1 AND owner = $2 AND fence = $3 FOR NO KEY UPDATE",
      [.text(PostgresText.storable(lease.name)), .text(lease.owner), .int64(lease.fence)])
    guard found.count == 1 else { throw lost(lease) }
  }

  private func lost(_ lease: Lease) -> StoreError {
    StoreError(.leaseLost, "another process has taken over '\(lease.name)'")
  }

  // MARK: Pages of syncs

  func keepSyncPage(_ page: String, _ value: [UInt8], of sync: Int64) throws {
    add(
      """
      INSERT INTO \(schema).sync_pages (sync, page, value) VALUES ($1, $2, $3)
      ON CONFLICT (sync, \(schema).digest(page)) DO UPDATE SET value = excluded.value
      """, [.int64(sync), .text(page), .utf8(value)])
  }

  func forgetSyncPage(_ page: String, of sync: Int64) throws {
    add(
      "DELETE FROM \(schema).sync_pages WHERE sync = $1 AND \(schema).digest(page) = \(schema).digest($2) AND page = $2",
      [.int64(sync), .text(page)])
  }

  func forgetSyncPages(of sync: Int64) throws {
    add("DELETE FROM \(schema).sync_pages WHERE sync = $1", [.int64(sync)])
  }

  // MARK: Key-value stores

  func setKeyValue(_ key: String, to value: [UInt8], in store: String) throws {
    add(
      """
      INSERT INTO \(schema).keyvalue (store, key, value) VALUES ($1, $2, $3)
      ON CONFLICT (store, sha256(key)) DO UPDATE SET value = excluded.value
      """, Self.key(key, store) + [.bytes(value)])
  }

  func removeKeyValue(_ key: String, from store: String) throws -> Bool {
    try query("DELETE FROM \(schema).keyvalue WHERE \(Self.keyCondition) RETURNING store", Self.key(key, store)).count > 0
  }

  func clearKeyValues(in store: String) throws { add("DELETE FROM \(schema).keyvalue WHERE store = $1", [.text(store)]) }
}
