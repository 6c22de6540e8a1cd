import Foundation
import JSON
import SandboxOrg
import Synchronization
import Testing

@testable import MobileSync

/// Changes on both sides and syncs in a random order, with a network and a server that fail at random. Once the faults stop and
/// the syncs run again, store and server are equal, no local change was lost and nothing was created twice.
///
/// `TUREEN_SEED` begins elsewhere, `TUREEN_SCENARIOS` asks for more than the usual few. Every failure names its seed.
@Suite struct RandomScenarioTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["TUREEN_SEED"].flatMap { UInt64($0) } ?? 20_260
  private static let scenarios = environment["TUREEN_SCENARIOS"].flatMap { UInt64($0) } ?? 24

  @Test func scenarios_withFaults_endEqualAndLoseNothing() async throws {
    for n in 0..<Self.scenarios { try await Scenario(seed: Self.seed &+ n).run() }
  }
}

/// One of them.
private final class Scenario {
  private let label: Comment
  private var random: ScenarioRandom
  private let kind: UploadKind
  private var bench: SyncBench!
  private var lastName = 0
  private var history: [String] = []

  private static let steps = 14

  init(seed: UInt64) {
    label = "TUREEN_SEED=\(seed) TUREEN_SCENARIOS=1"
    random = ScenarioRandom(state: seed)
    kind = UploadKind.allCases.randomElement(using: &random) ?? .collection
  }

