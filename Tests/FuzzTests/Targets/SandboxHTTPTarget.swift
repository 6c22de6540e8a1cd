import Glibc
import JSON
import SandboxForge
import SandboxOrg
import SandboxParse
import SandboxServer
import TestSupport

/// The bytes that clients of the pretend servers send. Each request is answered, or the connection closes; every answer is whole
/// and well-formed; and the server continues: the next good request is answered.
///
/// `@TOKEN@` in an input stands for an access token.
struct SandboxHTTPTarget: FuzzTarget {
  let name = "sandbox-http"
  let usualRounds = 180
  let sessionRounds = 3_000
  let dictionary =
    [
      "GET ", "POST ", "HEAD ", "PATCH ", "DELETE ", "PUT ", "OPTIONS ", "TRACE ", "CONNECT ", " HTTP/1.1\r\n", " HTTP/1.0\r\n",
      " HTTP/2.0\r\n",
      "Host: x\r\n", "Content-Length: 0\r\n", "Content-Length: 5\r\n", "Content-Length: -1\r\n",
      "Content-Length: 99999999999999999999\r\n",
      "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", "5\r\nabcde\r\n",
      "ffffffffffffffff\r\n",
      "Connection: close\r\n", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n", "Upgrade: h2c\r\n",
      "Authorization: Bearer @TOKEN@\r\n",
      "Authorization: OAuth @TOKEN@\r\n", "Content-Type: application/json\r\n", "Content-Type: text/csv\r\n",
      "Content-Encoding: gzip\r\n",
      "Content-Type: multipart/form-data; boundary=b\r\n", "Accept-Encoding: gzip\r\n", "Accept: application/xml\r\n",
      "If-None-Match: *\r\n",
      "If-Modified-Since: Mon, 23 Nov 2026 08:46:02 GMT\r\n", "Range: bytes=0-1\r\n", "Origin: http://localhost\r\n",
      "Cookie: sid=@TOKEN@\r\n",
      "Sforce-Query-Options: batchSize=200\r\n", "X-SFDC-Session: @TOKEN@\r\n", "X-Parse-Application-Id: library\r\n", "\r\n\r\n",
      "\r\n ", "\n", "--b\r\n", "--b--\r\n", "?q=SELECT+Id+FROM+Contact",
      "%2e%2e", "%00", "//",
    ] + Self.paths

  private static let paths = [
    "/", "/services/data", "/services/data/v66.0", "/services/data/v66.0/", "/services/data/v66.0/sobjects",
    "/services/data/v66.0/sobjects/Account",
    "/services/data/v66.0/sobjects/Account/describe", "/services/data/v66.0/sobjects/Contact/003000000000001",
    "/services/data/v66.0/query",
    "/services/data/v66.0/queryAll", "/services/data/v66.0/search", "/services/data/v66.0/composite",
    "/services/data/v66.0/composite/batch",
    "/services/data/v66.0/composite/tree/Account", "/services/data/v66.0/composite/sobjects",
    "/services/data/v66.0/composite/graph",
    "/services/data/v66.0/jobs/ingest", "/services/data/v66.0/jobs/query", "/services/data/v66.0/limits",
    "/services/data/v66.0/recent",
    "/services/data/v66.0/connect/files/users/me", "/services/data/v66.0/ui-api/records/batch/003000000000001",
    "/services/async/66.0/job", "/services/Soap/u/66.0", "/services/apexrest/x", "/services/oauth2/token",
    "/services/oauth2/authorize",
    "/services/oauth2/revoke", "/services/oauth2/userinfo", "/services/oauth2/introspect", "/id/00D000000000001/005000000000001",
    "/secur/frontdoor.jsp",
    "/.well-known/openid-configuration", "/__sandbox/requests", "/__sandbox/addFault", "/api/v3/repos/a/b/issues", "/api/v3/user",
    "/parse/classes/A",
    "/parse/users", "/parse/batch", "/parse/login", "/parse/schemas",
  ]

  func generated(_ random: inout SeededGenerator) -> [UInt8]? {
    Array(random.list(1...3, "") { Self.request(&$0) }.utf8)
  }

