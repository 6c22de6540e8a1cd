import ArgumentParser
import Glibc
import SmartStore
import Tureen

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "List, back up, restore, copy, remove, encrypt or decrypt stores.",
    subcommands: [
      StoreListCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self, StoreCopyCommand.self, StoreRemoveCommand.self,
      RekeyCommand.self,
    ])
}

struct RekeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Encrypt the stores under the home, change their key, or decrypt them.",
    usage: "tureen store rekey [--home <home>] <new key>",
    discussion: """
      The old key is the one in $TUREEN_STORE_KEY, $TUREEN_STORE_KEY_FILE or $TUREEN_STORE_KEY_COMMAND; stores that are not \
      encrypted yet need none. Close the stores first. If the command is killed, each store is left either in its old or in its \
      new state; run it again to finish. It needs as much free space as the largest store takes.
      """)

  @Option(help: "The folder of stores, sessions and the sandbox org.", transform: nonEmpty)
  var home: String?

  @Option(help: "Take the new key from this file, without one line break at its end.")
  var toFile: String?

  @Option(help: "Take the new key from this environment variable.")
  var toVariable: String?

  @Option(help: "Take the new key from the output of this program. Separate its arguments by spaces, or give a JSON array.")
  var toCommand: String?

  @Flag(help: "Decrypt the stores: make them plain SQLite files.")
  var toPlain = false

  func validate() throws {
    let count = [toFile, toVariable, toCommand].count { $0 != nil } + (toPlain ? 1 : 0)
    guard count == 1 else {
      throw ValidationError("name one of --to-file, --to-variable, --to-command and --to-plain")
    }
    if let toCommand, StoreKeySource(commandLine: toCommand) == nil {
      throw ValidationError("--to-command does not name a program")
    }
  }

  func run() throws {
    var failed = false
    let home = try checkedHome(home)
    do {
      let current = try StoreKeySource.current()?.read(), fresh = try target?.read()
      try HomeStores(home: home).changeKey(from: current, to: fresh) { file, outcome in
        switch outcome {
        case .changed: write("\(file): \(toPlain ? "decrypted" : "encrypted with the new key")\n", to: STDOUT_FILENO)
        case .nothingToDo: write("\(file): nothing to do\n", to: STDOUT_FILENO)
        case .failed(let error):
          failed = true
          complain(error.message)
        }
      }
    } catch {
      complain("\(error)")
      throw ExitCode(ExitStatus.configuration)
    }
    guard !failed else { throw ExitCode(ExitStatus.storeFailed) }
  }

  /// Nil for plain files.
  private var target: StoreKeySource? {
    if let toFile { return .file(toFile) }
    if let toVariable { return .variable(toVariable) }
    return toCommand.flatMap { StoreKeySource(commandLine: $0) }
  }
}
