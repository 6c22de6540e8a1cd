import JSON
import Synchronization

/// The way from native code into a script: requests that wait in its mailbox and are answered when it polls.
///
/// Any thread may call. What is unanswered when the script's state closes fails then.
public final class ScriptCalls: Sendable {
  private struct State {
    var last: Int64 = 0
    var waiting: [Int64: CheckedContinuation<[UInt8], any Error>] = [:]
    var isClosed = false
  }

  private let mailbox: Mailbox
  private let state = Mutex(State())

  init(mailbox: Mailbox) { self.mailbox = mailbox }

  /// Asks the script and waits for its answer without blocking a thread.
  /// - Parameter request: JSON text of an object.
  /// - Returns: JSON text of the answer, an object.
  /// - Throws: ``BridgeError``: what the script says went wrong, or `closed`; `CancellationError` when the task is cancelled.
  public func call(_ request: [UInt8]) async throws -> [UInt8] {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let refusal: (any Error)? = state.withLock { state -> (any Error)? in
          if state.isClosed { return Self.closed }
          if Task.isCancelled { return CancellationError() }
          state.waiting[id] = continuation
          return nil
        }
        if let refusal { return continuation.resume(throwing: refusal) }
        mailbox.post(.init(call: id, kind: .request, payload: Payload(request)))
      }
    } onCancel: {
      take(id)?.resume(throwing: CancellationError())
    }
  }

  /// Hands over what the script answered. One that nobody waits for any more is dropped.
  /// - Throws: `invalidArguments`.
  func answer(_ arguments: JSONObject, text: [UInt8]) throws(BridgeError) {
    guard let id = arguments["request"]?.integerValue else {
      throw ActionCall.wrong("request", "an integer", arguments["request"])
    }
    guard let continuation = take(id) else { return }
    if let problem = arguments["error"]?.stringValue {
      continuation.resume(throwing: BridgeError(domain: "bridge", code: "raised", message: problem))
    } else {
      continuation.resume(returning: text)
    }
  }

  func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume(throwing: Self.closed) }
  }

  private static let closed = BridgeError.bridge(.closed, "the script that would answer has ended")

  private func take(_ id: Int64) -> CheckedContinuation<[UInt8], any Error>? {
    state.withLock { $0.waiting.removeValue(forKey: id) }
  }
}
