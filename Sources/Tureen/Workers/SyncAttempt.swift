import Dispatch
import JSON
import LuaBridge
import MobileSync
import Synchronization

/// A run of a named sync for a job, as `tureen sync` runs it.
final class SyncAttempt: JobAttempt {
  private struct State {
    var manager: SyncManager?
    var id: Int64 = 0
    var isStopping = false
    var isOver = false
  }

  private let name: String
  /// See ``ClaimedJob/attempt``.
  private let attempt: String
  private let store: StoreReference
  private let cleansGhosts: Bool
  private let key: WorkerAccounts.Key
  private let settings: HostSettings
  private let hosts: WorkerHosts
  private let onEnd: @Sendable (AttemptEnd) -> Void
  /// Calls of the store block, so they are made here.
  private let queue = DispatchQueue(label: "tureen.worker.sync")
  private let state = Mutex(State())

  init(
    _ claimed: ClaimedJob, cleansGhosts: Bool, _ key: WorkerAccounts.Key, _ settings: HostSettings, _ hosts: WorkerHosts,
    onEnd: @escaping @Sendable (AttemptEnd) -> Void
  ) {
    name = claimed.job.name
    attempt = claimed.attempt
    store = StoreReference(name: claimed.store.name, isGlobal: claimed.store.user.isEmpty && claimed.store.org.isEmpty)
    self.cleansGhosts = cleansGhosts
    self.key = key
    self.settings = settings
    self.hosts = hosts
    self.onEnd = onEnd
  }

  func begin() { queue.async { JobOrigin.$current.withValue(self.attempt) { self.start() } } }

  private func start() {
    let host = hosts.use(key, settings)
    do {
      let core = try host.core(), org = core.user.org
      guard org.folder == key.org, org.userFolder == key.user else {
        throw HostError(.noSuchUser, "the settings of this worker choose another user now: \(org.folder)/\(org.userFolder)")
      }
      let manager = try core.manager(store)
      let started = try manager.reSync(.name(name)) { update in
        if update.status.isTerminal { self.queue.async { self.ended(update) } }
      }
      follow(manager, started.id)
    } catch {
      finish(AttemptEnd(error, isStopping: state.withLock { $0.isStopping }))
    }
  }

  private func follow(_ manager: SyncManager, _ id: Int64) {
    let isStopping = state.withLock { state in
      (state.manager, state.id) = (manager, id)
      return state.isStopping
    }
    if isStopping { manager.cancel(id) }
  }

  private func ended(_ sync: SyncState) {
    let end = AttemptEnd(sync)
    guard cleansGhosts, sync.type == .syncDown, sync.status == .done, case .done(let counts) = end,
      let manager = state.withLock({ $0.isStopping ? nil : $0.manager })
    else { return finish(end) }
    do {
      try JobOrigin.$current.withValue(attempt) {
        try manager.cleanResyncGhosts(.name(name)) { result in
          self.queue.async {
            switch result {
            case .success(let removed):
              self.finish(.done(counts: removed > 0 ? counts.replacing(with: ["ghosts": .integer(Int64(removed))]) : counts))
            case .failure(let error): self.finish(AttemptEnd(error, isStopping: self.state.withLock { $0.isStopping }))
            }
          }
        }
      }
    } catch {
      finish(AttemptEnd(error, isStopping: state.withLock { $0.isStopping }))
    }
  }

  private func finish(_ end: AttemptEnd) {
    let wasOver = state.withLock { state in
      defer { state.isOver = true }
      state.manager = nil
      return state.isOver
    }
    guard !wasOver else { return }
    hosts.release(key)
    onEnd(end)
  }

  // MARK: JobAttempt

  func stop() {
    let (manager, id) = state.withLock { state in
      state.isStopping = true
      return (state.manager, state.id)
    }
    manager?.cancel(id)
  }

  func end() {
    stop()
    guard let manager = state.withLock({ $0.manager }) else { return }
    Task { await manager.shutdown() }
  }
}

extension AttemptEnd {
  /// The end of a sync's run.
  init(_ sync: SyncState) {
    switch sync.status {
    case .done: self = .done(counts: AttemptEnd.counts(sync))
    // Its own page limit.
    case .stopped where sync.hasMore: self = .done(counts: AttemptEnd.counts(sync))
    case .stopped: self = .stopped
    default:
      guard let failure = sync.failure else {
        self = .failed("the sync failed", isFinal: false)
        return
      }
      self.init(failure, isStopping: false)
    }
  }

  /// - Parameter isStopping: True if the worker has asked for the end, which is then the reason.
  init(_ error: any Error, isStopping: Bool) {
    guard let known = (error as? any BridgeErrorConvertible)?.bridgeError ?? error as? BridgeError else {
      self = .failed("\(error)", isFinal: false)
      return
    }
    let code = "\(known.domain)/\(known.code)"
    if isStopping, ["sync/stopped", "sync/managerStopped", "host/closed"].contains(code) {
      self = .stopped
    } else if ["sync/alreadyRunning", "sync/runningElsewhere"].contains(code) {
      self = .postponed(known.message)
    } else {
      self = .failed("\(known.message) (\(code))", isFinal: !known.isRetryable && !AttemptEnd.dependOnTheWorker.contains(code))
    }
  }

  /// Failures that another worker, or the same one after a sign-in, may not have.
  private static let dependOnTheWorker: Set<String> = [
    "network/notAuthenticated", "network/sessionExpired", "network/otherOrg", "host/noSuchOrg", "host/noSuchUser", "host/closed",
    "host/invalidConfiguration", "sync/stopped", "sync/managerStopped", "smartstore/cannotOpenStore",
    "smartstore/leaseLost", "smartstore/postgres",
  ]

  /// The numbers of a run that are not 0.
  private static func counts(_ sync: SyncState) -> JSONObject {
    let state = sync.scriptJSON
    var counts = JSONObject()
    for key in [
      "fetched", "stored", "skipped", "conflicting", "merged", "removed", "flagged", "succeeded", "failed", "inDoubt", "pages",
      "requests",
    ] {
      if let value = state[key]?.integerValue, value > 0 { counts[key] = .integer(value) }
    }
    return counts
  }
}
