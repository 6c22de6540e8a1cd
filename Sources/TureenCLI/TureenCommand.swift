import ArgumentParser
import Glibc
import SmartStore
import Tureen

/// The command line: options in, exit status out. What it does is done elsewhere.
@main
struct TureenCommand: ParsableCommand {
  static func main() {
    LogSetup.standardError()
    signal(SIGPIPE, SIG_IGN)  // what nobody reads any more is dropped, not the command
    Store.ownProcess()
    main(nil)
  }

  static let configuration = CommandConfiguration(
    commandName: "tureen",
    abstract: "Runs Lua scripts that sync records with an org and keep them offline.",
    discussion: """
      The home holds stores, sessions and the sandbox org: --home, else $TUREEN_HOME, else $XDG_DATA_HOME/tureen, else \
      ~/.local/share/tureen. $TUREEN_LOG (debug, info, warning, error) chooses what is logged on stderr.
      """,
    version: Tureen.version,
    subcommands: [
      RunCommand.self, ExecCommand.self, ReplCommand.self, SandboxCommand.self, StoreCommand.self, VersionCommand.self,
    ])
}

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "version", abstract: "Prints the version.")

  func run() {
    let encryption = StoreKeySource.isSupported ? ", can encrypt stores" : ""
    print("tureen \(Tureen.version) (plug-in model \(Tureen.modelVersion))\(encryption)")
  }
}

/// How the command ends, in numbers that scripts around it can rely on. `--help` lists them.
enum ExitStatus {
  static let scriptFailed: Int32 = 1
  static let callFailed: Int32 = 1
  static let usage: Int32 = 64
  static let storeFailed: Int32 = 1
  static let scriptNotFound: Int32 = 66
  static let unavailable: Int32 = 69
  static let tryAgain: Int32 = 75
  static let limitReached: Int32 = 77
  static let configuration: Int32 = 78
  static let interrupted: Int32 = 130
}
