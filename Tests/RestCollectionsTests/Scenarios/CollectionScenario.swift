import JSON
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections
@testable import SmartStore

/// One random scenario: local and remote changes, syncs with faults and a killed process, and a
/// quiet end.
final class CollectionScenario {
  private let kind: CollectionScenarioKind
  private let bench: CollectionBench
  private let isAlone: Bool
  private let specs: [IndexSpec]
  private let mode: MergeMode
  private let label: String
  private var random: SeededGenerator
  private var lastName = 0
  private var history: [String] = []
  /// The names of the records that another client deleted.
  private var deletedByOthers: Set<String> = []

  private static let steps = 10
  private static let patience = 20

  /// - Parameters:
  ///   - isAlone: Whether nobody else changes anything; there must be no conflict then.
  ///   - again: How to repeat the scenario.
  init(_ kind: CollectionScenarioKind, isAlone: Bool = false, seed: UInt64, again: String) throws {
    self.kind = kind
    self.isAlone = isAlone
    random = SeededGenerator(state: seed)
    mode = [MergeMode.leaveIfChanged, .merge, .overwrite].randomElement(using: &random) ?? .merge
    label = "\(kind.testDescription), \(mode), \(again)"
    specs = [
      IndexSpec(path: kind.path("id"), type: .string), IndexSpec(path: "__local__", type: .string),
      IndexSpec(path: "__sync_id__", type: .integer),
    ]
    bench = try CollectionBench(kind.connection, specs: specs)
    bench.server.with { kind.prepare(&$0) }
  }

  func run() async throws {
    do {
      try await begin()
      for _ in 0..<Self.steps { try await step() }
      try await settle()
    } catch {
      await bench.close()
      throw error
    }
    await bench.close()
  }

  private func begin() async throws {
    for _ in 0..<6 { otherCreates() }
    try bench.manager.createSyncDown(
      target: kind.target, options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: CollectionBench.soup, syncName: "down")
    try bench.manager.createSyncUp(
      target: kind.target, options: ["mergeMode": .string(mode.rawValue)], soupName: CollectionBench.soup, syncName: "up")
    // A record that is created here may be gone before any sync down has seen it.
    if Int.random(in: 0..<3, using: &random) > 0 { _ = try await bench.manager.reSync(named: "down") }
  }

  private func step() async throws {
    switch Int.random(in: (isAlone ? 4 : 0)..<12, using: &random) {
    case 0: otherCreates()
    case 1, 2: bench.server.with { otherChanges(&$0, .random(in: 0..<100, using: &random)) }
    case 3: try otherDeletes()
    case 4, 5: try localCreates()
    case 6: try localChanges()
    case 7: try localDeletes()
    case 8, 9, 10: try await sync("up")
    default: try await sync(Bool.random(using: &random) ? "down" : "ghosts")
    }
  }

  private func name(_ kind: String) -> String {
    lastName += 1
    return "\(kind) \(lastName)"
  }

  // MARK: Other clients

  private func otherCreates() {
    let name = name("theirs")
    history.append("other creates \(name)")
    bench.server.with { state in
      state.nextId += 1
      _ = state.create(["name": .string(name), "description": .string("of " + name)], id: .integer(state.nextId - 1))
    }
  }

  private func otherChanges(_ state: inout CollectionServer.State, _ number: Int) {
    let live = state.rows.indices.filter { state.rows[$0]["trashed"] != true }
    guard !live.isEmpty else { return }
    let place = live[number % live.count], text = name("there")
    history.append("other changes \(state.rows[place]["name"]?.plain ?? "") to \(text)")
    Self.change(&state, place, ["description": .string(text)])
  }

  private static func change(_ state: inout CollectionServer.State, _ place: Int, _ members: JSONObject) {
    var row = state.rows[place].replacing(with: members)
    state.stamp(&row)
    state.rows[place] = row
  }

  /// Deletes also records that no sync down has seen yet.
  private func otherDeletes() throws {
    let marks = kind.marksDeleted, number = Int.random(in: 0..<100, using: &random)
    let gone = bench.server.with { state -> String? in
      let live = state.rows.indices.filter { state.rows[$0]["trashed"] != true }
      guard !live.isEmpty else { return nil }
      let place = live[number % live.count], name = state.rows[place]["name"]?.plain
      if marks { Self.change(&state, place, ["trashed": true]) } else { state.rows.remove(at: place) }
      return name
    }
    guard let gone else { return }
    history.append("other deletes \(gone)")
    deletedByOthers.insert(gone)
  }

