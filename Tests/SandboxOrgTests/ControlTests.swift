import Foundation
import JSON
import SandboxOrg
import Testing

private struct OtherService: ServerService {
  func reply(to request: ServerRequest) async -> ServerReply { .text(200, "other \(request.segments.count)") }
}

/// The control interface, over HTTP and by name; several orgs in one process.
@Suite struct ControlTests {
  private func call(
    _ server: SandboxServer, _ action: String, _ body: String? = nil, token: String? = nil
  ) async throws -> WireClient.Answer {
    let client = WireClient(port: server.port, token: token ?? server.controlToken)
    let target = "/__sandbox/\(action)"
    guard let body else { return try await client.send("POST", target, body: []) }
    return try await client.json("POST", target, body)
  }

  @Test func control_faults_areAddedListedResetAndRemoved() async throws {
    try await withOrg { server, client in
      let one = try await call(server, "addFault", #"{"kind":"unavailable","retryAfter":3,"nth":2,"path":"limits"}"#)
      #expect(one.status == 200 && one.text == "1")
      let two = try await call(
        server, "addFault", #"{"rules":[{"kind":"hang","method":"PUT"},{"kind":"flipBytes","method":"PUT"}]}"#)
      #expect(two.text == "[2,3]")
      for expected in [200, 503, 200] {
        #expect(try await client.send("GET", "/services/data/v66.0/limits").status == expected)
      }
      let list = try await call(server, "faults").json
      #expect(list["seed"] == 1)
      #expect(
        list["rules"]?.arrayValue?.first == [
          "id": 1, "kind": "unavailable", "retryAfter": 3, "nth": [2], "path": "limits", "matched": 3, "fired": 1,
        ])
      #expect(try await call(server, "removeFault", #"{"id":2}"#).text == "true")
      #expect(try await call(server, "removeFault", #"{"id":2}"#).text == "false")
      #expect(try await call(server, "resetFaults", #"{"seed":42}"#).text == "\"OK\"")
      #expect(server.faults.seed == 42 && server.faults.active.map(\.matched) == [0, 0])
      #expect(try await call(server, "clearFaults").text == "\"OK\"")
      #expect(server.faults.active.isEmpty)
      let kinds = try await call(server, "faultKinds").json.arrayValue
      #expect(kinds?.count == server.faults.kinds.count && kinds?.first?["parameters"]?.arrayValue?.isEmpty == false)
    }
  }

  @Test func control_log_listsRequestsButNotItself() async throws {
    try await withOrg { server, client in
      try server.faults.add(.serverError(502), when: .nth(2))
      _ = try await client.query("SELECT Id FROM User")
      _ = try await client.json("POST", "/services/data/v66.0/sobjects/Account", #"{"Name":"A"}"#)
      let all = try await call(server, "requests").json.arrayValue ?? []
      #expect(all.map { $0["sequence"] } == [1, 2] && all.map { $0["status"] } == [200, 502])
      #expect(all[0]["query"] == ["q=SELECT Id FROM User"] && all[0]["user"] == .string(server.credentials().userId))
      #expect(all[0]["session"]?.stringValue?.count == 8 && all[0]["time"] == 1_772_442_000)
      #expect(all[1]["faults"] == ["serverError"] && (all[0]["bytes"]?.integerValue ?? 0) > 100)
      for filter in [#"{"since":1}"#, #"{"fault":"serverError"}"#, #"{"method":"post"}"#, #"{"path":"sobjects/*"}"#] {
        #expect(try await call(server, "requests", filter).json.arrayValue == [all[1]], "\(filter)")
      }
      _ = try await call(server, "clearRequests")
      #expect(server.requests().isEmpty)
      _ = try await client.send("GET", "/services/data")
      #expect(server.requests().map(\.sequence) == [3])
    }
  }

  @Test func control_snapshot_isRestoredAndClientsStaySignedIn() async throws {
    try await withOrg(pageSize: 1) { server, client in
      let id = try server.create("Account", fields: ["Name": "Kept"])
      #expect(try await call(server, "snapshot").text == "\"OK\"")
      try server.update("Account", id: id, fields: ["Name": "Changed"])
      for name in ["B", "C"] { try server.create("Account", fields: ["Name": .string(name)]) }
      #expect(try await call(server, "snapshot", #"{"name":"later"}"#).status == 200)
      let later = WireClient(port: server.port, token: try server.issueAccessToken())
      let page = try await later.query("SELECT Name FROM Account")
      let upload = #"{"Title":"T","PathOnClient":"t.txt","VersionData":"aGVsbG8="}"#
      #expect(try await later.json("POST", "/services/data/v66.0/sobjects/ContentVersion", upload).status == 201)
      #expect(try await call(server, "restore").text == "\"OK\"")
      for token in [client, later] {
        let answer = try await token.query("SELECT Name FROM Account")
        #expect(answer.json["totalSize"] == 1 && answer.json["records"]?.arrayValue?.first?["Name"] == "Kept")
      }
      #expect(try await later.send("GET", page.json["nextRecordsUrl"]?.stringValue ?? "").errorCode == "INVALID_QUERY_LOCATOR")
      #expect(try server.query("SELECT COUNT() FROM ContentVersion")["totalSize"] == 0)
      // The next id is the same as at that time.
      let next = try server.create("Account", fields: ["Name": "D"])
      _ = try await call(server, "restore", #"{"name":"later"}"#)
      let names = try server.query("SELECT Name FROM Account ORDER BY Name")["records"]?.arrayValue?.compactMap { $0["Name"] }
      #expect(names == ["B", "C", "Changed"])
      #expect(try server.query("SELECT Name FROM Account WHERE Id = '\(next)'")["totalSize"] == 1)
      let unknown = try await call(server, "restore", #"{"name":"none"}"#)
      #expect(unknown.status == 404 && unknown.message == "there is no snapshot 'none'; the snapshots are default, later")
    }
  }

  @Test(arguments: [false, true])
  func control_reset_isANewOrgOfTheSameOptions(isFile: Bool) async throws {
    let path = NSTemporaryDirectory() + "reset-\(UUID().uuidString).sqlite"
    defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
    var configuration = SandboxConfiguration()
    configuration.databasePath = isFile ? path : nil
    configuration.seed = .custom(accounts: 3, contacts: 4)
    configuration.clock = ManualSandboxClock()
    configuration.signIn.users = [SandboxUser(username: "grace@example.org", password: "h0pper")]
    let server = try await SandboxServer.start(configuration)
    let client = WireClient(port: server.port, token: try server.issueAccessToken())
    func content() throws -> [JSONValue?] {
      try ["Account", "Contact", "User", "Lead"].map { try server.query("SELECT Id, Name FROM \($0)", includeDeleted: true) }
    }
    let before = try content()
    let first = try server.query("SELECT Id FROM Contact")["records"]?.arrayValue?.first?["Id"]?.stringValue ?? ""
    try server.delete("Contact", id: first)
    try server.create("Lead", fields: ["LastName": "L", "Company": "C"])
    #expect(try content() != before)
    #expect(try await call(server, "reset").text == "\"OK\"")
    #expect(try content() == before)
    #expect(try await client.query("SELECT Id FROM Contact").json["totalSize"] == 4, "the token is still good")
    let login = try await client.form(
      "/services/oauth2/token",
      [
        ("grant_type", "password"), ("client_id", server.clientId), ("client_secret", server.clientSecret),
        ("username", "grace@example.org"), ("password", "h0pper"),
      ])
    #expect(login.status == 200, "\(login.text)")
    #expect(try server.create("Account", fields: ["Name": "New"]).hasPrefix("001"))
    await server.stop()
  }

  @Test func control_clockSessionsAndRecords_areMoved() async throws {
    try await withOrg(pageSize: 1) { server, client in
      #expect(
        try await call(server, "clock").json == ["now": 1_772_442_000, "text": "2026-03-02T09:00:00.000+0000", "held": false])
      #expect(try await call(server, "clock", #"{"hold":true,"advance":60}"#).json["now"] == 1_772_442_060)
      #expect(try await call(server, "clock", #"{"set":1772445600}"#).json["held"] == true)
      let id = try await call(server, "create", #"{"type":"Account","fields":{"Name":"A"}}"#).json.stringValue ?? ""
      #expect(try await call(server, "clock", #"{"hold":false}"#).json["held"] == false)
      #expect(
        try await call(server, "update", "{\"type\":\"Account\",\"id\":\"\(id)\",\"fields\":{\"Name\":\"B\"}}").text == "\"OK\"")
      let rows = try await call(server, "query", #"{"soql":"SELECT Name, LastModifiedBy.Name FROM Account"}"#).json.arrayValue
      #expect(rows?.first?["Name"] == "B" && rows?.first?["LastModifiedBy"]?["Name"] == "Otto Colleague")
      _ = try await call(server, "create", #"{"type":"Account","fields":{"Name":"C"},"after":{"requests":0}}"#)
      let page = try await client.query("SELECT Name FROM Account")
      #expect(page.json["totalSize"] == 2)
      _ = try await call(server, "expireLocators")
      #expect(try await client.send("GET", page.json["nextRecordsUrl"]?.stringValue ?? "").errorCode == "INVALID_QUERY_LOCATOR")
      _ = try await call(server, "delete", "{\"type\":\"Account\",\"id\":\"\(id)\"}")
      #expect(try await client.query("SELECT Name FROM Account").json["totalSize"] == 1)
      _ = try await call(server, "expireSessions")
      #expect(try await client.query("SELECT Name FROM Account").status == 401)
    }
  }

  @Test func control_badCalls_sayWhatIsWrong() async throws {
    try await withOrg { server, client in
      #expect(try await call(server, "faults", token: "wrong").status == 401)
      #expect(try await call(server, "faults", token: client.token).errorCode == "INVALID_CONTROL_TOKEN")
      #expect(try await WireClient(port: server.port).send("GET", "/__sandbox/faults").status == 401)
      let cases: [(String, String?, String)] = [
        ("dance", nil, "addFault"), ("addFault", #"{"kind":"x"}"#, "latency"), ("addFault", "[]", "object"),
        ("addFault", "{", "JSON"),
        ("addFault", #"{"rules":7}"#, "rules"), ("removeFault", "{}", "'id' must be an integer"),
        ("clock", #"{"advance":"x"}"#, "advance"),
        ("create", #"{"type":"Account"}"#, "fields"), ("create", #"{"type":"Nothing","fields":{}}"#, "Nothing"),
        ("create", #"{"type":"Account","fields":{"Name":"A"},"after":3}"#, "after"), ("query", #"{"soql":"SELECT"}"#, ""),
        ("requests", #"{"path":""}"#, "path"), ("resetFaults", #"{"seed":1.5}"#, "seed"),
      ]
      for (action, body, part) in cases {
        let answer = try await call(server, action, body)
        #expect(
          (400..<500).contains(answer.status) && (part.isEmpty || answer.message?.contains(part) == true),
          "\(action): \(answer.text)")
        #expect(answer.message != nil)
      }
      #expect(server.faults.active.isEmpty && server.requests().isEmpty)
      let master = WireClient(port: server.port, token: server.controlToken)
      #expect(try await master.send("DELETE", "/__sandbox/faults").status == 405)
      #expect(try await master.send("GET", "/__sandbox/faults").status == 200)
    }
  }

  @Test func log_file_holdsALineForEachRequest() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("requests-\(UUID().uuidString).jsonl").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.logPath = path
    let server = try await SandboxServer.start(configuration)
    try server.faults.add(.dropBeforeHandling(), when: .nth(2))
    let client = WireClient(port: server.port)
    _ = try await client.send("GET", "/services/data?x=1")
    await #expect(throws: WireClient.NoAnswer.self) { _ = try await client.send("GET", "/services/data") }
    await server.stop()
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try JSONValue(parsing: String($0))
    }
    #expect(lines.map { $0["status"] } == [200, 0] && lines.map { $0["faults"] } == [[], ["dropBeforeHandling"]])
    #expect(lines.map { $0["sequence"] } == [1, 2] && lines[0]["query"] == ["x=1"])
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    configuration.logPath = "/nowhere/at/all"
    let refused = configuration
    let error = await #expect(throws: SandboxError.self) { _ = try await SandboxServer.start(refused) }
    #expect(error?.code == "CANNOT_WRITE_LOG")
  }

  @Test func orgs_severalInOneProcess_shareNothing() async throws {
    try await withOrg(clock: ManualSandboxClock(1_000_000_000)) { one, first in
      try await withOrg(clock: ManualSandboxClock(1_200_000_000)) { two, second in
        try one.faults.add(.serverError(500), path: "limits")
        try two.faults.add(.unavailable(), path: "limits")
        one.clock.hold()
        one.clock.advance(by: 7)
        #expect(one.clock.now() == 1_000_000_007 && two.clock.now() == 1_200_000_000 && !two.clock.isHeld)
        #expect(try await first.send("GET", "/services/data/v66.0/limits").status == 500)
        #expect(try await second.send("GET", "/services/data/v66.0/limits").status == 503)
        try one.create("Account", fields: ["Name": "A"])
        #expect(try await first.query("SELECT Id FROM Account").json["totalSize"] == 1)
        #expect(try await second.query("SELECT Id FROM Account").json["totalSize"] == 0)
        #expect(try await WireClient(port: two.port, token: first.token).query("SELECT Id FROM User").status == 401)
        #expect(one.requests().map(\.status) == [500, 200] && two.requests().map(\.status) == [503, 200, 401])
        #expect(one.port != two.port && one.controlToken != two.controlToken && one.password != two.password)
        #expect(try await call(two, "faults", token: one.controlToken).status == 401)
        two.faults.clear()
        #expect(one.faults.active.count == 1)
      }
    }
  }

  @Test func mounts_onOnePort_haveFaultsByPathAndHost() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.mounts = [Mount(.prefix("/other"), OtherService()), Mount(.host("api.localhost"), OtherService())]
    let server = try await SandboxServer.start(configuration)
    try server.faults.add(.truncateBody(bytes: 2), path: "/other/**")
    try server.faults.add(.unavailable(), host: "api.localhost")
    let client = WireClient(port: server.port)
    let cut = try await client.send("GET", "/other/a/b")
    #expect(cut.text == "ot" && cut.isTruncated)
    let wire = try FaultWire(port: server.port)
    wire.send("GET", "/x", keepsOpen: false, host: "api.localhost")
    #expect(try await wire.rest().status == 503)
    #expect(try await client.send("GET", "/services/data").status == 200)
    #expect(server.requests().map(\.faults) == [["truncateBody"], ["unavailable"], []])
    await server.stop()
  }
}
