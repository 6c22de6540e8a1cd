import JSON
import SandboxOrg
import Testing

@Suite struct SignInDataTests {
  @Test func signInData_whole_isRead() throws {
    let data = try SandboxSignInData(
      JSONValue(
        parsing: """
          {"users":[{"username":"a@b","password":"p","securityToken":"t","firstName":"A","lastName":"B","email":"c@d",
             "isActive":false,"loginLimit":7}],
           "clients":[{"id":"x","secret":"s","requiresSecret":true,"redirectURIs":["app:///"],"scopes":["api"],"requiresPKCE":true,
             "rotatesRefreshTokens":true,"runsAs":"a@b","certificate":"PEM","approval":"administrator"},
             {"id":"y","approval":["a@b"],"kind":"external","installed":false,"blocked":true,
              "flows":["jwtBearer","password"],"refreshTokens":{"idleSeconds":60}},
             {"id":"z","approval":"user","redirectURIs":["http://localhost:1717/x"],"refreshTokens":"immediately"}],
           "sites":[{"path":"portal/a/","users":["A@b"]}]}
          """))
    #expect(
      data.users.count == 1 && data.users[0].securityToken == "t" && !data.users[0].isActive && data.users[0].loginLimit == 7)
    #expect(data.clients.map(\.id) == ["x", "y", "z"] && data.clients[0].rotatesRefreshTokens)
    #expect(data.clients.map(\.approval) == [.byAdministrator(usernames: nil), .byAdministrator(usernames: ["a@b"]), .byUser])
    #expect(data.clients[1].scopes.contains("refresh_token"))
    #expect(data.clients[1].kind == .external && !data.clients[1].isInstalled && data.clients[1].isBlocked)
    #expect(data.clients[1].flows == [.jwtBearer, .password] && data.clients[0].flows.count == 5)
    #expect(data.clients.map(\.refreshTokens) == [.untilRevoked, .idle(seconds: 60), .immediately])
    #expect(data.clients[0].kind == .connected && data.clients[0].isInstalled && !data.clients[0].isBlocked)
    #expect(data.sites == [SandboxSite(path: "/portal/a", users: ["A@b"])])
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
    (#"{"clients":[{"id":"a","kind":"eca"}]}"#, "'kind' must be one of connected, external"),
    (#"{"clients":[{"id":"a","installed":"no"}]}"#, "'installed' must be true or false"),
    (#"{"clients":[{"id":"a","flows":["jwt"]}]}"#, "'flows' must be a list of webServer, userAgent, jwtBearer"),
    (#"{"clients":[{"id":"a","refreshTokens":"never"}]}"#, "'refreshTokens' must be \"untilRevoked\""),
    (#"{"clients":[{"id":"a","refreshTokens":{}}]}"#, "'refreshTokens' must be"),
    (#"{"clients":[{"id":"a","refreshTokens":{"idleSeconds":1,"totalSeconds":1}}]}"#, "'refreshTokens' must be"),
    (#"{"clients":[{"id":"a","refreshTokens":{"idleSeconds":0}}]}"#, "clients[0].refreshTokens: 'idleSeconds' must be a number"),
    (#"{"clients":[{"id":"a","refreshTokens":{"idle":5}}]}"#, "unknown key 'idle'"),
    (
      #"{"clients":[{"id":"a","redirectURIs":["http://127.0.0.1:1717/x"]}]}"#, "plain http is only allowed for the host localhost"
    ),
    (#"{"users":[{"username":"a","password":"p","loginLimit":0}]}"#, "'loginLimit' must be a number of sign-ins"),
    (#"{"sites":[{"users":[]}]}"#, "sites[0]: 'path' is missing"),
    (#"{"sites":[{"path":"/"}]}"#, "'path' must be an unused path"),
    (#"{"sites":[{"path":"/services/x"}]}"#, "'/services/x' is in use"),
    (#"{"sites":[{"path":"/p"},{"path":"p/"}]}"#, "sites[1]: 'path' must be"),
    (#"{"sites":[{"path":"/p","users":["a@b"]}]}"#, "'users' must name users of this file, each in one site; 'a@b' is not"),
  ])
  func signInData_mistake_isNamed(text: String, message: String) throws {
    let json = try JSONValue(parsing: text)
    let error = #expect(throws: SandboxError.self) { _ = try SandboxSignInData(json) }
    #expect(error?.code == "BAD_SIGN_IN_DATA" && error?.message.contains(message) == true)
  }
}
