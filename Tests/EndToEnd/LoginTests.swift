import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests `tureen login` against a sandbox org: exit statuses, output, files.
@Suite(.timeLimit(.minutes(60))) struct LoginTests {
  private let place: Workplace
  private let heldPort = HeldPort()
  private var port: Int { heldPort.number }

  init() throws { place = try Workplace() }

  private var redirect: String { "http://localhost:\(port)/OauthRedirect" }

  private static let password = "h0pper & <co>"

  /// Starts a sandbox org with an app for browsers, Ann, and Guy, who is a user of the site `/portal`.
  private func sandbox(_ options: [String] = [], clients: String = "") async throws -> Sandbox {
    let file = try place.write(
      """
      {"users": [{"username": "ann@acme.com", "password": "\(Self.password)", "lastName": "Acme"},
        {"username": "guy@acme.com", "password": "\(Self.password)", "lastName": "Guest"}],
       "clients": [{"id": "PlatformCLI", "redirectURIs": ["\(redirect)"], "requiresPKCE": true}\(clients)],
       "sites": [{"path": "/portal", "users": ["guy@acme.com"]}]}
      """, to: "sign-in.json")
    return try await Sandbox(place, options: ["--sign-in", file] + options)
  }

  private func arguments(_ sandbox: Sandbox?, _ more: [String]) -> [String] {
    let url = sandbox.map { ["--url", $0.url] } ?? []
    return ["login", "--home", place.path + "/own", "--org", "prod"] + url + more
  }

  private func browserArguments(_ sandbox: Sandbox?, _ more: [String]) -> [String] {
    arguments(sandbox, ["--client-id", "PlatformCLI", "--redirect", redirect] + more)
  }

  private func login(
    _ arguments: [String], environment: [String: String] = [:], input: String? = nil
  ) async throws -> Child.Ended {
    try await Child(Built.tureen, arguments, environment: environment, in: place.path, input: input).ended()
  }

  /// Returns the URL in the event `authorize`.
  private func address(_ child: Child) async throws -> String {
    #expect(await child.prints("\"event\":\"authorize\""))
    #expect(await child.prints("\n"))
    let line = try #require(child.printed.split(separator: "\n").first)
    return try #require(try JSONValue(parsing: String(line))["url"]?.stringValue)
  }

  private func session(_ user: String = "ann%40acme%2Ecom", org: String = "prod") throws -> JSONValue {
    let path = "\(place.path)/own/orgs/\(org)/\(user)/session.json"
    return try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: path))))
  }

  private func kept(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(place.path)/own/\(name)") }

  /// Signs in Ann with an app for browsers, or Guy at the site.
  private func signIn(
    _ sandbox: Sandbox, home: String = "own", app: String = "PlatformCLI", site: String = ""
  ) async throws -> Child.Ended {
    let user = site.isEmpty ? "ann@acme.com" : "guy@acme.com"
    let environment = sandbox.authority.map { ["TUREEN_CA_FILE": $0] } ?? [:]
    let child = try Child(
      Built.tureen,
      [
        "login", "--json", "--home", "\(place.path)/\(home)", "--org", "prod", "--url", sandbox.url + site, "--client-id", app,
        "--redirect", redirect,
      ], environment: environment, in: place.path)
    let person = Person(place: place, username: user, password: Self.password, authority: sandbox.authority, site: site)
    let page = try await person.follow(person.signIn(at: address(child)))
    #expect(page.contains("Tureen is signed in as \(user) to prod"))
    return await child.ended()
  }

  // MARK: A person

  @Test func login_json_printsEventsAndKeepsTheSession() async throws {
    let sandbox = try await sandbox()
    let ended = try await signIn(sandbox)
    #expect(ended.status == 0, "\(ended.errors)")
    let event = try JSONValue(parsing: String(try #require(ended.output.split(separator: "\n").last)))
    let session = try session()
    #expect(
      event["event"] == "login" && event["org"] == "prod" && event["username"] == "ann@acme.com" && event["isDefault"] == true)
    #expect(event["userId"] == session["userId"] && event["orgId"] == session["orgId"] && event["flow"] == "browser")
    let token = try #require(session["refreshToken"]?.stringValue)
    #expect(!ended.output.contains(token) && !ended.errors.contains(token) && !ended.errors.contains("code="))
    // Other commands use the org, which is the default now.
    let call = try await place.run(
      Built.tureen,
      [
        "exec", "--home", place.path + "/own", "network", "sendRequest",
        #"{"endPoint":"/services/data","path":"/v66.0/limits","method":"GET"}"#,
      ])
    #expect(call.status == 0 && call.output.contains("DailyApiRequests"), "\(call)")
  }

  private func exec(_ home: String, _ arguments: [String]) async throws -> Child.Ended {
    try await place.run(Built.tureen, ["exec", "--json", "--home", "\(place.path)/\(home)", "--org", "prod"] + arguments)
  }

  private static let limits = ["network", "sendRequest", #"{"endPoint":"/services/data","path":"/v66.0/limits","method":"GET"}"#]

  @Test func login_appWithoutRefreshScope_warnsAndNeedsAPersonLater() async throws {
    let sandbox = try await sandbox(clients: #", {"id": "short", "redirectURIs": ["\#(redirect)"], "scopes": ["api", "id"]}"#)
    let ended = try await signIn(sandbox, app: "short")
    #expect(ended.status == 0 && ended.errors.contains("the org gave no refresh token"), "\(ended)")
    #expect(try await exec("own", Self.limits).status == 0)
    try await sandbox.control("expireSessions", in: place)
    let later = try await exec("own", Self.limits)
    #expect(
      later.status != 0 && later.errors.contains(#""reason":"needsPerson""#) && later.errors.contains("tureen login"), "\(later)")
  }

  @Test func login_errorPagePasted_is67() async throws {
    let child = try Child(
      Built.tureen, browserArguments(nil, ["--url", "https://acme.my.salesforce.com", "--no-browser"]), in: place.path,
      terminal: Terminal(columns: 2000))
    #expect(await child.prints("prompt=login\r\n"))
    child.type(
      "https://acme.my.salesforce.com/setup/secur/RemoteAccessErrorPage.apexp?error=invalid_client&error_description="
        + "app+must+be+installed+into+org\n")
    let ended = await child.ended()
    #expect(ended.status == 67 && ended.output.contains("an administrator of the org can install the app"), "\(ended.output)")
    #expect(!kept("orgs"))
  }

  @Test func login_appBlocked_is67() async throws {
    let child = try Child(
      Built.tureen, browserArguments(nil, ["--json", "--url", "https://acme.my.salesforce.com"]), in: place.path)
    let state = try #require(try await address(child).firstMatch(of: #/[?&]state=([^&]+)/#)).output.1
    let person = Person(place: place, username: "", password: "")
    let page = try await person.follow("\(redirect)?error=OAUTH_APP_BLOCKED&error_description=this+app+is+blocked&state=\(state)")
    let ended = await child.ended()
    #expect(
      page.contains("this app is blocked") && ended.status == 67 && ended.errors.contains(#""reason":"appRefused""#), "\(ended)")
    #expect(!kept("orgs"))
  }

  /// An app has five refresh tokens per user: the sixth home ends the session of the first. Signing in again in the same home
  /// does not end another home's session.
  @Test func login_inSixHomes_endsTheSessionOfTheFirst() async throws {
    let sandbox = try await sandbox()
    for number in [1, 2, 2, 2, 2, 2] { #expect(try await signIn(sandbox, home: "home\(number)").status == 0) }
    #expect(try await exec("home1", ["oauth", "authenticate"]).status == 0)
    for number in 3...6 { #expect(try await signIn(sandbox, home: "home\(number)").status == 0) }
    for number in 2...6 { #expect(try await exec("home\(number)", ["oauth", "authenticate"]).status == 0) }
    let first = try await exec("home1", ["oauth", "authenticate"])
    #expect(first.status == 67 && first.errors.contains(#""reason":"sessionEnded""#), "\(first)")
  }

  /// Users of a site authorize, get tokens and read data at its URL.
  @Test func login_ofASiteUser_staysUnderTheSite() async throws {
    let log = place.path + "/requests"
    let sandbox = try await sandbox(["--log", log])
    let ended = try await signIn(sandbox, site: "/portal")
    #expect(ended.status == 0, "\(ended)")
    let session = try session("guy%40acme%2Ecom")
    #expect(session["loginURL"]?.stringValue == sandbox.url + "/portal" && session["username"] == "guy@acme.com")
    #expect(session["communityURL"]?.stringValue == sandbox.url + "/portal")
    #expect(session["communityId"]?.stringValue?.hasPrefix("0DB") == true)
    try await sandbox.control("expireSessions", in: place)
    #expect(try await exec("own", Self.limits).status == 0)
    let credentials = try JSONValue(parsing: try await exec("own", ["oauth", "getAuthCredentials"]).output)
    #expect(credentials["communityUrl"]?.stringValue == sandbox.url + "/portal")
    #expect(credentials["communityId"] == session["communityId"] && credentials["instanceUrl"]?.stringValue == sandbox.url)
    let paths = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap {
      try JSONValue(parsing: String($0))["path"]?.stringValue
    }
    let outside = paths.filter { !$0.hasPrefix("/portal/services/") && !$0.hasPrefix("/id/") }
    #expect(outside.isEmpty, "\(paths)")
    #expect(paths.contains("/portal/services/oauth2/authorize") && paths.contains("/portal/services/oauth2/token"))
    #expect(paths.last == "/portal/services/data/v66.0/limits", "the refused request was sent again: \(paths)")
  }

  @Test func login_withoutATerminal_is64AtOnce() async throws {
    let ended = try await login(["login", "--home", place.home, "--client-id", "app", "--url", "https://acme.my.salesforce.com"])
    #expect(ended.status == 64 && ended.output == "")
    #expect(ended.errors.contains("there is no terminal to sign in at: give --no-browser or --json"))
    #expect(!ended.errors.contains("authorize"))
  }

  @Test(arguments: [
    (["--client-id", "a", "--flow", "device"], "'device' is not a flow"),
    (["--json"], "the app's client id is missing"),
    (["--json", "--client-id", "a", "--redirect", "http://localhost:1717/done"], "a page of tureen's own"),
    (["--json", "--client-id", "a", "--prompt", "never"], "'never' is not one of none, login, consent, select_account"),
    (["--json", "--client-id", "a", "--timeout", "0"], "--timeout must be at least 1"),
    (["--json", "--client-id", "a", "--audience", "x"], "--audience does not belong to the flow 'browser'"),
    (["--json", "--client-id", "a", "--org", "sandbox"], "'sandbox'"), (["--json", "--client-id", "a", "--org", "a/b"], "'a/b'"),
    (["--json", "--client-id", "a", "--url", "https://acme.lightning.force.com"], "take https://acme.my.salesforce.com"),
    (["--client-id", "a", "--key-file", "k"], "the flow 'jwt' needs --user"),
    (["--client-id", "a", "--key-file", "k", "--key-variable", "K", "--user", "u"], "give one of --key-file"),
    (["--flow", "clientCredentials", "--client-id", "a"], "needs a client secret: --secret-file"),
    (["--token-variable", "T"], "the flow 'token' needs --instance"),
    (["--sf", "a", "--client-id", "x"], "--client-id does not belong to the flow 'sf'"),
  ])
  func login_wrongOptions_is64AndSaysWhich(options: [String], named: String) async throws {
    let ended = try await login(["login", "--home", place.home] + options)
    #expect(ended.status == 64 && ended.output == "", "\(ended)")
    #expect(ended.errors.contains(named), "got: \(ended.errors)")
    #expect(!FileManager.default.fileExists(atPath: place.home + "/orgs"))
  }

  @Test func login_portInUse_is69BeforeAnAddressIsShown() async throws {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var on: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    #expect(Loopback.bind(socket, to: port) == port && listen(socket, 1) == 0)
    let ended = try await login(browserArguments(nil, ["--json", "--url", "https://acme.my.salesforce.com"]))
    #expect(ended.status == 69 && ended.output == "" && !ended.errors.contains("authorize"), "\(ended)")
    #expect(ended.errors.contains("port \(port) of 127.0.0.1"))
  }

  @Test func login_timeLimitThenCtrlC_are67And130AndFreeThePort() async throws {
    let options = browserArguments(nil, ["--json", "--url", "https://acme.my.salesforce.com"])
    let late = try await login(options + ["--timeout", "1"])
    #expect(late.status == 67 && late.errors.contains("was not completed within 1 s"), "\(late)")
    for _ in 0..<2 {
      let child = try Child(Built.tureen, options, in: place.path)
      _ = try await address(child)
      child.send(SIGINT)
      #expect(await child.ended().status == 130)
    }
    #expect(!kept("orgs"))
  }

  /// A script that waits for a person ends with the first Ctrl-C.
  @Test func login_ofAScriptThatWaits_endsWithCtrlCAndFreesThePort() async throws {
    let script = try place.write(
      """
      local tureen = require "tureen"
      local accounts, await = tureen.accounts, tureen.await
      tureen.main(function()
        local login = assert(await(accounts.startLogin, {
          org = "prod", loginUrl = "https://acme.my.salesforce.com", clientId = "app", listen = true, redirectUri = "\(redirect)",
        }))
        print("open " .. login.url)
        local account, err = await(accounts.finishLogin, login.id)
        print(err.code)
      end)
      """, to: "login.lua")
    for _ in 0..<2 {
      let child = try Child(Built.tureen, ["run", "--home", place.path + "/own", script], in: place.path)
      #expect(await child.prints("open https://acme.my.salesforce.com/services/oauth2/authorize?"))
      child.send(SIGINT)
      let ended = await child.ended()
      #expect(ended.status == 130 && ended.output.hasSuffix("\ncancelled\n"), "\(ended)")
    }
    #expect(!kept("orgs"))
  }

  @Test func login_onATerminal_takesThePastedAddressAndRefusesTheRest() async throws {
    let sandbox = try await sandbox()
    let child = try Child(
      Built.tureen, browserArguments(sandbox, ["--no-browser"]), in: place.path, terminal: Terminal(columns: 2000))
    #expect(await child.prints("Sign in with a browser at"))
    #expect(await child.prints("prompt=login\r\n"))
    let address = try #require(child.printed.split(whereSeparator: \.isWhitespace).first { $0.contains("/oauth2/authorize?") })
    let person = Person(place: place, username: "ann@acme.com", password: Self.password)
    let answer = try await person.signIn(at: String(address))
    child.type("aPrxACodeAlone\n")
    #expect(await child.prints("a code alone does not say which sign-in it belongs to"))
    child.type("\(redirect)?code=aPrx&state=foreign\n")
    #expect(await child.prints("its state does not belong to this sign-in"))
    child.type(answer + "\n")
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.output.contains("Signed in to prod as ann@acme.com (00D"), "\(ended.output)")
    #expect(try session()["username"] == "ann@acme.com")
  }

  /// The browser in the environment gets the URL as its last argument, without a shell.
  @Test func login_onATerminal_opensTheBrowserOfTheEnvironment() async throws {
    let sandbox = try await sandbox()
    let pipe = place.path + "/opened"
    let program = try place.write("#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >'\(pipe)'\n", to: "browser")
    #expect(chmod(program, 0o700) == 0 && mkfifo(pipe, 0o600) == 0)
    let child = try Child(
      Built.tureen, browserArguments(sandbox, ["--timeout", "600"]),
      environment: ["DISPLAY": ":0", "BROWSER": "/nowhere:\(program) --new %s"], in: place.path, terminal: Terminal(columns: 2000)
    )
    // Wait for the prompt first: without a browser that writes to the pipe, reading it would block.
    try #require(await child.prints("Sign in with a browser at"))
    let person = Person(place: place, username: "ann@acme.com", password: Self.password)
    let words = try await place.run("/bin/cat", [pipe]).output.split(separator: "|").map(String.init)
    try #require(words.prefix(2) == ["2", "--new"] && words.count == 3)
    _ = try await person.follow(person.signIn(at: words[2]))
    #expect(await child.ended().status == 0)
  }

  // MARK: Without a person

  @Test func login_clientCredentials_keepsWhereTheSecretIs() async throws {
    let sandbox = try await sandbox(clients: #", {"id": "robot", "secret": "s3cret-canary", "runsAs": "ann@acme.com"}"#)
    let ended = try await login(
      arguments(sandbox, ["--client-id", "robot", "--secret-variable", "ROBOT_SECRET"]),
      environment: ["ROBOT_SECRET": "s3cret-canary"])
    #expect(ended.status == 0 && ended.output.hasPrefix("Signed in to prod as ann@acme.com (00D"), "\(ended)")
    let session = try session("robot"), folder = "\(place.path)/own/orgs/prod/robot"
    #expect(session["flow"] == "clientCredentials" && session["username"] == "ann@acme.com")
    let credentials = try String(contentsOfFile: folder + "/credentials.json", encoding: .utf8)
    #expect(credentials.contains(#""clientSecretVariable":"ROBOT_SECRET""#) && !credentials.contains("canary"))
    // The app is named as the list of orgs shows it, and by its client id.
    let orgs = try await login(["orgs", "--home", place.path + "/own"])
    let shown = try #require(["ann@acme.com", "robot"].first { orgs.output.contains($0) }, "\(orgs)")
    for name in Set([shown, "robot"]) {
      let ended = try await login(
        ["whoami", "--home", place.path + "/own", "--user", name], environment: ["ROBOT_SECRET": "s3cret-canary"])
      #expect(ended.status == 0 && ended.output.contains("ann@acme.com"), "\(name): \(ended)")
    }
    let refused = try await login(
      arguments(sandbox, ["--client-id", "robot", "--secret-variable", "ROBOT_SECRET"]),
      environment: ["ROBOT_SECRET": "wrong-canary"])
    #expect(refused.status == 67 && refused.errors.contains("check the client id and the client secret"), "\(refused)")
    #expect(!refused.errors.contains("canary"))
    let unset = try await login(arguments(sandbox, ["--client-id", "robot", "--secret-variable", "ROBOT_SECRET"]))
    #expect(unset.status == 78 && unset.errors.contains("ROBOT_SECRET: it is not set"), "\(unset)")
  }

  @Test func login_passwordAndToken_areKept() async throws {
    let sandbox = try await sandbox()
    let secrets = ["S": sandbox.clientSecret, "P": sandbox.password]
    let ended = try await login(
      arguments(
        sandbox,
        ["--client-id", sandbox.clientId, "--user", sandbox.username, "--secret-variable", "S", "--password-variable", "P"]),
      environment: secrets)
    #expect(ended.status == 0 && ended.errors.contains("Salesforce ends that flow"), "\(ended)")
    let user = sandbox.username.replacingOccurrences(of: "@", with: "%40").replacingOccurrences(of: ".", with: "%2E")
    let token = try #require(try session(user)["accessToken"]?.stringValue)
    let input = try place.write(token + "\n", to: "token")
    let given = try await login(
      ["login", "--home", place.path + "/own", "--org", "given", "--instance", sandbox.url, "--default"], input: input)
    #expect(given.status == 64 && given.errors.contains("already known as 'prod'"), "one org and user have one name: \(given)")
    let other = ["login", "--home", place.path + "/other", "--instance", sandbox.url]
    let second = try await login(other, input: input)
    #expect(second.status == 0 && second.output.contains("as \(sandbox.username) (00D"), "\(second)")
    let wrong = try await login(other, input: try place.write("00Dx!canary\n", to: "wrong"))
    #expect(wrong.status == 67 && !wrong.errors.contains("canary"), "\(wrong)")
  }

  @Test func login_thatWouldReplaceAJobsSignIn_needsTheNameOfTheOrg() async throws {
    let sandbox = try await sandbox()
    let first = try await login(
      arguments(
        sandbox,
        ["--client-id", sandbox.clientId, "--user", sandbox.username, "--secret-variable", "S", "--password-variable", "P"]),
      environment: ["S": sandbox.clientSecret, "P": sandbox.password])
    #expect(first.status == 0, "\(first)")
    let user = sandbox.username.replacingOccurrences(of: "@", with: "%40").replacingOccurrences(of: ".", with: "%2E")
    let file = "\(place.path)/own/orgs/prod/\(user)/credentials.json"
    let before = try String(contentsOfFile: file, encoding: .utf8)
    let input = try place.write(try #require(try session(user)["accessToken"]?.stringValue) + "\n", to: "token")
    let other = ["login", "--home", place.path + "/own", "--instance", sandbox.url]
    let refused = try await login(other, input: input)
    #expect(refused.status == 64 && refused.errors.contains("signs in with password, which this sign-in would replace"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
    let named = try await login(other + ["--org", "prod"], input: input)
    #expect(named.status == 0 && named.errors.contains("signs in with password no longer: token replaces that"), "\(named)")
  }

  /// The sf CLI knows the same org and user: who signs in with it to look around must not end the job.
  @Test func login_sf_doesNotReplaceAJobsSignIn() async throws {
    let sandbox = try await sandbox(), secrets = ["S": sandbox.clientSecret, "P": Self.password]
    let first = try await login(
      arguments(
        sandbox,
        ["--client-id", sandbox.clientId, "--user", "ann@acme.com", "--secret-variable", "S", "--password-variable", "P"]),
      environment: secrets)
    #expect(first.status == 0, "\(first)")
    let file = "\(place.path)/own/orgs/prod/ann%40acme%2Ecom/credentials.json"
    let before = try String(contentsOfFile: file, encoding: .utf8)
    try FileManager.default.createDirectory(atPath: place.path + "/pretend", withIntermediateDirectories: true)
    try place.write(sandbox.url, to: "pretend/instance")
    try place.write((try session("ann%40acme%2Ecom")["accessToken"]?.stringValue ?? "") + "\n", to: "pretend/tokens")
    func signIn(_ more: String...) async throws -> Child.Ended {
      let words = [Built.tureen, "login", "--home", place.path + "/own", "--sf", "prod-alias"] + more
      return try await Child(
        "/bin/sh", ["-c", #"PATH="$0:$PATH"; exec "$@""#, Built.package.path + "/Tests/EndToEnd/Programs"] + words,
        environment: ["PRETEND_SF": place.path + "/pretend"], in: place.path
      ).ended()
    }
    let refused = try await signIn()
    #expect(
      refused.status == 64 && refused.errors.contains("signs in with password, which this sign-in would replace"), "\(refused)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
    let named = try await signIn("--org", "prod")
    #expect(named.status == 0 && named.errors.contains("signs in with password no longer: sf replaces that"), "\(named)")
  }

  @Test func login_sfdxURL_fromFileJSONAndStandardInput() async throws {
    let sandbox = try await sandbox(["--tls"])
    let authority = try #require(sandbox.authority), environment = ["TUREEN_CA_FILE": authority]
    #expect(try await signIn(sandbox).status == 0)
    let token = try #require(try session()["refreshToken"]?.stringValue)
    let host = try #require(sandbox.url.split(separator: "/").last)
    let url = "force://PlatformCLI::\(token)@\(host)"
    func file(_ text: String, _ name: String) throws -> String {
      let path = try place.write(text, to: name)
      #expect(chmod(path, 0o600) == 0)
      return path
    }
    func login(_ name: String, _ file: String, input: String? = nil) async throws -> Child.Ended {
      try await self.login(
        ["login", "--home", "\(place.path)/\(name)", "--sfdx-url-file", file], environment: environment, input: input)
    }
    let bare = try await login("one", try file(url + "\n", "bare"))
    #expect(bare.status == 0 && bare.output.contains("as ann@acme.com (00D"), "\(bare)")
    #expect(bare.errors.contains("shares its refresh token with the sf CLI") && !bare.errors.contains(token))
    #expect(try await login("two", try file(#"{"status":0,"result":{"sfdxAuthUrl":"\#(url)"}}"#, "u.json")).status == 0)
    #expect(try await login("three", "-", input: try file(url, "input")).status == 0)
    // The file is no longer needed, because the stored session renews itself.
    try FileManager.default.removeItem(atPath: place.path + "/bare")
    let call = try await place.run(
      Built.tureen, ["exec", "--home", place.path + "/one", "oauth", "authenticate"], environment: environment)
    #expect(call.status == 0, "\(call)")

    for (text, named) in [
      ("force://canary", "not an SFDX auth URL"), ("force://:\(token)@\(host)", "no client id; `sf org auth show-sfdx-auth-url`"),
      (#"{"result":{"sfdxAuthUrl":"[REDACTED] canary"}}"#, "is redacted; `sf org auth show-sfdx-auth-url`"),
      ("{}", "it has no 'sfdxAuthUrl'"),
    ] {
      let path = try file(text, "wrong")
      for wrong in [try await login("four", path), try await login("four", "-", input: path)] {
        #expect(wrong.status == 78 && wrong.errors.contains(named), "\(wrong)")
        #expect(!wrong.errors.contains("canary") && !wrong.errors.contains(token))
      }
    }
    #expect(!FileManager.default.fileExists(atPath: place.path + "/four/orgs"))
  }
}
