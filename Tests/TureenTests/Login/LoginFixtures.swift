import JSON
import RestClient
import Salesforce
import Support
import Synchronization
import TestSupport

@testable import Tureen

/// A clock that only tests advance.
final class ManualTime: Sendable {
  private struct State {
    var now = 0.0
    var sleeping: [Int: (until: Double, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var nextId = 0
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var environment: RetryEnvironment {
    RetryEnvironment(
      sleep: { try await self.sleep($0) }, random: { 0 }, now: { self.state.withLock { 1_772_442_000 + $0.now } })
  }

  private func sleep(_ seconds: Double) async throws {
    let id = state.withLock { state in
      state.nextId += 1
      return state.nextId
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready = state.withLock { state in
          state.sleeping[id] = (state.now + seconds, continuation)
          return Self.takeReady(&state)
        }
        for waiter in ready { waiter.resume() }
        if Task.isCancelled { self.cancel(id) }
      }
    } onCancel: {
      self.cancel(id)
    }
  }

  private static func takeReady(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    let count = state.sleeping.count
    let ready = state.waiting.filter { $0.count <= count }.map(\.continuation)
    state.waiting.removeAll { $0.count <= count }
    return ready
  }

  private func cancel(_ id: Int) {
    state.withLock { $0.sleeping.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
  }

  /// Waits for `sleepers` sleeping tasks, then advances the time.
  func pass(_ seconds: Double, sleepers: Int = 1) async {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        state.waiting.append((sleepers, continuation))
        return Self.takeReady(&state)
      }
      for waiter in ready { waiter.resume() }
    }
    let woken = state.withLock { state in
      state.now += seconds
      let due = state.sleeping.filter { $0.value.until <= state.now }
      for id in due.keys { state.sleeping[id] = nil }
      return due.values.map(\.continuation)
    }
    for sleeper in woken { sleeper.resume() }
  }
}

/// Records the events of a sign-in.
final class RecordedEvents: Sendable {
  private struct State {
    var all: [LoginEvent] = []
    var waiting: [(matches: @Sendable (LoginEvent) -> Bool, continuation: CheckedContinuation<LoginEvent, Never>)] = []
  }

  private let state = Mutex(State())

  var all: [LoginEvent] { state.withLock { $0.all } }

  func take(_ event: LoginEvent) {
    let ready = state.withLock { state in
      state.all.append(event)
      let ready = state.waiting.filter { $0.matches(event) }.map(\.continuation)
      state.waiting.removeAll { $0.matches(event) }
      return ready
    }
    for waiter in ready { waiter.resume(returning: event) }
  }

  /// Waits for an event of a kind, which may have arrived already.
  @discardableResult
  func first(where matches: @escaping @Sendable (LoginEvent) -> Bool) async -> LoginEvent {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state in
        let known = state.all.first(where: matches)
        if known == nil { state.waiting.append((matches, continuation)) }
        return known
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  /// Returns the URL to open in the browser.
  func address() async -> String {
    let event = await first { if case .authorize = $0 { true } else { false } }
    if case .authorize(let url, _, _) = event { return url }
    return ""
  }
}

/// A scripted org for sign-ins.
struct ScriptedOrg {
  static let userId = "005000000000001AAA", orgId = "00D000000000001EAA"

  let server: ScriptedServer

