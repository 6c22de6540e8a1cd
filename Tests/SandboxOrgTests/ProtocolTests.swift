import Foundation
import JSON
import SandboxOrg
import Testing

private let data = "/services/data/v66.0"

@Suite struct ProtocolTests {
  // MARK: Paths, versions, methods

  @Test(
    arguments: [
      ("GET", "/services/data/v30.0/limits", 410, "GONE"), ("GET", "/services/data/v9.0/sobjects/Account", 410, "GONE"),
      ("GET", "/services/data/v20.0/nowhere", 410, "GONE"), ("GET", "/services/data/v99.0/limits", 404, "NOT_FOUND"),
      ("GET", "/services/data/v66/limits", 404, "NOT_FOUND"), ("GET", "/services/data/x/limits", 404, "NOT_FOUND"),
      ("GET", "/services/data/v66.0/nowhere", 404, "NOT_FOUND"), ("GET", "/nowhere", 404, "NOT_FOUND"),
      ("GET", "/services/data/v66.0/sobjects/Nothing", 404, "NOT_FOUND"),
      ("PATCH", "/services/data/v66.0/sobjects/Account", 405, "METHOD_NOT_ALLOWED"),
      ("PUT", "/services/data/v66.0/limits", 405, "METHOD_NOT_ALLOWED"),
      ("DELETE", "/services/data/v66.0/query", 405, "METHOD_NOT_ALLOWED"),
      ("POST", "/services/data", 405, "METHOD_NOT_ALLOWED"),
    ])
  func request_noSuchResource_answersTheCode(method: String, path: String, status: Int, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.send(method, path, body: method == "GET" ? nil : [])
      #expect(answer.status == status && answer.errorCode == code)
      #expect(answer.json.arrayValue?.first?.objectValue?.keys == ["message", "errorCode"])
    }
  }

  @Test func request_wrongMethod_namesTheRightOnes() async throws {
    try await withOrg { _, client in
      let answer = try await client.json("PATCH", "\(data)/sobjects/Account", "{}")
      #expect(answer.status == 405 && answer.headers["allow"] == "HEAD,GET,POST")
      #expect(answer.message == "HTTP Method 'PATCH' not allowed. Allowed are HEAD,GET,POST")
    }
  }

  @Test(arguments: ["/Services/Data/v66.0/sobjects", "/SERVICES/data/v66.0/limits", "/services/ApexRest/simpleAccount"])
  func request_otherCaseWithoutSession_isRefused(path: String) async throws {
    try await withOrg { server, client in
      let answer = try await WireClient(port: server.port).send("GET", path)
      #expect(answer.status == 401 && answer.errorCode == "INVALID_SESSION_ID")
      #expect(try await client.send("GET", path).status == 200)
    }
  }

  @Test func post_standingInForAnotherMethod_isThatMethod() async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "A"])
      let path = "\(data)/sobjects/Account/\(id)"
      #expect(try await client.json("POST", path + "?_HttpMethod=PATCH", #"{"Name":"B"}"#).status == 204)
      #expect(try await client.json("POST", path, #"{"Name":"C"}"#, headers: [("X-HTTP-Method-Override", "patch")]).status == 204)
      #expect(try server.query("SELECT Name FROM Account")["records"]?.arrayValue?.first?["Name"] == "C")
      // Only a POST can override the method.
      #expect(try await client.send("GET", path + "?_HttpMethod=DELETE").status == 200)
      #expect(try await client.json("POST", path + "?_HttpMethod=DELETE", "").status == 204)
    }
  }

  // MARK: Forms

  @Test(
    arguments: [
      ("application/xml", 406), ("text/xml, application/xml;q=0.9", 406), ("application/xml, */*;q=0.1", 200), ("*/*", 200),
      ("application/json", 200), ("text/html", 200), ("", 200),
    ])
  func accept_xmlAlone_isRefused(accept: String, status: Int) async throws {
    try await withOrg { _, client in
      let answer = try await client.send("GET", "\(data)/limits", headers: [("Accept", accept)])
      #expect(answer.status == status)
      #expect(answer.headers["content-type"] == "application/json;charset=UTF-8")
      if status == 406 { #expect(answer.errorCode == "NOT_ACCEPTABLE") }
    }
  }

  @Test(arguments: [("limits.json", 200), ("limits.xml", 406), ("sobjects/Account.json", 200), ("sobjects/Account.xml", 406)])
  func suffix_ofAResource_choosesTheForm(path: String, status: Int) async throws {
    try await withOrg { _, client in
      let answer = try await client.send("GET", "\(data)/\(path)")
      #expect(answer.status == status)
    }
  }

  @Test(arguments: ["application/xml", "text/plain", "application/x-www-form-urlencoded"])
  func body_notJSON_isRefused(type: String) async throws {
    try await withOrg { server, client in
      let answer = try await client.send(
        "POST", "\(data)/sobjects/Account", headers: [("Content-Type", type)], body: Array(#"{"Name":"A"}"#.utf8))
      #expect(answer.status == 415 && answer.errorCode == "UNSUPPORTED_MEDIA_TYPE")
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
    }
  }

  @Test func prettyPrint_indentsAndMeansTheSame() async throws {
    try await withOrg { server, client in
      try server.create("Account", fields: ["Name": "A \"quoted\\\": {[,"])
      let plain = try await client.query("SELECT Name, Fax FROM Account")
      let pretty = try await client.query("SELECT Name, Fax FROM Account", headers: [("X-PrettyPrint", "1")])
      #expect(
        pretty.json == plain.json && pretty.text.hasPrefix("{\n  \"totalSize\" : 1,\n  \"done\" : true,\n  \"records\" : [\n"))
      let none = try await client.query("SELECT Name FROM Account WHERE Name = 'x'", headers: [("X-PrettyPrint", "1")])
      #expect(none.text.hasSuffix("\"records\" : []\n}"))
    }
  }

  // MARK: Counting

  @Test func limitInfo_onEveryDataAnswer_countsTruthfully() async throws {
    try await withOrg { server, client in
      var expected = 0
      for (method, path, body) in [
        ("GET", "limits", nil), ("GET", "nowhere", nil), ("POST", "sobjects/Account", "{"), ("PUT", "limits", ""),
        (
          "POST", "composite/batch",
          #"{"batchRequests":[{"method":"GET","url":"v66.0/limits"},{"method":"GET","url":"v66.0/x"}]}"#
        ),
      ] as [(String, String, String?)] {
        expected += 1
        let answer = try await client.send(
          method, "\(data)/\(path)", headers: [("Content-Type", "application/json")], body: body.map { Array($0.utf8) })
        #expect(answer.headers["sforce-limit-info"] == "api-usage=\(expected)/15000")
      }
      // Rejected calls do not count, nor do calls that need no session.
      _ = try await WireClient(port: server.port, token: "junk").send("GET", "\(data)/limits")
      let versions = try await client.send("GET", "/services/data")
      #expect(versions.headers["sforce-limit-info"] == nil)
      let limits = try await client.send("GET", "\(data)/limits")
      #expect(limits.json["DailyApiRequests"] == ["Max": 15_000, "Remaining": 14_994])
      #expect(limits.json["DailyBulkV2QueryJobs"]?["Remaining"] == 10_000 && limits.json["FileStorageMB"] != nil)
    }
  }

  @Test func dailyLimit_reached_refusesUntilADayHasPassed() async throws {
    let clock = ManualSandboxClock()
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.clock = clock
    configuration.dailyCalls = 3
    let server = try await SandboxServer.start(configuration)
    let client = WireClient(port: server.port, token: try server.issueAccessToken())
    var statuses: [Int] = []
    for hours in [0, 1, 1, 1, 20, 1] as [Int64] {
      clock.advance(by: hours * 3_600)
      // A day is longer than a session's lifetime.
      let token = WireClient(port: server.port, token: try server.issueAccessToken())
      let answer = try await token.send("GET", "\(data)/limits")
      statuses.append(answer.status)
      guard answer.status == 403 else { continue }
      #expect(answer.errorCode == "REQUEST_LIMIT_EXCEEDED" && answer.message == "TotalRequests Limit exceeded.")
      #expect(answer.headers["sforce-limit-info"] == "api-usage=3/3")
    }
    #expect(statuses == [200, 200, 200, 403, 403, 200])
    #expect(try await client.send("GET", "/services/data").status == 200, "versions need no call")
    await server.stop()
  }

  // MARK: Apex REST

  @Test func apexRest_simpleAccount_worksThroughItsVerbs() async throws {
    try await withOrg { server, client in
      let root = "/services/apexrest/simpleAccount"
      let made = try await client.json("POST", root, #"{"accountName":"A"}"#)
      let id = made.json["accountId"]?.stringValue ?? ""
      #expect(made.status == 200 && made.json["accountName"] == "A" && id.hasPrefix("001"))
      #expect(made.headers["sforce-limit-info"]?.hasPrefix("api-usage=1/") == true)
      let renamed = try await client.json("PATCH", "\(root)/\(id)", #"{"accountName":"B"}"#)
      #expect(renamed.json == ["accountId": .string(id), "accountName": "B"])
      #expect(try await client.send("GET", "\(root)/\(id)").json == renamed.json)
      let list = try await client.send("GET", "\(root)/")
      #expect(list.json == ["totalSize": 1, "records": [renamed.json]])
      let bad = try await client.json("POST", root, "{}")
      #expect(bad.status == 500 && bad.errorCode == "APEX_ERROR" && bad.message?.contains("REQUIRED_FIELD_MISSING") == true)
      #expect(try await client.send("DELETE", "\(root)/\(id)").status == 204)
      #expect(try await client.send("GET", "\(root)/\(id)").errorCode == "APEX_ERROR")
      let unknown = try await client.send("GET", "/services/apexrest/other")
      #expect(unknown.status == 404 && unknown.message == "Could not find a match for URL")
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
    }
  }

  // MARK: Connect

  @Test func chatterUser_meAndById_areTheSame() async throws {
    try await withOrg { server, client in
      let me = try await client.send("GET", "\(data)/chatter/users/me")
      let id = server.credentials().userId
      #expect(me.status == 200 && me.json["id"] == .string(id) && me.json["name"] == "Ada Sandbox")
      #expect(me.json["username"] == .string(server.username) && me.json["photo"]?.objectValue != nil)
      #expect(try await client.send("GET", "\(data)/chatter/users/\(id.prefix(15))").text == me.text)
      for unknown in ["005gL0000009999", "001gL0000000001", "nobody"] {
        #expect(try await client.send("GET", "\(data)/chatter/users/\(unknown)").status == 404)
      }
    }
  }
}
