import Glibc
import JSON
import RestClient
import Salesforce
import Support
import TestSupport
import Testing

@testable import Tureen

/// Tests browser sign-ins against a scripted org, from the URL to the files in the home.
@Suite(.timeLimit(.minutes(60))) struct BrowserLoginTests {
  private let trial: LoginTrial

  init() throws { trial = try LoginTrial() }

  private static let user = "orgs/prod/ann%40acme%2Ecom"

  /// Follows the redirect and the second one to the final page.
  private func browse(_ target: String) async -> (redirect: TestBrowser.Answer, page: TestBrowser.Answer) {
    let redirect = await trial.browser.get(target)
    return (redirect, await trial.browser.get(redirect.header("Location") ?? "/none"))
  }

  @Test func login_inABrowser_keepsTheSessionAndShowsWhoSignedIn() async throws {
    let org = try ScriptedOrg(isSandbox: true)
    let login = trial.run(try trial.login(at: org.server.url))
    let (redirect, page) = await browse(await trial.answer())
    let account = try await login.value
    #expect(account.org == "prod" && account.username == "ann@acme.com" && account.userId == ScriptedOrg.userId)
    #expect(account.orgId == ScriptedOrg.orgId && account.isDefault && account.flow == .browser)
    #expect(redirect.status == 303 && redirect.header("Location") == "/done" && page.status == 200)
    #expect(page.text.contains("Tureen is signed in as ann@acme.com to prod (\(ScriptedOrg.orgId))"))
    #expect(trial.openedAddresses == [await trial.events.address()])

    let session = try #require(trial.file("\(Self.user)/session.json"))
    #expect(session["accessToken"] == "token-1" && session["refreshToken"] == "refresh-1" && session["flow"] == "browser")
    #expect(session["username"] == "ann@acme.com" && session["displayName"] == "Ann Acme" && session["clientId"] == "app")
    let credentials = try #require(trial.file("\(Self.user)/credentials.json"))
    #expect(credentials["flow"] == "browser" && credentials["loginUrl"]?.stringValue == org.server.url)
    #expect(credentials["clientId"] == "app" && credentials["username"] == "ann@acme.com" && credentials["clientSecret"] == nil)
    #expect(trial.file("orgs/prod/org.json")?["isSandbox"] == true && trial.file("orgs.json")?["default"] == "prod")

    let exchange = try #require(org.exchanges.first?.text)
    #expect(
      org.exchanges.count == 1 && exchange.hasPrefix("grant_type=authorization_code&code=the-code&client_id=app&redirect_uri="))
    #expect(exchange.contains("&code_verifier=") && !exchange.contains("client_secret"))
    #expect(org.revoked.isEmpty && trial.browser.connected() == nil, "the port is free")
  }

  @Test func login_ofAnAppWithASecret_sendsItBesideTheVerifier() async throws {
    let org = try ScriptedOrg()
    try trial.folder.write("s3cret\n", to: "secret", mode: 0o600)
    let login = trial.run(
      try trial.login(at: org.server.url) {
        $0.flow = "browser"
        $0.clientSecret.file = trial.folder.path + "/secret"
      })
    _ = await browse(await trial.answer())
    _ = try await login.value
    #expect(org.exchanges.first?.text.hasSuffix("&client_secret=s3cret") == true)
    let kept = trial.file("\(Self.user)/credentials.json")
    #expect(kept?["clientSecretFile"]?.stringValue == trial.folder.path + "/secret" && kept?["clientSecret"] == nil)
  }

  @Test func login_personDenies_keepsNothingAndThePageSaysSo() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url))
    let (redirect, page) = await browse(
      await trial.answer("error=access_denied&error_description=end-user+denied+authorization"))
    let error = try #require(try await failure(of: login) as? RestError)
    #expect(error.code == .notAuthenticated && error.reason == "denied")
    #expect(redirect.header("Location") == "/failed" && page.text.contains("end-user denied authorization; sign in again"))
    #expect(trial.keepsNothing && org.exchanges.isEmpty)
  }

  @Test func login_appBlocked_isRefusedByTheRightStateAlone() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url))
    _ = await trial.events.address()
    #expect(await trial.browser.get("/OauthRedirect?error=OAUTH_APP_BLOCKED&state=other").status == 400)
    let (_, page) = await browse(await trial.answer("error=OAUTH_APP_BLOCKED&error_description=this+app+is+blocked"))
    let error = try #require(try await failure(of: login) as? RestError)
    #expect(error.code == .notAuthenticated && error.reason == "appRefused")
    #expect(page.text.contains("OAUTH_APP_BLOCKED: this app is blocked") && trial.keepsNothing)
  }

  @Test func login_anotherUserThanAskedFor_isRevokedAndThePageSaysSo() async throws {
    let org = try ScriptedOrg(username: "bob@acme.com")
    let login = trial.run(try trial.login(at: org.server.url) { $0.user = "ann@acme.com" })
    #expect(await trial.events.address().contains("&login_hint=ann%40acme.com"))
    let (_, page) = await browse(await trial.answer())
    let error = try #require(try await failure(of: login) as? HostError)
    #expect(
      error.code == .otherOrg && error.message.hasPrefix("bob@acme.com signed in, and not ann@acme.com: nothing was stored"))
    #expect(page.text.contains("bob@acme.com signed in, and not ann@acme.com"))
    #expect(trial.keepsNothing && org.revoked == ["token=refresh-1"])
  }

  /// If the org does not reveal the user name, it does not match a requested user.
  @Test func login_orgThatKeepsTheNameToItself_standsByItsIdUnlessAUserWasAskedFor() async throws {
    let org = try ScriptedOrg(username: nil)
    let login = trial.run(try trial.login(at: org.server.url))
    _ = await browse(await trial.answer())
    #expect(try await login.value.username == ScriptedOrg.userId)
    #expect(trial.file("orgs/prod/\(ScriptedOrg.userId)/session.json")?["accessToken"] == "token-1")
    #expect(
      org.server.requests.map(\.path).filter { !$0.hasSuffix("/query") } == [
        "/services/oauth2/token", "/id/\(ScriptedOrg.orgId)/\(ScriptedOrg.userId)", "/services/oauth2/userinfo",
        "/services/data/v66.0/sobjects/User/\(ScriptedOrg.userId)",
      ])
    let other = try LoginTrial(), second = other.run(try other.login(at: org.server.url) { $0.user = "ann@acme.com" })
    _ = await other.browser.get(await other.answer())
    #expect((try await failure(of: second) as? HostError)?.code == .otherOrg)
    #expect(other.keepsNothing && org.revoked == ["token=refresh-1"])
  }

  // MARK: The code

  @Test(arguments: [true, false])
  func login_answerToTheCodeLost_isExchangedOnce(isCutOff: Bool) async throws {
    let org = try ScriptedOrg(token: isCutOff ? .json("{}", delivery: .closeAfter(bytes: 1)) : .closed)
    let login = trial.run(try trial.login(at: org.server.url, policy: .standard))
    let (_, page) = await browse(await trial.answer())
    let error = try #require(try await failure(of: login) as? RestError)
    #expect(error.code == .notAuthenticated && error.message.contains("a code works once"))
    #expect(page.text.contains("Not signed in") && org.exchanges.count == 1 && trial.keepsNothing)
  }

  @Test func login_codeRefused_saysWhyAndIsExchangedOnce() async throws {
    let refusal = #"{"error":"invalid_grant","error_description":"expired authorization code"}"#
    let org = try ScriptedOrg(token: .json(refusal, status: 400))
    let login = trial.run(try trial.login(at: org.server.url, policy: .standard))
    _ = await browse(await trial.answer())
    let error = try #require(try await failure(of: login) as? RestError)
    #expect(error.code == .notAuthenticated && error.message.contains("lives 15 minutes and works once"))
    #expect(org.exchanges.count == 1)
  }

  @Test func login_orgAwayAtTheCode_canBeTriedAgainLater() async throws {
    let org = try ScriptedOrg(token: .text("<html>", status: 503, type: "text/html"))
    let login = trial.run(try trial.login(at: org.server.url, policy: .standard))
    _ = await browse(await trial.answer())
    let error = try #require(try await failure(of: login) as? RestError)
    #expect(error.isRetryable && org.exchanges.count == 1)
  }

  // MARK: Time

  @Test func login_nothingComes_hintsAfterAMinuteAndEndsAfterFive() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url))
    _ = await trial.events.address()
    await trial.time.pass(59)
    #expect(trial.events.all.count == 1)
    await trial.time.pass(1)
    let hint = await trial.events.first { if case .hint = $0 { true } else { false } }
    guard case .hint(let text) = hint else { return }
    #expect(text.contains("must be installed") && text.contains("ssh -L \(trial.port):localhost:\(trial.port)"))
    await trial.time.pass(240)
    let error = try #require(try await failure(of: login) as? RestError)
    #expect(error.code == .notAuthenticated && error.reason == "needsPerson" && error.message.contains("within 300 s"))
    #expect(trial.browser.connected() == nil && trial.keepsNothing)
  }

  @Test func login_ownTimeLimit_endsThenWithoutAHint() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url) { $0.timeoutS = 20 })
    await trial.time.pass(20)
    #expect((try await failure(of: login) as? RestError)?.message.contains("within 20 s") == true)
    #expect(trial.events.all.count == 1)
  }

  @Test func login_givenUp_freesThePort() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url))
    _ = await trial.events.address()
    login.cancel()
    #expect((try await failure(of: login) as? RestError)?.code == .cancelled)
    #expect(trial.browser.connected() == nil && trial.keepsNothing)
  }

  @Test func login_portInUse_showsNoAddress() async throws {
    let socket = try #require(trial.browser.bound())
    defer { close(socket) }
    let login = trial.run(try trial.login(at: "https://acme.my.salesforce.com"))
    #expect((try await failure(of: login) as? HostError)?.code == .portInUse)
    #expect(trial.events.all.isEmpty && trial.openedAddresses.isEmpty)
  }

  // MARK: Pasting

  @Test func paste_addressOfTheAnswer_signsIn() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url) { $0.opensBrowser = false })
    let answer = await trial.answer(), state = await trial.state()
    trial.paste("the-code")
    trial.paste("")
    trial.paste("code=the-code&state=foreign")
    trial.paste("http://localhost:\(trial.port)\(answer)")
    #expect(try await login.value.username == "ann@acme.com")
    let refused = trial.events.all.compactMap { if case .refusedPaste(let why) = $0 { why } else { nil } }
    #expect(refused.count == 2 && refused[0].hasPrefix("a code alone") && refused[1].hasPrefix("its state"))
    #expect(!refused.joined().contains(state) && trial.openedAddresses.isEmpty)
  }

  @Test func paste_errorPageOfTheOrg_isExplainedAndEndsTheSignIn() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url))
    _ = await trial.events.address()
    trial.paste(
      org.server.url
        + "/setup/secur/RemoteAccessErrorPage.apexp?error=invalid_client&error_description=app+must+be+installed+into+org")
    let error = try #require(try await failure(of: login) as? RestError)
    #expect(error.reason == "appRefused" && error.message.contains("an administrator of the org can install the app"))
    #expect(trial.keepsNothing)
  }

  @Test func paste_redirectOfAnotherKind_isTheOnlyWay() async throws {
    let org = try ScriptedOrg()
    let login = trial.run(try trial.login(at: org.server.url) { $0.redirectURI = "testsfdc:///mobilesdk/detect/oauth/done" })
    let state = await trial.state()
    #expect(trial.browser.connected() == nil)
    trial.paste("testsfdc:///mobilesdk/detect/oauth/done?code=c&state=\(state)")
    _ = try await login.value
    #expect(org.exchanges.first?.text.contains("redirect_uri=testsfdc%3A%2F%2F%2Fmobilesdk%2Fdetect%2Foauth%2Fdone") == true)
  }

  // MARK: Stored sessions

  @Test func login_withoutARefreshToken_warns() async throws {
    let org = try ScriptedOrg(refreshToken: nil)
    let login = trial.run(try trial.login(at: org.server.url))
    _ = await browse(await trial.answer())
    _ = try await login.value
    let warnings = trial.events.all.compactMap { if case .warning(let text) = $0 { text } else { nil } }
    #expect(warnings.count == 1 && warnings[0].contains("no refresh token"))
    #expect(trial.file("\(Self.user)/session.json")?["refreshToken"] == nil)
  }

  @Test func login_again_endsTheOldRefreshTokenAfterStoringTheNewOne() async throws {
    let stored = OneTimeValue<JSONValue?>(), trial = trial
    let first = try ScriptedOrg(
      refreshToken: "refresh-1", onRevoke: { _ in stored.settle(trial.file("\(Self.user)/session.json")?["refreshToken"]) })
    let one = trial.run(try trial.login(at: first.server.url))
    _ = await browse(await trial.answer())
    _ = try await one.value
    let org = try ScriptedOrg(refreshToken: "refresh-2")
    let again = try LoginTrial(in: trial.folder), two = again.run(try again.login(at: org.server.url))
    let redirect = await again.browser.get(await again.answer())
    _ = await again.browser.get(redirect.header("Location") ?? "/none")
    _ = try await two.value
    // The old session is revoked at its own login host, after the new one was stored.
    #expect(first.revoked == ["token=refresh-1"] && org.revoked.isEmpty)
    #expect(await stored.value() == "refresh-2")
  }

  @Test func login_thatCannotBeKept_isRevoked() async throws {
    let org = try ScriptedOrg()
    let one = trial.run(try trial.login(at: org.server.url))
    _ = await browse(await trial.answer())
    _ = try await one.value
    // The same name with another user id, as after a sandbox refresh.
    try trial.folder.write(
      #"{"name":"prod","loginUrl":"https://acme.my.salesforce.com","orgId":"00D000000000002EAA","user":"ann@acme.com"}"#,
      to: "home/orgs/prod/org.json", mode: 0o600)
    let again = try LoginTrial(in: trial.folder), two = again.run(try again.login(at: org.server.url))
    let redirect = await again.browser.get(await again.answer())
    #expect(redirect.header("Location") == "/failed")
    _ = await again.browser.get("/failed")
    #expect((try await failure(of: two) as? HostError)?.code == .otherOrg)
    #expect(org.revoked == ["token=refresh-1"])
  }
}
