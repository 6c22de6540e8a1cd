import JSON
import RestClient
import Testing

/// Tests every key of `connections.json`, and the messages about mistakes.
@Suite struct ConnectionSettingsTests {
  private func read(_ text: String) throws -> [ConnectionSettings] {
    try ConnectionSettings.read(try JSONFile(name: "connections.json", text: Array(text.utf8)), folder: "/etc/app")
  }

  private func complaint(_ text: String) -> String {
    do {
      _ = try read(text)
      return "no complaint"
    } catch { return "\(error)" }
  }

  /// Returns the message about one connection with further members, which are on their own line.
  private func complaint(about members: String) -> String {
    complaint("{\n\"a\": {\"baseURL\": \"https://a.example\",\n\(members)}}")
  }

  @Test func read_threeConnections_haveTheirOwnValues() throws {
    let found = try read(
      """
      {"github": {"kind":"rest","baseURL":"https://api.github.com/","headers":{"X-GitHub-Api-Version":"2022-11-28"},
         "maxParallel":1,"pauseMs":1000,"auth":{"type":"bearer","token":{"env":"GITHUB_TOKEN"},"optional":true},
         "allowOrigins":["https://avatars.githubusercontent.com"]},
       "books": {"baseURL":"https://books.example.org/api/v1","caFile":"books-ca.pem","errors":{"message":"detail","fields":"$"},
         "auth":{"type":"header","name":"Authorization","prefix":"Token ","value":{"file":"books.token"}},"cache":false},
       "notes": {"baseURL":"https://kinto.example.org/v1","timeoutS":30,"log":{"level":"info","file":"notes.log"},
         "auth":{"type":"basic","username":"sync","password":{"command":["pass","show","kinto"]}}}}
      """)
    let (github, books, notes) = (found[0], found[1], found[2])
    #expect(found.map(\.name) == ["github", "books", "notes"])
    #expect(github.baseURL == "https://api.github.com" && github.isAuthorizationOptional)
    #expect(github.authorization == .bearer(token: .source(.environment("GITHUB_TOKEN"))))
    #expect(github.maxParallel.total == 1 && github.pauseMs == 1000)
    #expect(github.headers == [.init("X-GitHub-Api-Version", .text("2022-11-28"))])
    #expect(github.allowOrigins.map(\.host) == ["avatars.githubusercontent.com"])
    #expect(books.caFile == "/etc/app/books-ca.pem" && books.cache == nil && books.errors.fields == "$")
    #expect(
      books.authorization
        == .header(name: "Authorization", prefix: "Token ", value: .source(.file("/etc/app/books.token"))))
    #expect(notes.timeoutS == 30 && notes.log.level == .info && notes.log.file == "/etc/app/notes.log")
    #expect(notes.authorization == .basic(username: "sync", password: .source(.command(["pass", "show", "kinto"]))))
  }

  @Test func read_nothingChosen_hasTheDefaults() throws {
    let found = try #require(try read(#"{"a": {"baseURL": "https://a.example"}}"#).first)
    #expect(found.kind == .rest && found.authorization == .none && !found.isAuthorizationOptional)
    #expect(found.connectTimeoutS == 10 && found.timeoutS == 60 && found.maxBytes == 64 * 1024 * 1024)
    #expect(found.maxParallel.reads == 4 && found.maxParallel.writes == 1 && found.maxParallel.total == nil)
    #expect(found.pauseMs == 0 && found.maxWaitS == 900 && found.caFile == nil && found.allowOrigins.isEmpty)
    #expect(found.proxy == nil)
    #expect(!found.redirectWrites && found.cache?.memoryMB == 2 && found.cache?.diskMB == 20)
    #expect(found.log.level == .warn && found.log.file == nil && found.userAgent == nil)
    #expect(found.quota == .init() && found.errors == .init())
  }

  @Test(arguments: [
    ("http://proxy.example:3128", "http://proxy.example:3128"), ("proxy.example:3128", "http://proxy.example:3128"),
    ("https://proxy.example", "https://proxy.example:443"), ("none", nil), ("None", nil),
  ])
  func read_proxy(text: String, origin: String?) throws {
    let found = try #require(try read(#"{"a": {"baseURL": "https://a.example", "proxy": "\#(text)"}}"#).first)
    #expect(found.proxy == (origin.flatMap { HTTPProxy($0) }.map { .through($0) } ?? .direct))
  }

  @Test func read_wrongProxy_isNamedWithoutItsPassword() throws {
    for text in ["socks5://ada:secret@p.example:1080", "http://ada:secret@"] {
      let complaint = complaint(about: #""proxy": "\#(text)""#)
      #expect(complaint.contains("'proxy' must be") && !complaint.contains("secret"), "\(complaint)")
    }
    let complaint = complaint(about: #""proxy": "http://ada:secret@p.example""#)
    #expect(complaint.contains("'proxy' must not hold a user and a password") && !complaint.contains("secret"), "\(complaint)")
    // A program may pass them.
    let members: JSONValue = ["baseURL": "https://a.example", "proxy": "http://ada:secret@p.example"]
    let given = try ConnectionSettings(name: "a", json: members, from: .init(folder: "/", allowsPlainSecrets: true))
    #expect(given.proxy == HTTPProxy("http://ada:secret@p.example").map { .through($0) })
  }

  @Test func read_clientCredentials_everyKey() throws {
    let found = try #require(
      try read(
        """
        {"a": {"baseURL": "https://a.example", "auth": {"type": "clientCredentials", "tokenURL": "https://id.example/token",
          "clientId": "app", "clientSecret": {"env": "S"}, "scopes": ["read", "write"], "audience": "https://a.example",
          "clientAuth": "body"}}}
        """
      ).first)
    guard case .clientCredentials(let credentials) = found.authorization else { throw Unexpected(what: "\(found)") }
    #expect(credentials.tokenURL == "https://id.example/token" && credentials.clientId == "app")
    #expect(credentials.clientSecret == .source(.environment("S")) && credentials.clientAuth == .body)
    #expect(credentials.scopes == ["read", "write"] && credentials.audience == "https://a.example")
  }

  @Test(arguments: [
    (#""pauseMS": 5"#, "connections.json:3: connection 'a': 'pauseMS' is not known here; did you mean 'pauseMs'?"),
    (#""maxParalel": 1"#, "connections.json:3: connection 'a': 'maxParalel' is not known here; did you mean 'maxParallel'?"),
    (
      #""auth": {"type": "baerer"}"#,
      "connections.json:3: connection 'a': 'auth.type' 'baerer' is not known here; did you mean 'bearer'?"
    ),
    (
      #""auth": {"type": "bearer", "tokn": {"env": "T"}}"#,
      "connections.json:3: connection 'a': 'auth.tokn' is not known here; did you mean 'token'?"
    ),
    (
      #""auth": {"type": "bearer", "token": {"enf": "T"}}"#,
      "connections.json:3: connection 'a': 'auth.token.enf' is not known here; did you mean 'env'?"
    ),
    (#""auth": {"type": "bearer"}"#, "connections.json:3: connection 'a': 'auth' lacks 'token'"),
    (#""timeoutS": "60""#, "connections.json:3: connection 'a': 'timeoutS' must be a number from 0.001 to 86400.0, not string"),
    (#""pauseMs": -1"#, "connections.json:3: connection 'a': 'pauseMs' must be a whole number from 0 to 3600000, not -1"),
    (#""kind": "soap""#, "connections.json:3: connection 'a': 'kind' 'soap' is not known here; known: rest, parse"),
    (#""cache": {"diskMb": 5}"#, "connections.json:3: connection 'a': 'cache.diskMb' is not known here; did you mean 'diskMB'?"),
    (#""cache": 5"#, "connections.json:3: connection 'a': 'cache' must be an object, not number"),
    (
      #""log": {"level": "verbose"}"#,
      "connections.json:3: connection 'a': 'log.level' 'verbose' is not known here; known: off, error, warn, info, debug"
    ),
    (
      #""quota": {"resetAs": "unix"}"#,
      "connections.json:3: connection 'a': 'quota.resetAs' 'unix' is not known here; known: epoch, seconds, iso8601"
    ),
    (#""quota": {"limits": "X"}"#, "connections.json:3: connection 'a': 'quota.limits' is not known here; did you mean 'limit'?"),
    (
      #""errors": {"massage": "m"}"#,
      "connections.json:3: connection 'a': 'errors.massage' is not known here; did you mean 'message'?"
    ),
    (
      #""allowOrigins": ["https://a.example/x"]"#,
      "connections.json:3: connection 'a': 'allowOrigins' 'https://a.example/x' is not a valid origin: expected https://host or https://host:port"
    ),
    (
      #""headers": {"X A": "b"}"#, "connections.json:3: connection 'a': 'headers.X A' is not a valid header name"
    ),
    (
      #""maxParallel": {"read": 1}"#,
      "connections.json:3: connection 'a': 'maxParallel.read' is not known here; did you mean 'reads'?"
    ),
    (#""maxParallel": 0"#, "connections.json:3: connection 'a': 'maxParallel' must be a whole number from 1 to 64, not 0"),
  ])
  func read_mistake_namesFileLineAndKey(members: String, says: String) {
    #expect(complaint(about: members) == says)
  }

  @Test(arguments: [
    (#"{"a": {}}"#, "connections.json:1: connection 'a' lacks 'baseURL'"),
    (#"{"a": 5}"#, "connections.json:1: connection 'a' must be an object, not number"),
    ("[]", "connections.json: must contain an object with a member for each connection, not array"),
    (
      "{\"a\": {\"baseURL\": \"https://a.example\"},\n\"A\": {\"baseURL\": \"https://b.example\"}}",
      "connections.json:2: connection 'A' differs from 'a' only in letter case; names are unique ignoring case"
    ),
    (
      #"{"a/b": {"baseURL": "https://a.example"}}"#,
      "connections.json:1: connection 'a/b' is not a valid connection name: use 1 to 64 letters, digits, '.', '_' and '-'"
    ),
    (
      #"{"..": {"baseURL": "https://a.example"}}"#,
      "connections.json:1: connection '..' is not a valid connection name: use 1 to 64 letters, digits, '.', '_' and '-'"
    ),
  ])
  func read_wrongFile_saysWhere(text: String, says: String) {
    #expect(complaint(text) == says)
  }

  @Test(arguments: [
    ("http://a.example", "must begin with https"), ("https://a.example/?x=1", "must not have a query"),
    ("https://user:pw@a.example", "is not a valid URL"), ("a.example", "is not a valid URL"),
    ("https://a.example/a b", "is not a valid URL"),
  ])
  func read_unusableBaseURL_isRefused(url: String, says: String) {
    #expect(complaint(#"{"a": {"baseURL": "\#(url)"}}"#).contains("'baseURL' \(says)"))
  }

  @Test(arguments: [
    #""auth": {"type": "bearer", "token": "CANARY-1"}"#, #""auth": {"type": "basic", "username": "u", "password": "CANARY-1"}"#,
    #""auth": {"type": "header", "name": "X-Key", "value": "CANARY-1"}"#, #""headers": {"Authorization": "Bearer CANARY-1"}"#,
    #""headers": {"X-Parse-REST-API-Key": "CANARY-1"}"#,
    #""auth": {"type":"clientCredentials","tokenURL":"https://t.example","clientId":"c","clientSecret":"CANARY-1"}"#,
  ])
  func read_plainSecretInAFile_isRefusedAndNotRepeated(members: String) {
    let said = complaint(about: members)
    #expect(said.contains("must not be plain text") && !said.contains("CANARY"))
  }

  @Test func read_plainSecretOfAProgram_isTakenAndNeverPrinted() throws {
    let origin = ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true)
    let members: JSONObject = [
      "a": ["baseURL": "https://a.example", "auth": ["type": "bearer", "token": "CANARY-1"], "headers": ["Cookie": "CANARY-2"]]
    ]
    let found = try ConnectionSettings.read(members, from: origin)
    #expect(found[0].authorization == .bearer(token: .plain("CANARY-1")))
    var dumped = "\(found) \(String(reflecting: found))"
    dump(found, to: &dumped)
    #expect(!dumped.contains("CANARY"))
  }

  @Test func read_twoHeadersOfOneName_isRefused() {
    #expect(complaint(about: #""headers": {"X-A": "1", "x-a": "2"}"#).contains("names the same header as 'X-A'"))
  }
}
