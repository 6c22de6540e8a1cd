import JSON
import Synchronization
import TestSupport

@testable import MobileSync

/// One edited record, one sync up, and another user who writes the record on the server meanwhile.
struct CheckThenSend {
  struct Seen: Sendable, CustomStringConvertible {
    /// The request before which the other user wrote; nil if the run made fewer.
    var request: Int?
    var isSameField = false
    /// Whether the write was in the second of the record's stamp.
    var isSameSecond = false
    /// Whether the other user's value of our field was lost without a report.
    var isOverwritten = false
    /// Whether the other user's value of another field was lost.
    var isOtherFieldLost = false
    /// Whether our value is neither on the server nor in a conflict, although the other user did
    /// not write it later.
    var isOwnFieldLost = false
    /// Whether the clean entry differs from the server's record after the last read.
    var isStale = false
    var requests = 0

    /// The comparison is the first request, the update the second.
    var isBetween: Bool { request == 2 }

    var description: String {
      "before request \(request ?? 0) of \(requests), \(isSameField ? "same" : "other") field, "
        + "\(isSameSecond ? "same" : "later") second; overwritten \(isOverwritten), other field lost \(isOtherFieldLost), "
        + "own field lost \(isOwnFieldLost), stale \(isStale)"
    }
  }

  private let world: ClientWorld
  private let mode: ClientScript.Mode
  private let kind: UploadKind
  private let seed: UInt64

  init(_ world: ClientWorld, _ mode: ClientScript.Mode, _ kind: UploadKind, seed: UInt64) {
    self.world = world
    self.mode = mode
    self.kind = kind
    self.seed = seed
  }

  func run() async throws -> Seen {
    var random = SeededGenerator(state: seed), script = ClientScript(layout: .twoStores, hazards: [], seed: seed)
    (script.mode, script.upload, script.clocks) = (mode, kind, [0, 0])
    try world.begin(script)
    let client = world.clients[0], field = client.field
    let request = Int.random(in: 1...4, using: &random)
    let other = [field, field, ScenarioClient.serverField, ScenarioClient.fields[1]][Int.random(in: 0..<4, using: &random)]
    let isSameSecond = Bool.random(using: &random)
    let id = try world.org.create(["Name": "A", "Description": "base"])
    _ = try await client.manager.reSync(named: client.name(.down))
    try edit(client, field)
    if !isSameSecond { world.org.clock.advance(by: 60) }
    let hasWritten = Mutex(false), world = world
    var plan = DirectClient.Plan()
    plan.before[request] = [
      {
        try? world.org.update(id, [other: "theirs"])
        hasWritten.withLock { $0 = true }
      }
    ]
    client.network.follow(plan)
    let end = try await client.manager.reSync(named: client.name(.up))
    var seen = Seen(isSameField: other == field, isSameSecond: isSameSecond, requests: client.network.log.count)
    guard end.status == .done else { return seen }
    if hasWritten.withLock({ $0 }) { seen.request = request }
    try look(client, field, other, &seen)
    return seen
  }

  private func edit(_ client: ScenarioClient, _ field: String) throws {
    guard var entry = try client.entries().first else { return }
    entry[field] = "mine"
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try client.save(entry)
  }

  private func look(_ client: ScenarioClient, _ field: String, _ other: String, _ seen: inout Seen) throws {
    guard let there = try world.org.records(["Name"] + ScenarioClient.allFields).first, let here = try client.entries().first
    else { return }
    let hasConflict = try !client.manager.conflicts(inSoup: "accounts").isEmpty
    if seen.request != nil, there[other] != "theirs" {
      if seen.isSameField { seen.isOverwritten = !hasConflict } else { seen.isOtherFieldLost = true }
    }
    let isLater = seen.isSameField && seen.request != nil
    seen.isOwnFieldLost = there[field] != "mine" && !hasConflict && !isLater
    // A collection is read again, as its third request.
    guard kind == .collection, !here.isLocal, seen.request.map({ $0 <= 3 }) ?? true else { return }
    seen.isStale = ScenarioClient.allFields.contains { (here[$0]?.stringValue ?? "") != (there[$0]?.stringValue ?? "") }
  }
}
