import ArgumentParser
import JSON
import Tureen

struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Back up all stores of the home, also while programs use them.",
    usage: "tureen store backup [<options>] <directory>",
    discussion: """
      The backup is a folder with all stores, their names, and the orgs and users that they belong to. It has no sessions, \
      credentials or caches. Syncs may run meanwhile: each copy shows its store at one moment. Each copy is checked, and the \
      folder appears when all are complete. Copies of encrypted stores are encrypted with the same key, which must be set as for \
      other commands.

      Stores in a database are not backed up; use pg_dump.
      """
        + ExitStatus.help([
          (0, "done"), (1, "the folder exists already, a store cannot be read, there are none, or the disk is full"),
          (64, "wrong usage"), (75, "a store is being removed or rekeyed; try again"),
          (78, "a setting is wrong; the message names it"), (130, "interrupted; there is no backup"),
        ]))

  @Argument(help: "The folder to create.", completion: .directory, transform: nonEmpty)
  var directory: String

  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory, transform: nonEmpty)
  var home: String?

  @Flag(help: "Print each step and the result as a line of JSON on stdout. The error is JSON on stderr. No progress bar.")
  var json = false

  func run() throws {
    try StoreArchive(isJSON: json).run("storesBackedUp", "backed up", "to \(directory)") { onProgress in
      try HomeBackup(home: home).run(to: directory, onProgress: onProgress)
    }
  }
}

struct StoreRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put the stores of a backup into a home.",
    usage: "tureen store restore [<options>] <directory>",
    discussion: """
      The home gets the stores, orgs and users of the backup, all or none; a home that has one of the stores is refused. Each \
      file is compared with what was backed up. Sign in to the orgs again afterwards: a backup has no sessions.

      The stores are as they were when the backup was made. Edits that were sent since then count as unsent and would be sent \
      again: look at tureen dirty before the first sync. Do not sync the restored stores and the original ones both.
      """
        + ExitStatus.help([
          (0, "done"),
          (1, "the folder is not a backup or is damaged, the home has one of the stores already, or the disk is full"),
          (64, "wrong usage"), (75, "another process has been changing the orgs of the home for too long; try again"),
          (78, "a setting is wrong; the message names it"), (130, "interrupted; the home is as before"),
        ]))

  @Argument(help: "The folder of the backup.", completion: .directory, transform: nonEmpty)
  var directory: String

  @Option(
    help: "The folder of stores, sessions and the sandbox org. Created if it does not exist.", completion: .directory,
    transform: nonEmpty)
  var home: String?

  @Flag(help: "Print each step and the result as a line of JSON on stdout. The error is JSON on stderr. No progress bar.")
  var json = false

  func run() throws {
    try StoreArchive(isJSON: json).run("storesRestored", "restored", "from \(directory)") { onProgress in
      try HomeRestore(from: directory, home: home).run(onProgress: onProgress)
    }
  }
}

/// The common part of backing up and restoring: progress, interrupts, the result.
private struct StoreArchive {
  let isJSON: Bool

  func run(
    _ event: String, _ verb: String, _ place: String,
    _ body: (_ onProgress: (HomeBackup.Progress) throws -> Void) throws -> HomeBackup.Result
  ) throws {
    let status = BridgeCalls.ended(by: isJSON) {
      let display = CopyDisplay(isJSON: isJSON), interrupts = InterruptWatch(grace: nil) {}
      do {
        let result = try body { progress in
          if interrupts.happened { throw CancellationError() }
          display.show(progress)
        }
        display.finish()
        tell(result, event, verb, place)
        return 0
      } catch is CancellationError {
        display.finish()
        complain("interrupted; nothing was \(verb)")
        return ExitStatus.interrupted
      } catch {
        display.finish()
        throw error
      }
    }
    guard status == 0 else { throw ExitCode(status) }
  }

  private func tell(_ result: HomeBackup.Result, _ event: String, _ verb: String, _ place: String) {
    if isJSON {
      let line: JSONObject = [
        "event": .string(event), "stores": .integer(Int64(result.stores)), "bytes": .integer(result.bytes),
        "madeAt": .integer(result.madeAt),
      ]
      return write(TerminalText.escapedJSON(line.text) + "\n", to: 1)
    }
    let stores = "\(result.stores) store\(result.stores == 1 ? "" : "s")"
    let time = verb == "restored" ? ", made \(TimeText.minute(result.madeAt))" : ""
    write(TerminalText.escaped("\(verb) \(stores) (\(ByteSize.text(result.bytes))) \(place)\(time)") + "\n", to: 1)
  }
}
