import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Tureen

struct StoreCopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy a store to another home or another engine, and compare the copy.",
    usage: "tureen store copy [<options>] <from> <to>",
    discussion: """
      FROM and TO are 'home' for this home, 'database' for the one of $TUREEN_STORE, the folder of a home, or \
      postgres://user@host/database. The copy belongs to the same org and user and has the same name, unless an option says \
      otherwise. It has everything the store has: soups, entries, unsent edits, uploads in flight, conflicts, syncs and \
      key-value stores. The history of runs and edits stays with the original, and the copy gets an id of its own.

      Stop the programs that write to the store first. The copy can be opened when it is complete. If the command is killed, run \
      it again: it continues. Do not sync both stores afterwards: each would create the same new records on the server.

      The key of encrypted files and the password of databases come from the environment, as for other commands; an address \
      must not contain a password. Progress goes to stderr: a bar on a terminal, elsewhere a line every ten seconds.
      """
        + ExitStatus.help([
          (0, "done"),
          (1, "there is no such store, the target exists already, the copy differs, or a store cannot be read or written"),
          (64, "wrong usage, or both are the same store"), (67, "the org or user is not known"),
          (75, "a sync of the store is running, the store was written to meanwhile, or a database is unreachable or busy"),
          (78, "a setting is wrong; the message names it"), (130, "interrupted; run the command again to continue"),
        ]))

  @Argument(help: "Where the store is.", completion: .directory)
  var from: String

  @Argument(help: "Where to copy it to.", completion: .directory)
  var to: String

  @Option(help: "The store's name.", completion: NameCompletion.storeName, transform: nonEmpty)
  var storeName = StoreReference.defaultName

  @Flag(help: "Copy the global store of this name, which all users share.")
  var globalStore = false

  @Option(help: "The copy's name.", transform: nonEmpty)
  var toStoreName: String?

  @Option(help: "The org of the copy. Stores of the sandbox org belong to 'sandbox'.", transform: nonEmpty)
  var toOrg: String?

  @Option(help: "The user of the copy.", transform: nonEmpty)
  var toUser: String?

  @Flag(help: "Print each step and the result as a line of JSON on stdout. The error is JSON on stderr. No progress bar.")
  var json = false

  @OptionGroup var options: StorePlaceOptions

  func run() throws {
    try options.run(asJSON: json) { catalog in
      let source = try StorePlace(from, home: catalog.home, argument: "FROM", mayBeNew: false)
      let target = try StorePlace(to, home: catalog.home, argument: "TO", mayBeNew: true)
      let transfer = try StoreTransfer(
        from: try catalog.store(storeName, isGlobal: globalStore, in: source), to: target, org: toOrg, user: toUser,
        name: toStoreName)
      let display = CopyDisplay(isJSON: json), interrupts = InterruptWatch {}
      do {
        let result = try transfer.run { progress in
          if interrupts.happened { throw CancellationError() }
          display.show(progress)
        }
        display.finish()
        tell(transfer, result)
      } catch is CancellationError {
        display.finish()
        complain("interrupted; run the command again to continue")
        return ExitStatus.interrupted
      } catch {
        display.finish()
        throw error
      }
      return 0
    }
  }

  private func tell(_ transfer: StoreTransfer, _ result: StoreTransfer.Result) {
    if json {
      let line: JSONObject = [
        "event": "storeCopied", "from": .string("\(transfer.source)"), "to": .string("\(transfer.target)"),
        "soups": .integer(Int64(result.soups)), "entries": .integer(result.entries), "rows": .integer(result.rows),
        "found": .integer(result.found),
      ]
      write(TerminalText.escapedJSON(line.text) + "\n", to: STDOUT_FILENO)
    } else {
      let found = result.found > 0 ? "; \(result.found) of \(result.rows) rows were there already" : ""
      let without = "; the copy has an id of its own and no history"
      let soups = "\(result.soups) soup\(result.soups == 1 ? "" : "s")"
      write(
        TerminalText.escaped(
          "copied \(transfer.source) to \(transfer.target.place): \(soups), "
            + "\(result.entries) entr\(result.entries == 1 ? "y" : "ies")\(found)\(without)") + "\n", to: STDOUT_FILENO)
    }
  }
}
