import JSON
import SandboxOrg
import Testing

/// Wrong passwords and too many sign-ins, by the org's clock.
@Suite struct PasswordLockTests {
  private func password(_ client: WireClient, _ word: String, _ name: String = "grace@example.org") async throws -> JSONValue {
    try await client.form(
      "/services/oauth2/token",
      [
        ("grant_type", "password"), ("client_id", "web"), ("client_secret", "web secret"), ("username", name), ("password", word),
      ]
    ).json
  }

  @Test func passwords_tenWrong_lockTheUserFor15Minutes() async throws {
    let clock = ManualSandboxClock()
    try await withSignIn(clock: clock) { server, client in
      for _ in 0..<10 { _ = try await password(client, "wrong") }
      let refused: JSONValue = ["error": "invalid_grant", "error_description": "authentication failure"]
      #expect(try await password(client, "h0pperTOKEN") == refused)
      // Neither the page nor SOAP admits the user; other users are not affected.
      var browser = Browser(client)
      let admin = [("response_type", "code"), ("client_id", "admin"), ("redirect_uri", "https://example.org/admin")]
      _ = try await browser.open(admin)
      #expect(try await browser.submit([("username", "grace@example.org"), ("password", "h0pper")]).status == 403)
      #expect(try await password(client, server.password, server.username)["access_token"] != nil)
      clock.advance(by: 899)
      #expect(try await password(client, "h0pperTOKEN") == refused)
      clock.advance(by: 1)
      #expect(try await password(client, "h0pperTOKEN")["access_token"] != nil)
    }
  }

  @Test func passwords_rightOneBetween_startsTheCountAnew() async throws {
    try await withSignIn { _, client in
      for word in Array(repeating: "wrong", count: 9) + ["h0pperTOKEN"] + Array(repeating: "wrong", count: 9) {
        _ = try await password(client, word)
      }
      #expect(try await password(client, "h0pperTOKEN")["access_token"] != nil)
    }
  }

  @Test func signIns_moreThanTheLimit_areRefusedForAnHour() async throws {
    let clock = ManualSandboxClock()
    try await withSignIn(clock: clock, change: { $0.users[0].loginLimit = 3 }) { server, client in
      let form = [("grant_type", "client_credentials"), ("client_id", "web"), ("client_secret", "web secret")]
      // Three within an hour, whenever they occur.
      let steps: [(advance: Int64, refusal: JSONValue?)] = [
        (0, nil), (1_800, nil), (0, nil), (0, "login rate exceeded"), (1_799, "login rate exceeded"), (1, nil),
        (0, "login rate exceeded"),
      ]
      for (number, step) in steps.enumerated() {
        clock.advance(by: step.advance)
        let answer = try await client.form("/services/oauth2/token", form)
        #expect(answer.json["error_description"] == step.refusal, "step \(number)")
        #expect(answer.json["error"] == (step.refusal == nil ? nil : "invalid_grant"))
      }
    }
  }
}
