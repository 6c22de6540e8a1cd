import Logging
import RestClient
import SmartStore
import Synchronization

/// Renews the leases of a manager's runs, all in one transaction, while there are any.
///
/// A process that is suspended or cut off from the store for longer than a lease loses it to
/// another one. Its run then ends with `leaseLost` before it sends or writes anything.
final class LeaseRenewals: Sendable {
  private struct State {
    var held: [ObjectIdentifier: HeldLease] = [:]
    var task: Task<Void, Never>?
  }

  private let store: Store
  private let configuration: SyncConfiguration
  private let state = Mutex(State())

  init(_ store: Store, _ configuration: SyncConfiguration) {
    self.store = store
    self.configuration = configuration
  }

  /// Runs `work` while its lease is renewed; `work` sends requests only while the lease allows it.
  func holding<T>(_ lease: HeldLease, during work: () async -> T) async -> T {
    add(lease)
    let result = await SendPermit.required({ () async throws(RestError) in try await self.permit(lease) }, for: work)
    let task = remove(lease)
    task?.cancel()
    await task?.value
    return result
  }

  private func add(_ lease: HeldLease) {
    state.withLock { state in
      state.held[ObjectIdentifier(lease)] = lease
      if state.task == nil { state.task = Task.detached { await self.renewRegularly() } }
    }
  }

  /// - Returns: The task to end, if no lease is left.
  private func remove(_ lease: HeldLease) -> Task<Void, Never>? {
    state.withLock { state in
      state.held[ObjectIdentifier(lease)] = nil
      guard state.held.isEmpty else { return nil }
      defer { state.task = nil }
      return state.task
    }
  }

  private func renewRegularly() async {
    while (try? await configuration.pause(configuration.leaseMs / 3)) != nil {
      do {
        try await renew(state.withLock { Array($0.held.values) })
      } catch {
        configuration.logger.warning("leases could not be renewed: \(SyncError(wrapping: error).message)")
      }
    }
  }

  /// Renews leases; ends the runs of those that belong to another process.
  private func renew(_ held: [HeldLease]) async throws {
    guard !held.isEmpty else { return }
    let configuration = configuration
    let (lost, began) = try await store.write(.pulled) { transaction in
      let began = configuration.uptime(), now = configuration.now()
      var lost: IdMap<StoreError> = [:]
      for held in held where !held.isEnding {
        do {
          _ = try transaction.renewLease(held.lease, now: now, duration: configuration.leaseMs)
        } catch let error as StoreError where error.code == .leaseLost {
          lost[held.lease.name] = error
        }
      }
      return (lost, began)
    }
    for held in held {
      if let error = lost[held.lease.name] { held.fail(error) } else { held.renewed(at: began) }
    }
  }

  /// Lets a request begin if the lease was renewed recently; otherwise renews it first.
  private func permit(_ lease: HeldLease) async throws(RestError) {
    if !lease.permitsRequests, lease.failure == nil {
      do { try await renew([lease]) } catch { lease.failRenewal(error) }
    }
    if lease.failure == nil { lease.countRequest() }
    // The run ends with the lease's own failure.
    guard lease.failure == nil else { throw .cancelled(outcome: .notSent) }
  }
}
