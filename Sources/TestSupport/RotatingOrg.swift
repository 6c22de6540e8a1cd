import Dispatch
import Synchronization

/// An org whose app rotates refresh tokens: each is valid once, and reusing one ends the session.
///
/// The login host and the instance are two servers, so that the org can move to another instance. A
/// request whose access token is not the newest is refused; the test answers the others.
public final class RotatingOrg: Sendable {
  /// Where renewals get stuck: requests held here are never answered.
  public enum Hold: Sendable { case none, beforeRotation, afterRotation }

  /// How an instance answers after the org has moved away.
  public enum OldInstance: Sendable { case refuses, notReset, redirects, isClosed }

  private struct State {
    var access = "access-0", refresh: String? = "refresh-0"
    var used: Set<String> = []
    /// Requests that were refused and have not been repeated yet.
    var refused: Set<String> = []
    var renewals = 0, reuses = 0, expiries = 0
    /// The number of refused requests that a renewal waits for.
    var awaited = 0
    var lostAnswers = 0
    var hold = Hold.none
    /// How many responses an access token is valid for; nil for no limit.
    var life: Int?
    var left = 0
    /// The last one is in use.
    var instances: [ScriptedServer] = []
    var oldInstance = OldInstance.refuses
  }

  private final class Box: @unchecked Sendable {  // set once, before the first request
    weak var org: RotatingOrg?
  }

  public static let clientId = "rotating-app"

  /// The login host.
  public let server: ScriptedServer
  private let state = Mutex(State())
  private let box = Box()
  private let answerData: @Sendable (RecordedRequest, _ instance: Int) -> ScriptedAnswer

  /// - Parameter data: Answers requests with the newest access token; `instance` counts the
  ///   instances from 0.
  public init(
    data: @escaping @Sendable (_ request: RecordedRequest, _ instance: Int) -> ScriptedAnswer = { _, _ in .json("{}") }
  ) throws {
    answerData = data
    server = try ScriptedServer { [box] request in box.org?.signIn(request) ?? .status(500) }
    box.org = self
    try addInstance()
  }

  public var url: String { server.url }
  public var instance: ScriptedServer { state.withLock { $0.instances[$0.instances.count - 1] } }
  /// The number of requests for the token resource.
  public var asked: Int { server.requests.filter { $0.path == "/services/oauth2/token" }.count }
  /// How often the token resource gave a session.
  public var renewals: Int { state.withLock { $0.renewals } }
  /// How often a refresh token was used a second time.
  public var reuses: Int { state.withLock { $0.reuses } }
  /// How many access tokens have expired so far.
  public var expiries: Int { state.withLock { $0.expiries } }
  public var isRevoked: Bool { state.withLock { $0.refresh == nil } }

  // MARK: Events

  /// Expires the access token.
  public func expire() { state.withLock { Self.expire(&$0) } }

  /// Limits each access token to this many responses, but keeps it valid until every refused
  /// request has been repeated. Without that, other requests could use up a new token, and a
  /// request would be refused right after a renewal.
  public func expire(after answers: Int) {
    state.withLock { state in
      (state.life, state.left) = (answers, answers)
    }
  }

  /// Invalidates all tokens.
  public func revoke() {
    state.withLock { state in
      state.access += "-revoked"
      state.refresh = nil
    }
  }

  /// Delays the next renewals until this many requests have been refused.
  public func awaitRefused(_ count: Int) { state.withLock { $0.awaited = count } }

  /// Loses the responses to this many renewals, after the org has rotated the token.
  public func loseAnswers(_ count: Int) { state.withLock { $0.lostAnswers = count } }

  public func hold(_ hold: Hold) { state.withLock { $0.hold = hold } }

  /// Moves the org to another instance and expires the access tokens of the old one. May be called
  /// while the old one answers.
  public func migrate(_ oldInstance: OldInstance) throws {
    let old = instance
    state.withLock { state in
      state.oldInstance = oldInstance
      state.access += "-migrated"
    }
    try addInstance()
    if oldInstance == .isClosed { DispatchQueue.global().async { old.stop() } }
  }

  private func addInstance() throws {
    let number = state.withLock { $0.instances.count }
    let instance = try ScriptedServer { [box] request in box.org?.answer(request, number) ?? .status(500) }
    state.withLock { $0.instances.append(instance) }
  }

  private static func expire(_ state: inout State) {
    state.access += "-expired"
    state.expiries += 1
  }

  // MARK: The instances

  private func answer(_ request: RecordedRequest, _ number: Int) -> ScriptedAnswer {
    let refusal: ScriptedAnswer? = state.withLock { state in
      if number < state.instances.count - 1 { return Self.left(state) }
      guard request.header("Authorization") == "Bearer \(state.access)" else {
        state.refused.insert(request.target)
        return Self.expired
      }
      state.refused.remove(request.target)
      guard state.life != nil else { return nil }
      state.left -= 1
      if state.left <= 0, state.refused.isEmpty { Self.expire(&state) }
      return nil
    }
    return refusal ?? answerData(request, number)
  }

  private static let expired = ScriptedAnswer.restError(401, "INVALID_SESSION_ID", "Session expired or invalid")

  private static func left(_ state: State) -> ScriptedAnswer {
    switch state.oldInstance {
    case .refuses: expired
    case .isClosed: .closed
    case .notReset:
      .restError(
        400, "URL_NOT_RESET", "Destination URL not reset. The URL returned from login must be set in the SforceService")
    case .redirects: .status(302, headers: [("Location", state.instances[state.instances.count - 1].url + "/")])
    }
  }

  // MARK: The login host

  private func signIn(_ request: RecordedRequest) -> ScriptedAnswer {
    guard request.path == "/services/oauth2/token" else { return .status(200) }
    let (awaited, instance) = state.withLock { ($0.awaited, $0.instances[$0.instances.count - 1]) }
    if awaited > 0 {
      instance.blockUntilReceived(awaited) { request in
        self.state.withLock { request.header("Authorization") != "Bearer \($0.access)" }
      }
    }
    return state.withLock { token(request.text, &$0) }
  }

  private func token(_ form: String, _ state: inout State) -> ScriptedAnswer {
    let given = form.split(separator: "&").first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst(14)) } ?? ""
    guard let current = state.refresh, given == current else {
      if state.used.contains(given) {
        state.reuses += 1
        state.refresh = nil
        state.access += "-revoked"
      }
      return .json(#"{"error":"invalid_grant","error_description":"expired access/refresh token"}"#, status: 400)
    }
    if state.hold == .beforeRotation { return .never }
    state.used.insert(current)
    state.renewals += 1
    (state.access, state.refresh) = ("access-\(state.renewals)", "refresh-\(state.renewals)")
    state.left = state.life ?? 0
    if state.hold == .afterRotation { return .never }
    if state.lostAnswers > 0 {
      state.lostAnswers -= 1
      return .closed
    }
    return .json(
      #"{"access_token":"\#(state.access)","refresh_token":"refresh-\#(state.renewals)","#
        + #""instance_url":"\#(state.instances[state.instances.count - 1].url)","#
        + #""id":"\#(server.url)/id/00D000000000001AAA/005000000000001AAA","issued_at":"1700000000000"}"#)
  }
}
