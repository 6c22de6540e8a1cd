import JSON
import Synchronization

/// The way from native code into a script: requests that wait in its mailbox and are answered when it polls.
///
/// Any thread may call. What is unanswered when the script's state closes fails then.
public final class ScriptCalls: Sendable {
  /// The receiver of the request has no script.
  public struct NoScript: Error {}

  private struct State {
    var last: Int64 = 0
    var waiting: [Int64: CheckedContinuation<[UInt8], any Error>] = [:]
    var isClosed = false
    /// Events the script has not taken yet: of each subject the latest.
    var news: [String: JSONObject] = [:]
  }

  private let mailbox: Mailbox
  private let state = Mutex(State())

  init(mailbox: Mailbox) { self.mailbox = mailbox }

  /// Asks the script and waits for its answer without blocking a thread.
  /// - Parameter request: JSON text of an object.
  /// - Returns: JSON text of the answer, an object.
  /// - Throws: ``BridgeError``: what the script says went wrong, or `closed`; ``NoScript``; `CancellationError` when the task is
  ///   cancelled.
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

  /// Tells the script's listeners of an event when it next polls. Any thread; nothing waits for it.
  ///
  /// - Parameter subject: What it is about. An event that was not taken yet gives its place to a later one about the same.
  public func tell(_ event: String, _ detail: JSONValue = .null, about subject: String) {
    post(["event": .string(event), "detail": detail], about: subject)
  }

  /// Tells an event of a plug-in: each one, in order. Any thread; never blocks.
  ///
  /// - Throws: ``BridgeError`` `invalidArguments` for a name that is not reverse-DNS or is reserved, `mailboxFull`, `closed`.
  public func emit(_ event: String, _ detail: JSONValue = .null) throws(BridgeError) {
    try PluginName.check(event, "event")
    guard !state.withLock({ $0.isClosed }) else { throw Self.closed }
    guard mailbox.book(1) else {
      throw .bridge(.mailboxFull, "too many events wait to be polled", isRetryable: true)
    }
    let news: JSONObject = ["event": .string(event), "detail": detail]
    mailbox.post(.init(call: 0, kind: .news, payload: Payload(news.serialized()), freesPlaces: 1))
  }

  /// The same as ``tell(_:_:about:)``, and waits until the listeners have run.
  /// - Throws: ``BridgeError`` `closed`; `CancellationError` when the task is cancelled, which the listeners do not notice.
  public func tellAndWait(_ event: String, _ detail: JSONValue = .null) async throws {
    _ = try await request { id in
      .init(
        call: id, kind: .news,
        payload: Payload(
          JSONValue.object(["event": .string(event), "detail": detail, "request": .integer(id)]).serialized()))
    }
  }

  private func post(_ news: JSONObject, about subject: String) {
    let isWaiting = state.withLock { $0.news.updateValue(news, forKey: subject) != nil }
    guard !isWaiting else { return }
    mailbox.post(
      .init(
        call: 0, kind: .news,
        payload: Payload(lazily: { [weak self] in
          JSONValue.object(self?.state.withLock { $0.news.removeValue(forKey: subject) } ?? [:]).serialized()
        })))
  }

  /// Hands over the script's answer. An answer without a waiting call is dropped.
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
