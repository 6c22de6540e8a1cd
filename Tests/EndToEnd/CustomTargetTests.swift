import Testing

/// Tests a sync with a custom target of the script.
@Suite struct CustomTargetTests {
  private static let script = """
    local tureen = require "tureen"
    tureen.mobilesync.registerTarget("numbers", {
      startFetch = function() return { { Id = "1" }, { Id = "2" } }, { totalSize = 3, more = 3 } end,
      continueFetch = function(_, n) return { { Id = tostring(n) } } end,
    })
    tureen.async(function()
      assert(tureen.await(tureen.smartstore.registerSoup, "numbers", { { path = "Id", type = "string" } }))
      local sync = assert(tureen.await(tureen.mobilesync.syncDown, { type = "custom", luaImpl = "numbers" }, "numbers", {}))
      print(sync.status, sync.stored)
    end)
    """

  @Test func syncDown_customTarget_worksInTureenRun() async throws {
    let place = try Workplace()
    let ended = try await place.runScript(try place.write(Self.script, to: "numbers.lua"))
    #expect(ended.status == 0 && ended.output.contains("DONE\t3"), "\(ended.output) \(ended.errors)")
  }

  @Test(.enabled(if: Built.loadsInForeignPrograms, "a sanitized library needs its runtime preloaded"))
  func syncDown_customTarget_worksInStockLua() async throws {
    let place = try Workplace()
    let ended = try await place.run(
      Built.lua, ["-e", Self.script + "\nassert(tureen.run())"],
      environment: ["LUA_CPATH": try place.luaPath(), "TUREEN_HOME": place.home])
    #expect(ended.status == 0 && ended.output == "DONE\t3\n", "\(ended.output) \(ended.errors)")
  }
}
