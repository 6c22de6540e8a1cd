import Support

/// The exclusive right of one owner, on any host, to do something until a time of the server's clock.
package struct PostgresLease: Sendable, Equatable {
  package let name: String
  package let owner: String
  /// The fencing token: it rises with every change of owner, so that a former owner's transactions are refused.
  package let fence: Int64
  /// Ms since 1970 UTC, by the server's clock.
  package let expiresAt: Int64
  /// Ms for which it was granted or renewed.
  package let durationMs: Int64
  /// Ms of this machine's monotonic clock, from before the request for it was sent.
  package let heldSince: Int64
  /// The schema of its store.
  let schema: String

  /// True while requests to an org may begin: until two thirds of the time since the last renewal are
  /// over. No fence reaches the org, so a request must end before a successor can exist.
  package func permitsRequests(now: Int64 = SystemClock.monotonicMilliseconds()) -> Bool {
    now - heldSince < durationMs / 3 * 2
  }

  /// Extends the lease at the beginning of a transaction, and ends the transaction with `.leaseLost` if the
  /// lease belongs to another owner. An expired lease without a new owner is extended.
  package func hold(in flight: inout Flight) {
    flight.add(
      "SELECT \(PostgresName.quoted(schema)).hold($1, $2, $3, $4)",
      [.text(name), .text(owner), .int64(fence), .int64(durationMs)])
  }
}

/// The leases of a store. All times are the server's; hosts' clocks do not matter.
package struct PostgresLeases: Sendable {
  private let store: String
  private var schema: String { PostgresName.quoted(store) }
  package var durationMs: Int64

  /// - Parameter durationMs: How long a lease is valid without renewal.
  package init(_ store: PostgresSchema.Store, durationMs: Int64 = Tuning.leaseMs) {
    self.store = store.schema
    self.durationMs = durationMs
  }

  private static let inMs = "(extract(epoch FROM expires) * 1000)::bigint"

  /// Acquires a lease that is free, released or expired, or whose owner `takeover` considers gone.
  ///
  /// If the answer is lost, the lease may stay held without an owner until it expires.
  /// - Parameter takeover: Called for a valid lease of another owner, or of this one.
  /// - Returns: nil if another owner holds it.
  package func acquire(
    _ name: String, owner: String, on connection: PostgresConnection, takeover: (PostgresLease) -> Bool = { _ in false }
  ) throws -> PostgresLease? {
    let begin = SystemClock.monotonicMilliseconds()
    let rows = try connection.query(
      """
      INSERT INTO \(schema).leases AS l (name, owner, fence, expires)
      VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 ms')
      ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = l.fence + 1, expires = excluded.expires
      WHERE l.expires <= clock_timestamp() RETURNING fence, \(Self.inMs)
      """, [.text(name), .text(owner), .double(Double(durationMs))])
    if let row = rows.first { return try lease(name, owner, row, begin) }
    guard let held = try lease(name, on: connection) else {
      return try acquire(name, owner: owner, on: connection, takeover: takeover)
    }
    guard takeover(held) else { return nil }
    return try steal(held, owner: owner, on: connection)
  }

  /// Takes over a lease from an owner that is known to be gone, if it is still that owner's.
  /// - Returns: nil if it has changed meanwhile.
  package func steal(_ held: PostgresLease, owner: String, on connection: PostgresConnection) throws -> PostgresLease? {
    let begin = SystemClock.monotonicMilliseconds()
    let rows = try connection.query(
      """
      UPDATE \(schema).leases SET owner = $2, fence = fence + 1, expires = clock_timestamp() + $3 * interval '1 ms'
      WHERE name = $1 AND owner = $4 AND fence = $5 RETURNING fence, \(Self.inMs)
      """, [.text(held.name), .text(owner), .double(Double(durationMs)), .text(held.owner), .int64(held.fence)])
    return try rows.first.map { try lease(held.name, owner, $0, begin) }
  }

  /// Returns the lease of this name; nil if there never was one.
  package func lease(_ name: String, on connection: PostgresConnection) throws -> PostgresLease? {
    let rows = try connection.query(
      "SELECT fence, \(Self.inMs), owner FROM \(schema).leases WHERE name = $1", [.text(name)])
    return try rows.first.map { try lease(name, try $0.string(2), $0, SystemClock.monotonicMilliseconds()) }
  }

  private func lease(_ name: String, _ owner: String, _ row: PostgresRow, _ begin: Int64) throws -> PostgresLease {
    PostgresLease(
      name: name, owner: owner, fence: try row.int64(0), expiresAt: try row.int64(1), durationMs: durationMs,
      heldSince: begin, schema: store)
  }

  /// Extends the leases of this process in one statement, the heartbeat.
  /// - Returns: Those that still belong to their owner. The others are lost.
  package func renew(_ leases: [PostgresLease], on connection: PostgresConnection) throws -> [PostgresLease] {
    guard !leases.isEmpty else { return [] }
    let begin = SystemClock.monotonicMilliseconds()
    // In the order of names, so that two hosts' heartbeats cannot wait for one another.
    let rows = try connection.query(
      """
      WITH kept AS (SELECT l.name FROM \(schema).leases l
          JOIN unnest($1, $2, $3) AS mine(name, owner, fence)
          ON l.name = mine.name AND l.owner = mine.owner AND l.fence = mine.fence ORDER BY l.name FOR NO KEY UPDATE OF l)
      UPDATE \(schema).leases l SET expires = greatest(expires, clock_timestamp() + $4 * interval '1 ms') FROM kept
      WHERE l.name = kept.name RETURNING l.name, \(Self.inMs), l.fence
      """,
      [
        .texts(leases.map(\.name)), .texts(leases.map(\.owner)), .int64s(leases.map(\.fence)), .double(Double(durationMs)),
      ])
    var kept: [String: (expires: Int64, fence: Int64)] = [:]
    for row in rows.map({ $0 }) { kept[try row.string(0)] = (try row.int64(1), try row.int64(2)) }
    return leases.compactMap { lease in
      kept[lease.name].flatMap { $0.fence == lease.fence ? $0.expires : nil }.map {
        PostgresLease(
          name: lease.name, owner: lease.owner, fence: lease.fence, expiresAt: $0, durationMs: durationMs, heldSince: begin,
          schema: store)
      }
    }
  }

  /// Releases a lease; does nothing if it was already lost. The fence stays for the next owner.
  package func release(_ lease: PostgresLease, on connection: PostgresConnection) throws {
    _ = try connection.query(
      """
      UPDATE \(schema).leases SET owner = '', expires = 'epoch' WHERE name = $1 AND owner = $2 AND fence = $3
      """, [.text(lease.name), .text(lease.owner), .int64(lease.fence)])
  }
}
