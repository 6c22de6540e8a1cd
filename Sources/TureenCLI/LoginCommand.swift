import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Tureen

struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login",
    abstract: "Sign in to an org and keep the session under the home.",
    discussion: """
      Without further options a browser opens: sign in there and allow access. The command waits for it at \
      http://localhost:1717/OauthRedirect, or at --redirect. If the browser is on another machine, forward that port, as with \
      ssh -L 1717:localhost:1717, or paste the address that the browser could not open. For programs without a person, name a \
      key or a secret: the flow follows from the options. Secrets are never arguments; options say where they are.

      The org is kept under the name --org, else under its host. The first org becomes the default. Either everything is \
      stored, or nothing.
      """
        + ExitStatus.help([
          (0, "signed in"),
          (1, "the sign-in failed for a reason that is not listed here"),
          (64, "wrong usage, or there is no terminal to sign in at"),
          (67, "the org or the person refused, or the time ran out"),
          (69, "the port of the redirect is in use"),
          (75, "try again later: the login host is unreachable, limits this machine or the rate, or a store is in use"),
          (78, "a key, a credentials file or the org's own file is wrong; the message names it"),
          (130, "interrupted"),
        ]))

  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory, transform: nonEmpty)
  var home: String?

  @Option(
    help: "The name under which the home keeps the org, or its address.", completion: NameCompletion.knownOrg,
    transform: nonEmpty)
  var org: String?

  @Option(
    help: "Where to sign in, such as the org's My Domain. Default: the org's known address, else login.salesforce.com.")
  var url: String?

  @Option(help: "The user who must sign in. A session of another user is refused and ended.", transform: nonEmpty)
  var user: String?

  @Option(help: "The consumer key of the app.")
  var clientId: String?

  @Option(
    help: "How to sign in: browser, jwt, clientCredentials, password, token, sfdxUrl or sf. Follows from the other options.")
  var flow: String?

  @Flag(name: .customLong("default"), help: "Make the org the default.")
  var makesDefault = false

  @Flag(help: "Accept that the name now belongs to another org: move its old folder aside and start with an empty one.")
  var newOrg = false

  @Flag(
    help: "Print events as lines of JSON on stdout: authorize with the address to open, then login. The error is JSON on stderr.")
  var json = false

  @OptionGroup(title: "In a browser") var browser: BrowserOptions
  @OptionGroup(title: "Without a person") var secrets: LoginSecretOptions

  func run() throws {
    do {
      let login = try Login(settings)
      if login.needsPerson, !json, browser.noBrowser == false, isatty(STDIN_FILENO) == 0 {
        throw ValidationError(
          "there is no terminal to sign in at: give --no-browser or --json, or sign in without a person, with --key-file or "
            + "--secret-file")
      }
      report(try wait(for: login))
    } catch {
      try fail(error)
    }
  }

  private func wait(for login: Login) throws -> LoginAccount {
    let lines = login.needsPerson ? StandardInput.lines() : AsyncStream { $0.finish() }
    // Before the address is shown, because a reader of it may send a signal at once.
    let interruptible = InterruptibleWork(), interrupts = InterruptWatch { interruptible.interrupt() }
    defer { withExtendedLifetime(interrupts) {} }
    let work = Task { try await login.run(lines: lines) { tell($0) } }
    interruptible.begin { work.cancel() }
    return try waitFor { try await work.value }
  }

  private var settings: LoginSettings {
    var settings = LoginSettings()
    (settings.home, settings.org, settings.loginURL, settings.user) = (home, org, url, user)
    (settings.clientId, settings.flow) = (clientId, flow)
    (settings.makesDefault, settings.replacesOrg) = (makesDefault, newOrg)
    browser.fill(&settings)
    secrets.fill(&settings)
    return settings
  }

  // MARK: Output

  private func tell(_ update: LoginEvent) {
    switch update {
    case .authorize(let url, let redirect, let isListening):
      if json { event(["event": "authorize", "url": .string(url), "redirectUri": .string(redirect)]) }
      let way = isListening ? "Sign in with a browser at" : "Sign in with a browser, and paste the address that it ends at. Open"
      write("\(way)\n\n  \(TerminalText.escaped(url))\n\n", to: STDERR_FILENO)
    case .hint(let text), .warning(let text): complain(text)
    case .refusedPaste(let why): complain("this cannot be used: \(why)")
    }
  }

  private func report(_ account: LoginAccount) {
    guard json else {
      let place = "\(account.org) as \(account.username) (\(account.orgId)/\(account.userId))"
      return write("Signed in to \(TerminalText.escaped(place))\n", to: STDOUT_FILENO)
    }
    event([
      "event": "login", "org": .string(account.org), "username": .string(account.username),
      "displayName": account.displayName.map { .string($0) } ?? .null, "userId": .string(account.userId),
      "orgId": .string(account.orgId), "instanceUrl": .string(account.instanceURL), "flow": .string(account.flow.rawValue),
      "isDefault": .bool(account.isDefault),
    ])
  }

  private func event(_ object: JSONObject) {
    write(TerminalText.escapedJSON(JSONValue.object(object).text) + "\n", to: STDOUT_FILENO)
  }

  private func fail(_ error: any Error) throws -> Never {
    if error is LoginUsageError || error is OrgNameError { throw ValidationError("\(error)") }
    if error is ValidationError { throw error }
    let status = ExitStatus.of(error)
    if status != ExitStatus.interrupted { complain(error, asJSON: json) }
    throw ExitCode(status)
  }
}
