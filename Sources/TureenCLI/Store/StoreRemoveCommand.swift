import ArgumentParser
import Glibc
import Tureen

struct StoreRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a store, or an unfinished copy.",
    usage: "tureen store remove [<options>] <name>",
    discussion: """
      Edits in it that were not sent are lost. Asks first, on a terminal. Without --in the store is removed where other commands \
      keep stores: in the database if $TUREEN_STORE is set, else in the home.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is no such store, or it cannot be removed"),
          (64, "wrong usage, or standard input is not a terminal and there is no --yes"),
          (67, "the org or user is not known"), (75, "the store is in use, or the database is unreachable or busy"),
          (78, "a setting is wrong; the message names it"),
        ]))

  @Argument(help: "The store's name.", completion: NameCompletion.storeName)
  var name: String

  @Flag(help: "Remove the global store of this name, which all users share.")
  var globalStore = false

  @Option(
    name: .customLong("in"),
    help: "Where the store is: 'home', 'database', the folder of a home, or postgres://user@host/database.",
    completion: .directory)
  var place: String?

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var options: StorePlaceOptions

  func run() throws {
    try options.run { catalog in
      let place = try place.map { try StorePlace($0, home: catalog.home, argument: "--in", mayBeNew: false) }
      let store = try catalog.store(name, isGlobal: globalStore, in: place ?? catalog.currentPlace, mayBeUnfinished: true)
      try Question.confirm("Remove \(store)? Edits that were not sent are lost.", isConfirmed: yes)
      try catalog.remove(store)
      write(TerminalText.escaped("removed \(store)") + "\n", to: STDOUT_FILENO)
      return 0
    }
  }
}
