import Glibc
import JSON
import LuaBridge
import Support
import Tureen

/// Notices what any process writes to the stores, while a page listens. Owns one thread.
///
/// It opens no store to find out whether something has changed, so that a forgotten page holds up no other process.
final class HomeWatch: @unchecked Sendable {  // `isNeeded` and `isClosed` are touched only with `lock` held
  typealias Report = @Sendable (_ kind: String, _ data: JSONObject) -> Void

  /// The last look at a store.
  private struct Seen {
    var mark: String
    /// Files have times of some milliseconds: what was written within the same ones is reported with the next look.
    var mayHaveMore = false
    var syncs: [Int64: JSONValue] = [:]
    /// A store that cannot be opened is not tried each time: deriving a key takes long.
    var notBefore: Int64 = 0
  }

  private let lock = Lock()
  private var isNeeded = false
  private var isClosed = false
  private let calls: ActionCalls
  private let report: Report
  private var thread: pthread_t?

  // On its own thread only, once it runs.
  private var stores: [StoreReference: Seen] = [:]
  private var hasSeenStores = false
  private var nextList: Int64 = 0

  init(_ calls: ActionCalls, report: @escaping Report) {
    self.calls = calls
    self.report = report
  }

  /// Changes are told from now on.
  func start() {
    listStores()
    let (thread, error) = SignalFreeThread.start { self.run() }
    if error == 0 { self.thread = thread }
  }

  /// Whether a page listens.
  func setNeeded(_ value: Bool) {
    lock.withLock {
      guard isNeeded != value else { return }
      isNeeded = value
      lock.broadcast()
    }
  }

  func close() {
    lock.withLock {
      isClosed = true
      lock.broadcast()
    }
    if let thread { pthread_join(thread, nil) }
    thread = nil
  }

  private func run() {
    while waitForTurn() {
      let now = SystemClock.monotonicMilliseconds()
      if nextList <= now {
        listStores()
        nextList = now + Limits.storesMs
      }
      for (store, seen) in stores where seen.notBefore <= now { look(at: store) }
    }
  }

  /// Waits for the next look, and while no page listens.
  /// - Returns: False once this is closed.
  private func waitForTurn() -> Bool {
    let next = SystemClock.monotonicMilliseconds() + Limits.lookMs
    return lock.withLock {
      while !isClosed {
        let now = SystemClock.monotonicMilliseconds()
        if isNeeded, now >= next { return true }
        if isNeeded { lock.wait(until: next) } else { lock.wait() }
      }
      return false
    }
  }

  // MARK: Stores

  private func listStores() {
    guard let names = try? calls.host.existingStores() else { return }
    let found = Set(names), known = Set(stores.keys)
    for gone in known.subtracting(found) {
      stores[gone] = nil
      tell("store", gone, ["isGone": true])
    }
    for fresh in found.subtracting(known) {
      stores[fresh] = Seen(mark: mark(of: fresh).text, syncs: syncs(of: fresh))
      if hasSeenStores { tell("store", fresh, [:]) }
    }
    hasSeenStores = true
  }

  /// A text that differs after each commit, and if the store cannot be read any more.
  private func mark(of store: StoreReference) -> (text: String, isReadable: Bool) {
    do {
      return ("\(try calls.host.mark(of: store))", true)
    } catch {
      return ("\(error)", false)
    }
  }

  private func look(at store: StoreReference) {
    guard var seen = stores[store] else { return }
    let (mark, isReadable) = mark(of: store)
    if !isReadable { stores[store]?.notBefore = SystemClock.monotonicMilliseconds() + Limits.storesMs }
    guard mark != seen.mark || seen.mayHaveMore else { return }
    seen.mayHaveMore = mark != seen.mark
    seen.mark = mark
    seen.notBefore = stores[store]?.notBefore ?? 0
    let syncs = syncs(of: store)
    for (id, state) in syncs where seen.syncs[id] != state {
      tell(
        "sync", store,
        [
          "syncId": .integer(id), "name": state["name"] ?? .null, "status": state["status"] ?? .null,
          "progress": state["progress"] ?? .null,
        ])
    }
    seen.syncs = syncs
    stores[store] = seen
    tell("store", store, [:])
  }

  /// The states of the syncs by id; empty if the store cannot be read.
  private func syncs(of store: StoreReference) -> [Int64: JSONValue] {
    let spec: JSONObject = [
      "queryType": "smart", "smartSql": "SELECT {syncs_soup:_soup} FROM {syncs_soup}", "pageSize": .integer(Int64(Limits.rows)),
    ]
    let arguments: JSONObject = [
      "storeName": .string(store.name), "isGlobalStore": .bool(store.isGlobal), "querySpec": .object(spec),
    ]
    guard case .success(let text) = calls.perform("smartstore", "pgRunSmartQuery", arguments, limitMs: Limits.queryMs),
      let rows = (try? JSONValue(parsing: text))?["currentPageOrderedEntries"]?.arrayValue
    else { return [:] }
    let states = rows.compactMap { row -> (Int64, JSONValue)? in
      guard let state = row.arrayValue?.first, let id = state["_soupEntryId"]?.integerValue else { return nil }
      return (id, state)
    }
    return Dictionary(states) { first, _ in first }
  }

  private func tell(_ kind: String, _ store: StoreReference, _ data: JSONObject) {
    var data = data
    data["store"] = .string((store.isGlobal ? "g:" : "u:") + store.name)
    report(kind, data)
  }
}
