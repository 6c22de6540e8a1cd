import RestClient
import Synchronization

/// Counts the requests and bytes of one run.
final class RequestMeter: Sendable {
  struct Totals: Sendable, Equatable {
    var requests = 0
    var retries = 0
    var bytes = 0
    /// What the last answer said about the server's limits.
    var limitInfo: String?
  }

  /// The meter of the run that the current task belongs to.
  @TaskLocal fileprivate static var current: RequestMeter?

  private let state = Mutex(Totals())
  private let history: RunHistory

  init(history: RunHistory = RunHistory(nil)) { self.history = history }

  var totals: Totals { state.withLock { $0 } }

  func note(limitInfo: String) { state.withLock { $0.limitInfo = limitInfo } }

  /// Counts the requests of `work`, including those of tasks it starts.
  func counting<T>(_ work: () async -> T) async -> T { await RequestMeter.$current.withValue(self, operation: work) }

  fileprivate func note(_ trace: RestTrace) {
    state.withLock { totals in
      if trace.attempt > 1 { totals.retries += 1 } else { totals.requests += 1 }
      totals.bytes += trace.bytesReceived
    }
    history.note(trace)
  }
}

/// Identifies requests of syncs.
package enum SyncTraffic {
  /// Whether the current task belongs to a sync.
  package static var isOfSync: Bool { RequestMeter.current != nil }
}

/// Attributes each attempt of a request, sign-in included, to the sync that caused it. Pass it to
/// clients and connections as their observer.
///
/// Without it, `requests`, `retries` and `bytes` of sync states stay 0; everything else works.
public struct SyncTrafficObserver: RestObserver {
  private let next: (any RestObserver)?

  /// - Parameter next: Another observer that gets the same calls.
  public init(next: (any RestObserver)? = nil) { self.next = next }

  public func requestFinished(_ trace: RestTrace) {
    RequestMeter.current?.note(trace)
    next?.requestFinished(trace)
  }

  public func received(headers: [(name: String, value: String)]) { next?.received(headers: headers) }
}
