import JSON
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync

/// One scenario: changes on both sides, syncs with faults, then a quiet end.
final class Scenario {
  private let world: ScenarioWorld
  private let label: String
  private var random: SeededGenerator
  private var lastName = 0
  private var history: [String] = []
  /// Whether answers have corrupted bytes, so that their records may be wrong.
  private var isDamaged = false
  /// Whether nobody else changes anything.
  private var isAlone = false

  private static let steps = 10

  private var hasFamilies: Bool { world.kind.down == .parent_children }
  private var isWritable: Bool { world.kind.up != nil }

  init(_ world: ScenarioWorld, seed: UInt64, label: String) {
    self.world = world
    self.label = label
    random = SeededGenerator(state: seed)
  }

  func run() async throws {
    let kinds = ScenarioFaults.kinds(world.org)
    // Even the first run may meet faults, and is then completed by the next.
    try await begin(Bool.random(using: &random) ? rules(kinds) : [])
    for _ in 0..<Self.steps { try await step(kinds: kinds) }
    try await settle()
  }

  /// Changes and syncs of one client alone, with a bad network: nothing may conflict, since nobody else changes anything.
  func runAlone() async throws {
    isAlone = true
    let kinds = ScenarioFaults.kinds(world.org)
    try await begin([])
    for _ in 0..<Self.steps {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try localCreates()
      case 1, 2, 3: try localChanges()
      case 4: try localDeletes()
      case 5, 6: try await sync("up", rules(kinds))
      default: try await sync("down", rules(kinds))
      }
    }
    try await settle()
    let left = try world.dirty().values.map { JSONValue.object($0).text }
    #expect(left.isEmpty, comment("still dirty: \(left)"))
  }

  /// Checks that no conflict was found.
  private func checkNoConflict(_ end: SyncState) throws {
    guard isAlone else { return }
    #expect(end.counts.conflicting == 0, comment("\(end.counts)"))
    for soup in ["accounts", "contacts"] {
      let found = try world.manager.conflicts(inSoup: soup)
      #expect(found.isEmpty, comment("\(found)"))
    }
  }

  /// Applies this fault to every kind of run: to an upload at each request, to the others between
  /// their pages.
  func run(through fault: Fault) async throws {
    func rule(_ condition: FaultCondition) -> FaultRule {
      FaultRule(fault, when: condition, times: fault.kind == "hang" ? 1 : nil)
    }
    // Targets that fetch everything at once have no second request.
    let between: FaultCondition = [.sosl, .layout, .metadata].contains(world.kind.down) ? .always : .nth(2)
    try await begin([rule(between)])
    if isWritable {
      for _ in 0..<3 { try localCreates() }
      for _ in 0..<2 { try localChanges() }
      try localDeletes()
      try await sync("up", [rule(.always)])
      for _ in 0..<4 { try serverCreates() }
      try serverChanges()
    }
    try await sync("down", [rule(between)])
    if isWritable { try serverDeletes() }
    try await sync("ghosts", [rule(between)])
    try await settle()
  }

  /// Runs with answers whose bytes are corrupted on the way.
  func runDamaged() async throws {
    let kinds = [Fault.flipBytes(count: 2)]
    isDamaged = true
    try await begin(rules(kinds))
    for _ in 0..<Self.steps { try await step(kinds: kinds) }
  }

  /// - Parameter rules: The faults of the first sync down.
  private func begin(_ rules: [FaultRule]) async throws {
    try world.begin()
    if isWritable { for _ in 0..<4 { try serverCreates() } }
    if world.kind.down == .mru { await world.viewAccounts() }
    let modes: [MergeMode] = isAlone ? MergeMode.allCases : [.overwrite, .leaveIfChanged]
    let mode = modes.randomElement(using: &random) ?? .overwrite
    history.append("mode \(mode.rawValue)")
    try world.createSyncs(mode)
    if world.kind.down == .refresh {
      _ = try await world.manager.syncDown(
        target: ["type": "soql", "query": .string(ScenarioWorld.query)], soupName: "accounts", syncName: "fill")
    }
    if !rules.isEmpty { try await sync("down", rules) }
    try await quietDown()
  }

  private func step(kinds: [Fault]) async throws {
    switch isWritable ? Int.random(in: 0..<10, using: &random) : Int.random(in: 8..<10, using: &random) {
    case 0: try serverCreates()
    case 1: try serverChanges()
    case 2: try serverDeletes()
    case 3: try localCreates()
    case 4: try localChanges()
    case 5: try localDeletes()
    case 6, 7: try await sync("up", rules(kinds))
    case 8: try await sync("down", rules(kinds))
    default: try await sync("ghosts", rules(kinds))
    }
  }

  // MARK: Changes there

  private func name(_ kind: String) -> String {
    lastName += 1
    return "\(kind) \(lastName) \(ScenarioWorld.word)"
  }

  private func serverCreates() throws {
    let name = name("server")
    history.append("server creates \(name)")
    let id = try world.org.create("Account", fields: ["Name": .string(name), "Description": .string("of " + name)])
    if hasFamilies {
      try world.org.create("Contact", fields: ["LastName": .string("child of " + name), "AccountId": .string(id)])
    }
  }

  private func serverChanges() throws {
    guard let record = try world.accounts().randomElement(using: &random), let id = record["Id"]?.stringValue else { return }
    history.append("server changes \(record["Name"]?.stringValue ?? "")")
    try world.org.update("Account", id: id, fields: ["Description": .string(name("there"))])
  }

  /// Deletes only records that a sync down brought: others belong to no sync yet and stay.
  private func serverDeletes() throws {
    let brought = try world.entries().filter { $0["__sync_id__"]?.integerValue != nil }.compactMap { $0["Id"]?.stringValue }
    let live = Set(try world.accounts().compactMap { $0["Id"]?.stringValue })
    guard let id = brought.filter(live.contains).sorted().randomElement(using: &random) else { return }
    history.append("server deletes \(id)")
    try world.org.delete("Account", id: id)
  }

  // MARK: Changes here

  private func save(_ entry: JSONObject, _ soup: String = "accounts") throws {
    _ = try world.store.upsert(JSONValue.array([.object(entry)]).serialized(), into: soup)
  }

  private func localCreates() throws {
    let name = name("local")
    history.append("here: \(name)")
    let id = JSONValue.string("local_\(random.next())")
    var entry: JSONObject = [
      "Id": id, "attributes": ["type": "Account"], "Name": .string(name), "Description": .string("of " + name),
      "__local__": true, "__locally_created__": true, "__locally_updated__": false, "__locally_deleted__": false,
    ]
    try save(entry)
    guard hasFamilies else { return }
    entry["Id"] = .string("local_\(random.next())")
    entry["attributes"] = ["type": "Contact"]
    entry["Name"] = nil
    entry["Description"] = nil
    entry["LastName"] = .string("child of " + name)
    entry["AccountId"] = id
    try save(entry, "contacts")
  }

  /// Returns an entry that the server knows. One that was sent, and edited before the answer was
  /// found, is left in doubt on purpose.
  private func known() throws -> JSONObject? {
    try world.entries().filter {
      $0["__locally_created__"] != true && $0["__locally_deleted__"] != true
        && $0["Id"]?.stringValue?.hasPrefix("local_") == false
    }.randomElement(using: &random)
  }

  private func localChanges() throws {
    guard var entry = try known() else { return }
    history.append("here: changes \(entry["Name"]?.stringValue ?? "")")
    entry["Description"] = .string(name("here"))
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try save(entry)
  }

  private func localDeletes() throws {
    guard var entry = try known() else { return }
    history.append("here: deletes \(entry["Name"]?.stringValue ?? "")")
    entry["__local__"] = true
    entry["__locally_deleted__"] = true
    try save(entry)
  }

  // MARK: Syncs

  /// Returns one or two random faults.
  private func rules(_ kinds: [Fault]) -> [FaultRule] {
    (0..<Int.random(in: 1...2, using: &random)).compactMap { _ in
      kinds.randomElement(using: &random).map { ScenarioFaults.rule($0, &random) }
    }
  }

  private func sync(_ what: String, _ rules: [FaultRule]) async throws {
    let before = try world.dirty(), asked = world.org.requests().count
    try world.org.faults.add(rules)
    let faults = rules.map { "\($0.fault.kind) \(JSONValue.object($0.fault.parameters).text) \($0.condition)" }
    history.append("\(what), \(faults.joined(separator: ", "))")
    switch what {
    case "ghosts": _ = try? await world.manager.cleanGhosts(named: "down")
    default:
      let end = try await world.manager.reSync(named: what)
      history.append("  \(end.status.rawValue) \(end.error)")
      try checkNoConflict(end)
    }
    world.org.faults.clear()
    history += requests(from: asked)
    try checkNothingLost(before, mayUpload: what == "up")
  }

  /// Checks that each local change still exists or has reached the server.
  private func checkNothingLost(_ before: [Int64: JSONObject], mayUpload: Bool) throws {
    let after = try world.dirty(), there = try world.accounts()
    let here = Set(try world.entries().compactMap { $0["_soupEntryId"]?.integerValue })
    for (id, entry) in before {
      if let now = after[id] {
        #expect(now["Description"] == entry["Description"], comment(JSONValue.object(entry).text))
        continue
      }
      let copies = there.filter { $0["Name"] == entry["Name"] }
      // A client that gets a corrupted id considers its record deleted and creates it again.
      let isThere = isDamaged ? !copies.isEmpty : copies.count == 1
      // A lost create that a sync down has found is clean from then on.
      let isSettled = entry["__locally_created__"] == true && here.contains(id) && isThere
      #expect(mayUpload || isSettled, comment(JSONValue.object(entry).text))
      if entry["__locally_deleted__"] == true {
        #expect(isDamaged || copies.isEmpty, comment(JSONValue.object(entry).text))
      } else {
        #expect(
          isThere && (isSettled || copies.contains { $0["Description"] == entry["Description"] }),
          comment(JSONValue.object(entry).text))
      }
    }
  }

  private func requests(from first: Int) -> [String] {
    world.org.requests().dropFirst(first).map { "    \($0.summary) \($0.body.prefix(300))" }
  }

  private func comment(_ what: String) -> Comment {
    "\(label)\n\(what)\n\(history.joined(separator: "\n"))"
  }

  // MARK: The end

  /// Runs the syncs without faults, a few times.
  private func settle() async throws {
    // A refused sign-in is remembered and not repeated automatically.
    for _ in 0..<Self.patience where (try? await world.client.signIn()) != nil { break }
    if isWritable {
      let asked = world.org.requests().count
      var up = try await world.manager.reSync(named: "up")
      history += ["quiet up"] + requests(from: asked)
      // What has changed between a look and a write is left to the next run.
      for _ in 0..<Self.patience {
        guard try up.status != .done || up.counts.inDoubt > 0 || isAlone && !world.dirty().isEmpty else { break }
        world.wait(milliseconds: 11_000)
        try decideDoubts()
        up = try await world.manager.reSync(named: "up")
      }
      #expect(up.status == .done && up.counts.failed == 0 && up.counts.inDoubt == 0, comment("\(up.error) \(up.counts)"))
      try checkNoConflict(up)
    }
    let held = try heldRecords()
    if world.kind.down == .mru { await world.viewAccounts() }
    try await quietDown()
    for name in world.kind.down == .refresh ? ["down", "fill"] : ["down"] {
      for _ in 0..<Self.patience where (try? await world.manager.cleanGhosts(named: name)) != nil { break }
    }
    try checkEqual(held)
  }

  /// How often an action is retried that can only fail because this machine is overloaded.
  private static let patience = 20

  private func quietDown() async throws {
    var down = try await world.manager.reSync(named: "down")
    for _ in 0..<Self.patience where down.status != .done { down = try await world.manager.reSync(named: "down") }
    #expect(down.status == .done, comment(down.error))
  }

  /// Does what a user does about a create in doubt: looks at the server and keeps what is there.
  private func decideDoubts() throws {
    for (soup, type, name) in [("accounts", "Account", "Name"), ("contacts", "Contact", "LastName")] {
      let doubtful = try world.store.readBlocking { try $0.unsettledUploads(in: soup).filter(\.inDoubt).map(\.entryId) }
      guard !doubtful.isEmpty else { continue }
      let there = try world.records(type, "Id, \(name)")
      for entry in try world.entries(soup) {
        guard let id = entry["_soupEntryId"]?.integerValue, doubtful.contains(id) else { continue }
        #expect(there.contains { $0[name] == entry[name] }, comment("in doubt without a record: \(JSONValue.object(entry).text)"))
        try world.store.remove([id], from: soup)
      }
    }
  }

  /// Returns the held records for a refresh, which brings no others.
  private func heldRecords() throws -> Set<String>? {
    guard world.kind.down == .refresh else { return nil }
    return Set(try world.entries().compactMap { $0["Id"]?.stringValue })
  }

  private func checkEqual(_ held: Set<String>?) throws {
    guard isWritable else {
      #expect(try world.entries().count == 1, comment("not one record"))
      return
    }
    // Changes that lose against the server's, or that the server already has; nothing else may
    // still be dirty.
    let waiting = try world.dirty().values, waitingChildren = try conflictingChildren()
    // A family stays as it is if one of its members waits, even if the parent is clean.
    let conflicting = Set(
      waiting.compactMap { $0["Id"]?.stringValue } + waitingChildren.compactMap { $0["AccountId"]?.stringValue })
    let there = try world.accounts().filter { record in
      let id = record["Id"]?.stringValue ?? ""
      return (held?.contains(id) ?? true) && !conflicting.contains(id)
    }
    let here = try world.entries().filter {
      $0["__local__"] != true && !conflicting.contains($0["Id"]?.stringValue ?? "")
    }
    #expect(here.map { Self.essence(.object($0)) }.sorted() == there.map(Self.essence).sorted(), comment("accounts"))
    #expect(waiting.allSatisfy { $0["__locally_created__"] != true }, comment("a create still waits"))
    let names = try world.accounts().compactMap { $0["Name"]?.stringValue }
    #expect(Set(names).count == names.count, comment("created twice: \(names)"))
    guard hasFamilies else { return }
    let children = try world.records("Contact", "Id, LastName").compactMap { $0["LastName"]?.stringValue }
    #expect(Set(children).count == children.count, comment("created twice: \(children)"))
    if waiting.isEmpty {
      let ofWaiting = Set(waitingChildren.compactMap { $0["LastName"]?.stringValue })
      func others(_ names: [String]) -> [String] { names.filter { !ofWaiting.contains($0) }.sorted() }
      let kept = try world.entries("contacts").compactMap { $0["LastName"]?.stringValue }
      #expect(others(kept) == others(children), comment("contacts"))
    }
  }

  /// Returns the children that lose against the server's change of their family. Others must not be
  /// dirty at the end.
  private func conflictingChildren() throws -> [JSONObject] {
    guard hasFamilies else { return [] }
    let dirty = try world.entries("contacts").filter { $0["__local__"] == true }
    let known = Set(try world.manager.conflicts(inSoup: "contacts").map(\.entryId))
    for child in dirty where !known.contains(child["_soupEntryId"]?.integerValue ?? 0) {
      Issue.record(comment("a child is dirty without a conflict: \(JSONValue.object(child).text)"))
    }
    return dirty
  }

  private static func essence(_ record: JSONValue) -> String {
    ["Id", "Name", "Description"].map { record[$0]?.stringValue ?? "-" }.joined(separator: " | ")
  }
}

/// The faults of requests.
enum ScenarioFaults {
  /// Every kind of fault except corrupted answers, which no client can detect.
  static func kinds(_ org: SandboxServer) -> [Fault] {
    org.faults.kinds.filter { $0.name != "flipBytes" }.map { kind in
      switch kind.name {
      // Within the time that a re-sync looks back.
      case "equalStamps": Fault(kind.name, ["seconds": 20])
      case "stampSkew": Fault(kind.name, ["seconds": -20])
      case "lateCommit": Fault(kind.name, ["requests": 2, "answer": "lost"])
      default: kind.sample
      }
    }
  }

  static func rule(_ fault: Fault, _ random: inout SeededGenerator) -> FaultRule {
    if fault.kind == "hang" {
      let executed = Bool.random(using: &random)
      return FaultRule(.hang(executed: executed), when: .nth(Int.random(in: 1...3, using: &random)), times: 1)
    }
    let condition: FaultCondition =
      switch Int.random(in: 0..<3, using: &random) {
      case 0: .always
      case 1: .nth(Int.random(in: 1...4, using: &random))
      default: .probability(0.4)
      }
    return FaultRule(fault, when: condition)
  }
}
