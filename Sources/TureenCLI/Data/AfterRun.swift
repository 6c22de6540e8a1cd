import Glibc
import JSON
import LuaBridge
import SmartStore
import Support
import Tureen

/// The program that `tureen sync` runs after a sync with changed entries: the member `after` of the sync in a configuration file.
struct AfterRun {
  private let hook: AfterSyncHook
  private let changes: ChangeObserver
  private let store: StoreReference
  private let place: HostOptions

  /// Begins to note changes; nil if nothing is to run, or if the sync will fail because it has no soup.
  init?(_ sync: SyncSummary, _ calls: BridgeCalls, _ place: HostOptions) throws {
    guard let hook = try calls.host.afterSync(sync.name, in: calls.store) else { return nil }
    self.hook = hook
    self.place = place
    store = calls.store
    do {
      changes = try calls.host.observeChanges(ofSoups: LeftRecords.soups(sync), in: calls.store)
    } catch let error as StoreError where error.code == .noSuchSoup {
      return nil
    }
  }

  /// Runs the program if entries have changed, and waits for it.
  /// - Parameter sync: The sync after its run.
  /// - Throws: ``CommandFailure`` if it cannot be run or fails; the sync is as it is then.
  func run(_ sync: SyncSummary, _ calls: BridgeCalls) throws {
    let changes = changes.take()
    self.changes.cancel()
    guard !changes.isEmpty, !calls.isInterrupted else { return }
    let input: JSONObject = [
      "syncName": .string(sync.name), "syncType": .string(sync.isUp ? "syncUp" : "syncDown"), "status": .string(sync.status),
      "storeName": .string(store.name), "isGlobalStore": .bool(store.isGlobal),
      "changes": .array(changes.map { .object($0.json) }),
    ]
    let process: HookProcess
    do {
      process = try HookProcess(
        words, in: hook.folder, input: input.serialized() + [UInt8(ascii: "\n")], environment: environment)
    } catch {
      throw CommandFailure("after sync '\(sync.name)': \(error)")
    }
    let problem = calls.interruptible(by: { process.terminate() }) { process.wait() }
    if let problem, !calls.isInterrupted { throw CommandFailure("after sync '\(sync.name)': '\(hook.name)' \(problem)") }
  }

  private var words: [String] {
    switch hook.program {
    case .command(let words): words
    case .script(let path):
      [Self.ownPath, "run", "--quiet"]
        + [("--home", place.home.map(HostSettings.absolute)), ("--org", place.org), ("--user", place.user)].flatMap {
          name, value in
          value.map { [name, $0] } ?? []
        } + [path]
    }
  }

  /// The program uses the same home and org as this command.
  private var environment: [String: String] {
    var variables: [String: String] = [:]
    if let home = place.home { variables["TUREEN_HOME"] = HostSettings.absolute(home) }
    if let org = place.org { variables["TUREEN_ORG"] = org }
    return variables
  }

  private static var ownPath: String {
    guard let path = realpath("/proc/self/exe", nil) else { return CommandLine.arguments[0] }
    defer { free(path) }
    return String(cString: path)
  }
}
