import JSON
import SmartStore

@testable import MobileSync

/// Performs a script, waits until everything is settled, and checks the result.
///
/// There is one task at a time: steps inside a run's request happen while the script waits for that
/// run.
final class ClientScenario: @unchecked Sendable {
  private let world: ClientWorld
  private let script: ClientScript
  private let ledger = EditLedger()
  private var copies: [[JSONObject]] = [[], []]
  private var lastNumber = 0
  /// The steps and their results.
  private(set) var history: [String] = []
  private(set) var problems: [String] = []

  init(_ world: ClientWorld, _ script: ClientScript) {
    self.world = world
    self.script = script
  }

  /// - Returns: The problems at the end; empty if there are none.
  func run() async throws -> [String] {
    try world.begin(script)
    for step in script.steps {
      if !script.hazards.contains(.sameSecond) { world.org.clock.advance(by: 1) }
      await perform(step)
    }
    try await settle()
    return problems
  }

  private func problem(_ text: String) { problems.append(text) }

  private func number() -> Int {
    lastNumber += 1
    return lastNumber
  }

  // MARK: Steps

  private func perform(_ step: ClientStep) async {
    do {
      switch step {
      case .syncs(let client, let word, let events): try await sync(world.clients[client], word, events)
      case .creates, .changes, .deletes, .copies, .savesCopy, .deletesCopy: try edit(step)
      default: try serverStep(step)
      }
    } catch {
      problem("\(step): \(error)")
    }
  }

  private func serverStep(_ step: ClientStep) throws {
    let field = ScenarioClient.serverField, value = "+1 \(number())"
    switch step {
    case .wait(let seconds): world.org.clock.advance(by: Int64(seconds))
    case .serverCreates, .serverCreatesLate:
      let name = "server \(lastNumber)", ledger = ledger
      let fields: JSONObject = ["Name": .string(name), field: .string(value)]
      if case .serverCreatesLate(let seconds) = step {
        try world.org.changeLate(nil, fields, seconds: seconds) { ledger.wrote(value, to: field, of: name) }
      } else {
        try world.org.create(fields)
        ledger.wrote(value, to: field, of: name)
      }
      history.append("the server has \(name)")
    case .serverChanges(let n), .serverChangesLate(let n, _):
      guard let record = try pick(n, world.org.records(["Name"])), let id = record["Id"]?.stringValue else { return }
      let name = record.name, ledger = ledger
      if case .serverChangesLate(_, let seconds) = step {
        try world.org.changeLate(id, [field: .string(value)], seconds: seconds) { ledger.wrote(value, to: field, of: name) }
      } else {
        try world.org.update(id, [field: .string(value)])
        ledger.wrote(value, to: field, of: name)
      }
      history.append("the server's \(name) gets \(field) \(value)")
    case .serverDeletes(let n):
      guard let record = try pick(n, deletable()), let id = record["Id"]?.stringValue else { return }
      try world.org.delete(id)
      ledger.deleted(record.name)
      history.append("the server's \(record.name) is deleted")
    default: break
    }
  }

  /// Returns the records that a sync down brought to every client: others belong to no sync yet and
  /// would stay there.
  private func deletable() throws -> [JSONObject] {
    let known = try world.owners.flatMap { try $0.entries() }
    return try world.org.records(["Name"]).filter { record in
      let copies = known.filter { $0["Id"] == record["Id"] }
      return !copies.isEmpty && copies.allSatisfy { $0["__sync_id__"]?.integerValue != nil }
    }
  }

  private func pick<T>(_ n: Int, _ list: [T]) -> T? { list.isEmpty ? nil : list[n % list.count] }

  // MARK: Changes here

  private func edit(_ step: ClientStep) throws {
    switch step {
    case .creates(let n): try create(world.clients[n])
    case .changes(let n, let which): try pick(which, living(n)).map { try change($0, world.clients[n]) }
    case .deletes(let n, let which): try pick(which, living(n)).map { try delete($0, world.clients[n]) }
    case .copies(let n, let which):
      guard let entry = try pick(which, living(n)) else { return }
      copies[n].append(entry)
      history.append("client \(n) reads \(entry.name)")
    case .savesCopy(let n, let which), .deletesCopy(let n, let which):
      guard !copies[n].isEmpty else { return }
      let copy = copies[n].remove(at: which % copies[n].count), client = world.clients[n]
      // An entry that was removed meanwhile cannot be saved, and the application gets an error.
      guard let current = try client.entry(copy.entryId) else { return }
      ledger.excuse(copy.name, fields: ScenarioClient.allFields.filter { copy[$0] != current[$0] })
      history.append("client \(n) saves its copy of \(copy.name)")
      if case .deletesCopy = step { try delete(copy, client) } else { try change(copy, client) }
    default: break
    }
  }

