import RestClient
import Testing

@testable import Salesforce

/// Tests browser sign-ins as pure values: the URL to open and the redirect that comes back.
@Suite struct AuthorizationRequestTests {
  private static let redirect = "http://localhost:1717/OauthRedirect"
  private static let answered = redirect + "?code=aPrx%3D%3D&state=the-state"

  private func request(redirect: String = redirect) -> AuthorizationRequest {
    AuthorizationRequest(
      loginURL: "https://acme.my.salesforce.com/", clientId: "3MVG.app", redirectURI: redirect, state: "the-state",
      proof: try! PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
  }

  private func refusal(_ answer: AuthorizationRequest.Answer) -> RestError? {
    if case .refused(let error) = answer { error } else { nil }
  }

  /// The example of RFC 7636, appendix B.
  @Test func pkce_ofTheStandardsExample_hasItsChallenge() {
    #expect(request().proof.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
  }

  @Test func pkce_andState_are43CharactersAndNeverTheSame() throws {
    let made = try (0..<50).map { _ in
      try AuthorizationRequest(loginURL: "https://a.my.salesforce.com", clientId: "c", redirectURI: Self.redirect)
    }
    let texts = made.flatMap { [$0.state, $0.proof.verifier] }
    #expect(
      texts.allSatisfy {
        $0.utf8.count == 43 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
      })
    #expect(Set(texts).count == 100)
  }

  @Test func url_ofASignIn_hasWhatThePageNeedsAndNoVerifier() {
    var request = request()
    #expect(
      request.url == "https://acme.my.salesforce.com/services/oauth2/authorize?response_type=code&client_id=3MVG.app"
        + "&redirect_uri=http%3A%2F%2Flocalhost%3A1717%2FOauthRedirect&state=the-state"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&prompt=login")
    request.prompt = .none
    request.loginHint = "ann+1@acme.com"
    request.scope = "api refresh_token"
    #expect(request.url.hasSuffix("&code_challenge_method=S256&login_hint=ann%2B1%40acme.com&scope=api%20refresh_token"))
    #expect(!"\(request) \(String(reflecting: request))".contains("the-state"))
  }

  @Test func form_ofACode_hasTheVerifierAndASecretOnlyWhereThereIsOne() {
    let form = request().form(code: "aPrx==", clientSecret: nil)
    #expect(
      PercentEncoding.form(form) == "grant_type=authorization_code&code=aPrx%3D%3D&client_id=3MVG.app"
        + "&redirect_uri=http%3A%2F%2Flocalhost%3A1717%2FOauthRedirect&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(request().form(code: "c", clientSecret: "s").last?.value == "s")
  }

  @Test func answer_rightState_hasTheCode() {
    #expect(request().answer(query: "code=aPrx%3D%3D&state=the-state") == .code("aPrx=="))
    #expect(request().answer(query: "state=the-state&sfdc_community_url=x&code=a") == .code("a"))
  }

  @Test(arguments: [
    "code=a&state=other", "code=a", "code=a&state=", "code=a&state=the-state&state=the-state", "code=a&code=b&state=the-state",
    "state=the-state", "code=&state=the-state", "code=%zz&state=the-state", "", "error=OAUTH_APP_BLOCKED",
    "error=access_denied&state=other",
  ])
  func answer_ofAnotherSignIn_isForeign(query: String) {
    guard case .foreign = request().answer(query: query) else {
      Issue.record("\(request().answer(query: query))")
      return
    }
  }

