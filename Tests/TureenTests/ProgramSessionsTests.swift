import JSON
import RestClient
import Support
import Synchronization
import TestSupport
import Testing

@testable import Salesforce
@testable import Tureen

/// Tests sessions that the embedding program gives.
@Suite(.timeLimit(.minutes(60))) struct ProgramSessionsTests {
  private static let get = RestRequest(.GET, "/services/data/v66.0/limits")

  /// A clock whose sleeps end when the test says so.
  private final class Clock: Sendable {
    private let state = Mutex<(waiting: [CheckedContinuation<Void, any Error>], asked: [Double])>(([], []))
    private let sleeps = AsyncStream.makeStream(of: Void.self)

    /// Waits until somebody sleeps.
    func sleepBegins() async {
      for await _ in sleeps.stream { return }
    }

    var asked: [Double] { state.withLock { $0.asked } }

    var environment: RetryEnvironment {
      RetryEnvironment(
        sleep: { seconds in
          try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
              self.state.withLock {
                $0.waiting.append(continuation)
                $0.asked.append(seconds)
              }
              self.sleeps.continuation.yield()
              if Task.isCancelled { self.end(throwing: CancellationError()) }
            }
          } onCancel: {
            self.end(throwing: CancellationError())
          }
        }, random: { 0 }, now: { 0 })
    }

    func end(throwing error: (any Error)? = nil) {
      let waiting = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      for each in waiting { if let error { each.resume(throwing: error) } else { each.resume() } }
    }
  }

  /// Records the requests for sessions in order; tests can wait for them.
  private final class Needs: Sendable {
    private let stream = AsyncStream.makeStream(of: SessionRequest.self)
    @Sendable func tell(_ need: SessionRequest) { stream.continuation.yield(need) }
    func next() async -> SessionRequest? {
      var iterator = stream.stream.makeAsyncIterator()
      return await iterator.next()
    }
  }

  private func server() throws -> ScriptedServer {
    try ScriptedServer(handler: { request in
      request.header("Authorization") == "Bearer good"
        ? .json("{}") : .restError(401, "INVALID_SESSION_ID", "Session expired or invalid")
    })
  }

  private func give(_ token: String, _ server: ScriptedServer) throws -> GivenSession {
    try GivenSession([
      "accessToken": .string(token), "instanceUrl": .string(server.url),
      "identityUrl": .string(server.url + "/id/00DO/005U"),
    ])
  }

  private func failure(_ client: SalesforceClient) async throws -> RestError? {
    do {
      _ = try await client.send(Self.get)
      return nil
    } catch let error as RestError {
      return error
    }
  }

  @Test func program_gives_worksAndIsAskedAgainWhenRefused() async throws {
    let server = try server(), needs = Needs(), program = ProgramSessions(tell: needs.tell)
    let client = SalesforceClient(credentials: program.credentials(org: server.url, user: "program-user"))
    async let status = client.send(Self.get).status
    #expect(await needs.next() == SessionRequest(org: server.url, user: "program-user", reason: .noSession))
    #expect(program.give(try give("stale", server)))
    #expect(await needs.next()?.reason == .refused)
    #expect(program.give(try give("good", server)))
    #expect(try await status == 200)
    let session = try await client.session()
    #expect(session.orgId == "00DO" && session.userId == "005U" && session.accessToken == "good")
    #expect(!program.give(try give("good", server)), "nothing waits any more")
    await client.shutdown()
  }

  @Test func program_givesTheRefusedTokenAgain_isSessionExpired() async throws {
    let server = try server(), needs = Needs(), program = ProgramSessions(tell: needs.tell)
    let client = SalesforceClient(credentials: program.credentials(org: "o", user: "u"))
    async let error = failure(client)
    for _ in 0..<2 {
      _ = await needs.next()
      #expect(program.give(try give("stale", server)))
    }
    let refused = try await error
    #expect(
      refused?.code == .sessionExpired && refused?.message.contains("the program around this host returned the same") == true)
    #expect(server.requests.count == 1)
    await client.shutdown()
  }

  @Test func program_refuses_itsMessageIsTold() async throws {
    let needs = Needs(), program = ProgramSessions(tell: needs.tell)
    let client = SalesforceClient(credentials: program.credentials(org: "o", user: "u"))
    async let error = failure(client)
    _ = await needs.next()
    #expect(program.give(try GivenSession(["error": "denied", "message": "Ann pressed Cancel"])))
    let refused = try await error
    #expect(refused?.code == .notAuthenticated && refused?.reason == "denied" && refused?.outcome == .notSent)
    #expect(refused?.message == "the program around this host: denied: Ann pressed Cancel")
    await client.shutdown()
  }

  @Test func program_silent_isAnErrorAfterTwoMinutes() async throws {
    let clock = Clock(), needs = Needs()
    let program = ProgramSessions(environment: clock.environment, tell: needs.tell)
    let client = SalesforceClient(credentials: program.credentials(org: "o", user: "u"))
    async let error = failure(client)
    _ = await needs.next()
    // The sleep and the request to the program start at the same time.
    await clock.sleepBegins()
    clock.end()
    let refused = try await error
    #expect(clock.asked == [120])
    #expect(refused?.code == .notAuthenticated && refused?.reason == "needsPerson")
    #expect(refused?.message == "the program around this host: it gave no session within 120 s of sessionNeeded")
    await client.shutdown()
  }

  @Test func program_closedWhileItIsAsked_endsTheRequest() async throws {
    let needs = Needs(), program = ProgramSessions(tell: needs.tell)
    let client = SalesforceClient(credentials: program.credentials(org: "o", user: "u"))
    async let error = failure(client)
    _ = await needs.next()
    await client.shutdown()
    #expect(try await error?.code == .shutDown)
  }

  @Test func program_inSwift_isAskedDirectly() async throws {
    let server = try server(), folder = try TemporaryFolder()
    var settings = HostSettings()
    settings.home = folder.path + "/home"
    settings.org = server.url
    settings.askForSession = { need in
      #expect(need.org == server.url && need.user == "program-user" && need.reason == .noSession)
      return Session(givenToken: "good", instanceURL: server.url)
    }
    let host = Host(settings: settings)
    #expect(try await host.core().client.send(Self.get).status == 200)
    try await Blocking.offPool { host.shutdown() }
    #expect(!FileSystem.exists(folder.path + "/home/orgs"), "the program owns the session: no copy of it is kept")
  }

  @Test func given_wrong_namesTheKeyAndNeverTheToken() throws {
    let cases: [(JSONValue, String)] = [
      ([1], "must be an object"), ([:], "'accessToken' must be a string"),
      (["accessToken": "canary"], "'instanceUrl' must be a string"),
      (["accessToken": "canary", "instanceUrl": "http://acme.example.com"], "unencrypted http"),
      (["accessToken": "canary\n", "instanceUrl": "https://acme.example.com"], "cannot be sent"),
      (["accesToken": "canary", "instanceUrl": "https://acme.example.com"], "did you mean 'accessToken'"),
      (["error": "denied"], "'message' must be"), (["error": "a", "message": "b", "accessToken": "canary"], "'accessToken'"),
      (["accessToken": "canary", "instanceUrl": "https://a.example.com", "identityUrl": 5], "'identityUrl'"),
    ]
    for (json, part) in cases {
      let error = #expect(throws: HostError.self) { try GivenSession(json) }
      #expect(error?.message.contains(part) == true && error?.message.contains("canary") == false, "\(error as Any)")
    }
  }

  @Test func signIn_ofAScriptOrAFile_isRefused() throws {
    for given in [["signIn": "program"], ["signIn": "programme"]] as [JSONObject] {
      var settings = HostSettings()
      let error = #expect(throws: HostError.self) {
        try settings.take(given) { HostError(.invalidConfiguration, "'\($0)' \($1)") }
      }
      #expect(error?.message.contains("is for programs") == true)
    }
    var settings = HostSettings()
    let error = #expect(throws: HostError.self) {
      try settings.take(["signIn": "programme"], allowsProgram: true) { HostError(.invalidConfiguration, "'\($0)' \($1)") }
    }
    #expect(error?.message.contains("must be program") == true)
    try settings.take(["signIn": "program"], allowsProgram: true) { HostError(.invalidConfiguration, "\($0) \($1)") }
    #expect(settings.asksProgram)
    let folder = try TemporaryFolder()
    settings.home = folder.path + "/home"
    let host = Host(settings: settings)
    #expect(throws: HostError.self) { try host.core() }
  }
}
