import RestClient
import Synchronization

/// Counts what one run sends and receives.
final class RequestMeter: Sendable {
  struct Totals: Sendable, Equatable {
    var requests = 0
    var retries = 0
    var bytes = 0
    /// What the last answer said of the server's limits.
    var limitInfo: String?
  }

  /// The meter of the run that the current task works for.
  @TaskLocal fileprivate static var current: RequestMeter?

  private let state = Mutex(Totals())

  var totals: Totals { state.withLock { $0 } }

  func note(limitInfo: String) { state.withLock { $0.limitInfo = limitInfo } }

  /// Counts what `work` sends, in tasks it starts as well.
  func counting(_ work: () async -> Void) async { await RequestMeter.$current.withValue(self, operation: work) }

  fileprivate func note(_ trace: RestTrace) {
    state.withLock { totals in
      if trace.attempt > 1 { totals.retries += 1 } else { totals.requests += 1 }
      totals.bytes += trace.bytesReceived
    }
  }
}

/// Whom a request is for.
package enum SyncTraffic {
  /// Whether the current task works for a sync.
  package static var isOfSync: Bool { RequestMeter.current != nil }
}

/// To be given to clients and connections as their observer: it books each try on the sync that caused it, sign-in included.
///
/// Without it the `requests`, `retries` and `bytes` of sync states stay 0; everything else works.
public struct SyncTrafficObserver: RestObserver {
  private let next: (any RestObserver)?

  /// - Parameter next: Hears of everything too.
  public init(next: (any RestObserver)? = nil) { self.next = next }

  public func requestFinished(_ trace: RestTrace) {
    RequestMeter.current?.note(trace)
    next?.requestFinished(trace)
  }

  public func received(headers: [(name: String, value: String)]) { next?.received(headers: headers) }
}
