import JSON
import Synchronization

/// Holds the calls of one bridge that plug-ins have not answered yet. Thread-safe.
final class PluginCalls: Sendable {
  struct Open: Sendable {
    let service: String
    let action: String
    let ticket: CallTicket
    let receiver: Receiver
    fileprivate var isCancelled = false

    init(service: String, action: String, ticket: CallTicket, receiver: Receiver) {
      self.service = service
      self.action = action
      self.ticket = ticket
      self.receiver = receiver
    }

    /// Tells the plug-in that its caller has cancelled the call.
    fileprivate func cancel() {
      switch receiver {
      case .task(let cancellation): cancellation.cancel()
      case .poller(let plugin, hearsCancel: true): ticket.postCancellation(to: plugin)
      case .poller:
        ticket.fail(BridgeError.bridge(.cancelled, "the call was cancelled; the plug-in does not listen for that"))
      }
    }
  }

  /// Identifies what executes a call.
  enum Receiver: Sendable {
    /// A task, which also ends the call.
    case task(Cancellation)
    /// The plug-in with this number, on the thread that polls; ``Bridge/answer(_:_:_:isEncoded:)`` ends the call.
    case poller(Int64, hearsCancel: Bool)
  }

  private enum Phase { case open, interrupted, closed }

  private struct State {
    var phase = Phase.open
    var calls: [Int64: Open] = [:]
  }

  private let state = Mutex(State())

  /// Adds a call.
  /// - Throws: `interrupted` or `closed` if the call must not start.
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

  /// Removes a call that has ended.
  func remove(_ id: Int64) {
    // Released after the lock: it may be the last reference to the ticket.
    _ = state.withLock { $0.calls.removeValue(forKey: id) }
  }

  func find(_ id: Int64) -> Open? { state.withLock { $0.calls[id] } }

  var isClosed: Bool { state.withLock { $0.phase == .closed } }

  /// Tells the plug-in that its caller has cancelled a call; only once for each call.
  func cancel(_ id: Int64) {
    let call = state.withLock { state -> Open? in
      guard let call = state.calls[id], !call.isCancelled else { return nil }
      state.calls[id]?.isCancelled = true
      return call
    }
    call?.cancel()
  }

  /// Ends all calls without waiting for their plug-ins, because an interrupted run must end. Later answers are refused.
  func interrupt() {
    for call in end(.interrupted) {
      if !call.isCancelled { call.cancel() }
      call.ticket.fail(
        BridgeError.bridge(.interrupted, "interrupted before plug-in '\(call.service)' answered '\(call.action)'"))
    }
  }

  /// Cancels all calls. - Returns: The calls that were open, for the log.
  func close() -> [Open] {
    let calls = end(.closed)
    for call in calls where !call.isCancelled { call.cancel() }
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
