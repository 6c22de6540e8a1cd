import JSON
import LuaBridge
import MobileSync
import SandboxOrg
import SmartStore
import Support
import Synchronization
import TestSupport
import Testing
import Tureen

func writeFile(_ text: String, at path: String) throws {
  try FileSystem.makeDirectory(String(path[..<path.lastIndex(of: "/")!]))
  try FileSystem.write(Array(text.utf8), to: path)
}

func readFile(at path: String) throws -> String {
  String(decoding: try #require(FileSystem.read(path)), as: UTF8.self)
}

/// Tests the settings, configuration files, stores and shutdown of a host.
@Suite struct HostTests {
  @Test func configurationFiles_setUpSoupsAndSyncs() async throws {
    let runner = try await ScriptRunner()
    try writeFile(
      """
      {"soups": [{"soupName": "contacts", "indexes": [{"path": "Id", "type": "string"}, {"path": "__local__", "type": "string"}]}]}
      """, at: runner.configDirectory + "/userstore.json")
    try writeFile(
      """
      {"syncs": [{"syncName": "down", "syncType": "syncDown", "soupName": "contacts",
        "target": {"type": "soql", "query": "SELECT Id, LastName FROM Contact"}, "options": {"mergeMode": "OVERWRITE"}}]}
      """, at: runner.configDirectory + "/usersyncs.json")
    try await runner.run(
      """
      mobilesync.getSyncStatus("down", function(sync) note("before", sync.status) end)
      mobilesync.reSync("down", function(sync) if sync.status == "DONE" then note("size", sync.totalSize) end end)
      """)
    #expect(runner.noted("before") == ["NEW"])
    #expect(runner.noted("size") == [30])
    await runner.server.stop()
  }

  @Test func defaultConfig_setUpAgain_bringsBackWhatWasRemoved() async throws {
    let runner = try await ScriptRunner()
    for (name, sync) in [("user", "down"), ("global", "globalDown")] {
      try writeFile(
        """
        {"soups": [{"soupName": "\(name)Soup", "indexes": [{"path": "Id", "type": "string"}]}]}
        """, at: runner.configDirectory + "/\(name)store.json")
      try writeFile(
        """
        {"syncs": [{"syncName": "\(sync)", "syncType": "syncDown", "soupName": "\(name)Soup",
          "target": {"type": "soql", "query": "SELECT Id FROM Contact"}, "options": {"mergeMode": "OVERWRITE"}}]}
        """, at: runner.configDirectory + "/\(name)syncs.json")
    }
    let result = try await runner.value(
      of: """
        local seen = {}
        local places = {
          { false, "userSoup", "down", smartstore.setupUserStoreFromDefaultConfig, mobilesync.setupUserSyncsFromDefaultConfig },
          { true, "globalSoup", "globalDown", smartstore.setupGlobalStoreFromDefaultConfig,
            mobilesync.setupGlobalSyncsFromDefaultConfig },
        }
        for _, place in ipairs(places) do
          local is_global, soup, sync, set_up_store, set_up_syncs = table.unpack(place)
          assert(await(smartstore.removeSoup, is_global, soup))
          assert(await(mobilesync.deleteSync, is_global, sync))
          local gone = { await(smartstore.soupExists, is_global, soup), await(mobilesync.hasSyncWithName, is_global, sync) }
          local soups, syncs = assert(await(set_up_store)), assert(await(set_up_syncs))
          local back = { await(smartstore.soupExists, is_global, soup), await(mobilesync.hasSyncWithName, is_global, sync) }
          seen[#seen + 1] = { gone, soups, syncs, back }
        end
        return seen
        """, before: "local await = tureen.await")
    #expect(
      result == [
        [[false, false], ["userSoup"], ["down"], [true, true]],
        [[false, false], ["globalSoup"], ["globalDown"], [true, true]],
      ])
  }

  @Test(arguments: [
    ("userstore.json", "{\n\"soups\": [],\n\"sops\": 1}", ":3: 'sops' is not known here; did you mean 'soups'?"),
    ("userstore.json", "{\"soups\": [\n{\"soupName\": \"a\" \"indexes\": []}]}", ":2:18: not valid JSON"),
    (
      "userstore.json", "{\"soups\": [{\"soupName\": \"a\",\n\"indexes\": [{\"path\": \"x\", \"type\": \"text\"}]}]}",
      ":2: 'indexes'"
    ),
    (
      "usersyncs.json", "{\"syncs\": [\n{\"syncName\": \"x\",\n\"syncTyp\": \"syncDown\"}]}",
      ":3: entry 1 (x): 'syncTyp' is not known here; did you mean 'syncType'?"
    ),
    (
      "usersyncs.json",
      """
      {"syncs": [
       {"syncName": "a", "syncType": "syncUp", "soupName": "s", "target": {}, "options": {"fieldlist": ["Id"]}},
       {"syncName": "b", "syncType": "syncDown", "soupName": "s",
        "target": {"type": "soql",
          "query": "SELECT Id FROM Account", "maxbatchsize": 5}}]}
      """, ":5: entry 2 (b): soql target: 'maxbatchsize' is not known here; did you mean 'maxBatchSize'?"
    ),
    (
      "usersyncs.json",
      """
      {"syncs": [{"syncName": "b", "syncType": "syncDown", "soupName": "s",
        "target": {"type": "soql", "query": "SELECT Id FROM Account"},
        "options": {
          "mergemode": "LEAVE_IF_CHANGED"}}]}
      """, ":4: entry 1 (b): options: 'mergemode' is not known here; did you mean 'mergeMode'?"
    ),
    (
      "globalsyncs.json",
      """
      {"syncs": [{"syncName": "b", "syncType": "syncDown", "soupName": "s",
        "target": {"type": "soql",
          "query": "FROM Account"}}]}
      """, ":3: entry 1 (b): No field selected: FROM Account"
    ),
    (
      "usersyncs.json",
      """
      {"syncs": [
       {"syncName": "b", "syncType": "syncUp", "soupName": "s", "options": {"fieldlist": ["Id"]}},
       {"syncName": "b", "syncType": "syncUp", "soupName": "s", "options": {"fieldlist": ["Id"]}}]}
      """, ":3: entry 2 (b): the name is used twice"
    ),
    (
      "userstore.json", "{\"soups\": [{\"soupName\": \"a\",\n\"indexes\": [\n{\"path\": \"x\", \"typ\": \"string\"}]}]}",
      ":3: 'indexes' of soup 1 (a): index spec 1: 'typ' is not known here; did you mean 'type'?"
    ),
    ("userstore.json", "{\"soups\": [\n{\"soupname\": \"a\"}]}", ":2: 'soupname' of soup 1 is not known here"),
    (
      "globalstore.json",
      "{\"soups\": [\n{\"soupName\": \"a\", \"indexes\": [{\"path\": \"x\", \"type\": \"string\"}]},\n{\"indexes\": []}]}",
      ":3: 'soupName' of soup 2 must be a string"
    ),
    ("usersyncs.json", "{\"syncs\": {}}", ":1: 'syncs' must be an array"),
    ("bootconfig.json", "{\"isLocal\": \"yes\"}", ":1: 'isLocal' must be a boolean, not string"),
    ("bootconfig.json", "{\n\"hom\": \"/x\"}", ":2: 'hom' is not known here; did you mean 'home'?"),
  ])
  func prepare_wrongFile_namesFileLineAndKey(file: String, text: String, expected: String) async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try writeFile(text, at: runner.configDirectory + "/" + file)
    let error = #expect(throws: HostError.self) { try runner.makeHost().prepare() }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.hasPrefix(runner.configDirectory + "/" + file + expected) == true, "\(error?.message ?? "")")
    await runner.server.stop()
  }

  @Test func configure_afterFirstUse_isRefused() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try await runner.run(
      """
      note("unknown", select(2, pcall(tureen.configure, { hme = "/tmp" })).code)
      smartstore.soupExists("a", function()
        note("late", select(2, pcall(tureen.configure, { home = "/tmp" })).code)
      end)
      """)
    #expect(runner.noted("unknown") == ["invalidConfiguration"])
    #expect(runner.noted("late") == ["alreadyInUse"])
    await runner.server.stop()
  }

  @Test func stores_userAndGlobalAndNamed_areApart() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try await runner.run(
      """
      local specs = { { path = "a", type = "string" } }
      smartstore.registerSoup("only", specs)
      smartstore.registerSoup({ isGlobalStore = true, storeName = "../../escape" }, "elsewhere", specs)
      smartstore.soupExists(true, "only", function(exists) note("global", exists) end)
      smartstore.soupExists("only", function(exists) note("user", exists) end)
      smartstore.getAllStores(function(stores) note("stores", stores) end)
      smartstore.getAllGlobalStores(function(stores) note("globals", #stores) end)
      smartstore.removeStore({ isGlobalStore = false }, function(removed) note("removed", removed) end)
      smartstore.soupExists("only", function(exists) note("after", exists) end)
      """)
    #expect(runner.noted("global") == [false])
    #expect(runner.noted("user") == [true])
    #expect(runner.noted("stores") == [[["storeName": "defaultStore", "isGlobalStore": false]]])
    #expect(runner.noted("globals") == [2])
    #expect(runner.noted("removed") == [true])
    #expect(runner.noted("after") == [false])
    #expect(try FileSystem.entries(of: runner.home + "/global/stores").contains("%2E%2E%2F%2E%2E%2Fescape"))
    #expect(try FileSystem.entries(of: runner.home).sorted() == ["global", "orgs"])
    await runner.server.stop()
  }

  @Test func close_whileASyncRuns_stopsItAndTheNextHostGoesOn() async throws {
    let runner = try await ScriptRunner(contacts: 450)
    let pages = Mutex(0)
    let host = runner.makeHost()
    runner.server.setInterceptor { request in
      // Stop at the second page.
      if request.path.contains("/query/") {
        pages.withLock { $0 += 1 }
        host.stopSyncs()
      }
      return nil
    }
    let target = #"{ type = "soql", query = CONTACTS.query, maxBatchSize = 200 }"#
    try await runner.run(
      """
      smartstore.registerSoup("contacts", SPECS)
      mobilesync.syncDown(\(target), "contacts", OVERWRITE, "down", function(sync)
        if sync.status ~= "RUNNING" then note("first", sync.status) end
      end)
      """, on: host)
    #expect(runner.noted("first") == ["STOPPED"])
    runner.server.setInterceptor(nil)
    try await runner.run(
      """
      mobilesync.getSyncStatus("down", function(sync) note("found", sync.status) end)
      mobilesync.reSync("down", function(sync) if sync.status ~= "RUNNING" then note("second", sync.status) end end)
      smartstore.querySoup("contacts", smartstore.buildAllQuerySpec("Id", "ascending", 1), function() end)
      """)
    #expect(runner.noted("found") == ["STOPPED"])
    #expect(runner.noted("second") == ["DONE"])
    try await runner.run(
      """
      smartstore.querySoup("contacts", smartstore.buildAllQuerySpec("Id", "ascending", 1), function(cursor)
        note("entries", cursor.totalEntries)
      end)
      """)
    #expect(runner.noted("entries") == [450])
    await runner.server.stop()
  }

  @Test func reSync_thatAnotherMachineRuns_isRefusedUntilItIsOver() async throws {
    let runner = try await ScriptRunner()
    try await runner.run(
      """
      smartstore.registerSoup("contacts", SPECS)
      mobilesync.syncDown(CONTACTS, "contacts", OVERWRITE, "down", function(sync)
        if sync.status == "DONE" then note("id", sync._soupEntryId) end
      end)
      """)
    let id = try #require(runner.noted("id").first?.integerValue)
    let folder = runner.home + "/orgs/sandbox/sandbox-user/stores"
    let registry = StoreRegistry(userDirectory: folder, globalDirectory: folder)
    let store = try registry.store()
    let lease = try store.writeBlocking(.synced) {
      try $0.acquireLease(
        "sync:\(id)", owner: "another-boot:1:1/elsewhere/1", now: SyncConfiguration.systemTime(), duration: 600_000,
        takeover: { _ in false })
    }
    let script = """
      mobilesync.reSync("down", function(sync) if sync.status ~= "RUNNING" then note("end", sync.status) end end,
        function(err) note("end", err.code) end)
      """
    try await runner.run(script)
    let held = try #require(lease)
    try store.writeBlocking(.synced) { try $0.releaseLease(held) }
    registry.close()
    try await runner.run(script)
    #expect(runner.noted("end") == ["runningElsewhere", "DONE"])
    await runner.server.stop()
  }

  @Test func service_thatTheHostDoesNotHave_isUnknown() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try await runner.run(
      """
      local sandbox = require "tureen.sandbox"
      sandbox.query("SELECT Id FROM Contact", nil, function(err) note("error", err.code) end)
      tureen.exec(nil, function(err) note("error", err.code) end, "com.salesforce.nothing", "x", {})
      """)
    #expect(runner.noted("error").sorted { "\($0)" < "\($1)" } == ["unknownService", "unknownService"])
    await runner.server.stop()
  }
}
