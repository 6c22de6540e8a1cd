import ArgumentParser
import Glibc
import SmartStore
import Tureen

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Looks after the stores under the home.", subcommands: [RekeyCommand.self])
}

struct RekeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey",
    abstract: "Encrypts the stores under the home, changes their key, or decrypts them.",
    discussion: """
      The key they have now is found as always: $TUREEN_STORE_KEY, $TUREEN_STORE_KEY_FILE or $TUREEN_STORE_KEY_COMMAND. Stores \
      that are not encrypted yet need none. Nobody may have them open meanwhile. Each store is changed wholly or not at all; run \
      the command again when it was interrupted. It needs as much free space as the largest store takes.
      """)

  @Option(help: "Where the stores live.")
  var home: String?

  @Option(help: "The new key is in this file; one line break at its end is not part of it.")
  var toFile: String?

  @Option(help: "The new key is in this environment variable.")
  var toVariable: String?

  @Option(help: "The new key is printed by this program; its arguments follow after spaces, or all of it is a JSON array.")
  var toCommand: String?

  @Flag(help: "The stores are to be plain SQLite files again.")
  var toPlain = false

  func validate() throws {
    let count = [toFile, toVariable, toCommand].count { $0 != nil } + (toPlain ? 1 : 0)
    guard count == 1 else {
      throw ValidationError("name one of --to-file, --to-variable, --to-command and --to-plain")
    }
    if let toCommand, StoreKeySource(commandLine: toCommand) == nil { throw ValidationError("--to-command is no command") }
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