  func run() async throws {
    var configuration = SyncConfiguration()
    configuration.ghostFeedEntries = Bool.random(using: &random) ? 0 : 2000
    bench = try await SyncBench(kind: kind, pageSize: 3, realTime: true, configuration: configuration)
    for _ in 0..<5 { try serverCreates() }
    try bench.manager.createSyncDown(
      target: SyncBench.accounts, options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: "accounts", syncName: "down")
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: SyncBench.upload, soupName: "accounts", syncName: "up")
    _ = try await bench.manager.reSync(named: "down")
    for _ in 0..<Self.steps { try await step() }
    try await settle()
    await bench.close()
  }

  private func step() async throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: try serverCreates()
    case 1: try serverChanges()
    case 2: try serverDeletes()
    case 3: try localCreates()
    case 4: try localChanges()
    case 5: try localDeletes()
    case 6: try await sync("up")
    case 7: try await sync(try hasLostCreates() ? "up" : "down")
    case 8: try await sync("up")
    default: try await sync("ghosts")
    }
  }

  // MARK: Changes

  private func name(_ kind: String) -> String {
    lastName += 1
    return "\(kind) \(lastName)"
  }

  private func serverCreates() throws {
    let name = name("server")
    history.append("server creates \(name)")
    try bench.org.create("Account", fields: ["Name": .string(name), "Description": .string("of " + name)])
  }

  private func serverRecords() throws -> [JSONValue] {
    try bench.org.query("SELECT Id, Name, Description FROM Account ORDER BY Id")["records"]?.arrayValue ?? []
  }

  private func serverChanges() throws {
    guard let record = try serverRecords().randomElement(using: &random), let id = record["Id"]?.stringValue else { return }
    history.append("server changes \(record["Name"]?.stringValue ?? "")")
    try bench.org.update("Account", id: id, fields: ["Description": .string(name("there"))])
  }

  /// Only of records that a sync down brought: others belong to no sync yet, and stay.
  private func serverDeletes() throws {
    let brought = try bench.entries().filter { $0["__sync_id__"]?.integerValue != nil }.compactMap { $0["Id"]?.stringValue }
    let live = Set(try serverRecords().compactMap { $0["Id"]?.stringValue })
    guard let id = brought.filter(live.contains).sorted().randomElement(using: &random) else { return }
    history.append("server deletes \(id)")
    try bench.org.delete("Account", id: id)
  }

  private func localCreates() throws {
    let name = name("local")
    history.append("here: \(name)")
    try bench.createLocally(name, ["Description": .string("of " + name)])
  }

  /// An entry that the server knows. One that was sent and edited before the answer was found is left in doubt, on purpose.
  private func known() throws -> JSONObject? {
    try bench.entries().filter {
      $0["__locally_created__"] != true && $0["__locally_deleted__"] != true
        && $0["Id"]?.stringValue?.hasPrefix("local_") == false
    }.randomElement(using: &random)
  }

  private func localChanges() throws {
    guard let name = try known()?["Name"]?.stringValue else { return }
    history.append("here: changes \(name)")
    try bench.updateLocally(name, ["Description": .string(self.name("here"))])
  }

  private func localDeletes() throws {
    guard let name = try known()?["Name"]?.stringValue else { return }
    history.append("here: deletes \(name)")
    try bench.deleteLocally(name)
  }

  // MARK: Syncs

  private func sync(_ what: String) async throws {
    let before = try dirty()
    // Uploads take a good status for an answer, whatever its body is.
    let faults = ScenarioFault.allCases.filter { what != "up" || $0 != .page }
    let fault = faults.randomElement(using: &random) ?? .nothing
    let first = Int.random(in: 0..<3, using: &random), count = Bool.random(using: &random) ? 1 : 100
    let seen = Mutex(0)
    bench.org.setInterceptor { _ in
      let number = seen.withLock { seen in
        defer { seen += 1 }
        return seen
      }
      return number >= first && number < first + count ? fault.interception : nil
    }
    defer { bench.org.setInterceptor(nil) }
    history.append("\(what), \(fault) from request \(first), \(count) times")
    switch what {
    case "ghosts": _ = try? await bench.manager.cleanGhosts(named: "down")
    default: _ = try await bench.manager.reSync(named: what)
    }
    try checkNothingLost(before, mayUpload: what == "up")
  }

  /// Creates without an answer. They are looked for first: a sync down would bring the record as an entry of its own, and then
  /// nobody can tell whether it is the same one.
  private func hasLostCreates() throws -> Bool {
    try bench.store.readBlocking { try !$0.unsettledUploads(in: "accounts").isEmpty }
  }

  /// Dirty entries by their own ids.
  private func dirty() throws -> [Int64: JSONObject] {
    let entries = try bench.entries().filter { $0["__local__"] == true }
    return Dictionary(uniqueKeysWithValues: entries.map { ($0["_soupEntryId"]?.integerValue ?? 0, $0) })
  }

  /// Each local change is still there, or has reached the server.
  private func checkNothingLost(_ before: [Int64: JSONObject], mayUpload: Bool) throws {
    let after = try dirty(), there = try serverRecords()
    for (id, entry) in before {
      if let now = after[id] {
        #expect(now["Description"] == entry["Description"], label(of: entry))
        continue
      }
      #expect(mayUpload, label(of: entry))
      let copies = there.filter { $0["Name"] == entry["Name"] }
      if entry["__locally_deleted__"] == true {
        #expect(copies.isEmpty, label(of: entry))
      } else {
        #expect(copies.count == 1 && copies.first?["Description"] == entry["Description"], label(of: entry))
      }
    }
  }

  private func label(of entry: JSONObject) -> Comment {
    "\(label.rawValue) \(kind): \(JSONValue.object(entry).text)\n\(history.joined(separator: "\n"))"
  }

  /// Without faults, once more.
  private func settle() async throws {
    let up = try await bench.manager.reSync(named: "up"), down = try await bench.manager.reSync(named: "down")
    _ = try await bench.manager.cleanGhosts(named: "down")
    let all: Comment = "\(label.rawValue) \(kind)\n\(history.joined(separator: "\n"))"
    #expect(up.status == .done && up.counts.failed == 0 && up.counts.inDoubt == 0 && down.status == .done, all)
    let there = try serverRecords().map(Self.essence), here = try bench.entries().map { Self.essence(.object($0)) }
    #expect(here.sorted() == there.sorted(), all)
    #expect(try bench.dirtyCount() == 0, all)
    let names = try bench.serverNames()
    #expect(Set(names).count == names.count, all)
  }

  private static func essence(_ record: JSONValue) -> String {
    ["Id", "Name", "Description"].map { record[$0]?.stringValue ?? "-" }.joined(separator: " | ")
  }
}

/// What may happen to a request.
private enum ScenarioFault: CaseIterable, Sendable {
  case nothing, serverError, unavailable, lostRequest, lostAnswer, cutAnswer, page

  var interception: Interception? {
    switch self {
    case .nothing: nil
    case .serverError: .respond(status: 500, body: #"[{"message":"unexpected","errorCode":"UNKNOWN_EXCEPTION"}]"#)
    case .unavailable: .respond(status: 503, body: "busy")
    case .lostRequest: .dropBeforeHandling
    case .lostAnswer: .dropAfterHandling
    case .cutAnswer: .dropConnection(afterBytes: 5)
    case .page: .respond(status: 200, headers: [(name: "Content-Type", value: "text/html")], body: "<html>sign in</html>")
    }
  }
}

/// SplitMix64.
private struct ScenarioRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