  private func living(_ client: Int) throws -> [JSONObject] {
    try world.clients[client].entries().filter { $0["__locally_deleted__"] != true }
  }

  private func create(_ client: ScenarioClient) throws {
    let n = number(), name = "local \(n)", value = "+1 \(n)"
    try client.save([
      "Id": .string("local_\(n)"), "attributes": ["type": "Account"], "Name": .string(name), client.field: .string(value),
      "__local__": true, "__locally_created__": true, "__locally_updated__": false, "__locally_deleted__": false,
    ])
    ledger.wrote(value, to: client.field, of: name)
    history.append("client \(client.number) has \(name)")
  }

  private func change(_ given: JSONObject, _ client: ScenarioClient) throws {
    let value = "+1 \(number())"
    var entry = given
    entry[client.field] = .string(value)
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try client.save(entry)
    ledger.wrote(value, to: client.field, of: entry.name)
    history.append("client \(client.number)'s \(entry.name) gets \(client.field) \(value)")
  }

  private func delete(_ given: JSONObject, _ client: ScenarioClient) throws {
    var entry = given
    entry["__local__"] = true
    entry["__locally_deleted__"] = true
    try client.save(entry)
    ledger.deleted(entry.name)
    history.append("client \(client.number) deletes \(entry.name)")
  }

  // MARK: Syncs

  private func sync(_ client: ScenarioClient, _ word: ClientStep.Word, _ events: [ClientEvent]) async throws {
    var plan = DirectClient.Plan()
    for event in events {
      switch event.what {
      case .fault(let fault): plan.faults[event.request] = fault
      case .before(let step): plan.before[event.request, default: []].append { await self.perform(step) }
      case .after(let step): plan.after[event.request, default: []].append { await self.perform(step) }
      }
    }
    client.network.follow(plan)
    history.append("client \(client.number) syncs \(word.rawValue)")
    do {
      if word == .ghosts {
        history.append("  \(try await client.manager.cleanGhosts(named: client.name(.down))) ghosts")
      } else {
        note(try await client.manager.reSync(named: client.name(word)), client)
      }
    } catch let error as SyncError {
      // Its own run continues later in the script; or the requested run failed.
      history.append("  client \(client.number): \(error.code) \(error.message)")
    }
    client.network.follow(DirectClient.Plan())
  }

  private func note(_ end: SyncState, _ client: ScenarioClient) {
    let counts = end.counts
    history.append(
      "  client \(client.number): \(end.status.rawValue) \(end.error) total \(end.totalSize), sent \(counts.succeeded), "
        + "refused \(counts.failed), in doubt \(counts.inDoubt), conflicting \(counts.conflicting), fetched \(counts.fetched)")
    for line in client.network.log { history.append("    \(line)") }
    client.network.follow(DirectClient.Plan())
  }

  // MARK: The end

  /// Long enough for everything in progress on the server.
  private static let rest: Int64 = 1_200
  private static let rounds = 8

  private func settle() async throws {
    history.append("-- no more faults")
    world.org.clock.advance(by: Self.rest)
    var isQuiet = false
    for _ in 0..<Self.rounds where !isQuiet {
      isQuiet = true
      for client in world.clients {
        try decide(client)
        for word in [ClientStep.Word.up, .down] {
          let end = try await client.manager.reSync(named: client.name(word))
          note(end, client)
          if word == .up { try giveUpUnsentFields(client) }
          isQuiet = isQuiet && end.status == .done && end.counts.failed == 0 && end.counts.inDoubt == 0
        }
      }
      let dirty = try world.owners.flatMap { try $0.entries() }.filter(\.isLocal)
      isQuiet = isQuiet && dirty.isEmpty
      world.org.clock.advance(by: 60)
    }
    for client in world.clients {
      for word in [ClientStep.Word.ghosts, .down] { try await sync(client, word, []) }
    }
    try check()
  }

