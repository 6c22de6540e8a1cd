import ArgumentParser
import Glibc
import JSON
import Tureen

struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "End a session, here and at the org.",
    usage: "tureen logout [<options>]",
    discussion: """
      Removes the session from the home, then asks the org to revoke its token. If the org does not answer within ten seconds, \
      the session still ends here, and the message says that the token stays valid. Stores stay, and the org then has no \
      current user: the next command names one with --user, or a person signs in.
      """
        + ExitStatus.help([
          (0, "done"),
          (64, "wrong usage, or --delete-stores without a terminal and without --yes"),
          (67, "no such org or user, or no session to end"),
          (75, "a store to be deleted is in use, or another process renews the session"),
        ]))

  @OptionGroup var place: AccountOptions

  @Option(
    help: "The org: a name or an address. Without it the default.", completion: NameCompletion.knownOrg, transform: nonEmpty)
  var org: String?

  @Option(help: "The user. Without it the one who signed in last.", completion: NameCompletion.user, transform: nonEmpty)
  var user: String?

  @Flag(help: "End the sessions of all users: of the org if one is named, else of every org.")
  var all = false

  @Flag(help: "Also remove how the user signs in (credentials.json in the user's folder).")
  var forget = false

  @Flag(help: "Also delete the user's stores. Edits that were not sent are lost. Asks first, on a terminal.")
  var deleteStores = false

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @Flag(help: "Print one JSON object a line for each user. The error is JSON on stderr.")
  var json = false

  func validate() throws {
    guard !all || user == nil else { throw ValidationError("give --user or --all, not both") }
  }

  func run() throws {
    let status = try place.run(org: org, asJSON: json) { home -> Int32 in
      var logout = HomeAccounts.Logout()
      (logout.user, logout.all, logout.forget, logout.deletesStores) = (user, all, forget, deleteStores)
      let targets = try home.targets(of: logout), stores = targets.map(\.stores).reduce(StoreNumbers(), +)
      if deleteStores, stores.total > 0 {
        try Question.confirm("Delete \(stores.text)? Edits that were not sent are lost.", isConfirmed: yes)
      }
      let ended = try waitFor { [logout] in try await home.end(targets, logout) }
      for one in ended { tell(one) }
      guard !ended.contains(where: { $0.hadSession || $0.deletedStores > 0 }), !forget else { return 0 }
      complain("no session was kept; `tureen orgs` shows what is known")
      return ExitStatus.signInNeeded
    }
    guard status == 0 else { throw ExitCode(status) }
  }

  private func tell(_ ended: HomeAccounts.Ended) {
    if json {
      write(TerminalText.escapedJSON(ended.json.text) + "\n", to: STDOUT_FILENO)
    } else {
      if ended.hadSession {
        write(TerminalText.escaped("Signed out of \(ended.org) as \(ended.username)") + "\n", to: STDOUT_FILENO)
      }
      Self.warn(ended)
    }
  }

  static func warn(_ ended: HomeAccounts.Ended) {
    if let problem = ended.notRevoked { complain("\(ended.org), \(ended.username): \(problem)") }
  }
}

/// Asks before data is deleted.
enum Question {
  /// - Throws: `ExitCode` `usage` if the answer is no, or if there is neither a terminal nor `--yes`.
  static func confirm(_ question: String, isConfirmed: Bool) throws {
    if isConfirmed { return }
    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
      complain("standard input is not a terminal, so the question cannot be asked; give --yes to do it: \(question)")
      throw ExitCode(ExitStatus.usage)
    }
    write(TerminalText.escaped("\(question) [y/N] "), to: STDERR_FILENO)
    let answer = readLine()?.lowercased() ?? ""
    guard answer == "y" || answer == "yes" else {
      complain("nothing was changed")
      throw ExitCode(ExitStatus.usage)
    }
  }
}
