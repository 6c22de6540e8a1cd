import JSON
import SandboxOrg
import Testing

private let grace = [("username", "grace@example.org"), ("password", "h0pper")]

/// A browser that stays signed in, and what clients can request about it.
@Suite struct BrowserSessionTests {
  private func request(_ extra: [(String, String)] = []) -> [(String, String)] {
    [("response_type", "code"), ("client_id", "admin"), ("redirect_uri", "https://example.org/admin")] + extra
  }

  @Test func browser_signedIn_isNotAskedAgainUnlessTold() async throws {
    try await withSignIn { _, client in
      var browser = Browser(client)
      #expect(try await browser.open(request()).status == 200)
      #expect(try await browser.submit(grace).status == 302)
      for (extra, status) in [
        ([], 302), ([("immediate", "true")], 302), ([("prompt", "login")], 200), ([("prompt", "select_account")], 200),
        ([("login_hint", "gone@example.org")], 302),
      ] as [([(String, String)], Int)] {
        let answer = try await browser.open(request(extra))
        #expect(answer.status == status, "\(extra)")
        if status == 302 { #expect(redirected(answer).fields["code"] != nil) }
      }
      // The form has the name of the signed-in user, not the hint.
      let page = try await browser.open(request([("prompt", "login"), ("login_hint", "x@example.org")]))
      #expect(page.text.contains("value=\"grace@example.org\"") && !page.text.contains("x@example.org"))
      var other = Browser(client)
      #expect(try await other.open(request([("login_hint", "x@example.org")])).text.contains("value=\"x@example.org\""))
    }
  }

  @Test func browser_signedIn_isAskedForApprovalAlone() async throws {
    try await withSignIn { _, client in
      var browser = Browser(client)
      let phone = SignedIn(client: client, id: "phone", redirect: "app:///done")
      _ = try await browser.open(request())
      _ = try await browser.submit(grace)
      let immediate = redirected(try await phone.authorize(&browser, [("immediate", "true")])).fields
      #expect(immediate["error"] == "immediate_unsuccessful")
      let approval = try await phone.authorize(&browser)
      #expect(approval.status == 200 && approval.text.contains("as <b>grace@example.org</b>"))
      let answer = try await browser.submit([("decision", "allow")])
      #expect(try await phone.exchange(redirected(answer).fields["code"] ?? "").status == 200)
      #expect(try await phone.authorize(&browser, [("immediate", "true")]).status == 302)
      #expect(try await phone.authorize(&browser, [("prompt", "consent")]).text.contains("id=\"deny\""))
    }
  }

  @Test func browser_sessionOfOthersOrOld_isIgnored() async throws {
    let clock = ManualSandboxClock()
    try await withSignIn(clock: clock) { server, client in
      var browser = Browser(client)
      _ = try await browser.open(request())
      _ = try await browser.submit(grace)
      let guess = String(repeating: "a", count: 43)
      let answer = try await client.send(
        "GET", "/services/oauth2/authorize?response_type=code&client_id=admin&redirect_uri=https%3A%2F%2Fexample.org%2Fadmin",
        headers: [("Cookie", "sandbox_session=\(guess)")])
      #expect(answer.status == 200)
      clock.advance(by: 7_000)
      #expect(try await browser.open(request()).status == 302)
      clock.advance(by: 7_201)
      #expect(try await browser.open(request()).status == 200)
      _ = try await browser.submit(grace)
      #expect(try await browser.open(request()).status == 302)
      try server.refreshOrg()
      #expect(try await browser.open(request()).status == 200)
    }
  }

  @Test func pages_fieldsAndButtons_haveTheirIds() async throws {
    try await withSignIn { _, client in
      var browser = Browser(client)
      let phone = SignedIn(client: client, id: "phone", redirect: "app:///done")
      let login = try await phone.authorize(&browser)
      for id in ["username", "password", "login"] { #expect(login.text.contains("id=\"\(id)\"")) }
      let approval = try await browser.submit(grace)
      for id in ["allow", "deny"] { #expect(approval.text.contains("id=\"\(id)\"")) }
      #expect(approval.headers["set-cookie"]?.hasSuffix("; Path=/services/oauth2; HttpOnly; SameSite=Lax") == true)
    }
  }
}
