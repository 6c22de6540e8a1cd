import Glibc
import JSON
import LuaBridge
import TestSupport
import Testing

@testable import Tureen

/// Tests that names of Lua code in files and stored syncs choose no code that their author could not run.
@Suite(.timeLimit(.minutes(60))) struct CodeOriginTests {
  private static let down = #"{"syncName": "s", "syncType": "syncDown", "soupName": "things", "target": "#
  private static let files = [
    ("luaImpl", down + #"{"type": "custom", "luaImpl": "evil"}}"#),
    (
      "luaImpl",
      #"{"syncName": "s", "syncType": "syncUp", "soupName": "t", "target": {"luaImpl": "evil"}, "options": {"fieldlist": ["A"]}}"#
    ),
    (
      "transform",
      down + #"{"type": "rest", "connection": "c", "url": "/x", "idFieldName": "id", "transform": "evil.run"}}"#
    ),
    (
      "resolver",
      down + #"{"type": "soql", "query": "SELECT Id FROM A"}, "options": {"mergeMode": "MERGE", "resolver": "evil"}}"#
    ),
  ]

  private func problem(_ folder: TemporaryFolder, _ change: (inout HostSettings) -> Void = { _ in }) -> String? {
    var settings = HostSettings()
    change(&settings)
    do {
      _ = try ConfigurationFolder(folder.path, settings)
      return nil
    } catch { return (error as? HostError)?.message ?? "\(error)" }
  }

  @Test(arguments: files, ["usersyncs.json", "globalsyncs.json"])
  func code_inAFileThatOthersCanWriteTo_isRefused(sync: (key: String, text: String), name: String) throws {
    let folder = try TemporaryFolder()
    let plain = Self.down + #"{"type": "soql", "query": "SELECT Id FROM A"}}"#
    try folder.write("{\"syncs\": [\(plain.replacing("\"s\"", with: "\"p\"")),\n\(sync.text)]}", to: name, mode: 0o666)
    let message = try #require(problem(folder))
    #expect(
      message.contains("\(name):2: the Lua code that '\(sync.key)' names is refused, because it reaches outside the folder"),
      "\(message)")
    #expect(problem(folder) { $0.trustedFolders = [folder.path] } == nil)
    #expect(problem(folder) { $0.isRestricted = true } == nil)
    #expect(chmod(folder.path + "/" + name, 0o644) == 0 && problem(folder) == nil)
    try folder.write("{\"syncs\": [\(plain)]}", to: name, mode: 0o666)
    #expect(problem(folder) == nil)
  }

  /// A module that the second script would find.
  private static let module = """
    local note_loaded = note
    package.preload.evil = function()
      note_loaded("loaded")
      return { startFetch = function() return {}, {} end, run = function(item) return item end }
    end

    """

  private static let define = """
    local function main()
      tureen.await(smartstore.registerSoup, "things", SPECS)
      local _, err = tureen.await(mobilesync.syncDown, { type = "custom", luaImpl = "evil" }, "things", OVERWRITE, "planted")
      note("defined", err and err.code)
      local row = { name = "planted", type = "syncDown", target = { type = "custom", luaImpl = "evil" } }
      for _, call in ipairs {
        { smartstore.upsertSoupEntries, "syncs_soup", tureen.array { row } }, { smartstore.removeFromSoup, "syncs_soup", { 1 } },
        { smartstore.clearSoup, "syncs_soup" }, { smartstore.removeSoup, "syncs_soup" },
        { smartstore.registerSoup, "syncs_soup", SPECS }, { smartstore.alterSoup, "syncs_soup", SPECS, false },
        { mobilesync.syncDown, CONTACTS, "syncs_soup", OVERWRITE, "rows" },
      } do
        local _, err = tureen.await(table.unpack(call))
        note("refused", err and err.code)
      end
    end
    tureen.async(main)
    """

  @Test func syncOfARestrictedScript_loadsNoModuleForAnother() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try await runner.run(Self.define, on: runner.makeHost { $0.isRestricted = true })
    #expect(runner.noted("defined") == ["customTarget"])
    let refused = JSONValue.string("restricted")
    #expect(runner.noted("refused") == Array(repeating: refused, count: 6) + ["invalidArguments"])
    try await runner.run(
      Self.module + """
        local function main()
          local _, err = tureen.await(mobilesync.reSync, "planted")
          note("resync", err and err.message)
          mobilesync.registerTarget("evil", { startFetch = function() return { { Id = "1" } }, {} end })
          local sync = assert(tureen.await(mobilesync.reSync, "planted"))
          note("registered", sync.stored)
          local own = assert(tureen.await(mobilesync.syncDown, { type = "custom", luaImpl = "evil" }, "things", OVERWRITE, "own"))
          mobilesync.registerTarget("evil", nil)
          note("own", assert(tureen.await(mobilesync.reSync, "own")).status)
        end
        tureen.async(main)
        """)
    let message = try #require(runner.noted("resync").first?.stringValue)
    #expect(message.contains("nothing is registered as 'evil', and a restricted script defined this sync"), "\(message)")
    #expect(runner.noted("registered") == [1])
    #expect(runner.noted("own") == ["DONE"])
    #expect(runner.noted("loaded").count == 1)
  }

  @Test func modules_ofTheCurrentFolder_areNotFound() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try await runner.run(
      """
      local here = 0
      for template in (package.path .. ";" .. package.cpath):gmatch "[^;]+" do
        if template:sub(1, 1) ~= "/" then here = here + 1 end
      end
      note("here", here)
      note("others", #package.path > 20 and #package.cpath > 5)
      """)
    #expect(runner.noted("here") == [0])
    #expect(runner.noted("others") == [true])
  }
}
