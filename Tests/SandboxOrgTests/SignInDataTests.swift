import JSON
import SandboxOrg
import Testing

@Suite struct SignInDataTests {
  @Test func signInData_whole_isRead() throws {
    let data = try SandboxSignInData(
      JSONValue(
        parsing: """
          {"users":[{"username":"a@b","password":"p","securityToken":"t","firstName":"A","lastName":"B","email":"c@d","isActive":false}],
           "clients":[{"id":"x","secret":"s","requiresSecret":true,"redirectURIs":["app:///"],"scopes":["api"],"requiresPKCE":true,
             "rotatesRefreshTokens":true,"runsAs":"a@b","certificate":"PEM","approval":"administrator"},
             {"id":"y","approval":["a@b"]},{"id":"z","approval":"user"}]}
          """))
    #expect(data.users.count == 1 && data.users[0].securityToken == "t" && !data.users[0].isActive)
    #expect(data.clients.map(\.id) == ["x", "y", "z"] && data.clients[0].rotatesRefreshTokens)
    #expect(data.clients.map(\.approval) == [.byAdministrator(usernames: nil), .byAdministrator(usernames: ["a@b"]), .byUser])
    #expect(data.clients[1].scopes.contains("refresh_token"))
  }

  @Test(arguments: [
    ("[]", "the sign-in data must be an object"), (#"{"user":[]}"#, "unknown key 'user'"),
    (#"{"users":{}}"#, "'users' must be a list"), (#"{"users":[1]}"#, "users[0] must be an object"),
    (#"{"users":[{"username":"a"}]}"#, "users[0]: 'password' is missing"),
    (#"{"users":[{"username":"a","password":1}]}"#, "users[0]: 'password' must be a string"),
    (#"{"clients":[{"id":"a"},{"id":""}]}"#, "clients[1]: 'id' is missing"),
    (#"{"clients":[{"id":"a","requiresPKCE":1}]}"#, "'requiresPKCE' must be true or false"),
    (#"{"clients":[{"id":"a","scopes":[1]}]}"#, "'scopes' must be a list of strings"),
    (#"{"clients":[{"id":"a","approval":"all"}]}"#, "'approval' must be"),
  ])
  func signInData_mistake_isNamed(text: String, message: String) throws {
    let json = try JSONValue(parsing: text)
    let error = #expect(throws: SandboxError.self) { _ = try SandboxSignInData(json) }
    #expect(error?.code == "BAD_SIGN_IN_DATA" && error?.message.contains(message) == true)
  }
}