  /// - Parameters:
  ///   - username: The user name that the org reports; nil to hide it.
  ///   - token: The response of the token endpoint; nil for a new session with a refresh token.
  init(
    username: String? = "ann@acme.com", refreshToken: String? = "refresh-1", isSandbox: Bool = false,
    token: ScriptedAnswer? = nil, onRevoke: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    let holder = Holder()
    server = try ScriptedServer { request in
      let url = holder.url.withLock { $0 }
      switch request.path {
      case "/services/oauth2/token":
        if let token { return token }
        let refresh = refreshToken.map { #","refresh_token":"\#($0)""# } ?? ""
        return .json(
          #"{"access_token":"token-1","instance_url":"\#(url)","id":"\#(url)/id/\#(Self.orgId)/\#(Self.userId)"\#(refresh),"#
            + #""scope":"api refresh_token","token_type":"Bearer","issued_at":"1700000000000"}"#)
      case "/services/oauth2/revoke":
        onRevoke(request.text)
        return .status(200)
      case "/id/\(Self.orgId)/\(Self.userId)":
        guard let username else { return .status(403) }
        return .json(
          #"{"user_id":"\#(Self.userId)","organization_id":"\#(Self.orgId)","username":"\#(username)","#
            + #""display_name":"Ann Acme","email":"ann@example.com"}"#)
      case "/services/data/v66.0/query": return .json(#"{"records":[{"IsSandbox":\#(isSandbox)}]}"#)
      default: return .restError(404, "NOT_FOUND", "there is nothing at \(request.path)")
      }
    }
    holder.url.withLock { [server] in $0 = server.url }
  }

  private final class Holder: Sendable {
    let url = Mutex("")
  }

  /// Returns the requests to a resource.
  func requests(_ path: String) -> [RecordedRequest] { server.requests.filter { $0.path == path } }
  var exchanges: [RecordedRequest] { requests("/services/oauth2/token") }
  var revoked: [String] { requests("/services/oauth2/revoke").map(\.text) }
}

/// A sign-in under test with its own home.
final class LoginTrial: Sendable {
  let folder: TemporaryFolder
  private let heldPort = HeldPort()
  let time = ManualTime()
  let events = RecordedEvents()
  private let opened = Mutex<[String]>([])
  private let lines = AsyncStream<String>.makeStream()

  /// - Parameter folder: The folder of another sign-in, to share its home.
  init(in folder: TemporaryFolder? = nil) throws { self.folder = try folder ?? TemporaryFolder() }

  var home: String { folder.path + "/home" }
  var port: Int { heldPort.number }
  var browser: TestBrowser { TestBrowser(port: port) }
  /// The URLs that were opened in the browser.
  var openedAddresses: [String] { opened.withLock { $0 } }

  /// Pastes a line.
  func paste(_ line: String) { lines.continuation.yield(line) }

  /// - Parameter change: Options in addition to the org's URL and the app.
  func login(
    at url: String, policy: RetryPolicy = .never, _ change: (inout LoginSettings) -> Void = { _ in }
  ) throws -> Login {
    var settings = LoginSettings()
    (settings.home, settings.org, settings.loginURL, settings.clientId) = (home, "prod", url, "app")
    settings.redirectURI = "http://localhost:\(port)/OauthRedirect"
    change(&settings)
    var dependencies = Login.Dependencies()
    dependencies.retry = time.environment
    dependencies.policy = policy
    dependencies.openBrowser = { url in
      self.opened.withLock { $0.append(url) }
      return true
    }
    var sources = LoginPlan.Sources()
    sources.variable = { _ in nil }
    return Login(try LoginPlan(settings, sources), settings, home: home, dependencies)
  }

  func run(_ login: Login) -> Task<LoginAccount, any Error> {
    Task { try await login.run(lines: lines.stream) { self.events.take($0) } }
  }

  /// Waits for the URL, and returns the redirect back from the org.
  /// - Parameter parameters: The parameters before the state.
  func answer(_ parameters: String = "code=the-code") async -> String {
    "/OauthRedirect?\(parameters)&state=\(await state())"
  }

  func state() async -> String {
    let parameter = await events.address().split(separator: "&").first { $0.hasPrefix("state=") }
    return parameter.map { String($0.dropFirst("state=".count)) } ?? ""
  }

  /// Reads a file in the home; nil if it does not exist.
  func file(_ path: String) -> JSONValue? { FileSystem.read("\(home)/\(path)").flatMap { try? JSONValue(parsing: $0) } }

  /// True if nothing of the org is stored.
  var keepsNothing: Bool { !FileSystem.exists("\(home)/orgs/prod") && !FileSystem.exists("\(home)/orgs.json") }
}

/// Returns the error of a sign-in that must fail.
func failure(of login: Task<LoginAccount, any Error>) async throws -> any Error {
  switch await login.result {
  case .success(let account): throw UnexpectedLogin(account: account)
  case .failure(let error): error
  }
}

struct UnexpectedLogin: Error {
  let account: LoginAccount
}
