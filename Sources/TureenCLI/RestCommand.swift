import ArgumentParser
import Glibc
import RestClient
import Tureen

struct RestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rest", abstract: "Help write targets for JSON collections over HTTP.",
    subcommands: [RestTryCommand.self])
}

struct RestTryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "try",
    abstract: "Make the first request of a target and say what it found.",
    discussion: """
      FILE holds a target of the type rest: alone, with its connection in connections.json beside the file, or as in \
      scripts/connections, with the connection in the same file. The report says where the items are, their ids and dates, \
      how the list goes on, tags and quotas, and names keys that would fit better. Nothing is stored.

      With --write it also creates one record, a copy of the first of the list with a text of its own, changes it and deletes it \
      again.

      Exit status:
        0    the list can be read, and what was written was taken
        1    it cannot, or something was refused
        78   the file is wrong; the message names the key
      """)

  @Option(help: "The connection of this name in connections.json, in place of the file's own.")
  var connection: String?

  @Flag(help: "Create one record at the server, change it and delete it.")
  var write = false

  @Flag(help: "Log the HTTP requests on stderr. Secrets are masked.")
  var logRequests = false

  @Argument(help: "The file with the target.")
  var file: String

  func run() throws {
    let isFine: Bool
    do {
      let log = logRequests ? RequestLogSettings(level: .info) : nil
      let trial = try RestTrial(file: file, connection: connection, requestLog: log)
      isFine = try trial.run(writes: write) { TureenCLI.write(TerminalText.escaped($0) + "\n", to: STDOUT_FILENO) }
    } catch {
      complain("\(error)")
      throw ExitCode(ExitStatus.configuration)
    }
    guard isFine else { throw ExitCode(ExitStatus.callFailed) }
  }
}
