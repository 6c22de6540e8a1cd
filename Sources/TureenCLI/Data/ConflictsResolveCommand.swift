import ArgumentParser
import Glibc
import JSON
import MobileSync
import Tureen

struct ConflictsResolveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Decide conflicts, for the next sync up to send.",
    usage: """
      tureen conflicts resolve [<options>] <soup> <entries> ...
             tureen conflicts resolve [<options>] <soup> --all
             tureen conflicts resolve [<options>] <soup> --run <run>
      """,
    discussion: """
      --mine lets the local changes win; what only the server changed comes in. --theirs takes the server's version; all local \
      changes are lost. --merge keeps what one side changed, and takes the server's value where both did. --field decides \
      single fields; the others are decided as the option says, else as by --mine. A deletion has no fields: --mine or --theirs.

      Asks first, on a terminal, if local changes are lost.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is no such store or soup, or it cannot be written"),
          (2, "some conflicts stay; stderr says why"),
          (64, "wrong usage, or standard input is not a terminal and there is no --yes"), (67, "the org or user is not known"),
          (75, "the store is busy; try again later"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  enum Side: String, EnumerableFlag {
    case mine, theirs, merge

    static func help(for value: Side) -> ArgumentHelp? {
      switch value {
      case .mine: "The local changes win."
      case .theirs: "The server's version wins."
      case .merge: "Keep what one side changed; the server wins where both did."
      }
    }

    var meaning: ConflictDecision.Side {
      switch self {
      case .mine: .mine
      case .theirs: .theirs
      case .merge: .merge
      }
    }
  }

  @Argument(help: "The soup.", completion: NameCompletion.soup)
  var soup: String

  @Argument(help: "The entries' numbers.")
  var entries: [Int64] = []

  @Flag(help: "All conflicts of the soup.")
  var all = false

  @Option(name: .customLong("run"), help: "All conflicts that this run found.")
  var ofRun: Int64?

  @Flag(exclusivity: .exclusive)
  var side: Side?

  @Option(
    name: .customLong("field"),
    help: ArgumentHelp("Decide this field: NAME=mine or NAME=theirs. May be given several times.", valueName: "name=side"))
  var fields: [String] = []

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  /// The decided fields and whether the server wins.
  private func decided() throws -> [(name: String, isTheirs: Bool)] {
    try fields.map { word in
      guard let equals = word.lastIndex(of: "="), equals > word.startIndex else {
        throw ValidationError("--field \(word): write NAME=mine or NAME=theirs")
      }
      let side = word[word.index(after: equals)...]
      guard side == "mine" || side == "theirs" else { throw ValidationError("--field \(word): write NAME=mine or NAME=theirs") }
      return (String(word[..<equals]), side == "theirs")
    }
  }

  func validate() throws {
    guard [!entries.isEmpty, all, ofRun != nil].count(where: { $0 }) == 1 else {
      throw ValidationError("name entries, or give --all or --run, one of them")
    }
    guard side != nil || !fields.isEmpty else { throw ValidationError("say how: --mine, --theirs, --merge or --field") }
    _ = try decided()
  }

  func run() throws {
    let decision = ConflictDecision(side: (side ?? .mine).meaning, fields: try decided())
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      _ = try calls.indexSpecs(of: soup)
      var filter: JSONObject = ["soupName": .string(soup)]
      filter["run"] = ofRun.map { .integer($0) }
      let known = try calls.value("mobilesync", "getConflicts", filter).arrayValue ?? []
      let ids = entries.isEmpty ? known.map { $0.figure("entryId") } : entries
      guard !ids.isEmpty else {
        complain("there are no conflicts in '\(soup)'" + (ofRun.map { " that run \($0) found" } ?? ""), .notice)
        return 0
      }
      if let loss = decision.loss(ids.count) { try Question.confirm("\(loss) of '\(soup)'.", isConfirmed: yes) }
      return try resolve(ids, known, decision, calls)
    }
  }

  private func resolve(
    _ ids: [Int64], _ known: [JSONValue], _ decision: ConflictDecision, _ calls: BridgeCalls
  ) throws -> Int32 {
    var done = 0
    for id in ids {
      do {
        guard let conflict = known.first(where: { $0["entryId"] == .integer(id) }) else {
          throw CallFailure(domain: "sync", code: "noSuchConflict", "it has no conflict")
        }
        var arguments = try decision.arguments(conflict)
        arguments["soupName"] = .string(soup)
        arguments["entryId"] = .integer(id)
        _ = try calls.text("mobilesync", "resolveConflict", arguments)
        done += 1
      } catch let refusal as ConflictDecision.Refusal {
        complain("entry \(id) stays: \(refusal.text)")
      } catch let failure as CallFailure
        where failure.domain == "sync" && ["noSuchConflict", "conflictUnresolved"].contains(failure.code)
      {
        complain("entry \(id) stays: \(failure.message)")
      }
    }
    let output = ByteOutput()
    try output.write("\(done) conflict\(done == 1 ? "" : "s") resolved\(done < ids.count ? ", \(ids.count - done) stay" : "")\n")
    try output.finish()
    return done == ids.count ? 0 : ExitStatus.recordsRefused
  }
}
