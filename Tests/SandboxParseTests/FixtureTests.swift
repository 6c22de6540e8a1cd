import JSON
import SandboxParse
import Testing

/// Whole requests of two SDKs, written down in the form of section 1.2 and replayed byte by byte.
@Suite struct FixtureTests {
  /// Lines of a head, then the body; the length is counted.
  private func request(_ head: [String], _ body: String) -> [UInt8] {
    Array((head + ["Connection: close", "Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n").utf8)
  }

  private static func keys() -> ParseKeys {
    var keys = ParseKeys()
    keys.applicationId = "app1"
    keys.javascriptKey = "js1"
    keys.clientKey = "client1"
    keys.masterKey = "master1"
    return keys
  }

  private func withFixtures(_ body: (ParseClient) async throws -> Void) async throws {
    var configuration = ParseConfiguration()
    configuration.clock = ManualSandboxClock()
    configuration.keys = Self.keys()
    configuration.isSeeded = false
    let server = try await ParseServer.start(configuration)
    try await body(ParseClient(port: server.port, keys: server.keys))
    await server.stop()
  }

  @Test func javaScript_createFindUpdateDeleteBatchLoginUpload() async throws {
    try await withFixtures { client in
      func js(_ path: String, _ body: String) async throws -> ParseClient.Answer {
        let tail = #""_ApplicationId":"app1","_JavaScriptKey":"js1","_ClientVersion":"js5.3.0","_InstallationId":"i-1"}"#
        return try await client.exchange(
          request(["POST /parse\(path) HTTP/1.1", "Host: localhost:1337", "Content-Type: text/plain"], body + tail))
      }
      let made = try await js("/classes/Book", #"{"title":"Dune","publishingYear":1965,"#)
      #expect(made.status == 201 && made.json["createdAt"] == "2026-03-02T09:00:00.000Z" && made.json["updatedAt"] == nil)
      #expect(made.header("location") == "http://localhost:1337/parse/classes/Book/\(made.id)")
      let found = try await js("/classes/Book", #"{"where":{"title":"Dune"},"limit":1,"_method":"GET","#)
      #expect(found.results.map { $0["publishingYear"] } == [1965])
      let updated = try await js("/classes/Book/\(made.id)", #"{"o":{"a":1},"title":"Dune (1965)","_method":"PUT","#)
      #expect(updated.json["updatedAt"] == "2026-03-02T09:00:00.001Z")
      let part = try await js("/classes/Book/\(made.id)", #"{"o.a":{"__op":"Increment","amount":8},"_method":"PUT","#)
      #expect(part.json["o"] == ["a": 9])
      let batch = try await js(
        "/batch",
        #"{"requests":[{"method":"POST","body":{"name":"Ana"},"path":"/parse/classes/Author"},"#
          + #"{"method":"DELETE","body":{},"path":"/parse/classes/Book/x9"}],"transaction":false,"#)
      #expect(batch.items.first?["success"]?["objectId"] != nil)
      #expect(batch.items.last == ["error": ["code": 101, "error": "Object not found."]])
      #expect(try await js("/classes/Book/\(made.id)", #"{"_method":"DELETE","#).text == "{}")
      let user = try await js("/users", #"{"username":"u","password":"p","#)
      #expect(user.status == 201 && user.json["sessionToken"]?.stringValue?.hasPrefix("r:") == true)
      let login = try await js("/login", #"{"username":"u","password":"p","_method":"GET","#)
      #expect(login.status == 200 && login.json["username"] == "u" && login.json["sessionToken"] != user.json["sessionToken"])
      let upload = try await js(
        "/files/note.txt",
        #"{"base64":"aGVsbG8=","_ContentType":"text/plain","fileData":{"metadata":{},"tags":{}},"#)
      #expect(upload.status == 201 && upload.json["name"]?.stringValue?.hasSuffix("_note.txt") == true)
      let path = try #require(upload.json["url"]?.stringValue?.dropFirst("http://localhost:1337".count))
      let file = try await client.send("GET", String(path))
      #expect(file.text == "hello" && file.header("content-type") == "text/plain")
    }
  }

  @Test func swift_createFindUpdateBatchSignUpHealth() async throws {
    try await withFixtures { client in
      func swift(_ method: String, _ path: String, _ body: String? = nil, token: String? = nil) async throws -> ParseClient.Answer
      {
        var head = [
          "\(method) /parse\(path) HTTP/1.1", "Host: localhost:1337", "X-Parse-Application-Id: app1",
          "X-Parse-Client-Key: client1", "X-Parse-Installation-Id: 5c8d", "X-Parse-Client-Version: swift6.1.0",
          "X-Parse-Request-Id: 00000000-0000-4000-8000-000000000001", "Content-Type: application/json",
        ]
        if let token { head.append("X-Parse-Session-Token: \(token)") }
        return try await client.exchange(request(head, body ?? ""))
      }
      let isbn = try await swift("POST", "/classes/ISBN", #"{"value":"978"}"#)
      let made = try await swift(
        "POST", "/classes/Book",
        #"{"isbn":{"__type":"Pointer","className":"ISBN","objectId":"\#(isbn.id)"},"title":"Dune","city":"Oslo"}"#)
      #expect(made.status == 201, "the request id is not looked at")
      let found = try await swift(
        "GET",
        "/classes/Book?include=%5B%22isbn%22%5D&limit=100&order=%5B%22city%22,%22-title%22%5D&skip=0&where=%7B%22city%22:"
          + "%7B%22$eq%22:%22Oslo%22%7D%7D&count=true")
      #expect(found.results.map { $0["isbn"]?["value"] } == ["978"] && found.json["count"] == 1)
      #expect(try await swift("PUT", "/classes/Book/\(made.id)", #"{"title":"D"}"#).json["updatedAt"] != nil)
      let batch = try await swift(
        "POST", "/batch",
        #"{"requests":[{"body":{"name":"Ana"},"method":"POST","path":"\/parse\/classes\/Author"},"#
          + #"{"method":"DELETE","path":"\/parse\/classes\/Book\/\#(made.id)"}],"transaction":false}"#)
      #expect(batch.items.count == 2 && batch.items[1] == ["success": [:]])
      let user = try await swift("POST", "/users", #"{"username":"u","password":"p"}"#)
      #expect(user.status == 201)
      let token = user.json["sessionToken"]?.stringValue
      #expect(try await swift("GET", "/users/me", token: token).json["username"] == "u")
      #expect(try await swift("POST", "/health").text == #"{"status":"ok"}"#)
    }
  }
}
