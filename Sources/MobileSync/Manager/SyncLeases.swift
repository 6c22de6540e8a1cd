import SmartStore
import Support
import Synchronization

/// Who may run a sync: leases in the store, so that two processes on one store never run one sync at once.
///
/// An owner is a process, its process id namespace, and a manager in it. On one machine a dead owner is recognised at
/// once and a living one is never robbed; a lease of another machine counts until it expires.
final class SyncLeases: Sendable {
  private static let living = Mutex((last: 0, serials: Set<Int>()))

  private let serial: Int
  let owner: String

  init() {
    serial = SyncLeases.living.withLock { living in
      living.last += 1
      living.serials.insert(living.last)
      return living.last
    }
    owner = "\(ProcessIdentity.current.text)/\(ProcessIdentity.currentNamespace)/\(serial)"
  }

  deinit {
    let serial = serial
    _ = SyncLeases.living.withLock { $0.serials.remove(serial) }
  }

  static func name(_ syncId: Int64) -> String { "sync:\(syncId)" }

  /// Takes the lease of a sync.
  /// - Throws: ``SyncError`` `.runningElsewhere`.
  func acquire(_ syncId: Int64, now: Int64, duration: Int64, in transaction: StoreTransaction) throws -> Lease {
    let name = SyncLeases.name(syncId)
    if let held = try transaction.lease(name), isHeldByOther(held, now: now) { throw runningElsewhere(syncId) }
    let lease = try transaction.acquireLease(name, owner: owner, now: now, duration: duration) { _ in true }
    guard let lease else { throw runningElsewhere(syncId) }
    return lease
  }

  private func runningElsewhere(_ id: Int64) -> SyncError {
    SyncError(.runningElsewhere, "sync \(id) is still running in another process", isRetryable: true)
  }

  /// True while the sync runs, in this manager or another.
  func isHeld(_ lease: Lease, now: Int64) -> Bool { lease.owner == owner || isHeldByOther(lease, now: now) }

  /// True while another process, or another manager of this one, runs the sync.
  func isHeldByOther(_ lease: Lease, now: Int64) -> Bool {
    guard lease.owner != owner else { return false }
    let parts = lease.owner.split(separator: "/", omittingEmptySubsequences: false)
    // Of an owner that another version wrote nothing is known.
    guard parts.count == 3, let process = ProcessIdentity(text: String(parts[0])), let serial = Int(parts[2]) else {
      return lease.expiresAt > now
    }
    if process == .current { return SyncLeases.living.withLock { $0.serials.contains(serial) } }
    return switch process.liveness(in: String(parts[1])) {
    case .running: true
    case .dead: false
    // Only time tells.
    case .unknown: lease.expiresAt > now
    }
  }
}
