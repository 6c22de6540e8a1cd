import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the sources of credentials of the built command, and their order.
@Suite(.timeLimit(.minutes(60))) struct SignInSourceTests {
  private let place: Workplace
  private let org: ScriptedServer

  init() throws {
    place = try Workplace()
    org = try ScriptedServer(handler: { request in
      if let token = PagedOrg.token(request) { return token }
      return request.header("Authorization") == nil ? .status(500) : .json("{}")
    })
    try place.write("token-file\n", to: "token", mode: 0o600)
  }

  /// The tokens of the requests for data.
  private var tokens: [String] {
    org.requests.filter { $0.path.hasSuffix("/limits") }.map { String(($0.header("Authorization") ?? "").dropFirst(7)) }
  }

  /// Sends one request to the org.
  private func ask(_ environment: [String: String], org: String? = nil, path: String? = nil) async throws -> Child.Ended {
    let words =
      ["exec", "--home", place.home] + (org.map { ["--org", $0] } ?? [])
      + ["network", "sendRequest", #"{"path":"/services/data/v66.0/limits"}"#]
    guard let path else { return try await place.run(Built.tureen, words, environment: environment) }
    return try await place.run(
      "/bin/bash", ["-c", #"export PATH="$0"; exec "$@""#, path, Built.tureen] + words, environment: environment)
  }

  private var given: [String: String] { ["TUREEN_ACCESS_TOKEN": "token-given", "TUREEN_INSTANCE_URL": org.url] }
  private var ofSF: [String: String] { ["SF_ACCESS_TOKEN": "token-sf", "SF_ORG_INSTANCE_URL": org.url] }

  // MARK: Given tokens

  @Test func givenToken_ofTheEnvironment_choosesItsOrgAndIsNotKept() async throws {
    let ended = try await ask(given)
    #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    #expect(tokens == ["token-given"])
    let files = FileManager.default.enumerator(atPath: place.home)?.compactMap { $0 as? String } ?? []
    #expect(!files.contains { $0.hasSuffix("session.json") })
  }

  @Test func givenToken_fromVariableFileAndCommand_isUsed() async throws {
    for (key, value, token) in [
      ("accessTokenVariable", #""MY_TOKEN""#, "token-mine"), ("accessTokenFile", #""token""#, "token-file"),
      ("accessTokenCommand", #"["cat", "\#(place.path)/token"]"#, "token-file"), ("accessToken", #""token-text""#, "token-text"),
    ] {
      try place.write(#"{"instanceUrl": "\#(org.url)", "\#(key)": \#(value)}"#, to: "c.json", mode: 0o600)
      let ended = try await ask(
        ["TUREEN_CREDENTIALS": place.path + "/c.json", "MY_TOKEN": "token-mine"], org: org.url)
      #expect(ended.status == 0, "\(ended)")
      #expect(tokens.last == token)
    }
  }

  // MARK: The order

  @Test func sfVariables_areReadLastAndForTheirHostAlone() async throws {
    // Without an org, with its address, and with the old names of the variables.
    for (environment, chosen) in [
      (ofSF, nil), (ofSF, org.url), (["SFDX_ACCESS_TOKEN": "token-sf", "SFDX_INSTANCE_URL": org.url], nil),
    ] as [([String: String], String?)] {
      let ended = try await ask(environment, org: chosen)
      #expect(ended.status == 0 && tokens.last == "token-sf", "\(ended)")
    }
    let asked = tokens.count
    // The token is not used for another host, for the sandbox, or for a named org.
    let other = try await ask(ofSF, org: "https://acme.my.salesforce.com")
    #expect(other.status != 0 && other.errors.contains("there are no credentials for https://acme.my.salesforce.com"), "\(other)")
    let named = try await ask(ofSF, org: "prod")
    #expect(named.status != 0 && named.errors.contains("'prod'"), "\(named)")
    #expect(try await ask(ofSF, org: "sandbox").status == 0)
    #expect(tokens.count == asked)
  }

  @Test func sources_eachGoesBeforeTheNext() async throws {
    let host = String(org.url.dropFirst("http://".count))
    let folder = "home/orgs/" + host.replacingOccurrences(of: ".", with: "%2E").replacingOccurrences(of: ":", with: "%3A")
    try FileManager.default.createDirectory(
      atPath: place.path + "/" + folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try place.write(
      #"{"instanceUrl": "\#(org.url)", "accessToken": "token-kept"}"#, to: folder + "/credentials.json", mode: 0o600)
    try place.write(#"{"instanceUrl": "\#(org.url)", "accessToken": "token-named"}"#, to: "c.json", mode: 0o600)
    let credentials = ["TUREEN_CREDENTIALS": place.path + "/c.json"]
    func merged(_ all: [String: String]...) -> [String: String] { all.reduce(into: [:]) { $0.merge($1) { $1 } } }
    for (environment, token) in [
      (merged(ofSF, given, credentials), "token-named"), (merged(ofSF, given), "token-given"), (ofSF, "token-kept"),
    ] {
      let ended = try await ask(environment, org: org.url)
      #expect(ended.status == 0 && tokens.last == token, "\(ended)")
    }
  }

  @Test func sources_thatContradictEachOther_are78() async throws {
    let ended = try await ask(
      given.merging(["TUREEN_SFDX_AUTH_URL": "force://PlatformCLI::canary@acme.my.salesforce.com"]) { a, _ in a }, org: org.url)
    #expect(
      ended.status == 78 && ended.errors.contains("the environment: 'sfdxAuthUrl' cannot be combined with 'accessToken'"),
      "\(ended)")
    #expect(!ended.errors.contains("canary") && tokens == [])
  }

  // MARK: JWT and SFDX URLs

  @Test func jwt_keyFromAVariable_signsIn() async throws {
    let key = try await place.run("/usr/bin/openssl", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]).output
    let environment = [
      "TUREEN_CLIENT_ID": "3MV", "TUREEN_USERNAME": "bot@acme.com", "TUREEN_PRIVATE_KEY": key, "TUREEN_LOGIN_URL": org.url,
    ]
    let ended = try await ask(environment)
    #expect(ended.status == 0, "\(ended)")
    #expect(tokens == ["00D!token"])
    let asked = try #require(org.requests.first { $0.path == "/services/oauth2/token" })
    #expect(asked.text.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="))
  }

  @Test(arguments: [
    ("force://:canary@acme.my.salesforce.com", "no client id"), ("canary", "not an SFDX auth URL"),
    (#"{"status":0,"result":{"username":"ann","sfdxAuthUrl":"[REDACTED] canary"},"warnings":[]}"#, "is redacted"),
    ("{canary", "not valid JSON"), (#"{"result":{"accessToken":"canary"}}"#, "no 'sfdxAuthUrl'"),
  ])
  func sfdxURL_malformedFile_is78AndNamesTheCommand(text: String, part: String) async throws {
    try place.write(text, to: "url.json", mode: 0o600)
    let ended = try await ask(["TUREEN_SFDX_AUTH_URL_FILE": place.path + "/url.json"])
    #expect(ended.status == 78 && ended.errors.contains(part), "\(ended)")
    #expect(ended.errors.contains("`sf org auth show-sfdx-auth-url`") && !ended.errors.contains("canary"))
  }

  // MARK: The sf CLI

  private func pretendSF(form: String) throws -> (path: String, environment: [String: String]) {
    let folder = place.path + "/sf"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try? FileManager.default.removeItem(atPath: folder + "/calls")
    for (name, text) in [("form", form), ("instance", org.url), ("tokens", "token-\(form)\n")] {
      try place.write(text, to: "sf/" + name)
    }
    return (Built.package.path + "/Tests/EndToEnd/Programs:/usr/bin:/bin", ["PRETEND_SF": folder])
  }

  @Test(arguments: ["new", "old"]) func sf_alias_isAskedOfTheCLI(form: String) async throws {
    let cli = try pretendSF(form: form)
    let ended = try await ask(cli.environment, org: "sf:prod", path: cli.path)
    #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    let byVariable = try await ask(cli.environment.merging(["TUREEN_SF_ORG": "prod"]) { a, _ in a }, path: cli.path)
    #expect(byVariable.status == 0, "\(byVariable)")
    #expect(tokens == ["token-\(form)", "token-\(form)"])
  }

  @Test func sf_none_isNoSuchOrg() async throws {
    let ended = try await ask([:], org: "sf:prod", path: "/usr/bin:/bin")
    #expect(ended.status != 0 && ended.errors.contains("is not in PATH") && ended.errors.contains("host/noSuchOrg"), "\(ended)")
  }

  // MARK: Warnings

  @Test func password_warnsOncePerProcessOfItsEnd() async throws {
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        for _ = 1, 3 do assert(tureen.await(tureen.network.sendRequest, { path = "/services/data/v66.0/limits" })) end
      end)
      """, to: "s.lua")
    let environment = [
      "TUREEN_ORG": org.url, "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "ann@acme.com",
      "TUREEN_PASSWORD": "canary", "TUREEN_LOG": "warning",
    ]
    let ended = try await place.runScript(script, environment: environment)
    #expect(ended.status == 0, "\(ended)")
    #expect(ended.errors.components(separatedBy: "2027-02-20").count == 2 && !ended.errors.contains("canary"), "\(ended.errors)")
    #expect(tokens.count == 3)
  }
}

extension Workplace {
  /// Writes a file with exactly this mode, independent of the process's umask.
  func write(_ text: String, to name: String, mode: mode_t) throws {
    try write(text, to: name)
    #expect(chmod(path + "/" + name, mode) == 0)
  }
}
