import JSON
import Support
import TestSupport
import Testing

@testable import RestClient

/// Row 27: tests the log levels, and that no output contains a secret.
@Suite(.timeLimit(.minutes(60))) struct RequestLogTests {
  private let bed = ConnectionBed()

  private func lines(_ level: RequestLogLevel, _ statuses: [Int]) async throws -> [String] {
    var bed = bed
    bed.level = level
    bed.written = WrittenLog()
    let server = try ScriptedServer(handler: { request in
      .json(#"{"a":1}"#, status: Int(request.path.dropFirst()) ?? 200, headers: [("x-ratelimit-remaining", "59")])
    })
    try await bed.with(server, ["cache": false]) { connection in
      for status in statuses { _ = try? await connection.get("/\(status)?page=2") }
    }
    return bed.written.text.split(separator: "\n").map(String.init)
  }

  @Test func levels_tellOfMoreAndMore() async throws {
    let statuses = [200, 404, 501]
    #expect(try await lines(.off, statuses).isEmpty)
    #expect(try await lines(.error, statuses).map(status) == ["501"])
    #expect(try await lines(.warn, statuses).map(status) == ["404", "501"])
    #expect(try await lines(.info, statuses).map(status) == ["200", "404", "501"])
    let debug = try await lines(.debug, [200])
    #expect(debug.contains { $0.hasPrefix("  > User-Agent: tureen/test") } && debug.contains("  < {\"a\":1}"))
  }

  @Test func debug_answerThatRepeatsTheForm_masksItsSecrets() {
    let headers = [(name: "Content-Type", value: "application/x-www-form-urlencoded")]
    var record = ExchangeRecord(
      "org", .POST, url: "https://a.example.com/token", headers: headers,
      body: Array("client_id=app&client_secret=canary%2Bsecret-0000".utf8))
    let echo = "you sent app with canary+secret-0000 or canary%2Bsecret-0000"
    record.end(with: RestResponse(status: 400, headers: [("X-Echo", echo)], body: ResponseBody(Array(#"{"m":"\#(echo)"}"#.utf8))))
    let text = record.text(level: .debug, isStored: false, now: 0)
    #expect(text.contains("you sent app with") && text.contains("client_id=app") && !text.contains("canary"), "\(text)")
  }

  /// Ways to send a secret that a server repeats in its answer.
  @Test(arguments: [
    ("Authorization", "Basic " + Base64.text("app:canary+secret-0000".utf8), "", "", ""),
    ("authorization", "basic " + Base64.text("app:canary%2Bsecret-0000".utf8), "", "", ""),
    ("Content-Type", "application/json", "", #"{"a":[{"password":"canary+secret-0000"}]}"#, ""),
    ("Accept", "*/*", "?x=1&access_token=canary%2Bsecret-0000", "", ""),
    ("Content-Type", "application/x-www-form-urlencoded", "", "client_secret=canary+secret-0000", " or canary secret-0000"),
  ])
  func debug_answerThatRepeatsASecret_masksIt(name: String, value: String, query: String, body: String, more: String) {
    var record = ExchangeRecord(
      "org", .POST, url: "https://a.example.com/token" + query, headers: [(name: name, value: value)], body: Array(body.utf8))
    let echo = "you sent canary+secret-0000 or canary%2Bsecret-0000" + more
    record.end(with: RestResponse(status: 400, headers: [("X-Echo", echo)], body: ResponseBody(Array(#"{"m":"\#(echo)"}"#.utf8))))
    let text = record.text(level: .debug, isStored: false, now: 0)
    #expect(text.contains("you sent") && !text.contains("canary"), "\(text)")
  }

  private func status(_ line: String) -> String {
    let words = line.split(separator: " ")
    return words.count > 6 ? String(words[6]) : line
  }

  @Test func info_oneLine_hasEveryPart() async throws {
    let line = try #require(try await lines(.info, [200]).first)
    let words = line.split(separator: " ").map(String.init)
    #expect(words[0] == "2026-11-23T08:46:02.125Z" && words[1] == "request" && Int(words[2]) != nil)
    #expect(words[3] == "api" && words[4] == "GET" && words[5].hasSuffix("/200?page=2") && words[6] == "200")
    #expect(words.suffix(7) == [words[7], "ms", "7", "bytes", "bypass", "remaining", "59"])
  }

  @Test func noAnswer_isAnErrorLineWithTheReason() async throws {
    var bed = bed
    bed.level = .error
    let server = try ScriptedServer(.closed)
    try await bed.with(server) { _ = try? await $0.send(RestRequest(.POST, "/x", body: [])) }
    #expect(bed.written.text.contains(" POST \(server.url)/x no answer "))
  }

  /// Uses a canary for every listed secret, in requests and responses.
  @Test func debug_everySecret_isMaskedToItsLastFour() async throws {
    var bed = bed
    bed.level = .debug
    let names = [
      "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-Parse-REST-API-Key", "X-Parse-Master-Key",
      "X-Parse-JavaScript-Key", "X-Parse-Session-Token", "X-Own-Secret",
    ]
    let parameters = ["access_token", "token", "api_key", "key", "client_secret", "password", "sig"]
    let members = ["password", "token", "secret", "sessionToken"]
    let body = "{" + members.map { #""\#($0)": "CANARY-m-\#($0)-ZZZZZZ""# }.joined(separator: ",") + #","ok":"shown"}"#
    let server = try ScriptedServer(handler: { request in
      .json(
        body, status: 200,
        headers: [("Set-Cookie", "sid=CANARY-set-cookie-ZZZZZZ"), ("X-Echo", request.header("X-Own-Secret") ?? "")])
    })
    bed.secrets["OWN"] = "CANARY-own-ZZZZZZ"
    let query = parameters.map { "\($0)=CANARY-p-\($0)-ZZZZZZ" }.joined(separator: "&") + "&page=2"
    try await bed.with(server, ["cache": false, "headers": ["X-Own-Secret": ["env": "OWN"]]]) { connection in
      let headers = names.dropLast().map { (name: $0, value: "CANARY-h-\($0)-ZZZZZZ") }
      _ = try await connection.send(
        RestRequest(.POST, "/x?" + query, headers: headers, body: Array(body.utf8), contentType: "application/json"))
      let form = parameters.map { "\($0)=CANARY-f-\($0)-ZZZZZZ" }.joined(separator: "&")
      _ = try await connection.send(
        RestRequest(.POST, "/x", body: Array(form.utf8), contentType: "application/x-www-form-urlencoded"))
      _ = try await connection.send(
        RestRequest(.POST, "/x", body: Array("says CANARY-own-ZZZZZZ".utf8), contentType: "text/plain"))
    }
    let text = bed.written.text
    #expect(!text.contains("CANARY"), "\(text)")
    #expect(text.contains("…ZZZZ") && !text.contains("ZZZZZ") && text.contains("shown") && text.contains("page=2"))
  }

  @Test func redaction_valuesOfMembers_ofEveryShape() {
    let table = [
      (#"{"password":"short"}"#, #"{"password":"…"}"#), (#"{"Token" : 12345, "a":1}"#, #"{"Token" : "…", "a":1}"#),
      (#"{"secret":{"a":["x"]},"b":2}"#, #"{"secret":"…","b":2}"#), (#"{"token":null}"#, #"{"token":null}"#),
      (#"{"token":"cut off wher"#, #"{"token":"…""#), (#"{"a":"token","b":"password"}"#, #"{"a":"token","b":"password"}"#),
      (#"{"pass\u0077ord":"abcdefghijklmnopqrstu"}"#, #"{"pass\u0077ord":"…rstu"}"#),
      (#"{"token":"a\"b\\","b":1}"#, #"{"token":"…","b":1}"#),
      ("not JSON at all: \"", "not JSON at all: \""),
    ]
    for (text, clean) in table { #expect(JSONRedaction.text(Array(text.utf8)[...]) == clean) }
  }

  @Test(arguments: [
    ("https://a.example/x?page=2&Access_Token=CANARY&b", "https://a.example/x?page=2&b"),
    ("https://a.example/x?api%5Fkey=CANARY", "https://a.example/x"), ("https://a.example/x?page=2", "https://a.example/x?page=2"),
    ("https://a.example/x", "https://a.example/x"), ("https://a.example/x?sig=CANARY#f", "https://a.example/x#f"),
  ])
  func secretParameters_areRemovedAndAddedAgain(url: String, kept: String) {
    #expect(SecretParameters.removed(from: url) == kept)
    let first = "https://a.example/?token=t&page=1"
    let used = SecretParameters.added(to: "https://a.example/x?page=2", from: first)
    #expect(used == "https://a.example/x?page=2&token=t")
    #expect(SecretParameters.added(to: used, from: first) == used)
    #expect(SecretParameters.added(to: "https://a.example/x", from: first) == "https://a.example/x?token=t")
  }

  @Test func redaction_bodyThatIsCut_hidesASecretAcrossTheCut() {
    let body = #"{"a":""# + String(repeating: "x", count: 4080) + #"","token":"CANARY-CANARY-CANARY-CANARY"}"#
    let shown = Redaction().body(Array(body.utf8), type: "application/json", limit: 4096)
    #expect(!shown.contains("CANARY") && shown.hasSuffix("… (\(body.utf8.count) bytes)"))
  }

  @Test func log_whatCommandsATerminal_isEscaped() async throws {
    var bed = bed
    bed.level = .debug
    let server = try ScriptedServer(.text("a\u{1b}[31mb\nc\u{202e}d"))
    try await bed.with(server) { _ = try await $0.get("/") }
    #expect(bed.written.text.contains(#"a\u{1b}[31mb\nc\u{202e}d"#))
  }

  @Test func file_noStoreBodies_areLeftOut() async throws {
    var bed = bed
    bed.level = .debug
    for isStored in [true, false] {
      let written = WrittenLog()
      let log = written.log(.debug, isStored: isStored)
      var record = ExchangeRecord("a", .GET, url: "https://a.example/", headers: [], body: nil)
      record.end(
        with: RestResponse(status: 200, headers: [("Cache-Control", "no-store")], body: ResponseBody(Array("BODY".utf8))))
      log.write(record)
      #expect(written.text.contains("BODY") == !isStored)
    }
  }

  @Test func file_isAppendedToAndPrivate() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/requests.log"
    for _ in 0..<2 {
      var record = ExchangeRecord("a", .GET, url: "https://a.example/", headers: [], body: nil)
      record.end(with: RestResponse(status: 200))
      RequestLog(level: .info, file: path).write(record)
    }
    let text = String(decoding: try #require(FileSystem.read(path)), as: UTF8.self)
    #expect(text.split(separator: "\n").count == 2)
    #expect(try mode(of: path) == 0o600)
  }

  /// The org's transport writes the same log, including sign-in.
  @Test func salesforceTransport_isLoggedWithoutTokens() async throws {
    let server = try ScriptedServer(.json(#"{"access_token":"CANARY-access-token-ZZZZ","instance_url":"x"}"#), .json("{}"))
    let written = WrittenLog()
    var configuration = TransportConfiguration()
    configuration.log = written.log(.debug)
    let transport = HTTPTransport(configuration)
    for path in ["/services/oauth2/token", "/services/data"] {
      _ = try await transport.exchange(
        .POST, url: server.url + path, headers: [("Authorization", "Bearer CANARY-access-token-ZZZZ")],
        body: Array("client_secret=CANARY-secret-of-client&a=b".utf8))
    }
    await transport.shutdown()
    #expect(!written.text.contains("CANARY") && written.text.contains(" org POST \(server.url)/services/data 200 "))
  }
}
