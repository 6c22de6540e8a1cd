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
    abstract: "Send the first request of a target and report what it found.",
    discussion: """
      FILE holds a target of type rest. Its connection is in connections.json beside FILE, or in FILE itself, as in \
      scripts/connections. The report names the items, their ids and dates, the next page, tags and quotas, and keys that would \
      fit better. Nothing is stored.

      With --write it also creates a record (a copy of the first one with a new title or text), changes it and deletes it. \
      Without up.delete the record would stay at the server, which needs --keep. Ctrl-C has no effect until it is deleted.
      """
        + ExitStatus.help([
          (0, "the list can be read, and every write was accepted"),
          (1, "the list cannot be read, or a write was refused"),
          (78, "FILE is wrong; the message names the key"),
        ]))

  @Option(help: "The connection of this name in connections.json, in place of the file's own.")
  var connection: String?

  @Flag(help: "Create one record at the server, change it and delete it.")
  var write = false

  @Flag(help: "With --write, leave the record at the server if the target has no up.delete.")
  var keep = false

  @Flag(help: "Log the HTTP requests on stderr. Secrets are masked.")
  var logRequests = false

  @Argument(help: "The file with the target.", completion: .file(extensions: ["json"]))
  var file: String

  func run() throws {
    let isFine: Bool
    do {
      let log = logRequests ? RequestLogSettings(level: .info) : nil
      let trial = try RestTrial(file: file, connection: connection, requestLog: log)
      let signals = HeldSignals()
      isFine = try trial.run(writes: write, keeps: keep, hold: signals.hold) {
        TureenCLI.write(TerminalText.escaped($0) + "\n", to: STDOUT_FILENO)
      }
    } catch {
      complain("\(error)")
      throw ExitCode(ExitStatus.configuration)
    }
    guard isFine else { throw ExitCode(ExitStatus.callFailed) }
  }
}

/// The signals that end a process, while they have no effect.
private final class HeldSignals {
  private var before: [(signal: Int32, action: sigaction)] = []

  func hold(_ areHeld: Bool) {
    if areHeld {
      var ignoring = sigaction()
      ignoring.__sigaction_handler.sa_handler = SIG_IGN
      for signal in [SIGINT, SIGTERM, SIGHUP] {
        var action = sigaction()
        if sigaction(signal, &ignoring, &action) == 0 { before.append((signal, action)) }
      }
    } else {
      for (signal, action) in before {
        var action = action
        sigaction(signal, &action, nil)
      }
      before = []
    }
  }
}
