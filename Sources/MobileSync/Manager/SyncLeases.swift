import SmartStore
import Support
import Synchronization

/// Grants the right to run a sync with leases in the store, so that two processes never run a sync
/// of one store at once.
///
/// An owner is a process, its process id namespace, and a manager in it. On the same machine, a
/// dead owner is detected at once. A living one keeps its lease a while longer than another machine
/// would, in case the clock was set; but not for ever, because a run that could not reach the store
/// at its end has not released it.
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

  /// How long after its expiry a lease of a living process on this machine counts, in ms.
  private static let expiryAllowanceMs: Int64 = 60_000

  deinit {
    let serial = serial
    _ = SyncLeases.living.withLock { $0.serials.remove(serial) }
  }

  static func name(_ syncId: Int64) -> String { "sync:\(syncId)" }

  /// Acquires the lease of a sync.
  /// - Throws: ``SyncError`` `.runningElsewhere`.
  func acquire(_ syncId: Int64, now: Int64, duration: Int64, in transaction: StoreTransaction) throws -> Lease {
    let name = SyncLeases.name(syncId)
    let held = try transaction.lease(name)
    if let held, isHeldByOther(held, now: now) { throw try runningElsewhere(syncId, held.owner, in: transaction) }
    // Its owner has died without an end: the rows of its runs say that they are running.
    if let held, !held.owner.isEmpty { transaction.history?.abandon(sync: syncId) }
    let lease = try transaction.acquireLease(name, owner: owner, now: now, duration: duration) { _ in true }
    guard let lease else { throw try runningElsewhere(syncId, held?.owner ?? "", in: transaction) }
    return lease
  }

  func runningElsewhere(_ id: Int64, _ owner: String, in transaction: StoreTransaction) throws -> SyncError {
    let name = try SyncsSoup.find(.id(id), in: transaction)?.name.map { "sync '\($0)' (\(id))" } ?? "sync \(id)"
    return SyncError(.runningElsewhere, "\(name) is still running in \(SyncLeases.place(of: owner))", isRetryable: true)
  }

  /// Describes the owner of a lease for a person who wants to find it.
  static func place(of owner: String) -> String {
    let parts = owner.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let process = ProcessIdentity(text: String(parts[0])) else { return "another process" }
    if process == .current { return "another host of this process (\(process.pid))" }
    if process.liveness(in: String(parts[1])) == .unknown {
      return "process \(process.pid) of another machine or container (boot id \(process.bootId.prefix(8)))"
    }
    return "process \(process.pid) of this machine"
  }

  /// Returns the process that owns a lease; the host is nil for this machine, and if it is not known. nil if another version
  /// wrote the owner.
  static func process(of owner: String) -> (pid: Int32, host: String?)? {
    let parts = owner.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count == 3 ? ProcessIdentity(text: String(parts[0])).map { ($0.pid, nil) } : nil
  }

  /// Returns whether the sync is running, in this manager or another.
  func isHeld(_ lease: Lease, now: Int64) -> Bool { lease.owner == owner || isHeldByOther(lease, now: now) }

  /// Returns whether another process, or another manager of this one, is running the sync.
  func isHeldByOther(_ lease: Lease, now: Int64) -> Bool {
    lease.owner != owner && SyncLeases.isHeld(lease, now: now)
  }

  /// Returns whether the owner of a lease, in any process, is running the sync.
  static func isHeld(_ lease: Lease, now: Int64) -> Bool {
    let parts = lease.owner.split(separator: "/", omittingEmptySubsequences: false)
    // Another version wrote the owner, so nothing is known about it.
    guard parts.count == 3, let process = ProcessIdentity(text: String(parts[0])), let serial = Int(parts[2]) else {
      return lease.expiresAt > now
    }
    let isRecent = lease.expiresAt > now - SyncLeases.expiryAllowanceMs
    if process == .current { return isRecent && SyncLeases.living.withLock { $0.serials.contains(serial) } }
    return switch process.liveness(in: String(parts[1])) {
    case .running: isRecent
    case .dead: false
    // Only the expiry can tell.
    case .unknown: lease.expiresAt > now
    }
  }
}
