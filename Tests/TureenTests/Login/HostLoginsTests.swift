import Glibc
import RestClient
import Synchronization
import Testing

@testable import Tureen

/// Tests the open sign-in of a host without a script.
@Suite(.timeLimit(.minutes(60))) struct HostLoginsTests {
  @Test func close_whileACallWaits_endsItAndFreesThePort() async throws {
    let trial = try LoginTrial(), logins = HostLogins()
    let login = try trial.login(at: "https://acme.my.salesforce.com")
    let waiting = try logins.finish(try await begin(login, logins), url: nil) { _ in }
    try await Blocking.offPool { logins.close() }
    #expect(trial.browser.connected() == nil)
    #expect(try await failure(of: waiting).code == .cancelled)
    let refused = await #expect(throws: HostError.self) { try await logins.start(login, listens: true) }
    #expect(refused?.code == .closed && trial.browser.connected() == nil && trial.keepsNothing)
  }

  private func begin(_ login: Login, _ logins: HostLogins) async throws -> String {
    try #require(try await logins.start(login, listens: true)["id"]?.stringValue)
  }

  private func failure(of waiting: Task<LoginAccount, any Error>) async throws -> RestError {
    let result = await waiting.result
    return try #require(throws: RestError.self) { try result.get() }
  }

  /// Ctrl-C must not wait for the person.
  @Test func interrupt_whileACallWaits_endsIt() async throws {
    let trial = try LoginTrial(), logins = HostLogins()
    let id = try await begin(trial.login(at: "https://acme.my.salesforce.com"), logins)
    let waiting = try logins.finish(id, url: nil) { _ in }
    logins.interrupt()
    #expect(try await failure(of: waiting).code == .cancelled)
    #expect(trial.browser.connected() == nil)
    try await Blocking.offPool { logins.close() }
  }

  @Test func start_portInUse_leavesNoSignInOpen() async throws {
    let trial = try LoginTrial(), logins = HostLogins()
    let login = try trial.login(at: "https://acme.my.salesforce.com")
    let socket = try #require(trial.browser.bound())
    let refused = await #expect(throws: HostError.self) { try await logins.start(login, listens: true) }
    #expect(refused?.code == .portInUse)
    Glibc.close(socket)
    _ = try await logins.start(login, listens: true)
    try await Blocking.offPool { logins.close() }
    #expect(trial.browser.connected() == nil)
  }

  @Test func finish_callIsGivenUp_endsTheSignIn() async throws {
    let trial = try LoginTrial(), logins = HostLogins()
    let id = try await begin(trial.login(at: "https://acme.my.salesforce.com"), logins)
    let waiting = try logins.finish(id, url: nil) { _ in }
    waiting.cancel()
    #expect(try await failure(of: waiting).code == .cancelled)
    #expect(throws: HostError.self) { try logins.finish(id, url: nil) { _ in } }
    #expect(trial.browser.connected() == nil)
    try await Blocking.offPool { logins.close() }
  }

  @Test func finish_withoutARefreshToken_warns() async throws {
    let trial = try LoginTrial(), logins = HostLogins()
    let org = try ScriptedOrg(refreshToken: nil)
    let warnings = Mutex<[String]>([])
    let started = try await logins.start(trial.login(at: org.server.url), listens: true)
    let id = try #require(started["id"]?.stringValue), url = try #require(started["url"]?.stringValue)
    let state = try #require(url.split(separator: "&").first { $0.hasPrefix("state=") })
    let finishing = try logins.finish(id, url: "http://localhost:\(trial.port)/OauthRedirect?code=a&\(state)") { text in
      warnings.withLock { $0.append(text) }
    }
    let account = try await finishing.value
    #expect(account.username == "ann@acme.com" && account.displayName == "Ann Acme")
    #expect(warnings.withLock { $0.count == 1 && $0[0].contains("the org gave no refresh token") })
    try await Blocking.offPool { logins.close() }
  }
}
