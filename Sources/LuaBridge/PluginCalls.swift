import JSON
import Synchronization

/// The calls of one bridge that plug-ins have not answered yet. Any thread.
final class PluginCalls: Sendable {
  struct Open: Sendable {
    let service: String
    let action: String
    let ticket: CallTicket
    let cancellation = Cancellation()
    /// Whether ``Bridge/answer(_:_:_:)`` ends it; else a task does.
    let isPolled: Bool
  }

  private enum Phase { case open, interrupted, closed }

  private struct State {
    var phase = Phase.open
    var calls: [Int64: Open] = [:]
  }

  private let state = Mutex(State())

  /// Notes a call.
  /// - Throws: `interrupted`, `closed`: it must not begin.
  func add(_ call: Open) throws(BridgeError) {
    let phase = state.withLock { state in
      if state.phase == .open { state.calls[call.ticket.id] = call }
      return state.phase
    }
    switch phase {
    case .open: return
    case .interrupted: throw .bridge(.interrupted, "interrupted: no further plug-in is called")
    case .closed: throw .bridge(.closed, "the bridge is closed")
    }
  }

  /// The call has ended.
  func remove(_ id: Int64) {
    // Let go of outside the lock: the last reference to a ticket may be in it.
    _ = state.withLock { $0.calls.removeValue(forKey: id) }
  }

  func find(_ id: Int64) -> Open? { state.withLock { $0.calls[id] } }

  var isClosed: Bool { state.withLock { $0.phase == .closed } }

  /// Tells the plug-in that its caller has given a call up.
  func cancel(_ id: Int64) { find(id)?.cancellation.cancel() }

  /// Ends every call, whatever its plug-in does: an interrupted run must end. Later answers are late ones.
  func interrupt() {
    for call in end(.interrupted) {
      call.cancellation.cancel()
      call.ticket.fail(
        BridgeError.bridge(.interrupted, "interrupted before plug-in '\(call.service)' answered '\(call.action)'"))
    }
  }

  /// Cancels every call. - Returns: Those that were open, for the log.
  func close() -> [Open] {
    let calls = end(.closed)
    for call in calls { call.cancellation.cancel() }
    return calls
  }

  private func end(_ phase: Phase) -> [Open] {
    state.withLock { state in
      if state.phase != .closed { state.phase = phase }
      defer { state.calls = [:] }
      return Array(state.calls.values)
    }
  }
}
