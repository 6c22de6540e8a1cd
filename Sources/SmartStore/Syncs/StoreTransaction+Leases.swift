import Database

/// The right of one owner, in any process, to do something alone until a time.
package struct Lease: Sendable, Equatable {
  package let name: String
  package let owner: String
  /// Rises with every change of owner: who holds an old one finds out before it writes.
  package let fence: Int64
  /// Ms since 1970 UTC.
  package let expiresAt: Int64
}

extension StoreSnapshot {
  package func lease(_ name: String) throws -> Lease? {
    let statement = try connection.statement("SELECT owner, fence, expiresAt FROM leases WHERE name = ?")
    statement.bind(1, name)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return Lease(name: name, owner: statement.string(0), fence: statement.int64(1), expiresAt: statement.int64(2))
  }
}

extension StoreTransaction {
  /// Takes a lease that is free, released, expired, or whose owner `takeover` knows to be gone.
  /// - Parameters:
  ///   - now: Ms since 1970 UTC.
  ///   - duration: In ms.
  /// - Returns: Nil when another owner holds it.
  package func acquireLease(
    _ name: String, owner: String, now: Int64, duration: Int64, takeover: (Lease) -> Bool
  ) throws -> Lease? {
    let held = try lease(name)
    if let held, held.expiresAt > now, !takeover(held) { return nil }
    return try put(Lease(name: name, owner: owner, fence: (held?.fence ?? 0) + 1, expiresAt: now + duration))
  }

  /// Prolongs a lease.
  /// - Throws: ``StoreError`` `.leaseLost` when it is no longer this owner's.
  package func renewLease(_ lease: Lease, now: Int64, duration: Int64) throws -> Lease {
    try verify(lease)
    return try put(Lease(name: lease.name, owner: lease.owner, fence: lease.fence, expiresAt: now + duration))
  }

  /// Gives a lease back; nothing happens when it was lost already. The fence stays for the next owner.
  package func releaseLease(_ lease: Lease) throws {
    guard let held = try self.lease(lease.name), held.fence == lease.fence, held.owner == lease.owner else { return }
    _ = try put(Lease(name: lease.name, owner: "", fence: lease.fence, expiresAt: 0))
  }

  /// - Throws: ``StoreError`` `.leaseLost` unless the lease is still this owner's. An expired lease without a new owner still is.
  package func verify(_ lease: Lease) throws {
    guard let held = try self.lease(lease.name), held.fence == lease.fence, held.owner == lease.owner else {
      throw StoreError(.leaseLost, "another process has taken over '\(lease.name)'")
    }
  }

  private func put(_ lease: Lease) throws -> Lease {
    try connection.run(
      "INSERT OR REPLACE INTO leases (name, owner, fence, expiresAt) VALUES (?, ?, ?, ?)",
      [.text(lease.name), .text(lease.owner), .integer(lease.fence), .integer(lease.expiresAt)])
    return lease
  }
}
