import Foundation
import JSON
import SandboxOrg
import Testing

@Suite struct ServerTests {
  // MARK: Starting

  @Test(arguments: ["0.0.0.0", "192.168.0.1", "example.com"])
  func start_otherThanLoopback_isRefused(host: String) async throws {
    var configuration = SandboxConfiguration()
    configuration.host = host
    let error = await #expect(throws: SandboxError.self) { _ = try await SandboxServer.start(configuration) }
    #expect(error?.code == "NOT_LOOPBACK" && error?.message.contains(host) == true)
  }

  @Test func start_beyondLoopbackWhenAllowedExplicitly_listens() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.host = "0.0.0.0"
    configuration.allowsRemote = true
    let server = try await SandboxServer.start(configuration)
    #expect(server.url == "http://127.0.0.1:\(server.port)")
    #expect(try await WireClient(port: server.port).send("GET", "/services/data").status == 200)
    await server.stop()
  }

  @Test func start_portInUse_tellsSo() async throws {
    try await withOrg { server, _ in
      var configuration = SandboxConfiguration()
      configuration.port = server.port
      configuration.seed = .none
      let error = await #expect(throws: SandboxError.self) { _ = try await SandboxServer.start(configuration) }
      #expect(error?.code == "CANNOT_LISTEN" && error?.message.contains("\(server.port)") == true)
    }
  }

  @Test func start_fileOtherThanDatabase_isRefused() async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = SandboxConfiguration()
    configuration.databasePath = folder.appendingPathComponent("org.db").path
    try Data(repeating: 0x41, count: 4_096).write(to: folder.appendingPathComponent("org.db"))
    let error = await #expect(throws: SandboxError.self) { _ = try await SandboxServer.start(configuration) }
    #expect(error?.code == "CANNOT_OPEN_DATABASE")
  }

  @Test func restart_sameFile_keepsRecordsSecretsAndTokens() async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = SandboxConfiguration()
    configuration.databasePath = folder.appendingPathComponent("org.db").path
    configuration.seed = .custom(accounts: 2, contacts: 10)
    let first = try await SandboxServer.start(configuration)
    let secrets = first.credentials()
    let token = try first.issueAccessToken()
    try first.create("Contact", fields: ["LastName": "Kept"])
    await first.stop()
    let mode = try FileManager.default.attributesOfItem(atPath: configuration.databasePath ?? "")[.posixPermissions] as? Int
    #expect(mode == 0o600)

    let second = try await SandboxServer.start(configuration)
    #expect(second.password == secrets.password && second.clientSecret == secrets.clientSecret)
    #expect(second.credentials().refreshToken == secrets.refreshToken)
    #expect(try await WireClient(port: second.port, token: token).query("SELECT COUNT() FROM Contact").json["totalSize"] == 11)
    let form = [("grant_type", "refresh_token"), ("client_id", second.clientId), ("refresh_token", secrets.refreshToken)]
    #expect(try await WireClient(port: second.port).form("/services/oauth2/token", form).status == 200)
    try second.revoke(secrets.refreshToken)
    await second.stop()

    let third = try await SandboxServer.start(configuration)
    #expect(try await WireClient(port: third.port).form("/services/oauth2/token", form).status == 400)
    await third.stop()
  }

  @Test func start_severalOnOneNewFile_shareOneOrg() async throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = SandboxConfiguration()
    configuration.databasePath = folder.appendingPathComponent("org.db").path
    configuration.seed = .custom(accounts: 3, contacts: 50)
    let settled = configuration
    async let one = SandboxServer.start(settled)
    async let two = SandboxServer.start(settled)
    let servers = try await [one, two]
    #expect(servers[0].password == servers[1].password)
    try servers[0].create("Contact", fields: ["LastName": "A"])
    try servers[1].create("Contact", fields: ["LastName": "B"])
    #expect(try servers[0].query("SELECT COUNT() FROM Contact")["totalSize"] == 52)
    for server in servers { await server.stop() }
  }

  @Test func stop_twice_isHarmless() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    // On 127.0.0.1, another test's server could take the port at once.
    configuration.host = "127.0.0.77"
    configuration.allowsRemote = true
    let server = try await SandboxServer.start(configuration)
    await server.stop()
    await server.stop()
    #expect(throws: WireClient.NoAnswer.self) { close(try Loopback.connect(port: server.port, host: "127.0.0.77")) }
  }

  @Test func seed_standard_isTheSameEachTimeAndLooksLikePeople() async throws {
    var texts: [String] = []
    for _ in 0..<2 {
      try await withOrg(seed: .standard) { server, _ in
        texts.append(try server.query("SELECT Id, Name, Email, Account.Name, LastModifiedDate FROM Contact LIMIT 300").text)
        let stamps = try server.query("SELECT LastModifiedDate FROM Contact")["records"]?.arrayValue ?? []
        let distinct = Set(stamps.compactMap { $0["LastModifiedDate"]?.stringValue })
        #expect(stamps.count == 5_000 && distinct.count < 5_000 && distinct.count > 1_000)
        #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 200)
        #expect(try server.query("SELECT COUNT() FROM Contact WHERE LastName = null OR Email = null")["totalSize"] == 0)
      }
    }
    #expect(texts[0] == texts[1])
  }

  // MARK: Log and interference

  @Test func requests_areLoggedWithoutSecrets() async throws {
    try await withOrg { server, client in
      _ = try await client.query("SELECT Id FROM User LIMIT 1")
      _ = try await client.json("POST", "/services/data/v66.0/sobjects/Account", #"{"Name":"A"}"#)
      _ = try await client.form("/services/oauth2/token", [("grant_type", "password"), ("password", "topsecret")])
      let log = server.requests()
      #expect(log.map(\.method) == ["GET", "POST", "POST"] && log.map(\.status) == [200, 201, 400])
      #expect(log[0].parameter("q") == "SELECT Id FROM User LIMIT 1" && log[0].bytes > 100)
      #expect(log[1].body == #"{"Name":"A"}"#)
      #expect(log[2].body.isEmpty)
      server.clearRequests()
      #expect(server.requests().isEmpty)
    }
  }

  @Test func interceptor_everyKind_actsAsAsked() async throws {
    try await withOrg { server, client in
      server.setInterceptor { request in
        switch request.parameter("kind") {
        case "503": return .respond(status: 503, headers: [("Retry-After", "1")], body: "<html>down</html>")
        case "cut": return .dropConnection(afterBytes: 10)
        case "before": return .dropBeforeHandling
        case "after": return .dropAfterHandling
        case "late": return .delay(.milliseconds(1))
        default: return nil
        }
      }
      let url = "/services/data/v66.0/sobjects/Account"
      func send(_ kind: String) async throws -> WireClient.Answer {
        try await client.json("POST", "\(url)?kind=\(kind)", "{\"Name\":\"\(kind)\"}")
      }
      let down = try await send("503")
      #expect(down.status == 503 && down.headers["retry-after"] == "1" && down.text == "<html>down</html>")
      let cut = try await send("cut")
      #expect(cut.status == 201 && cut.isTruncated && cut.body.count == 10)
      await #expect(throws: WireClient.NoAnswer.self) { _ = try await send("before") }
      await #expect(throws: WireClient.NoAnswer.self) { _ = try await send("after") }
      #expect(try await send("late").status == 201)
      server.setInterceptor(nil)
      #expect(try await send("503").status == 201)
      let names = try server.query("SELECT Name FROM Account")["records"]?.arrayValue?.compactMap { $0["Name"]?.stringValue }
      #expect(names == ["cut", "after", "late", "503"])
      #expect(server.requests().map(\.status) == [503, 201, 0, 0, 201, 201])
    }
  }

  @Test func interceptor_cutInTheMiddleOfAPage_leavesTheAnnouncedLength() async throws {
    try await withOrg(seed: .custom(accounts: 1, contacts: 2_000)) { server, client in
      server.setInterceptor { _ in .dropConnection(afterBytes: 100_000) }
      let cut = try await client.query("SELECT Id, Name, Email FROM Contact")
      #expect(cut.status == 200 && cut.isTruncated && cut.body.count <= 100_000)
      server.setInterceptor(nil)
      let whole = try await client.query("SELECT Id, Name, Email FROM Contact")
      #expect(!whole.isTruncated && whole.headers["content-length"] == cut.headers["content-length"])
    }
  }

  @Test func connection_keptAlive_answersRequestsInOrder() async throws {
    try await withOrg { server, client in
      let token = client.token ?? ""
      let one = "HEAD /services/data HTTP/1.1\r\nHost: x\r\n\r\n"
      let two = "GET /services/data/v66.0/nowhere HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\r\n"
      let three = "GET /services/data HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
      let answer = try await client.exchange(Array((one + two + three).utf8))
      // The head of the first has no body, so the rest belongs to the other two.
      #expect(answer.status == 200 && answer.text.hasPrefix("HTTP/1.1 404"))
      #expect(answer.text.contains("HTTP/1.1 200") && server.requests().map(\.status) == [200, 404, 200])
    }
  }

  // MARK: Bad input

  @Test func query_withInvalidUTF8_answers400() async throws {
    try await withOrg { _, client in
      let invalid = try await client.send("GET", "/services/data/v66.0/query?q=%FF%ZZ%")
      #expect(invalid.status == 400 && invalid.errorCode == "MALFORMED_QUERY")
    }
  }

  private func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sandbox-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}
