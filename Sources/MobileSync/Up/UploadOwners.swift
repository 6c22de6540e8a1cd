import SmartStore

/// Determines whether the run that wrote an upload is still going on.
struct UploadOwners: Sendable {
  private let leases: SyncLeases
  private let isRunning: @Sendable (Int64) -> Bool

  /// - Parameter isRunning: Returns whether this manager is running a sync.
  init(leases: SyncLeases, isRunning: @escaping @Sendable (Int64) -> Bool) {
    self.leases = leases
    self.isRunning = isRunning
  }

  /// Returns whether the run that wrote the upload is still going on: a run holds the lease of its
  /// sync until its end, and the next run gets another fence.
  /// - Parameter now: Ms since 1970 UTC.
  func isLive(_ upload: UploadRecord, now: Int64, in snapshot: StoreSnapshot) throws -> Bool {
    guard let lease = try snapshot.lease(SyncLeases.name(upload.syncId)) else { return false }
    let isSameRun = lease.fence == upload.fence
    if lease.owner == leases.owner { return isSameRun && isRunning(upload.syncId) }
    // An older build, which wrote no fence, may still be running.
    return (isSameRun || upload.fence == 0) && leases.isHeld(lease, now: now)
  }
}
