import JSON
import Synchronization

/// Calls a script from native code. Requests and events wait in the script's mailbox until it polls.
///
/// Thread-safe. Requests that are unanswered when the script's state closes fail.
public final class ScriptCalls: Sendable {
  /// Thrown if the bridge has no script.
  public struct NoScript: Error {}

  private struct State {
    var last: Int64 = 0
    var waiting: [Int64: CheckedContinuation<[UInt8], any Error>] = [:]
    var isClosed = false
    /// The latest event of each subject that the script has not taken yet.
    var events: [String: JSONObject] = [:]
  }

  private let mailbox: Mailbox
  private let state = Mutex(State())

  init(mailbox: Mailbox) { self.mailbox = mailbox }

  /// Sends a request to the script and waits for its answer without blocking a thread.
  /// - Parameter request: JSON text of an object.
  /// - Returns: JSON text of the answer, an object.
  /// - Throws: ``BridgeError`` with the script's error, or `closed`; ``NoScript``; `CancellationError` if the task is cancelled.
  public func call(_ request: [UInt8]) async throws -> [UInt8] {
    try await self.request { .init(call: $0, kind: .request, payload: Payload(request)) }
  }

  private func request(_ message: @Sendable (Int64) -> Mailbox.Message) async throws -> [UInt8] {
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
        mailbox.post(message(id))
      }
    } onCancel: {
      take(id)?.resume(throwing: CancellationError())
    }
  }

  /// Delivers an event to the script's listeners when it next polls. Callable from any thread; does not wait.
  ///
  /// - Parameter subject: A later event of the same subject replaces one that was not taken yet.
  public func deliver(_ event: String, _ detail: JSONValue = .null, subject: String) {
    post(["event": .string(event), "detail": detail], subject: subject)
  }

  /// Emits an event of a plug-in. All events are delivered, in order. Callable from any thread; never blocks.
  ///
  /// - Throws: ``BridgeError`` `invalidArguments` for a name that is not reverse-DNS or is reserved, `mailboxFull`, `closed`.
  public func emit(_ event: String, _ detail: JSONValue = .null) throws(BridgeError) {
    try PluginName.check(event, "event")
    guard !state.withLock({ $0.isClosed }) else { throw Self.closed }
    guard mailbox.reserve(1) else {
      throw .bridge(.mailboxFull, "too many events wait to be polled", isRetryable: true)
    }
    let message: JSONObject = ["event": .string(event), "detail": detail]
    mailbox.post(.init(call: 0, kind: .event, payload: Payload(message.serialized()), freedSlots: 1))
  }

  /// Delivers an event and waits until the listeners have run.
  /// - Throws: ``BridgeError`` `closed`; `CancellationError` if the task is cancelled, which does not affect the listeners.
  public func deliverAndWait(_ event: String, _ detail: JSONValue = .null) async throws {
    _ = try await request { id in
      .init(
        call: id, kind: .event,
        payload: Payload(
          JSONValue.object(["event": .string(event), "detail": detail, "request": .integer(id)]).serialized()))
    }
  }

  private func post(_ event: JSONObject, subject: String) {
    let isWaiting = state.withLock { $0.events.updateValue(event, forKey: subject) != nil }
    guard !isWaiting else { return }
    mailbox.post(
      .init(
        call: 0, kind: .event,
        payload: Payload(lazily: { [weak self] in
          JSONValue.object(self?.state.withLock { $0.events.removeValue(forKey: subject) } ?? [:]).serialized()
        })))
  }

  /// Passes the script's answer to the waiting call. An answer without a waiting call is dropped.
  /// - Throws: `invalidArguments`.
  func answer(_ arguments: JSONObject, text: [UInt8]) throws(BridgeError) {
    guard let id = arguments["request"]?.integerValue else {
      throw ActionCall.wrong("request", "an integer", arguments["request"])
    }
    guard let continuation = take(id) else { return }
    if arguments["noScript"] == true {
      continuation.resume(throwing: NoScript())
    } else if let problem = arguments["error"]?.stringValue {
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
