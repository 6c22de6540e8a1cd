import RestClient
import SmartStore
import Synchronization

/// A lease that this process holds, with what is known about it.
///
/// No fence reaches a server, so a run must have stopped sending before another process can take
/// the lease: each attempt of a request needs a renewal in the last two thirds of its duration.
final class HeldLease: Sendable {
  private struct State {
    /// Ms of the monotonic clock, from before the last renewal.
    var renewedAt: Int64
    /// Why nothing may be sent any more.
    var failure: (any Error)?
    /// True once a transaction that releases the lease has begun.
    var isEnding = false
  }

  let lease: Lease
  private let limit: RequestLimit?
  private let control: RunControl
  private let configuration: SyncConfiguration
  private let state: Mutex<State>

  /// - Parameters:
  ///   - since: Ms of the monotonic clock, from before the lease was acquired.
  ///   - limit: How much the run may send; nil for any number of requests.
  init(
    _ lease: Lease, since: Int64, _ control: RunControl, _ configuration: SyncConfiguration, limit: RequestLimit? = nil
  ) {
    self.lease = lease
    self.limit = limit
    self.control = control
    self.configuration = configuration
    state = Mutex(State(renewedAt: since))
  }

  /// Why the run has to end; nil while it may go on.
  var failure: (any Error)? { state.withLock { $0.failure } }

  var isEnding: Bool { state.withLock { $0.isEnding } }

  /// Whether requests may begin without another renewal.
  var permitsRequests: Bool {
    let now = configuration.uptime()
    return state.withLock { $0.failure == nil && now - $0.renewedAt < configuration.leaseMs / 3 * 2 }
  }

  func renewed(at time: Int64) { state.withLock { $0.renewedAt = max($0.renewedAt, time) } }

  /// Stops renewals: the transaction that follows releases the lease.
  func end() { state.withLock { $0.isEnding = true } }

  /// Ends the run with an error; the first one counts.
  func fail(_ error: any Error) {
    let isFirst = state.withLock { state in
      defer { if state.failure == nil { state.failure = error } }
      return state.failure == nil && !state.isEnding
    }
    if isFirst { control.stop() }
  }

  /// Counts an attempt of a request, and ends the run if it is one too many.
  func countRequest() {
    guard let limit, !limit.take() else { return }
    fail(limit.error)
  }

  /// Ends the run because nothing may be sent: the last renewal was too long ago and another one
  /// failed.
  /// - Parameter cause: The store's error.
  func failRenewal(_ cause: any Error) {
    let ms = configuration.leaseMs / 3 * 2
    fail(
      SyncError(
        .leaseNotRenewed,
        "the lease '\(lease.name)' was not renewed for \(ms / 1000) s, so nothing more is sent: "
          + SyncError(wrapping: cause).message,
        isRetryable: true))
  }
}
