import JSON
import SandboxParse
import Testing

/// Users, sessions and roles: section 14.
@Suite struct UserTests {
  private func signUp(_ client: ParseClient, _ name: String, _ more: JSONObject = [:]) async throws -> (id: String, token: String)
  {
    var body: JSONObject = ["username": .string(name), "password": "p"]
    for (key, value) in more { body[key] = value }
    let answer = try await client.post("/users", .object(body))
    return (answer.id, answer.json["sessionToken"]?.stringValue ?? "")
  }

  @Test func signUp_answersATokenAndRefusesWhatIsWrong() async throws {
    try await withParse { server, client, _ in
      let made = try await client.post("/users", ["username": "u", "password": "p", "email": "u@x.org"])
      #expect(made.status == 201 && made.json.objectValue?.keys == ["objectId", "createdAt", "sessionToken"])
      #expect(made.header("location") == "\(server.url)/parse/users/\(made.id)")
      let token = try #require(made.json["sessionToken"]?.stringValue)
      #expect(token.hasPrefix("r:") && token.utf8.count == 34)
      for (body, code, text) in [
        (["password": "p"], 200, "bad or missing username"), (["username": "v"], 201, "password is required"),
        (["username": "v", "password": "p", "email": "none"], 125, nil), (["username": "u", "password": "p"], 202, nil),
        (["username": "v", "password": "p", "email": "u@x.org"], 203, nil),
      ] as [(JSONValue, Int, String?)] {
        let refused = try await client.post("/users", body)
        #expect(refused.status == 400 && refused.code == code, "\(body.text): \(refused.text)")
        if let text { #expect(refused.error == text) }
      }
      #expect(try await client.post("/classes/_User", ["username": "w", "password": "p"]).status == 201)
    }
  }

  @Test func privateUsers_areHiddenFromOthers() async throws {
    try await withParse { server, client, _ in
      let user = try await signUp(client, "u", ["email": "u@x.org"])
      #expect(try await client.get("/users").text == #"{"results":[]}"#)
      #expect(try await client.get("/users/\(user.id)").code == 101)
      let own = try await client.signedIn(user.token).get("/users/\(user.id)").json
      #expect(own["email"] == "u@x.org" && own["sessionToken"] == .string(user.token) && own["password"] == nil)
      let rights: JSONValue = ["read": true, "write": true]
      #expect(own["ACL"] == .object(JSONObject([(user.id, rights)])))
      let list = try await client.signedIn(user.token).get("/users").results
      #expect(list.count == 1 && list[0]["sessionToken"] == nil)
      server.settings.enforcePrivateUsers = false
      let open = try await signUp(client, "v", ["email": "v@x.org"])
      let seen = try await client.get("/users/\(open.id)").json
      #expect(seen["username"] == "v" && seen["email"] == nil)
      #expect(try await client.master.get("/users/\(open.id)").json["email"] == "v@x.org")
    }
  }

  @Test(arguments: ["12345", "true", "null", #""q""#, "[1]"])
  func login_queryParameters_areTexts(word: String) async throws {
    try await withParse { _, client, _ in
      let made = try await client.post("/users", ["username": .string(word), "password": .string(word)])
      #expect(made.status == 201)
      let parameters: [String: JSONValue] = ["username": .string(word), "password": .string(word)]
      for path in ["/login", "/verifyPassword"] {
        let answer = try await client.find(path, parameters)
        #expect(answer.status == 200 && answer.id == made.id, "\(path): \(answer.text)")
      }
    }
  }

  @Test func login_formsAndRefusals() async throws {
    try await withParse { _, client, _ in
      let user = try await signUp(client, "u", ["email": "u@x.org"])
      let login = try await client.post("/login", ["username": "u", "password": "p"])
      #expect(login.status == 200 && login.id == user.id && login.json["sessionToken"]?.stringValue != user.token)
      #expect(login.json["email"] == "u@x.org" && login.json["password"] == nil)
      #expect(try await client.post("/login", ["email": "u@x.org", "password": "p"]).id == user.id)
      #expect(try await client.get("/login?username=u&password=p").id == user.id)
      #expect(try await client.signedIn("r:nothing").post("/login", ["username": "u", "password": "p"]).status == 200)
      #expect(try await client.post("/login", ["password": "p"]).code == 200)
      #expect(try await client.post("/login", ["username": "u"]).code == 201)
      let wrong = try await client.post("/login", ["username": "u", "password": "q"])
      #expect(wrong.status == 404 && wrong.code == 101)
    }
  }

  @Test func token_thatIsUnknownOrOver_is209() async throws {
    try await withParse { _, client, clock in
      let unknown = try await client.signedIn("r:0123").get("/classes/A")
      #expect(unknown.status == 400 && unknown.code == 209 && unknown.error == "Invalid session token")
      let user = try await signUp(client, "u")
      let own = client.signedIn(user.token)
      let me = try await own.get("/users/me").json
      #expect(me["__type"] == "Object" && me["className"] == "_User" && me["sessionToken"] == .string(user.token))
      #expect(try await client.get("/users/me").code == 209)
      clock.advance(by: 31_536_001)
      #expect(try await own.get("/users/me").code == 209)
    }
  }

  @Test func login_sameInstallation_endsTheSignUpsToken() async throws {
    try await withParse { _, client, _ in
      var device = client
      device.installationId = "d1"
      let user = try await signUp(device, "u")
      let other = try await client.post("/login", ["username": "u", "password": "p"]).json["sessionToken"]?.stringValue
      #expect(try await client.signedIn(user.token).get("/users/me").status == 200)
      _ = try await device.post("/login", ["username": "u", "password": "p"])
      #expect(try await client.signedIn(user.token).get("/users/me").code == 209)
      #expect(try await client.signedIn(other).get("/users/me").status == 200)
    }
  }

  @Test func sessions_readAndLogOut() async throws {
    try await withParse { _, client, _ in
      let user = try await signUp(client, "u")
      let own = client.signedIn(user.token)
      #expect(try await client.get("/sessions").code == 209)
      #expect(try await own.get("/sessions").column("sessionToken") == [user.token])
      let session = try await own.get("/sessions/me").json
      #expect(session["user"] == pointer("_User", user.id) && session["createdWith"]?["action"] == "signup")
      #expect(session["expiresAt"]?["__type"] == "Date")
      #expect(try await client.post("/logout", [:]).text == "{}")
      #expect(try await own.post("/logout", [:]).text == "{}")
      #expect(try await own.post("/logout", [:]).code == 209)
    }
  }

  @Test func passwordChange_endsEverySessionAndAnswersANewToken() async throws {
    try await withParse { _, client, _ in
      let user = try await signUp(client, "u")
      let changed = try await client.signedIn(user.token).put("/users/\(user.id)", ["password": "q"])
      let token = try #require(changed.json["sessionToken"]?.stringValue)
      #expect(try await client.signedIn(user.token).get("/users/me").code == 209)
      #expect(try await client.signedIn(token).get("/users/me").id == user.id)
      #expect(try await client.post("/login", ["username": "u", "password": "p"]).code == 101)
      let byMaster = try await client.master.put("/users/\(user.id)", ["password": "r"])
      #expect(byMaster.status == 200 && byMaster.json["sessionToken"] == nil)
      #expect(try await client.signedIn(token).get("/users/me").code == 209)
    }
  }

  @Test func writingUsers_needsTheirSession() async throws {
    try await withParse { _, client, _ in
      let user = try await signUp(client, "u"), other = try await signUp(client, "v")
      let path = "/users/\(user.id)"
      let put = try await client.put(path, ["n": 1])
      #expect(put.code == 206 && put.error == "Cannot modify user \(user.id).")
      let delete = try await client.delete(path)
      #expect(delete.code == 206 && delete.error == "Insufficient auth to delete user")
      let stranger = client.signedIn(other.token)
      for answer in [try await stranger.put(path, ["n": 1]), try await stranger.delete(path)] {
        #expect(answer.code == 206 && answer.error == "Insufficient auth.")
      }
      #expect(try await client.signedIn(user.token).put(path, ["n": 1]).status == 200)
      #expect(try await client.signedIn(user.token).delete(path).text == "{}")
      #expect(try await client.signedIn(user.token).get("/classes/A").code == 209, "its tokens end with it")
    }
  }

  @Test func anonymous_knownAccount_isALogin() async throws {
    try await withParse { _, client, _ in
      let body: JSONValue = ["authData": ["anonymous": ["id": "a-1"]]]
      let first = try await client.post("/users", body)
      #expect(first.status == 201 && first.json["username"]?.stringValue?.isEmpty == false)
      let again = try await client.post("/users", body)
      #expect(again.status == 200 && again.id == first.id && again.json["authData"]?["anonymous"]?["id"] == "a-1")
      #expect(again.json["sessionToken"] != first.json["sessionToken"])
      #expect(try await client.post("/users", ["authData": ["other": ["id": "x"]]]).code == 252)
    }
  }

  @Test func roles_checksAndRightsOfChildren() async throws {
    try await withParse { _, client, _ in
      let user = try await signUp(client, "u")
      let acl: JSONValue = ["*": ["read": true]]
      for (body, code, text) in [
        (["name": "Editors"], 111, "ACL is required."), (["ACL": acl], 111, "name is required."),
      ] as [(JSONValue, Int, String)] {
        let refused = try await client.post("/roles", body)
        #expect(refused.code == code && refused.error == text)
      }
      let users: JSONValue = ["__op": "AddRelation", "objects": [pointer("_User", user.id)]]
      let child = try await client.master.post("/roles", ["name": "Interns", "ACL": acl, "users": users])
      let roles: JSONValue = ["__op": "AddRelation", "objects": [pointer("_Role", child.id)]]
      let parent = try await client.master.post("/roles", ["name": "Editors", "ACL": acl, "roles": roles])
      #expect(try await client.post("/roles", ["name": "Editors", "ACL": acl]).code == 137)
      #expect(try await client.get("/roles/\(parent.id)").json["users"] == ["__type": "Relation", "className": "_User"])
      let id = try await client.create("A", ["ACL": ["role:Editors": ["read": true]], "n": 1])
      #expect(try await client.get("/classes/A/\(id)").code == 101)
      #expect(try await client.signedIn(user.token).get("/classes/A/\(id)").json["n"] == 1)
      #expect(try await client.signedIn(user.token).put("/classes/A/\(id)", ["n": 2]).code == 101)
    }
  }
}
