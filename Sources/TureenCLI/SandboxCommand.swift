import ArgumentParser
import Dispatch
import Glibc
import JSON
import SandboxOrg
import Tureen

struct SandboxCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sandbox",
    abstract: "Serves a sandbox org on this machine until interrupted.",
    discussion: """
      The org answers as a Salesforce org does, on 127.0.0.1 only. What is needed to sign in is printed, and written to \
      sandbox/credentials.json under the home, where scripts that choose the org 'sandbox' find it.
      """)

  @Option(help: "Where the org's data and credentials are kept.")
  var home: String?

  @Option(help: "The port; 0 takes a free one.")
  var port = 0

  @Option(help: "A database file for the org instead of the one under the home.")
  var data: String?

  @Option(help: "Contacts to make up for a new org.")
  var contacts: Int?

  @Option(help: "Accounts to make up for a new org.")
  var accounts: Int?

  func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
    for count in [contacts, accounts].compactMap({ $0 }) where !(0...5_000_000).contains(count) {
      throw ValidationError("--contacts and --accounts must be between 0 and 5000000")
    }
  }

  func run() throws {
    let home = HostSettings.resolvedHome(home)
    var configuration = SandboxConfiguration()
    configuration.port = port
    if contacts != nil || accounts != nil {
      configuration.seed = .custom(accounts: accounts ?? 200, contacts: contacts ?? 5000)
    }
    let server: SandboxServer
    do {
      configuration.databasePath = try data ?? SandboxFiles.database(home: home)
      server = try waitFor { [configuration] in try await SandboxServer.start(configuration) }
    } catch {
      complain("the sandbox org cannot be started: \(error)")
      throw ExitCode(ExitStatus.unavailable)
    }
    try announce(server, home)
    let interrupted = DispatchSemaphore(value: 0)
    let watch = InterruptWatch { interrupted.signal() }
    interrupted.wait()
    withExtendedLifetime(watch) {}
    SandboxFiles.forgetCredentials(home: home, of: server.url)
    try waitFor { await server.stop() }
  }

  private func announce(_ server: SandboxServer, _ home: String) throws {
    let access = server.credentials()
    let path = try SandboxFiles.keepCredentials(
      home: home,
      [
        "loginUrl": .string(access.loginURL), "clientId": .string(access.clientId),
        "clientSecret": .string(access.clientSecret), "username": .string(access.username),
        "password": .string(access.password),
      ])
    write(
      """
      Sandbox org at \(server.url)
        username       \(access.username)
        password       \(access.password)
        client id      \(access.clientId)
        client secret  \(access.clientSecret)
      Credentials for scripts: \(path)
      Ctrl-C ends it.

      """, to: STDOUT_FILENO)
  }
}
