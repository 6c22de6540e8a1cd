import JSON
import RestClient
import Salesforce
import Synchronization

/// A host's request for a session to the embedding program, with `"signIn": "program"`.
public struct SessionRequest: Sendable, Equatable {
  public enum Reason: String, Sendable {
    /// No session has been given yet, or the user has signed out.
    case noSession
    /// The org has refused the access token of the last one.
    case refused
  }

  /// The org, as the settings name it.
  public let org: String
  public let user: String
  public let reason: Reason

  /// The detail of the `sessionNeeded` event.
  var json: JSONValue { ["org": .string(org), "user": .string(user), "reason": .string(reason.rawValue)] }
}

/// The program's answer to a `SessionRequest`.
enum GivenSession: Sendable, Equatable {
  case session(Session)
  /// A refusal with an error code and a message.
  case refusal(error: String, message: String)

  /// Parses `{"accessToken", "instanceUrl", "identityUrl"?}` or `{"error", "message"}`.
  /// - Throws: ``HostError`` `.invalidConfiguration`, which does not quote the token.
  init(_ json: JSONValue) throws {
    func problem(_ what: String) -> HostError { HostError(.invalidConfiguration, "the session that was given: \(what)") }
    guard let object = json.objectValue else { throw problem("must be an object, not \(json.kindName)") }
    let known = object["error"] == nil ? ["accessToken", "instanceUrl", "identityUrl"] : ["error", "message"]
    if let unknown = KnownKeys(known).unknown(in: object) { throw problem("'\(unknown.key)' \(unknown.complaint)") }
    for key in known where key != "identityUrl" || object[key] != nil {
      guard let text = object[key]?.stringValue, !text.isEmpty else {
        throw problem("'\(key)' must be a string that is not empty")
      }
    }
    func text(_ key: String) -> String { object[key]?.stringValue ?? "" }
    guard object["error"] == nil else {
      self = .refusal(error: text("error"), message: text("message"))
      return
    }
    guard text("accessToken").utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw problem("'accessToken' holds bytes that cannot be sent")
    }
    if let wrong = LoginAddress.problem(text("instanceUrl")) { throw problem("'instanceUrl': \(wrong)") }
    self = .session(
      Session(
        givenToken: text("accessToken"), instanceURL: text("instanceUrl"), identityURL: object["identityUrl"]?.stringValue))
  }
}

/// Asks the embedding program for sessions and waits for its answers, which may come from any thread.
final class ProgramSessions: Sendable {
  /// Sends a request. The answer arrives through ``give(_:)``.
  typealias Tell = @Sendable (SessionRequest) -> Void

  private struct State {
    var waiting: [UInt64: CheckedContinuation<Result<GivenSession, any Error>, Never>] = [:]
    var last: UInt64 = 0
  }

  private let tell: Tell
  private let environment: RetryEnvironment
  private let state = Mutex(State())

  init(environment: RetryEnvironment = .live, tell: @escaping Tell) {
    self.environment = environment
    self.tell = tell
  }

  /// Returns credentials that ask the program for each session.
  /// - Parameter ask: Called to get a session, instead of sending the event.
  func credentials(
    org: String, user: String, ask: (@Sendable (SessionRequest) async throws -> Session)? = nil
  ) -> Credentials {
    .external(
      ExternalToken(name: "the program around this host") { refused in
        let need = SessionRequest(org: org, user: user, reason: refused == nil ? .noSession : .refused)
        return try await self.session(need, ask)
      })
  }

  /// - Returns: False if no request is waiting for a session.
  func give(_ given: GivenSession) -> Bool {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for each in waiting { each.resume(returning: .success(given)) }
    return !waiting.isEmpty
  }

  /// Fails the waiting requests because the host closes.
  func close() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for each in waiting { each.resume(returning: .failure(CancellationError())) }
  }

  // MARK: Waiting

  private func session(_ need: SessionRequest, _ ask: (@Sendable (SessionRequest) async throws -> Session)?) async throws
    -> Session
  {
    let given = try await withThrowingTaskGroup(of: GivenSession.self) { group in
      group.addTask {
        if let ask { return .session(try await ask(need)) }
        return try await self.answer(to: need)
      }
      group.addTask { [environment] in
        try await environment.sleep(Tuning.programSessionS)
        throw Self.refusal(
          "it gave no session within \(Int(saturating: Tuning.programSessionS)) s of sessionNeeded", .needsPerson)
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
    switch given {
    case .session(let session): return session
    case .refusal(let error, let message):
      throw Self.refusal("\(error): \(message)", SignInReason(rawValue: error) ?? .refused)
    }
  }

  private func answer(to need: SessionRequest) async throws -> GivenSession {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0.waiting[id] = continuation }
        // A cancellation before this line did not find the continuation.
        if Task.isCancelled { abandon(id) } else { tell(need) }
      }
    } onCancel: {
      abandon(id)
    }
    return try result.get()
  }

  private func abandon(_ id: UInt64) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: .failure(CancellationError()))
  }

  private static func refusal(_ what: String, _ reason: SignInReason) -> RestError {
    var error = RestError(code: .notAuthenticated, message: "the program around this host: \(what)", outcome: .notSent)
    error.reason = reason.rawValue
    return error
  }
}
