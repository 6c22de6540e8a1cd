import Database

extension SQLiteSnapshot {
  func lease(_ name: String) throws -> Lease? {
    let statement = try connection.statement("SELECT owner, fence, expiresAt FROM leases WHERE name = ?")
    statement.bind(1, name)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return Lease(name: name, owner: statement.string(0), fence: statement.int64(1), expiresAt: statement.int64(2))
  }
}

extension SQLiteTransaction {
  func acquireLease(
    _ name: String, owner: String, now: Int64, duration: Int64, takeover: (Lease) -> Bool
  ) throws -> Lease? {
    let held = try lease(name)
    if let held, held.expiresAt > now, !takeover(held) { return nil }
    return try put(Lease(name: name, owner: owner, fence: (held?.fence ?? 0) + 1, expiresAt: now + duration))
  }

  func renewLease(_ lease: Lease, now: Int64, duration: Int64) throws -> Lease {
    try verify(lease)
    return try put(Lease(name: lease.name, owner: lease.owner, fence: lease.fence, expiresAt: now + duration))
  }

  func releaseLease(_ lease: Lease) throws {
    guard let held = try self.lease(lease.name), held.fence == lease.fence, held.owner == lease.owner else { return }
    _ = try put(Lease(name: lease.name, owner: "", fence: lease.fence, expiresAt: 0))
  }

  func verify(_ lease: Lease) throws {
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
