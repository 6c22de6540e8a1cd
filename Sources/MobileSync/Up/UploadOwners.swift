import SmartStore

/// Tells whether the run that wrote an upload down still goes on.
struct UploadOwners: Sendable {
  private let leases: SyncLeases
  private let isRunning: @Sendable (Int64) -> Bool

  /// - Parameter isRunning: Whether this manager runs a sync.
  init(leases: SyncLeases, isRunning: @escaping @Sendable (Int64) -> Bool) {
    self.leases = leases
    self.isRunning = isRunning
  }

  /// A run holds the lease of its sync to its end; the next run of the sync has another fence.
  /// - Parameter now: Ms since 1970 UTC.
  func isLive(_ upload: UploadRecord, now: Int64, in snapshot: StoreSnapshot) throws -> Bool {
    guard let lease = try snapshot.lease(SyncLeases.name(upload.syncId)) else { return false }
    let isSameRun = lease.fence == upload.fence
    if lease.owner == leases.owner { return isSameRun && isRunning(upload.syncId) }
    // A build that wrote no fence may still run beside this one.
    return (isSameRun || upload.fence == 0) && leases.isHeld(lease, now: now)
  }
}