  // MARK: Local changes

  private func entries() throws -> [JSONObject] { try bench.entries().map(kind.flat) }

  private func save(_ entry: JSONObject) throws {
    try bench.store.upsert(JSONValue.array([.object(kind.deep(entry))]).text, into: CollectionBench.soup)
  }

  private func make(_ id: String, _ members: JSONObject) throws {
    try save(members.replacing(with: ["id": .string(id), "__local__": true, "__locally_created__": true]))
  }

  private func localCreates() throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let name = name("mine")
      history.append("here: creates \(name)")
      try make("local_\(lastName)", values("of " + name).replacing(with: ["name": .string(name)]))
    }
  }

  /// Returns members that a server may normalise.
  private func values(_ text: String) -> JSONObject {
    guard kind.normalizes else { return ["description": .string(text)] }
    let amount: [JSONValue] = [1.239, .decimal("2.50"), 3, nil, 0.004]
    return [
      "description": .string(Bool.random(using: &random) ? " \(text) " : text),
      "amount": amount.randomElement(using: &random) ?? nil, "flag": Bool.random(using: &random) ? nil : true,
    ]
  }

  private func known() throws -> JSONObject? {
    try entries().filter {
      $0["__locally_created__"] != true && $0["__locally_deleted__"] != true && !$0.id.hasPrefix("local_")
    }.randomElement(using: &random)
  }

  private func localChanges() throws {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      guard let entry = try known() else { return }
      let text = name("here")
      history.append("here: changes \(entry["name"]?.plain ?? "") to \(text)")
      try save(entry.replacing(with: values(text)).replacing(with: ["__local__": true, "__locally_updated__": true]))
    }
  }

  private func localDeletes() throws {
    guard let entry = try known() else { return }
    history.append("here: deletes \(entry["name"]?.plain ?? "")")
    try save(entry.replacing(with: ["__local__": true, "__locally_deleted__": true]))
  }

  // MARK: Syncs

  private func dirty() throws -> [Int64: JSONObject] {
    let dirty = try entries().filter { $0["__local__"] == true }
    return Dictionary(uniqueKeysWithValues: dirty.map { ($0["_soupEntryId"]?.integerValue ?? 0, $0) })
  }

  private func sync(_ what: String) async throws {
    let before = try dirty(), asked = bench.server.requests.count
    let isKilled = Int.random(in: 0..<5, using: &random) == 0
    let remake = !isKilled && what == "up" && Int.random(in: 0..<5, using: &random) == 0 ? remake() : nil
    try meddle(what, kills: isKilled, remake)
    switch what {
    case "ghosts": _ = try? await bench.cleanGhosts(force: true, name: "down")
    default:
      let end = try? await bench.manager.reSync(named: what)
      history.append("  \(what): \(end?.status.rawValue ?? "cut off") \(end?.error ?? "") \(isKilled ? "(killed)" : "")")
    }
    bench.server.with { $0.meddle = nil }
    history += requests(from: asked)
    if isKilled { try await bench.reopen() }
    try checkNoConflict()
    if let made = remake?.made { history.append("  the soup was made anew with \(made[0].count) entries") }
    try checkNothingLost(remake?.made?.first ?? before, mayUpload: what == "up")
  }

  private func remake() -> SoupRemake {
    let entries = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      let name = name("fresh"), id: JSONObject = ["id": .string("local_\(lastName)"), "name": .string(name)]
      return kind.deep(id.replacing(with: values("of " + name)))
    }
    return SoupRemake(
      [SoupRemake.Soup(CollectionBench.soup, specs, entries: entries)], atRequest: Int.random(in: 1...5, using: &random))
  }

  /// Injects faults into the requests of one run, a concurrent writer, and the end of the process.
  private func meddle(_ what: String, kills: Bool, _ remake: SoupRemake?) throws {
    let chance = Int.random(in: 0..<3, using: &random), deadline = Int.random(in: 1...6, using: &random)
    let writer = !isAlone && Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 1...4, using: &random) : 0
    let numbers = (0..<64).map { _ in Int.random(in: 0..<1000, using: &random) }
    let store = bench.store, sync = try bench.manager.getSyncStatus(.name(what == "ghosts" ? "down" : what))?.id ?? 0
    let text = writer > 0 ? name("there") : ""
    if writer > 0 { history.append("  before request \(writer) another writes \(text)") }
    let place = numbers[63], count = Mutex(0), isDead = Mutex(false)
    bench.server.with { state in
      state.meddle = { request, state in
        let n = count.withLock { count in
          count += 1
          return count
        }
        if n == writer {
          let live = state.rows.indices.filter { state.rows[$0]["trashed"] != true }
          if !live.isEmpty { Self.change(&state, live[place % live.count], ["description": .string(text)]) }
        }
        let number = numbers[n % 63]
        if isDead.withLock({ $0 }) { return .instead(.closed) }
        remake?.note(in: store)
        if kills, n == deadline {
          isDead.withLock { $0 = true }
          Self.kill(sync, store)
          return number % 2 == 0 ? .instead(.closed) : .after(.closed)
        }
        let isFaulty = chance == 0 ? false : chance == 1 ? number % 10 < 4 : n == 1 + numbers[0] % 5
        return isFaulty ? Self.fault(number / 10) : nil
      }
    }
  }

  /// Simulates the state after a process was killed: nothing that the run writes from now on is
  /// stored.
  private static func kill(_ sync: Int64, _ store: Store) {
    try? store.writeBlocking(.synced) { transaction in
      _ = try transaction.acquireLease(
        SyncLeases.name(sync), owner: "nobody/0/0", now: 0, duration: 0, takeover: { _ in true })
    }
  }

  private static func fault(_ number: Int) -> CollectionServer.Meddling {
    let html = "<html><body>Bad gateway</body></html>"
    switch number % 13 {
    case 0: return .instead(.closed)
    case 1: return .after(.closed)
    case 2: return .cut(bytes: 7)
    case 3: return .instead(.json(#"{"message":"failed"}"#, status: 500))
    case 4: return .after(.json(#"{"message":"failed"}"#, status: 500))
    case 5: return .instead(.status(503, headers: [("Retry-After", "1")]))
    case 6: return .instead(.status(429, headers: [("Retry-After", "1")]))
    case 7: return .instead(.text(html, status: 502, type: "text/html"))
    case 8: return .after(.text(html, status: 502, type: "text/html"))
    case 9: return .instead(.text("<html>Sign in</html>", type: "text/html"))
    case 10: return .after(.text("<html>Sign in</html>", type: "text/html"))
    case 11: return .instead(.text("<html>no such page</html>", status: 404, type: "text/html"))
    default: return .after(.status(504))
    }
  }

  // MARK: Invariants

  private func checkNoConflict() throws {
    guard isAlone else { return }
    let found = try bench.manager.conflicts(inSoup: CollectionBench.soup)
    #expect(found.isEmpty, comment("a conflict that nobody else caused: \(found)"))
  }

  /// Checks that each local change is still there or has reached the server.
  private func checkNothingLost(_ before: [Int64: JSONObject], mayUpload: Bool) throws {
    let after = try dirty(), rows = bench.server.with { $0.rows }
    for (id, entry) in before {
      let what = comment(JSONValue.object(entry).text)
      if let now = after[id] {
        #expect(Self.trimmed(now) == Self.trimmed(entry), what)
        continue
      }
      let isCreate = entry["__locally_created__"] == true, name = entry["name"]?.plain ?? ""
      let copies = rows.filter { $0["name"] == entry["name"] }
      // A sync down brings a record whose create is in doubt; then others may delete it.
      if isCreate, deletedByOthers.contains(name) { continue }
      #expect(mayUpload || isCreate && copies.count == 1, what)
      if entry["__locally_deleted__"] == true {
        #expect(copies.allSatisfy { $0["trashed"] == true }, what)
      } else {
        #expect(copies.count == 1 || !isCreate, what)
        // Another client may have changed it since.
        let isThere = copies.contains { Self.trimmed($0) == Self.trimmed(entry) }
        #expect(isThere || copies.contains { $0["description"]?.plain.hasPrefix("there") ?? false } || copies.isEmpty, what)
      }
    }
    let names = rows.filter { $0["trashed"] != true }.compactMap { $0["name"]?.stringValue }
    #expect(Set(names).count == names.count, comment("created twice: \(names.sorted())"))
  }

  private static func trimmed(_ row: JSONObject) -> String {
    (row["description"]?.plain ?? "").split(separator: " ").joined(separator: " ")
  }

  private func requests(from first: Int) -> [String] {
    bench.server.requests.dropFirst(first).map { "    \($0.method) \($0.target) \($0.text)" }
  }

  private func comment(_ what: String) -> Comment {
    "\(label)\n\(what)\n\(history.joined(separator: "\n"))"
  }

  // MARK: The end

  /// Syncs without faults, as often as a user would try.
  private func settle() async throws {
    for _ in 0..<Self.patience {
      bench.clock.advance(700)
      let asked = bench.server.requests.count
      let up = try await bench.manager.reSync(named: "up")
      history += requests(from: asked)
      history.append("  quiet up: \(up.status.rawValue) \(up.error) \(up.counts)")
      try decideDoubts()
      try checkNoConflict()
      try decideConflicts()
      if up.status == .done, try dirty().isEmpty { break }
    }
    let left = try dirty().values.map { JSONValue.object($0).text }
    #expect(left.isEmpty, comment("still dirty: \(left)"))
    for _ in 0..<Self.patience where try await bench.manager.reSync(named: "down").status == .done { break }
    _ = try await bench.cleanGhosts(force: true, name: "down")
    let there = bench.server.with { $0.rows.filter { $0["trashed"] != true } }
    let here = Set(try entries().map(Self.essence)), expected = Set(there.map(Self.essence))
    let differing = "here alone \(here.subtracting(expected).sorted()), there alone \(expected.subtracting(here).sorted())"
    #expect(try here == expected && entries().count == there.count, comment(differing))
    let names = there.compactMap { $0["name"]?.stringValue }
    #expect(Set(names).count == names.count, comment("created twice: \(names.sorted())"))
    // A record that was made here, passed over by a sync down while it was edited, and taken from the server since is known by
    // the sync up that made it.
    let made = Set(try bench.store.readBlocking { try $0.ownedByMakers(in: CollectionBench.soup) })
    let unknown = try entries().filter { $0["__sync_id__"] == nil && !made.contains($0["_soupEntryId"]?.integerValue ?? 0) }
    #expect(unknown.isEmpty, comment("rows that no clean of ghosts looks at: \(unknown)"))
  }

  /// Decides doubtful creates as a user would: looks at the server, and keeps the record there or
  /// creates it again.
  private func decideDoubts() throws {
    let doubtful = try bench.store.readBlocking {
      try $0.unsettledUploads(in: CollectionBench.soup).filter(\.inDoubt).map(\.entryId)
    }
    guard !doubtful.isEmpty else { return }
    #expect(kind.once == .nothing, comment("in doubt, although it can be found"))
    for entry in try entries() {
      guard let id = entry["_soupEntryId"]?.integerValue, doubtful.contains(id) else { continue }
      try bench.store.remove([id], from: CollectionBench.soup)
      guard !bench.server.with({ state in state.rows.contains { $0["name"] == entry["name"] } }) else { continue }
      lastName += 1
      try make("local_\(lastName)", entry.filtered { ["name", "description", "amount", "flag"].contains($0.key) })
    }
  }

  private func decideConflicts() throws {
    for conflict in try bench.manager.conflicts(inSoup: CollectionBench.soup) {
      let isOurs = conflict.server == nil && conflict.kind != .deletedThere || Bool.random(using: &random)
      history.append("  conflict of \(conflict.local["name"]?.plain ?? ""), \(conflict.kind): \(isOurs ? "ours" : "theirs")")
      _ = try bench.manager.resolveConflict(
        inSoup: CollectionBench.soup, entryId: conflict.entryId, with: isOurs ? .local : .server)
    }
  }

  private static func essence(_ row: JSONObject) -> String {
    ["id", "name", "description", "amount", "flag"].map { row[$0]?.plain ?? "-" }.joined(separator: " | ")
  }
}
