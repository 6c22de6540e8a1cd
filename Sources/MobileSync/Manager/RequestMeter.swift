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
  @TaskLocal static var current: RequestMeter?

  private let state = Mutex(Totals())

  var totals: Totals { state.withLock { $0 } }

  func add(_ change: (inout Totals) -> Void) { state.withLock { change(&$0) } }
}

extension FetchContext {
  /// Counts an exchange that did not go through ``client``.
  package func count(bytes: Int) {
    RequestMeter.current?.add { totals in
      totals.requests += 1
      totals.bytes += bytes
    }
  }
}

/// The client a run uses: passes everything on, counts it, and reads the server's clock off the answers.
struct MeteredClient: RestClient {
  let client: any RestClient
  let service: any SyncService
  let meter: RequestMeter
  let clock: ServerClock

  var apiVersion: String { client.apiVersion }

  func send(_ request: RestRequest) async throws -> RestResponse {
    meter.add { $0.requests += 1 }
    let response = try await clock.reading { try await client.send(request) }
    let limitInfo = service.limitInfo(response)
    meter.add { totals in
      totals.bytes += response.body.count
      if let limitInfo { totals.limitInfo = limitInfo }
    }
    return response
  }

  func shutdown() async { await client.shutdown() }
}

/// To be given to the client as its observer: it books each retry on the sync that caused it.
///
/// Without it the `retries` of sync states stay 0; everything else works.
public struct SyncTrafficObserver: RestObserver {
  private let next: (any RestObserver)?

  /// - Parameter next: Hears of everything too.
  public init(next: (any RestObserver)? = nil) { self.next = next }

  public func requestFinished(_ trace: RestTrace) {
    if trace.attempt > 1 { RequestMeter.current?.add { $0.retries += 1 } }
    next?.requestFinished(trace)
  }
}
