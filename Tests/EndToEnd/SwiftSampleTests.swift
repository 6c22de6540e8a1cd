import JSON
import MobileSync
import RestClient
import SandboxOrg
import SmartStore
import Testing

@testable import Salesforce

/// Tests a Swift tool that uses only public API: every call by its name in the native SDK, with a callback and as `async`.
@Suite struct SwiftSampleTests {
  private static let contacts: JSONObject = [
    "type": "soql", "query": "SELECT Id, FirstName, LastName, LastModifiedDate FROM Contact ORDER BY LastModifiedDate",
  ]
  private static let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "LastName", type: .string),
    IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
  ]
  private static let upload: JSONObject = ["fieldlist": ["FirstName", "LastName"], "mergeMode": "OVERWRITE"]

  /// The store, the client and the managers of the tool.
  private struct Tool {
    let place: Workplace
    let org: SandboxServer
    let store: Store
    let client: SalesforceClient
    let manager: SyncManager

    init(contacts: Int) async throws {
      place = try Workplace()
      var configuration = SandboxConfiguration()
      configuration.seed = .custom(accounts: 1, contacts: contacts)
      org = try await SandboxServer.start(configuration)
      store = try Store(name: "sample", isGlobal: false, path: place.path + "/sample.sqlite", key: nil)
      try store.registerSoup("contacts", indexSpecs: specs)
      client = SalesforceClient(
        session: Session(accessToken: try org.issueAccessToken(), instanceURL: org.url, loginURL: org.url), policy: .never,
        observer: SyncTrafficObserver())
      manager = try SyncManager.instance(for: store, client: client)
    }

    /// Changes the entry with the first name in the alphabet.
    func edit(_ changes: JSONObject) throws -> String {
      let page = try store.query(.smart("select {contacts:_soup} from {contacts} order by {contacts:LastName}", pageSize: 1))
      var entry = try #require(try JSONValue(parsing: page).arrayValue?.first?.arrayValue?.first?.objectValue)
      for (key, value) in changes { entry[key] = value }
      entry["__local__"] = true
      _ = try store.upsert(Array(JSONValue.array([.object(entry)]).text.utf8), into: "contacts")
      return try #require(entry["Id"]?.stringValue)
    }

    func close() async {
      await manager.shutdown()
      await client.shutdown()
      store.close()
      await org.stop()
    }
  }

  /// Collects the updates that a listener gets.
  private struct Told {
    private let states: AsyncStream<SyncState>
    let listener: SyncManager.Listener

    init() {
      let (states, continuation) = AsyncStream.makeStream(of: SyncState.self)
      self.states = states
      listener = { state in
        continuation.yield(state)
        if state.status.isTerminal { continuation.finish() }
      }
    }

    func all() async -> [SyncState] {
      var all: [SyncState] = []
      for await state in states { all.append(state) }
      return all
    }
  }

  @Test func sample_withCallbacks_syncsBothWays() async throws {
    let tool = try await Tool(contacts: 5)
    let manager = tool.manager
    let down = try manager.createSyncDown(
      target: Self.contacts, options: ["mergeMode": "OVERWRITE"], soupName: "contacts", syncName: "down")
    let up = try manager.createSyncUp(options: Self.upload, soupName: "contacts", syncName: "up")
    #expect(down.status == .new && up.status == .new)

    let first = Told()
    #expect(try manager.reSync(named: "down", onUpdate: first.listener).status == .running)
    let states = await first.all()
    #expect(states.last?.status == .done && states.last?.totalSize == 5 && states.map(\.id).allSatisfy { $0 == down.id })

    let id = try tool.edit(["FirstName": "Edited", "__locally_updated__": true])
    let sent = Told()
    try manager.reSync(id: up.id, onUpdate: sent.listener)
    #expect(await sent.all().last?.counts.succeeded == 1)
    let record = try tool.org.query("SELECT FirstName FROM Contact WHERE Id = '\(id)'")["records"]?.arrayValue?.first
    #expect(record?["FirstName"] == "Edited")

    let again = Told(), more = Told()
    try manager.syncDown(
      target: Self.contacts, options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: "contacts", syncName: "other",
      onUpdate: again.listener)
    #expect(await again.all().last?.status == .done)
    _ = try tool.edit(["FirstName": "Again", "__locally_updated__": true])
    try manager.syncUp(options: Self.upload, soupName: "contacts", onUpdate: more.listener)
    #expect(await more.all().last?.counts.succeeded == 1)

    try tool.org.delete("Contact", id: id)
    let (removed, continuation) = AsyncStream.makeStream(of: Result<Int, SyncError>.self)
    try manager.cleanGhosts(named: "other") { continuation.yield($0) }
    for await result in removed {
      #expect(result == .success(1))
      break
    }
    await tool.close()
  }

  @Test func sample_withAsync_givesFinalStates() async throws {
    let tool = try await Tool(contacts: 4)
    let manager = tool.manager
    let down = try await manager.syncDown(target: Self.contacts, soupName: "contacts", syncName: "down")
    #expect(down.status == .done && down.totalSize == 4)
    let id = try tool.edit(["LastName": "Async", "__locally_updated__": true])
    #expect(try await manager.syncUp(options: Self.upload, soupName: "contacts", syncName: "up").counts.succeeded == 1)
    #expect(try await manager.reSync(named: "down").status == .done)
    #expect(try await manager.reSync(id: down.id).totalSize == 0)
    #expect(try await manager.runSync(try #require(try manager.getSyncStatus(.name("up")))).status == .done)
    try tool.org.delete("Contact", id: id)
    #expect(try await manager.cleanGhosts(named: "down") == 1)
    #expect(try await manager.cleanGhosts(id: down.id) == 0)
    #expect(throws: SyncError.self) { try manager.reSync(named: "nobody") { _ in } }
    try manager.deleteSync(.name("up"))
    #expect(try !manager.hasSyncWithName("up") && manager.hasSyncWithName("down"))
    await tool.close()
  }

  @Test func sample_withConflicts_mergesAndResolves() async throws {
    let tool = try await Tool(contacts: 1)
    let manager = tool.manager, merge: JSONObject = ["mergeMode": "MERGE", "fieldlist": ["FirstName", "LastName"]]
    _ = try await manager.syncDown(target: Self.contacts, soupName: "contacts", syncName: "down")
    let id = try tool.edit(["FirstName": "Here", "__locally_updated__": true])
    try tool.org.update("Contact", id: id, fields: ["FirstName": "There", "LastName": "Theirs"])

    let told = manager.conflictUpdates()
    #expect(try await manager.syncDown(target: Self.contacts, options: merge, soupName: "contacts").counts.conflicting == 1)
    for await conflict in told {
      #expect(
        conflict.fields == ["FirstName"] && conflict.local["FirstName"] == "Here" && conflict.server?["FirstName"] == "There")
      break
    }
    let conflict = try #require(try manager.conflicts(inSoup: "contacts").first)
    let entry = try manager.resolveConflict(inSoup: "contacts", entryId: conflict.entryId, with: .record(["FirstName": "Both"]))
    #expect(entry?["FirstName"] == "Both" && entry?["LastName"] == "Theirs")
    #expect(try await manager.syncUp(options: merge, soupName: "contacts").counts.succeeded == 1)

    manager.registerResolver("theirs") { $0.kind == .changed ? .server : .skip }
    _ = try tool.edit(["FirstName": "Here", "__locally_updated__": true])
    try tool.org.update("Contact", id: id, fields: ["FirstName": "There"])
    var options = merge
    options["resolver"] = "theirs"
    #expect(try await manager.syncDown(target: Self.contacts, options: options, soupName: "contacts").counts.merged == 1)
    #expect(try manager.conflicts().isEmpty)
    await tool.close()
  }

  @Test func sample_withSequences_followsSyncsAndQueries() async throws {
    let tool = try await Tool(contacts: 3)
    let manager = tool.manager
    try manager.createSyncDown(target: Self.contacts, soupName: "contacts", syncName: "down")
    let updates = manager.updates(named: "down"), later = manager.updates(named: "down")
    let counts = try tool.store.observe("select count(*) from {contacts}")
    async let final = manager.reSync(named: "down")
    var statuses: [SyncStatus] = []
    for await state in updates {
      statuses.append(state.status)
      if state.status.isTerminal { break }
    }
    #expect(statuses.first == .running && statuses.last == .done)
    #expect(try await final.counts.stored == 3)
    for try await rows in counts where rows == [[3]] { break }
    await tool.close()
    // A sequence ends when its manager is shut down.
    var last: SyncStatus?
    for await state in later { last = state.status }
    #expect(last == .done)
  }
}
