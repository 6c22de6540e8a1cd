import ArgumentParser
import Glibc
import JSON
import RestClient
import SmartStore
import Tureen

/// The command line: options in, output and exit status out. The work is done in other modules.
@main
struct TureenCommand: ParsableCommand {
  static func main() {
    InheritedSignals.note()
    occupyStandardDescriptors()
    LogSetup.standardError()
    if NameCompletion.isRequested {
      silenceErrors()
    } else {
      checkBeforehand(Array(CommandLine.arguments.dropFirst()))
    }
    signal(SIGPIPE, SIG_IGN)  // output without a reader is dropped; the command continues
    Store.ownProcess()
    start(HostOptions.spelledOut(Array(CommandLine.arguments.dropFirst())))
    LostOutput.noteStandardStream()
    if let failure = LostOutput.failure {
      let why = failure > 0 ? ": \(String(cString: strerror(failure)))" : "; is its disk full?"
      complain("standard output cannot be written\(why)")
      Glibc.exit(ExitStatus.unavailable)
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "tureen",
    abstract: "Sync records with servers and keep them offline, from Lua scripts and the shell.",
    discussion: """
      Stores, sessions and the sandbox org are kept in a home folder: --home, else $TUREEN_HOME, else $XDG_DATA_HOME/tureen, \
      else ~/.local/share/tureen. $TUREEN_LOG sets the level of the log on stderr: debug, info (a line for each finished sync), \
      notice, warning, error, critical. $TUREEN_LOG_FORMAT=json makes all messages on stderr, and the log of requests, JSON \
      objects, one a line. $TUREEN_LOG_REQUESTS logs HTTP requests as --log-requests does, to the file named by \
      $TUREEN_LOG_REQUESTS_FILE if it is set.
      """,
    version: Tureen.version,
    subcommands: [
      RunCommand.self, SyncCommand.self, StatusCommand.self, DirtyCommand.self, ConflictsCommand.self, DiscardCommand.self,
      ExplainCommand.self, RunsCommand.self, PlanCommand.self, ApplyCommand.self, VerifyCommand.self, InspectCommand.self,
      QueryCommand.self, SoupsCommand.self, SyncsCommand.self, ExportCommand.self, ImportCommand.self, InitCommand.self,
      ExecCommand.self, ReplCommand.self, JobCommand.self,
      WorkerCommand.self, SandboxCommand.self,
      StoreCommand.self, CacheCommand.self, DoctorCommand.self, RestCommand.self,
      SpecCommand.self, LoginCommand.self, OrgsCommand.self, WhoamiCommand.self, LogoutCommand.self, VersionCommand.self,
    ])
}

extension TureenCommand {
  /// Parses the command line and runs its command.
  private static func start(_ arguments: [String]) {
    do {
      var command = try parseAsRoot(arguments)
      do {
        try command.run()
      } catch let error as ValidationError {
        refuse(error, type(of: command))
      }
    } catch {
      if exitCode(for: error) == .validationFailure, let unknown = UnknownOption(in: arguments) {
        refuse(ValidationError(unknown.text), Self.command(at: unknown.command))
      }
      if LogFormat.current == .json, !(error is ExitCode) {
        let code = exitCode(for: error)
        guard code.isSuccess else {
          complain(fullMessage(for: error))
          Glibc.exit(code.rawValue)
        }
      }
      exit(withError: error)
    }
  }

  /// Ends with the usage of a command whose arguments are wrong. The parser does not know which one ran, and would print the
  /// usage of all.
  private static func refuse(_ error: ValidationError, _ command: any ParsableCommand.Type) -> Never {
    let usage = usageString(for: command).split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n       ")
    let more = "See '\(path(of: command)) --help' for more information."
    let text = "Error: \(error.message)\nUsage: \(usage)\n  \(more)"
    if LogFormat.current == .json { complain(text) } else { write(TerminalText.escaped(text) + "\n", to: STDERR_FILENO) }
    Glibc.exit(ExitStatus.usage)
  }

