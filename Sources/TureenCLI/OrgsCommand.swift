import ArgumentParser
import Glibc
import JSON
import Tureen

struct OrgsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "orgs",
    abstract: "List the orgs you have signed in to, or change their names.",
    discussion: """
      Prints a line for each user of each org: name, user, org id, instance, flow, and the state of the sign-in. '*' marks the \
      default, which commands use if they name no org. Without --check no request is sent.
      """
        + ExitStatus.help([
          (0, "done"),
          (67, "with --check: a session has ended or was refused, and a person has to sign in"),
          (75, "with --check: an org is unreachable"),
          (78, "an org.json or credentials file is wrong; the message names it"),
        ]),
    subcommands: [DefaultOrgCommand.self, NameOrgCommand.self, RemoveOrgCommand.self])

  @OptionGroup var place: AccountOptions

  @Flag(help: "Ask each org whether its session is valid, and sign in where that needs no person.")
  var check = false

  @Flag(help: "Print one JSON object a line. The error is JSON on stderr.")
  var json = false

  func run() throws {
    let status = try place.run(asJSON: json) { home in
      var accounts = try waitFor { try await home.accounts() }, status: Int32 = 0
      if check {
        let checked = try waitFor { [accounts] in await home.check(accounts) }
        accounts = checked.map(\.account)
        status = ExitStatus.of(checked)
        for one in checked { if let problem = one.problem { complain("\(one.account.org.name): \(ErrorText.of(problem))") } }
      }
      if json {
        for account in accounts { write(TerminalText.escapedJSON(account.json.text) + "\n", to: STDOUT_FILENO) }
      } else if accounts.isEmpty {
        complain("no org is known in this home; `tureen login` signs in to one")
      } else {
        write(OrgAccount.table(accounts), to: STDOUT_FILENO)
      }
      return status
    }
    guard status == 0 else { throw ExitCode(status) }
  }
}

struct DefaultOrgCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "default", abstract: "Choose the default org, which commands use if they name none.",
    discussion: "The name sandbox selects the sandbox org again.")

  @OptionGroup var place: AccountOptions

  @Argument(help: "The name of an org, or its address.", completion: NameCompletion.org)
  var name: String

  func run() throws {
    try place.run { home in
      write("'\(try home.directory.setDefault(name))' is the default now\n", to: STDOUT_FILENO)
    }
  }
}

struct NameOrgCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "name", abstract: "Give an org another name.",
    discussion: """
      Names have 1 to 64 letters, digits, '.', '_' and '-', the first one a letter or a digit. The org's folder under the home \
      keeps its name, and stores stay where they are.
      """)

  @OptionGroup var place: AccountOptions

  @Argument(help: "The new name.")
  var new: String

  @Argument(help: "The current name of the org, or its address.", completion: NameCompletion.knownOrg)
  var old: String

  func run() throws {
    try place.run { home in
      try home.directory.rename(old, to: new)
      write("'\(TerminalText.escaped(old))' is '\(new)' now\n", to: STDOUT_FILENO)
    }
  }
}

struct RemoveOrgCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an org with its sessions, credentials and stores.",
    discussion: """
      Edits in its stores that were not sent are lost. Asks first, on a terminal. The sessions' tokens are revoked.
      """
        + ExitStatus.help([
          (0, "done"), (64, "standard input is not a terminal, and there is no --yes"), (67, "no such org"),
          (75, "a store of the org is in use"),
        ]))

  @OptionGroup var place: AccountOptions

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @Argument(help: "The name of the org, or its address.", completion: NameCompletion.knownOrg)
  var name: String

  func run() throws {
    try place.run { home in
      let entry = try home.directory.known(name)
      let stores = try home.storeNumbers(of: entry)
      try Question.confirm(
        "Remove '\(entry.name)' with its sessions, credentials and \(stores.text)?", isConfirmed: yes)
      for ended in try waitFor({ try await home.remove(entry.name) }) { LogoutCommand.warn(ended) }
      write("'\(entry.name)' is removed\n", to: STDOUT_FILENO)
    }
  }
}