  private static func request(_ random: inout SeededGenerator) -> String {
    let bodies = [
      "", "{}", "{\"Name\":\"A\"}", "[]", "null", "{\"records\":[{\"attributes\":{\"type\":\"Account\"},\"Name\":\"B\"}]}",
      "<a/>", "a=b&c=%zz",
      "{\"allOrNone\":true,\"compositeRequest\":[{\"method\":\"GET\",\"url\":\"/services/data/v66.0/limits\",\"referenceId\":\"r\"}]}",
      "grant_type=password&username=x", "--b\r\nContent-Disposition: form-data; name=\"entity\"\r\n\r\n{}\r\n--b--",
      "{\"operation\":\"insert\",\"object\":\"Account\"}",
    ]
    let queries = ["", "", "?q=SELECT+Id+FROM+Contact+LIMIT+3", "?q=FIND+{ann}", "?a=b&c"]
    let method = random.pick(["GET", "GET", "POST", "POST", "PATCH", "DELETE", "HEAD", "PUT", "OPTIONS"]),
      body = random.pick(bodies)
    var text =
      "\(method) \(random.pick(paths))\(random.pick(queries)) HTTP/1.1\r\nHost: x\r\n"
    if !random.chance(4) { text += "Authorization: Bearer @TOKEN@\r\n" }
    text += random.pick([
      "", "Content-Type: application/json\r\n", "Content-Type: multipart/form-data; boundary=b\r\n",
      "X-Parse-Application-Id: library\r\n",
    ])
    guard !body.isEmpty else { return text + "\r\n" }
    if random.chance(4) {
      return text + "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
    }
    return text + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  func open() async throws -> any FuzzSession {
    var configuration = SandboxConfiguration()
    configuration.seed = .custom(accounts: 3, contacts: 20)
    configuration.clock = ManualSandboxClock()
    configuration.dailyCalls = .max / 4
    configuration.mounts = [ForgeService().mount] + ParseService().mounts
    let server = try await SandboxServer.start(configuration)
    return Session(server, try server.issueAccessToken())
  }

  private final class Session: FuzzSession {
    private let server: SandboxServer
    private let token: [UInt8]

    init(_ server: SandboxServer, _ token: String) {
      self.server = server
      self.token = Array(token.utf8)
    }

    func run(_ input: [UInt8]) throws -> FuzzOutcome {
      server.clearRequests()
      let exchange = try WireExchange(port: server.port, sending: Self.replacing(Array("@TOKEN@".utf8), with: token, in: input))
      try FuzzFailure.unless(!exchange.timedOut, "the server neither answered nor closed the connection")
      try goOn()
      // A request that is handled after its connection has been answered would be among them by now.
      let logged = server.requests().sorted { $0.sequence < $1.sequence }.dropLast()
      let hasHead = Self.contains(Array("HEAD ".utf8), input)
      let answers = try WireAnswer.all(in: exchange.received, mayOmitBodies: hasHead, isCut: exchange.wasReset)
      try compare(answers, with: Array(logged), hasHead, wasReset: exchange.wasReset)
      let statuses = answers.map(\.status)
      let signal =
        "\(statuses.prefix(4)) \(logged.first.map { "\($0.method) \($0.path.split(separator: "/").prefix(4).last ?? "")" } ?? "")"
      return answers.contains { $0.status < 400 } ? .accepted(signal) : .refused(signal)
    }

    private func compare(_ answers: [WireAnswer], with logged: [LoggedRequest], _ hasHead: Bool, wasReset: Bool)
      throws(FuzzFailure)
    {
      // A request that is not HTTP is refused without being logged, and control requests are not logged at all.
      let statuses = logged.map(\.status).filter { $0 != 0 }, hasOthers = answers.count > statuses.count
      if !hasOthers {
        // A request that is refused for its length can also turn out to be cut short, and so can one that only reads: its
        // handler needs no body and has ended by then.
        let done = logged.filter { $0.status != 0 }
        let isSame = answers.map(\.status).elementsEqual(done) { answer, request in
          answer == request.status || answer == 400 && ([413, 414, 431].contains(request.status) || Self.onlyReads(request))
        }
        try FuzzFailure.unless(
          isSame, "answered \(answers.map(\.status)), logged \(statuses)\(wasReset ? ", and reset the connection" : "")")
      }
      for answer in answers {
        try FuzzFailure.unless((200...599).contains(answer.status), "status \(answer.status)")
        // SOAP has no other status for the faults of a client.
        let isFault = String(decoding: answer.body, as: UTF8.self).contains("<faultcode>soapenv:Client")
        try FuzzFailure.unless(
          answer.status != 500 || isFault,
          "an unexpected error: \(String(decoding: answer.body.prefix(500), as: UTF8.self)), logged \(logged.map(\.path))")
        try FuzzFailure.unless(
          answer.status < 400 || hasHead || !answer.body.isEmpty,
          "status \(answer.status) without a reason, logged \(logged.map(\.path))")
      }
      if answers.count == 1, logged.map(\.method) == ["HEAD"] {
        try FuzzFailure.unless(answers[0].body.isEmpty, "an answer to HEAD with a body, for \(logged[0].path)")
      }
    }

    private static func onlyReads(_ request: LoggedRequest) -> Bool {
      ["GET", "HEAD"].contains(request.method) || request.path == "/services/oauth2/userinfo"
    }

    /// The next good request.
    private func goOn() throws {
      let exchange = try WireExchange(
        port: server.port, sending: Array("GET /services/data HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
      let answers = try WireAnswer.all(in: exchange.received, mayOmitBodies: false, isCut: false)
      try FuzzFailure.unless(answers.count == 1 && answers[0].status == 200, "the next request got \(answers.map(\.status))")
      try FuzzFailure.unless((try? JSONValue(parsing: answers[0].body))?.arrayValue != nil, "the next request got another body")
    }

    private static func contains(_ word: [UInt8], _ input: [UInt8]) -> Bool {
      input.indices.contains { input[$0] == word[0] && input[$0...].starts(with: word) }
    }

    private static func replacing(_ mark: [UInt8], with text: [UInt8], in input: [UInt8]) -> [UInt8] {
      var out: [UInt8] = [], i = 0
      while i < input.count {
        if input[i] == mark[0], input[i...].starts(with: mark) {
          out += text
          i += mark.count
        } else {
          out.append(input[i])
          i += 1
        }
      }
      return out
    }

    func close() async { await server.stop() }
  }
}
