@preconcurrency import Dispatch
import JSON
import LuaBridge
import Synchronization
import Tureen

/// Calls actions of the bridge on one host, from any thread.
final class ActionCalls: Sendable {
  /// A host that many bridges share: closing one of them ends nothing of the others.
  private final class SharedHost: ForwardingHost {
    let wrapped: any BridgeHost

    init(_ host: Host) { wrapped = host }

    func attach(_ script: ScriptCalls) {}
    func shutdown() {}
  }

  /// How a call ended.
  enum Reply: Sendable {
    case success([UInt8])
    /// The error object as JSON text.
    case failure([UInt8])
    case late
  }

  let host: Host

  init(_ settings: HostSettings) { host = Host(settings: settings) }

  /// Makes a call and waits for its end.
  /// - Parameters:
  ///   - service: `smartstore`, `mobilesync` or `host`.
  ///   - limitMs: A query that takes longer is cancelled; nil for no limit.
  func perform(_ service: String, _ action: String, _ arguments: JSONObject, limitMs: Int? = nil) -> Reply {
    guard let bridge = try? Bridge(host: SharedHost(host)) else {
      return .failure(Array(#"{"domain":"bridge","code":"internal","message":"too many files are open","retryable":true}"#.utf8))
    }
    defer { bridge.close() }
    let deadline = Deadline()
    let reply = deadline.ending(bridge, after: limitMs) {
      bridge.perform(service: (service == "host" ? "tureen." : "com.salesforce.") + service, action: action, arguments: arguments)
    }
    switch reply {
    case .success(let text): return .success(text)
    case .failure(let text): return deadline.hasPassed ? .late : .failure(text)
    }
  }

  func close() { host.shutdown() }
}

/// Cancels a call that takes too long.
private final class Deadline: Sendable {
  private let passed = Atomic(false)

  var hasPassed: Bool { passed.load(ordering: .relaxed) }

  /// - Parameter ms: nil for no limit.
  func ending(_ bridge: Bridge, after ms: Int?, _ body: () -> Bridge.Reply) -> Bridge.Reply {
    guard let ms else { return body() }
    let timer = DispatchWorkItem {
      self.passed.store(true, ordering: .relaxed)
      bridge.interrupt()
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(ms), execute: timer)
    defer { timer.cancel() }
    return body()
  }
}
