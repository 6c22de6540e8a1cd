import Foundation
import Glibc
import JSON
import Synchronization
import TestSupport
import Testing

/// Tests that no secret leaks, however a sign-in ends. Every secret contains a canary; each flow runs with the most verbose logs,
/// against servers that quote all requests in their responses.
///
/// With healthy servers each flow runs every program. In each other mood it runs one of them, chosen by the seed of the random
/// tests: each program meets every mood, and CI takes another seed for each commit. `TUREEN_CASES=all` runs all. What comes of a
/// flow in each mood is covered in process, by the suite of the same name in `RestClientTests`.
@Suite(.timeLimit(.minutes(60))) struct CanaryTests {
  /// The files that store secrets; no other file may contain one.
  private static let keepers = ["session.json", "credentials.json", "user.json"]

  /// The behavior of the servers.
  enum Mood: String, CaseIterable, Sendable {
    case good
    /// The login host issues tokens, but the data resources refuse them.
    case dataRefused
    case dataBroken
    case tokenRefused
    /// The token endpoint responds with 503 and a page.
    case tokenBroken
    /// The token endpoint responds with 200 but without the instance.
    case tokenHalf
    /// The token endpoint redirects to a host that must not get secrets.
    case tokenRedirected
  }

  // MARK: The flows

  /// One way to sign in, with all its secrets.
  struct Flow: Sendable, CustomStringConvertible {
    let name: String
    var environment: [String: String] = [:]
    /// Files next to the script, with mode 0600.
    var files: [(name: String, text: String)] = []
    var options: [String] = []
    /// The script's request.
    var request = #"{ path = "/services/data/v66.0/limits" }"#
    /// A folder to put in front of `PATH`.
    var programs: String?
    var description: String { name }
    var isConnection: Bool { request.contains("connection") }
  }

  static let names = [
    "password", "clientCredentials", "refreshToken", "jwt", "jwtKeyVariable", "accessToken", "accessTokenCommand", "sfVariables",
    "sfdxUrl", "sfNew", "sfOld", "bearer", "basic", "header", "connectionClientCredentials", "parse",
  ]

  private static func flow(_ name: String, _ bed: Bed) throws -> Flow {
    let c = bed.canary, url = bed.server.url
    let app = ["TUREEN_ORG": url, "TUREEN_CLIENT_ID": "app"]
    func with(_ more: [String: String]) -> [String: String] { app.merging(more) { $1 } }
    func connection(_ auth: String) -> Flow {
      Flow(
        name: name, environment: ["SECRET": c("connection")],
        files: [("connections.json", #"{"api":{"baseURL":"\#(url)/api","auth":{\#(auth)}}}"#)],
        request: #"{ connection = "api", path = "/items" }"#)
    }
    switch name {
    case "password":
      return Flow(
        name: name,
        environment: with([
          "TUREEN_CLIENT_SECRET": c("secret"), "TUREEN_USERNAME": "ann@acme.com", "TUREEN_PASSWORD": c("password"),
        ]))
    case "clientCredentials":
      return Flow(
        name: name, environment: ["TUREEN_ORG": url, "TUREEN_CREDENTIALS": "c.json"],
        files: [
          ("c.json", #"{"clientId":"app","clientSecretFile":"secret"}"#), ("secret", c("secret") + "\n"),
        ])
    case "refreshToken":
      return Flow(name: name, environment: with(["TUREEN_REFRESH_TOKEN": c("refresh"), "TUREEN_CLIENT_SECRET": c("secret")]))
    case "jwt":
      return Flow(
        name: name, environment: with(["TUREEN_USERNAME": "bot@acme.com", "TUREEN_PRIVATE_KEY_FILE": "key.pem"]),
        files: [("key.pem", try bed.key())])
    case "jwtKeyVariable":
      return Flow(name: name, environment: with(["TUREEN_USERNAME": "bot@acme.com", "TUREEN_PRIVATE_KEY": try bed.key()]))
    case "accessToken":
      return Flow(name: name, environment: ["TUREEN_INSTANCE_URL": url, "TUREEN_ACCESS_TOKEN": c("token")])
    case "accessTokenCommand":
      return Flow(
        name: name, environment: ["TUREEN_INSTANCE_URL": url, "TUREEN_ACCESS_TOKEN_COMMAND": "cat token"],
        files: [("token", c("token"))])
    case "sfVariables":
      return Flow(name: name, environment: ["SF_ORG_INSTANCE_URL": url, "SF_ACCESS_TOKEN": c("token")])
    case "sfdxUrl":
      // The scheme is always https, so the connection fails at the plain server.
      let host = String(url.dropFirst("http://".count))
      return Flow(
        name: name, environment: ["TUREEN_SFDX_AUTH_URL": "force://app:\(c("secret")):\(c("refresh"))@\(host)"])
    case "sfNew", "sfOld":
      return Flow(
        name: name, environment: ["PRETEND_SF": bed.place.path],
        files: [
          ("form", name == "sfNew" ? "new" : "old"), ("instance", url), ("tokens", c("token") + "\n" + c("token-2") + "\n"),
          ("warning", "the refresh failed"),
        ], options: ["--org", "sf:prod"], programs: Built.package.path + "/Tests/EndToEnd/Programs")
    case "bearer": return connection(#""type":"bearer","token":{"env":"SECRET"}"#)
    case "basic": return connection(#""type":"basic","username":"ann","password":{"env":"SECRET"}"#)
    case "header": return connection(#""type":"header","name":"X-Key","value":{"env":"SECRET"}"#)
    case "connectionClientCredentials":
      return connection(
        #""type":"clientCredentials","tokenURL":"\#(url)/services/oauth2/token","clientId":"app","clientSecret":{"env":"SECRET"}"#
      )
    default:
      var parse = connection("")
      parse.files = [
        (
          "connections.json",
          #"{"api":{"kind":"parse","serverURL":"\#(url)/api","applicationId":"app","restAPIKey":{"env":"SECRET"},"#
            + #""sessionToken":{"env":"SESSION"}}}"#
        )
      ]
      parse.environment["SESSION"] = c("session")
      return parse
    }
  }

  // MARK: Runs

  /// A script that signs in, sends three requests and prints all errors, which are tables in Lua.
  private static func script(_ flow: Flow) -> String {
    """
    local tureen = require "tureen"
    local function show(what, value, err) print(what, value ~= nil, err and tureen.json.encode(err)) end
    tureen.on("salesforceSessionRefresh", function() print("refreshed") end)
    tureen.main(function()
      for _ = 1, 3 do show("sent", tureen.await(tureen.network.sendRequest, \(flow.request))) end
      if \(!flow.isConnection) then
        show("authenticated", tureen.await(tureen.oauth.authenticate))
        show("signed out", tureen.await(tureen.oauth.logoutCurrentUser))
      end
      assert(tureen.await(tureen.network.sendRequest, \(flow.request)))
    end)
    """
  }

  @Test(arguments: names) func canaries_ofEachFlow_comeOutNowhere(name: String) async throws {
    // An SFDX auth URL cannot lead to a test's server, because its scheme is always https.
    let flowNumber = try #require(Self.names.firstIndex(of: name)), again = RandomSeed.again(Self.self, [:])
    for (moodNumber, mood) in Mood.allCases.enumerated() where name != "sfdxUrl" || mood == .good {
      let bed = try Bed(mood), flow = try Self.flow(name, bed)
      for (file, text) in flow.files { try bed.place.write(text, to: file, mode: 0o600) }
      try bed.place.write(Self.script(flow), to: "script.lua")
      let exec = flow.request.replacingOccurrences(of: " = ", with: ": ").replacing(#/([a-z]+): /#) { "\"\($0.output.1)\": " }
      let programs = [
        ["run", "--log-requests=debug", "script.lua"],
        ["exec", "--config", ".", "--json", "network", "sendRequest", exec],
        ["exec", "--config", ".", "oauth", "authenticate"],
      ].filter { $0.last != "authenticate" || !flow.isConnection }
      let chosen = Int(RandomSeed.value % UInt64(programs.count)) + flowNumber + moodNumber
      for words in mood == .good || TestCases.all ? programs : [programs[chosen % programs.count]] {
        let command = Array(words.prefix(1)) + ["--home", bed.place.home] + flow.options + words.dropFirst()
        var environment = flow.environment
        environment["TUREEN_LOG"] = "trace"
        environment["TUREEN_LOG_REQUESTS_FILE"] = bed.place.path + "/requests.log"
        if words[0] == "exec" { environment["TUREEN_LOG_REQUESTS"] = "debug" }
        let path = (flow.programs.map { $0 + ":" } ?? "") + "/usr/bin:/bin"
        let ended = try await bed.place.run(
          "/bin/bash", ["-c", #"export PATH="$0"; exec "$@""#, path, Built.tureen] + command, environment: environment)
        // `oauth authenticate` prints the access token on purpose.
        let output = words.last == "authenticate" && ended.status == 0 ? "" : ended.output
        bed.check(output, "\(flow) \(mood) \(words[0]): stdout, \(again)")
        bed.check(ended.errors, "\(flow) \(mood) \(words[0]): stderr, \(again)")
        if mood == .good, words[0] == "exec", name != "sfdxUrl" { #expect(ended.status == 0, "\(flow) \(words): \(ended)") }
      }
      bed.checkFiles("\(flow) \(mood), \(again)", given: flow.files.map(\.name), keepers: Self.keepers)
    }
  }

  /// Checks that the search finds leaked canaries.
  @Test func canaries_ofABadProgram_areFound() async throws {
    let bed = try Bed(.good)
    #expect(!bed.findings(in: "a \(bed.canary("x")) b").isEmpty)
    #expect(!bed.findings(in: bed.canary("a b").addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "").isEmpty)
    #expect(!bed.findings(in: Data(bed.canary("x").utf8).base64EncodedString()).isEmpty)
    #expect(bed.findings(in: "nothing").isEmpty)
  }
}

/// A workplace with a server that quotes all requests, and the search for canaries.
final class Bed: Sendable {
  let place: Workplace
  let server: ScriptedServer
  /// Secrets that are not known in advance, such as assertions and codes. Collected from the requests.
  private let seen: Seen
  private let mark = "canary" + UUID().uuidString.filter { $0 != "-" }.lowercased()

  private final class Seen: Sendable {
    let secrets = Mutex<Set<String>>([])
    /// The command lines of processes that contain a canary.
    let commandLines = Mutex<Set<String>>([])
  }

  init(_ mood: CanaryTests.Mood) throws {
    place = try Workplace()
    let seen = Seen(), mark = mark
    self.seen = seen
    server = try ScriptedServer(handler: { request in
      Bed.lookAtCommandLines(for: mark, seen)
      Bed.note(request, seen)
      return request.path == "/services/oauth2/token"
        ? Bed.token(request, mood, mark) : Bed.data(request, mood)
    })
  }

  /// Returns a secret that is long enough that the last characters of a masked one do not identify it.
  func canary(_ name: String) -> String { "\(mark)-\(name)-0000" }

  /// Returns an RSA key. The lines of its body are canaries, too.
  func key() throws -> String {
    let file = place.path + "/generated.pem"
    let made = Process()
    made.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    made.arguments = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", file]
    made.standardError = FileHandle.nullDevice
    try made.run()
    made.waitUntilExit()
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try FileManager.default.removeItem(atPath: file)
    seen.secrets.withLock { $0.formUnion(text.split(separator: "\n").map(String.init).filter { $0.count > 40 }) }
    return text
  }

  // MARK: Servers

  private static func everything(_ request: RecordedRequest) -> String {
    let headers = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: " ")
    return JSONValue.string("\(headers) \(request.text)").text
  }

  private static func token(_ request: RecordedRequest, _ mood: CanaryTests.Mood, _ mark: String) -> ScriptedAnswer {
    let url = "http://" + (request.header("Host") ?? ""), echo = everything(request)
    let token = #""access_token":"\#(mark)-minted-0000","token_type":"Bearer","refresh_token":"\#(mark)-rotated-0000""#
    switch mood {
    case .tokenRefused: return .json(#"{"error":"invalid_grant","error_description":\#(echo)}"#, status: 400)
    case .tokenBroken: return .text("<html>\(echo)</html>", status: 503, type: "text/html", headers: [("Retry-After", "3600")])
    case .tokenHalf: return .json("{\(token)}")
    case .tokenRedirected: return .status(302, headers: [("Location", "https://elsewhere.invalid/services/oauth2/token")])
    default: return .json(#"{\#(token),"instance_url":"\#(url)","id":"\#(url)/id/00D000000000001AAA/005000000000001AAA"}"#)
    }
  }

  private static func data(_ request: RecordedRequest, _ mood: CanaryTests.Mood) -> ScriptedAnswer {
    if request.path == "/services/oauth2/revoke" { return .json(#"{"error":\#(everything(request))}"#, status: 400) }
    switch mood {
    case .dataRefused: return .json(#"[{"errorCode":"INVALID_SESSION_ID","message":\#(everything(request))}]"#, status: 401)
    case .dataBroken: return .json(#"[{"errorCode":"UNKNOWN","message":\#(everything(request))}]"#, status: 400)
    default: return .json(request.path.hasPrefix("/id/") || request.path.hasSuffix("/userinfo") ? identity : "{}")
    }
  }

  private static let identity =
    #"{"user_id":"005000000000001AAA","organization_id":"00D000000000001AAA","username":"ann@acme.com"}"#

  /// Collects form values that differ in every request.
  private static func note(_ request: RecordedRequest, _ seen: Seen) {
    let secrets = ["assertion", "code", "code_verifier"]
    for field in request.text.split(separator: "&") {
      let parts = field.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, secrets.contains(String(parts[0])), parts[1].count > 20 else { continue }
      seen.secrets.withLock { _ = $0.insert(String(parts[1])) }
    }
  }

  /// Looks at command lines while a client waits for a response, so that it and its children are running.
  private static func lookAtCommandLines(for mark: String, _ seen: Seen) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] where name.allSatisfy(\.isNumber) {
      guard let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") else { continue }
      let text = String(decoding: line, as: UTF8.self)
      if text.contains(mark) { seen.commandLines.withLock { _ = $0.insert(text.replacingOccurrences(of: "\0", with: " ")) } }
    }
  }

  // MARK: The search

  /// Returns the secrets in a text: plain, percent-encoded, or in Base64 at any of the three alignments.
  func findings(in text: String) -> [String] {
    var found = seen.secrets.withLock { $0.filter { text.contains($0) } }.map { "\($0.prefix(12))…" }
    if text.contains(mark) { found.append("a canary") }
    for start in 0..<3 {
      let bytes = Data(repeating: 0, count: start) + Data(mark.utf8)
      let encoded = String(bytes.base64EncodedString().dropFirst(start == 0 ? 0 : start + 1).dropLast(4))
      if text.contains(encoded) { found.append("a canary in Base64") }
    }
    return found
  }

  func check(_ text: String, _ place: String) {
    let found = findings(in: text)
    let line = text.split(separator: "\n").first { !findings(in: String($0)).isEmpty } ?? ""
    #expect(found.isEmpty, "\(place) holds \(found): \(line.prefix(600))")
  }

  /// Checks everything that was written: the home, the logs, and the arguments of the fake sf.
  /// - Parameters:
  ///   - given: The test's own files.
  ///   - keepers: The names of files that store secrets; they must have mode 0600.
  func checkFiles(_ what: String, given: [String], keepers: [String]) {
    for name in FileManager.default.enumerator(atPath: place.path)?.compactMap({ $0 as? String }) ?? [] {
      guard !given.contains(name), let bytes = FileManager.default.contents(atPath: place.path + "/" + name) else { continue }
      let text = String(decoding: bytes, as: UTF8.self)
      guard keepers.contains((name as NSString).lastPathComponent) else {
        check(text, "\(what): \(name)")
        continue
      }
      let mode = (try? FileManager.default.attributesOfItem(atPath: place.path + "/" + name))?[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(what): \(name)")
      let assertions = seen.secrets.withLock { $0.filter { text.contains($0) } }
      #expect(assertions.isEmpty, "\(what): \(name) holds what is good once")
    }
    let lines = seen.commandLines.withLock { $0 }
    #expect(lines.isEmpty, "\(what): arguments hold canaries: \(lines)")
  }
}
