import JSON
import SandboxOrg
import TestSupport
import Testing

private let tokenURL = "/services/oauth2/token"

/// How long refresh tokens are good for, how many there are, and what happens to two requests with one.
@Suite struct RefreshTokenTests {
  private func app(_ policy: SandboxClient.RefreshTokens, rotates: Bool = false) -> SandboxClient {
    var client = SandboxClient(id: "app")
    client.redirectURIs = ["app:///back"]
    client.refreshTokens = policy
    client.rotatesRefreshTokens = rotates
    return client
  }

  private func withApp(
    _ policy: SandboxClient.RefreshTokens, rotates: Bool = false, clock: ManualSandboxClock = ManualSandboxClock(),
    _ body: (SandboxServer, SignedIn) async throws -> Void
  ) async throws {
    let client = app(policy, rotates: rotates)
    try await withSignIn(clock: clock, change: { $0.clients.append(client) }) { server, wire in
      try await body(server, SignedIn(client: wire, id: "app", redirect: "app:///back"))
    }
  }

  private func signIn(_ app: SignedIn) async throws -> String {
    try await app.tokens("grace@example.org", "h0pper").json["refresh_token"]?.stringValue ?? ""
  }

  @Test func refreshToken_idlePolicy_endsWhenItIsNotUsed() async throws {
    let clock = ManualSandboxClock()
    try await withApp(.idle(seconds: 600), clock: clock) { _, app in
      let token = try await signIn(app)
      for _ in 0..<3 {
        clock.advance(by: 600)
        #expect(try await app.refresh(token).status == 200)
      }
      clock.advance(by: 601)
      #expect(try await app.refresh(token).json["error_description"] == "expired access/refresh token")
    }
  }

  @Test(arguments: [false, true])
  func refreshToken_totalPolicy_endsAlthoughItIsUsed(rotates: Bool) async throws {
    let clock = ManualSandboxClock()
    try await withApp(.total(seconds: 1_000), rotates: rotates, clock: clock) { _, app in
      var token = try await signIn(app)
      for (advance, status) in [(600, 200), (400, 200), (1, 400)] as [(Int64, Int)] {
        clock.advance(by: advance)
        let answer = try await app.refresh(token)
        #expect(answer.status == status)
        if let next = answer.json["refresh_token"]?.stringValue { token = next }
      }
    }
  }

  @Test func refreshToken_immediately_isGivenAndRefused() async throws {
    try await withApp(.immediately) { _, app in
      let token = try await signIn(app)
      #expect(!token.isEmpty)
      #expect(try await app.refresh(token).json["error"] == "invalid_grant")
    }
  }

  @Test(arguments: [false, true])
  func refreshTokens_sixth_endsTheOldestOfThatUserAndClient(rotates: Bool) async throws {
    try await withApp(.untilRevoked, rotates: rotates) { server, app in
      var tokens: [String] = []
      let other = try await app.tokens(server.username, server.password).json["refresh_token"]?.stringValue
      for number in 0..<6 {
        tokens.append(try await signIn(app))
        // Using the first one does not renew its age.
        if number == 2, let next = try await app.refresh(tokens[0]).json["refresh_token"]?.stringValue { tokens[0] = next }
      }
      var alive: [Bool] = []
      for token in tokens { alive.append(try await app.refresh(token).status == 200) }
      #expect(alive == [false, true, true, true, true, true])
      #expect(try await app.refresh(other).status == 200)
    }
  }

  @Test func refreshTokens_sixthAfterARestart_endsTheOldest() async throws {
    let folder = try TemporaryFolder()
    var configuration = SandboxConfiguration()
    configuration.databasePath = folder.path + "/org.sqlite"
    configuration.seed = .none
    configuration.clock = ManualSandboxClock()
    configuration.signIn.clients = [app(.untilRevoked)]
    var tokens: [String] = []
    for count in [4, 2] {
      let server = try await SandboxServer.start(configuration)
      let app = SignedIn(client: WireClient(port: server.port), id: "app", redirect: "app:///back")
      for _ in 0..<count {
        tokens.append(try await app.tokens(server.username, server.password).json["refresh_token"]?.stringValue ?? "")
      }
      if tokens.count == 6 {
        #expect(try await app.refresh(tokens[0]).status == 400)
        #expect(try await app.refresh(tokens[1]).status == 200)
      }
      await server.stop()
    }
  }

  // MARK: The same moment

  @Test func tokenBusy_secondRefreshMeanwhile_isRefusedAndRevokesNothing() async throws {
    try await withApp(.untilRevoked, rotates: true) { server, app in
      let token = try await signIn(app)
      server.clock.hold()
      try server.faults.add(.tokenBusy(milliseconds: 5_000, clock: .org), when: .nth(1))
      async let first = app.refresh(token)
      await server.clock.hasSleepers()
      for _ in 0..<2 {
        let second = try await app.refresh(token)
        #expect(second.status == 400)
        #expect(
          second.json == ["error": "invalid_grant", "error_description": "token request is already being processed"])
      }
      server.clock.advance(by: 5)
      let answer = try await first
      #expect(answer.status == 200)
      // The first request used the token up: a repeat is a reuse and ends the chain.
      let next = answer.json["refresh_token"]?.stringValue
      #expect(try await app.refresh(next).status == 200)
      #expect(try server.signIns().map(\.result).suffix(4) == ["invalid_grant", "invalid_grant", "success", "success"])
    }
  }

  @Test func tokenBusy_stopMeanwhile_ends() async throws {
    try await withApp(.untilRevoked) { server, app in
      let token = try await signIn(app)
      server.clock.hold()
      try server.faults.add(.tokenBusy(milliseconds: 5_000, clock: .org), when: .nth(1))
      async let first = try? app.refresh(token)
      await server.clock.hasSleepers()
      await server.stop()
      #expect(await first?.status != 200)
    }
  }

  @Test func refresh_manyAtOnceWithRotation_neverGiveTwoTokens() async throws {
    try await withApp(.untilRevoked, rotates: true) { _, app in
      let token = try await signIn(app)
      let answers = try await withThrowingTaskGroup(of: WireClient.Answer.self) { group in
        for _ in 0..<20 { group.addTask { try await app.refresh(token) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.filter { $0.status == 200 }.count == 1)
      // All others were reuses, so the chain has ended.
      let next = answers.first { $0.status == 200 }?.json["refresh_token"]?.stringValue
      #expect(try await app.refresh(next).json["error_description"] == "expired access/refresh token")
    }
  }

  // MARK: Refusals

  @Test func signInRefusal_saysWhatTheRuleSays() async throws {
    try await withApp(.untilRevoked) { server, app in
      let token = try await signIn(app)
      try server.faults.add(.signInRefusal("server_error", "come back", status: 400), when: .nth(1))
      try server.faults.add(.signInRefusal("rate_limit_exceeded", "login rate exceeded", status: 429), when: .nth(2))
      let first = try await app.refresh(token)
      #expect(first.status == 400 && first.json == ["error": "server_error", "error_description": "come back"])
      #expect(try await app.refresh(token).status == 429)
      #expect(try await app.refresh(token).status == 200)
      #expect(try server.signIns().suffix(3).map(\.result) == ["server_error", "rate_limit_exceeded", "success"])
    }
  }
}