  @Test(arguments: [
    ("access_denied", "end-user+denied+authorization", "denied"), ("access-denied", "", "denied"),
    ("OAUTH_APP_BLOCKED", "this+app+is+blocked+by+admin", "appRefused"), ("OAUTH_EC_APP_NOT_FOUND", "", "appRefused"),
    ("OAUTH_APP_ACCESS_DENIED", "", "notApproved"), ("invalid_client_id", "", "appRefused"), ("invalid_scope", "", "refused"),
    ("invalid_client", "app+must+be+installed+into+org", "appRefused"), ("immediate_unsuccessful", "", "refused"),
  ])
  func answer_errorWithTheRightState_hasItsReason(code: String, description: String, reason: String) throws {
    let answer = request().answer(query: "error=\(code)&error_description=\(description)&state=the-state")
    let error = try #require(refusal(answer))
    #expect(error.code == .notAuthenticated && error.reason == reason && !error.isRetryable)
    #expect(error.message.hasPrefix("https://acme.my.salesforce.com refused the sign-in in the browser: \(code)"))
    #expect(!error.message.contains("+") && !error.message.contains("the-state"))
  }

  @Test func answer_serverErrorInTheBrowser_isRetryable() throws {
    for code in ["server_error", "temporarily_unavailable"] {
      let error = try #require(refusal(request().answer(query: "error=\(code)&state=the-state")))
      #expect(error.code == .httpStatus && error.isRetryable && error.reason == nil)
    }
  }

  // MARK: Text that a user pastes

  @Test(arguments: [
    answered, "  \(answered)\n", answered + "#_=_", "code=aPrx%3D%3D&state=the-state", "?state=the-state&code=aPrx%3D%3D",
    "HTTP://LOCALHOST:1717/OauthRedirect?code=aPrx%3D%3D&state=the-state",
  ])
  func paste_addressOfTheAnswer_hasTheCode(text: String) {
    #expect(request().answer(pasted: text) == .code("aPrx=="))
  }

  @Test(arguments: [
    ("aPrx==", "a code alone"), ("code=aPrx%3D%3D", "a code alone"), ("hello", "a code alone"), ("", "a code alone"),
    (redirect + "?code=aPrx%3D%3D&state=other", "its state"), ("code=aPrx&state=other", "its state"),
    (redirect + "?code=aPrx%3D%3D", "its state"), ("https://evil.example/OauthRedirect?code=a&state=the-state", "begins with"),
    ("http://localhost:1718/OauthRedirect?code=a&state=the-state", "begins with"),
    ("http://localhost:1717/other?code=a&state=the-state", "begins with"), (redirect + "?error=access_denied", "its state"),
    ("https://acme.my.salesforce.com/services/oauth2/authorize?client_id=x", "begins with"),
  ])
  func paste_anythingElse_isRefusedAndSaysWhatToPaste(text: String, why: String) throws {
    guard case .foreign(let reason) = request().answer(pasted: text) else {
      Issue.record("\(request().answer(pasted: text))")
      return
    }
    #expect(reason.contains(why))
    #expect(!reason.contains("aPrx"), "a code is shown nowhere")
  }

  @Test(arguments: [
    "https://acme.my.salesforce.com/setup/secur/RemoteAccessErrorPage.apexp?error=invalid_client&error_description="
      + "app+must+be+installed+into+org",
    "error=invalid_client&error_description=app+must+be+installed+into+org",
  ])
  func paste_errorPageOfTheOrg_isExplained(text: String) throws {
    let error = try #require(refusal(request().answer(pasted: text)))
    #expect(error.reason == "appRefused")
    #expect(
      error.message == "https://acme.my.salesforce.com refused the sign-in in the browser: invalid_client: app must be installed "
        + "into org; an administrator of the org can install the app, in Setup under Connected Apps OAuth Usage")
  }

  @Test func paste_redirectOfAnApp_isJudgedAsOneOfThisMachine() {
    let request = request(redirect: "testsfdc:///mobilesdk/detect/oauth/done")
    let answer = "testsfdc:///mobilesdk/detect/oauth/done?code=a&state=the-state"
    #expect(request.answer(pasted: answer) == .code("a"))
    #expect(
      self.request(redirect: "http://localhost:1717").answer(pasted: "http://localhost:1717/?code=a&state=the-state")
        == .code("a"))
    #expect(
      self.request(redirect: "http://localhost:80/x").answer(pasted: "http://localhost/x?code=a&state=the-state") == .code("a"))
  }
}