  /// Returns the command that these words run.
  private static func command(at words: [String]) -> any ParsableCommand.Type {
    words.reduce(TureenCommand.self as any ParsableCommand.Type) { command, word in
      command.configuration.subcommands.first { $0.configuration.commandName == word } ?? command
    }
  }

  /// Returns the words that run a command, such as `tureen job add`.
  private static func path(of command: any ParsableCommand.Type) -> String {
    func words(to next: any ParsableCommand.Type) -> [String]? {
      let name = next.configuration.commandName ?? ""
      if ObjectIdentifier(next) == ObjectIdentifier(command) { return [name] }
      return next.configuration.subcommands.lazy.compactMap(words).first.map { [name] + $0 }
    }
    return (words(to: TureenCommand.self) ?? ["tureen"]).joined(separator: " ")
  }

  /// Opens `/dev/null` in place of standard descriptors that are closed, so that no file or socket becomes standard output.
  /// Writing to a closed standard output fails as before.
  private static func occupyStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free descriptor is this one.
      _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Sends standard error to `/dev/null`, because messages would appear between the letters of the command line.
  private static func silenceErrors() {
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    if nowhere >= 0 { dup2(nowhere, STDERR_FILENO) }
  }

  /// Checks what every command depends on, and ends the process if it is wrong.
  private static func checkBeforehand(_ arguments: [String]) {
    if let problem = unknownCommand(arguments) {
      complain(problem)
      _exit(ExitStatus.usage)
    }
    do {
      try LogSetup.check()
    } catch {
      complain("\(error)")
      _exit(ExitStatus.configuration)
    }
  }

  /// A message about an unknown command; nil if there is none. The parser would only complain about unexpected arguments.
  static func unknownCommand(_ arguments: [String]) -> String? {
    var command: any ParsableCommand.Type = TureenCommand.self, path = "tureen"
    for word in arguments {
      let known = command.configuration.subcommands
      // The other words are arguments of the default command.
      guard command.configuration.defaultSubcommand == nil || known.contains(where: { $0.configuration.commandName == word })
      else {
        return nil
      }
      guard !known.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
      let names = known.compactMap { $0.configuration.commandName }
      guard let next = known.first(where: { $0.configuration.commandName == word }) else {
        return "unknown command '\(word)'\(NearestName.hint(for: word, among: names)) (see \(path) --help)"
      }
      command = next
      path += " \(word)"
    }
    return nil
  }
}

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the version.")

  @Flag(help: "Print one JSON object: version, modelVersion, encryption, sandbox.")
  var json = false

  func run() {
    guard !json else { return write(JSONValue.object(Self.object).text + "\n", to: STDOUT_FILENO) }
    let encryption = StoreKeySource.isSupported ? ", can encrypt stores" : ""
    write("tureen \(Tureen.version) (plug-in model \(Tureen.modelVersion))\(encryption)\n", to: STDOUT_FILENO)
  }

  private static var object: JSONObject {
    #if Sandbox
      let sandbox = true
    #else
      let sandbox = false
    #endif
    return [
      "version": .string(Tureen.version), "modelVersion": .string(Tureen.modelVersion),
      "encryption": .bool(StoreKeySource.isSupported), "sandbox": .bool(sandbox),
    ]
  }
}

/// Exit statuses, on which scripts rely. `--help` lists them.
enum ExitStatus {
  static let scriptFailed: Int32 = 1
  static let callFailed: Int32 = 1
  static let recordsRefused: Int32 = 2
  static let usage: Int32 = 64
  static let storeFailed: Int32 = 1
  static let scriptNotFound: Int32 = 66
  static let fileNotFound: Int32 = 66
  static let signInNeeded: Int32 = 67
  static let unavailable: Int32 = 69
  static let workerEnded: Int32 = 70
  static let tryAgain: Int32 = 75
  static let limitReached: Int32 = 77
  static let configuration: Int32 = 78
  static let interrupted: Int32 = 130
}
