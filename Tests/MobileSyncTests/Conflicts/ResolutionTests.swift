import JSON
import SandboxOrg
import SmartStore
import Synchronization
import Testing

@testable import MobileSync

/// How conflicts are resolved: by a call, or by a resolver.
@Suite struct ResolutionTests {
  /// Creates a conflict about the description, with another name on the server.
  private func bench() async throws -> (SyncBench, id: String, entryId: Int64) {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "B", "Description": "theirs"])
    return (bench, id, entryId)
  }

  // MARK: By a call

  @Test(
    arguments: [
      (.local, "B/mine*", "B/mine"), (.server, "B/theirs", "B/theirs"),
      (.record(["Description": "both"]), "B/both*", "B/both"),
      (.record(["Description": "theirs", "Name": "B"]), "B/theirs", "B/theirs"),
      (.record(["Name": "C", "Id": "nonsense", "__local__": false, "_soupEntryId": 99]), "C/mine*", "C/mine"),
    ] as [(ConflictResolution, String, String)])
  func resolveConflict_each_endsItAndGoesUp(resolution: ConflictResolution, here: String, there: String) async throws {
    let (bench, id, entryId) = try await bench()
    _ = try await bench.down(SyncBench.merge)
    let entry = try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: resolution)
    #expect(try bench.entry(withId: id) == entry && entry?["_soupEntryId"] == .integer(entryId))
    #expect(try bench.shown(id) == here && bench.conflicts().isEmpty)
    let end = try await bench.up(SyncBench.uploadLeave)
    #expect(end.counts.conflicting == 0 && end.counts.failed == 0)
    #expect(try bench.shownOnServer(id) == there && bench.shown(id) == there)
    #expect(try await bench.down(SyncBench.merge).counts.conflicting == 0)
    #expect(try bench.shown(id) == there)
    await bench.close()
  }

  @Test(arguments: [(.local, true), (.record(["Name": "C"]), true), (.server, false)] as [(ConflictResolution, Bool)])
  func resolveConflict_deletedThere_createsAgainOrRemoves(resolution: ConflictResolution, stays: Bool) async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.org.delete("Account", id: id)
    _ = try await bench.up(SyncBench.merge)
    let entry = try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: resolution)
    #expect((entry != nil) == stays)
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == (stays ? 1 : 0))
    #expect(try bench.entries().count == (stays ? 1 : 0) && bench.serverNames().count == (stays ? 1 : 0))
    #expect(try bench.dirtyCount() == 0 && bench.conflicts().isEmpty)
    await bench.close()
  }

  @Test func resolveConflict_recordForADeletedEntry_bringsItBack() async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.deleteLocally("A")
    try bench.change(id, ["Description": "theirs"])
    _ = try await bench.up(SyncBench.merge)
    try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: .record(["Name": "kept"]))
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "kept/theirs" && bench.shown(id) == "kept/theirs")
    await bench.close()
  }

  @Test func resolveConflict_wrong_saysWhyAndChangesNothing() async throws {
    let (bench, id, entryId) = try await bench()
    #expect(throws: SyncError(.noSuchConflict, "entry \(entryId) of soup accounts has no conflict")) {
      try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: .local)
    }
    #expect(throws: StoreError.self) { try bench.manager.resolveConflict(inSoup: "none", entryId: 1, with: .local) }
    #expect(throws: SyncError.noSuchSync(.name("none"))) { try bench.manager.conflicts(sync: .name("none")) }
    _ = try await bench.down(SyncBench.merge)
    #expect(try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: .skip)?["Description"] == "mine")
    #expect(try bench.conflicts().count == 1 && bench.shown(id) == "A/mine*")
    await bench.close()
  }

  // MARK: By a resolver

  @Test(
    arguments: [
      (.local, "B/mine*"), (.server, "B/theirs"), (.record(["Description": "both"]), "B/both*"), (.skip, "A/mine*"),
    ] as [(ConflictResolution, String)])
  func syncDown_resolver_decides(resolution: ConflictResolution, here: String) async throws {
    let (bench, id, _) = try await bench()
    let seen = Mutex<[SyncConflict]>([]), told = ConflictRecorder(), updates = UpdateRecorder()
    bench.manager.registerResolver("r") { conflict in
      seen.withLock { $0.append(conflict) }
      return resolution
    }
    try bench.manager.syncDown(
      target: SyncBench.accounts, options: SyncBench.merge(resolver: "r"), soupName: "accounts", onConflict: told.listener,
      onUpdate: updates.listener)
    let end = await updates.ended()
    let isLeft = resolution == .skip
    #expect(end.status == .done && end.progress == 100 && end.counts.conflicting == (isLeft ? 1 : 0))
    #expect(end.counts.merged == (isLeft ? 0 : 1) && end.counts.skipped == (isLeft ? 1 : 0))
    #expect(end.counts.stored == (isLeft ? 0 : 1) && end.maxTimeStamp == bench.clock.now() * 1000)
    #expect(seen.withLock { $0.map(\.fields) } == [["Description"]])
    #expect(try bench.shown(id) == here && bench.conflicts().count == (isLeft ? 1 : 0) && told.all.count == (isLeft ? 1 : 0))
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_resolver_decidesAndTheRecordGoesUp(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "B", "Description": "theirs"])
    bench.manager.registerResolver("r") { .record(["Description": .string("\($0.fields.count) of both")]) }
    let end = try await bench.up(SyncBench.merge(resolver: "r"))
    #expect(end.counts.succeeded == 1 && end.counts.merged == 1 && end.counts.conflicting == 0)
    #expect(try bench.shownOnServer(id) == "B/1 of both" && bench.shown(id) == "B/1 of both")
    await bench.close()
  }

  private struct Trouble: Error {}

  /// The conflict is stored before the resolver is called; the next run calls it again.
  @Test func syncDown_resolverFails_endsFailedAndIsAskedAgain() async throws {
    let (bench, id, _) = try await bench()
    let isBroken = Mutex(true), told = ConflictRecorder(), updates = UpdateRecorder()
    bench.manager.registerResolver("r") { _ in
      if isBroken.withLock({ $0 }) { throw Trouble() }
      return .local
    }
    try bench.manager.syncDown(
      target: SyncBench.accounts, options: SyncBench.merge(resolver: "r"), soupName: "accounts", syncName: "m",
      onConflict: told.listener, onUpdate: updates.listener)
    let failed = await updates.ended()
    #expect(failed.status == .failed && failed.failure?.code == "resolver" && failed.error == "resolver 'r': Trouble()")
    #expect(try bench.conflicts().count == 1 && told.all.count == 1 && bench.shown(id) == "A/mine*")
    isBroken.withLock { $0 = false }
    #expect(try await bench.manager.reSync(.name("m")).status == .done)
    #expect(try bench.conflicts().isEmpty && bench.shown(id) == "B/mine*")
    await bench.close()
  }

  /// One conflict that cannot be resolved keeps neither the other records nor the other conflicts from going up.
  @Test(arguments: UploadKind.allCases, [false, true])
  func syncUp_resolverFailsForOne_theOthersGoUp(kind: UploadKind, isDeletedThere: Bool) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 5)
    _ = try await bench.down()
    let entries = try bench.entries().sorted { $0["Name"]?.stringValue ?? "" < $1["Name"]?.stringValue ?? "" }
    let ids = entries.compactMap { $0["Id"]?.stringValue }
    for id in ids { try bench.edit(id, ["Description": "mine"]) }
    try bench.change(ids[3], ["Description": "theirs"])
    if isDeletedThere { try bench.org.delete("Account", id: ids[1]) } else { try bench.change(ids[1], ["Description": "theirs"]) }
    let isBroken = Mutex(true)
    bench.manager.registerResolver("r") { conflict in
      if conflict.local["Id"] == .string(ids[1]), isBroken.withLock({ $0 }) { throw Trouble() }
      return .local
    }
    let failed = try await bench.up(SyncBench.merge(resolver: "r"))
    #expect(failed.status == .failed && failed.failure?.code == "resolver" && failed.error == "resolver 'r': Trouble()")
    #expect(failed.counts.succeeded == 4 && failed.counts.conflicting == 1, "\(failed.counts)")
    for id in ids where id != ids[1] { #expect(try bench.onServer(id)?["Description"] == "mine") }
    let kept = try bench.entries().first { $0["Id"] == .string(ids[1]) }
    #expect(kept?["__local__"] == true && kept?["__last_error__"]?.stringValue?.contains("Trouble()") == true)
    isBroken.withLock { $0 = false }
    #expect(try await bench.up(SyncBench.merge(resolver: "r")).status == .done)
    #expect(try bench.conflicts().isEmpty)
    await bench.close()
  }

  /// One conflict that nobody can decide does not hold up the records without one.
  @Test(arguments: UploadKind.allCases, ["raises", "unknown"])
  func syncUp_resolverFailsAtOne_sendsTheOthers(kind: UploadKind, how: String) async throws {
    let bench = try await SyncBench(kind: kind)
    var ids: [String] = []
    for name in ["A", "B", "C", "D"] { ids.append(try await bench.syncedAccount(name).id) }
    for id in ids { try bench.edit(id, ["Description": "mine"]) }
    for id in ids.prefix(2) { try bench.change(id, ["Description": "theirs"]) }
    if how == "raises" {
      bench.manager.registerResolver("r") { conflict in
        guard conflict.local["Name"] == "A" else { return .local }
        throw Trouble()
      }
    }
    let end = try await bench.up(SyncBench.merge(resolver: "r"))
    #expect(end.status == .failed && end.failure?.code == "resolver")
    #expect(try bench.conflicts().count == (how == "raises" ? 1 : 2))
    let shown = try ids.map { try bench.shownOnServer($0) ?? "" }
    #expect(shown == ["A/theirs", how == "raises" ? "B/mine" : "B/theirs", "C/mine", "D/mine"])
    await bench.close()
  }

  @Test func syncDown_resolverFailsAtOne_storesTheOthers() async throws {
    let bench = try await SyncBench(pageSize: 2)
    var ids: [String] = []
    for name in ["A", "B", "C", "D", "E"] { ids.append(try bench.addAccount(name, "base")) }
    _ = try await bench.down(SyncBench.merge(resolver: "r"), name: "m")
    try bench.edit(ids[0], ["Description": "mine"])
    for id in ids { try bench.change(id, ["Description": "theirs"]) }
    bench.manager.registerResolver("r") { _ in throw Trouble() }
    let end = try await bench.manager.reSync(.name("m"))
    #expect(end.status == .failed && end.failure?.code == "resolver")
    #expect(try ids.map { try bench.shown($0) } == ["A/mine*", "B/theirs", "C/theirs", "D/theirs", "E/theirs"])
    bench.manager.registerResolver("r") { _ in .server }
    #expect(try await bench.manager.reSync(.name("m")).status == .done)
    #expect(try bench.shown(ids[0]) == "A/theirs")
    await bench.close()
  }

  @Test func syncUp_resolverUnknownOrSilent_endsFailedAndKeepsTheChange() async throws {
    var configuration = SyncConfiguration()
    configuration.customTargetTimeoutMs = 20
    let bench = try await SyncBench(configuration: configuration)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Description": "theirs"])
    let unknown = try await bench.up(SyncBench.merge(resolver: "nobody"))
    #expect(unknown.status == .failed && unknown.error == "resolver 'nobody': no resolver is registered under that name")
    bench.manager.registerResolver("silent") { _ in
      try await Task.sleep(for: .seconds(3600))
      return .local
    }
    let silent = try await bench.up(SyncBench.merge(resolver: "silent"))
    #expect(silent.status == .failed && silent.error.contains("did not answer within 20 ms"))
    #expect(try bench.conflicts().count == 1 && bench.shown(id) == "A/mine*" && bench.shownOnServer(id) == "A/theirs")
    await bench.close()
  }

  /// The entry has changed since the resolver saw it.
  @Test func syncDown_editedWhileTheResolverThinks_staysAConflict() async throws {
    let (bench, id, _) = try await bench()
    bench.manager.registerResolver("r") { _ in
      try bench.edit(id, ["Description": "newer"])
      return .server
    }
    let end = try await bench.down(SyncBench.merge(resolver: "r"))
    #expect(end.status == .done && end.counts.conflicting == 1)
    #expect(try bench.shown(id) == "A/newer*" && bench.conflicts().first?.local["Description"] == "newer")
    await bench.close()
  }

  @Test func cancel_whileTheResolverThinks_stops() async throws {
    let (bench, id, _) = try await bench()
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    bench.manager.registerResolver("r") { _ in
      signal.yield()
      try await Task.sleep(for: .seconds(3600))
      return .server
    }
    let updates = UpdateRecorder()
    let state = try bench.manager.syncDown(
      target: SyncBench.accounts, options: SyncBench.merge(resolver: "r"), soupName: "accounts", onUpdate: updates.listener)
    for await _ in started { break }
    bench.manager.cancel(state.id)
    #expect(await updates.ended().status == .stopped)
    #expect(try bench.conflicts().count == 1 && bench.shown(id) == "A/mine*")
    await bench.close()
  }

  @Test func conflictUpdates_tellWhatRunsMeet() async throws {
    let (bench, _, entryId) = try await bench()
    let updates = bench.manager.conflictUpdates()
    _ = try await bench.down(SyncBench.merge)
    for await conflict in updates {
      #expect(conflict.entryId == entryId && conflict.fields == ["Description"])
      break
    }
    await bench.close()
  }

  // MARK: Options

  @Test func options_resolver_needsMergeAndAName() throws {
    let options = try SyncOptions(["mergeMode": "MERGE", "resolver": "r"])
    #expect(options == SyncOptions(mergeMode: .merge, resolver: "r"))
    #expect(try SyncOptions(options.json) == options)
    #expect(throws: SyncError(.invalidOptions, "options: resolver must be a resolver's name, got number")) {
      try SyncOptions(["mergeMode": "MERGE", "resolver": 3])
    }
    #expect(
      throws: SyncError(
        .invalidOptions, "options: resolver 'r' decides conflicts of mergeMode MERGE, not of LEAVE_IF_CHANGED")
    ) { try SyncOptions(["mergeMode": "LEAVE_IF_CHANGED", "resolver": "r"]) }
  }
}