  /// Makes the decisions of a user: about conflicts, and about creates in doubt.
  private func decide(_ client: ScenarioClient) throws {
    for conflict in try client.manager.conflicts(inSoup: "accounts") {
      let resolution: ConflictResolution = conflict.kind == .deletedThere ? .server : .local
      _ = try client.manager.resolveConflict(inSoup: "accounts", entryId: conflict.entryId, with: resolution)
      history.append("client \(client.number) resolves \(conflict.local.name): \(conflict.kind.rawValue), \(resolution)")
    }
    let doubtful = try client.store.readBlocking { try $0.unsettledUploads(in: "accounts").filter(\.inDoubt).map(\.entryId) }
    let there = doubtful.isEmpty ? [] : try world.org.records(["Name"])
    for var entry in try client.entries() where doubtful.contains(entry.entryId) {
      history.append("client \(client.number) is in doubt about \(entry.name)")
      if let found = there.first(where: { $0["Name"] == entry["Name"] }) {
        entry["Id"] = found["Id"]
        entry["__locally_created__"] = false
        entry["__locally_updated__"] = true
        try client.save(entry)
      } else {
        try client.store.remove([entry.entryId], from: "accounts")
        entry["_soupEntryId"] = nil
        entry["__last_error__"] = nil
        try client.save(entry)
      }
    }
  }

  /// Gives up changes that no field list sends, after a sync up has sent all others. They come from copies: a copy that was
  /// read before another user's change in the same second puts the old value back.
  private func giveUpUnsentFields(_ client: ScenarioClient) throws {
    for var entry in try client.entries() where entry.isLocal {
      guard let text = entry["__last_error__"]?.stringValue,
        try JSONValue(parsing: text).objectValue?["errorCode"] == "NOTHING_TO_SEND",
        let record = try world.org.records(["Name"] + ScenarioClient.allFields).first(where: { $0["Id"] == entry["Id"] })
      else { continue }
      for field in ScenarioClient.allFields { entry[field] = record[field] }
      entry["__last_error__"] = nil
      for flag in ["__local__", "__locally_updated__"] { entry[flag] = false }
      try client.save(entry)
      history.append("client \(client.number) gives up its changes of \(entry.name) that are not sent")
    }
  }

  // MARK: Checking

  private func check() throws {
    let there = try world.org.records(["Name"] + ScenarioClient.allFields)
    expectOnce(there.map(\.name), "on the server")
    for client in world.owners {
      let entries = try client.entries()
      expectOnce(entries.map(\.name), "in the store of client \(client.number)")
      for entry in entries where entry.isLocal {
        problem("client \(client.number)'s \(entry.name) stays dirty: \(JSONValue.object(entry).text)")
      }
      let mine = Set(entries.filter { !$0.isLocal }.map(Self.essence)), theirs = Set(there.map(Self.essence))
      for record in theirs.subtracting(mine).sorted() { problem("client \(client.number) lacks \(record)") }
      for record in mine.subtracting(theirs).sorted() { problem("client \(client.number) alone has \(record)") }
    }
    for client in world.clients {
      for word in [ClientStep.Word.up, .down] {
        let state = try client.manager.getSyncStatus(.name(client.name(word)))
        guard state?.status != .done else { continue }
        problem("\(client.name(word)) is \(state?.status.rawValue ?? "gone"): \(state?.error ?? "")")
      }
    }
    problems += ledger.missing(from: there)
  }

  private func expectOnce(_ names: [String], _ place: String) {
    for (name, all) in Dictionary(grouping: names, by: { $0 }) where all.count > 1 {
      // Two devices that overwrite have each restored what somebody deleted.
      guard script.mode != .overwrite || script.layout != .twoStores || !ledger.wasDeleted(name) else { continue }
      problem("\(name) is \(all.count) times \(place)")
    }
  }

  private static func essence(_ record: JSONObject) -> String {
    (["Id", "Name"] + ScenarioClient.allFields).map { record[$0]?.stringValue ?? "-" }.joined(separator: " | ")
  }
}
