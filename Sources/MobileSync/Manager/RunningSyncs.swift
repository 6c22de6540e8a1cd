import SmartStore
import Support

/// Tells which syncs of a store are running, to a program that does not run any.
package enum RunningSyncs {
  /// The soup of the states of a store's syncs.
  package static let soup = SyncsSoup.name

  /// Returns whether the run that acquired the lease is still going on, in any process.
  package static func isRunning(_ lease: Lease) -> Bool {
    SyncLeases.isHeld(lease, now: SystemClock.millisecondsSince1970())
  }
}
