import Foundation
import Glibc
import Testing

/// Tests the library in Debian's `lua5.4` with only `LUA_CPATH` set.
@Suite(.enabled(if: Built.loadsInForeignPrograms, "a sanitized library needs its runtime preloaded"))
struct StockLuaTests {
  private func environment(_ place: Workplace) throws -> [String: String] {
    ["LUA_CPATH": try place.luaPath(), "TUREEN_HOME": place.home]
  }

  @Test func require_tureenAndItsModules_load() async throws {
    let place = try Workplace()
    let ended = try await place.run(
      Built.lua,
      [
        "-e",
        """
        local tureen = require "tureen"
        assert(require "tureen.mobilesync" == tureen.mobilesync)
        assert(require "com.salesforce.plugin.smartstore" == tureen.smartstore)
        assert(tureen.null == require "tureen".null and tureen.fd() >= 0 and tureen.poll(0) == 0)
        """,
      ], environment: try environment(place))
    #expect(ended.status == 0, "\(ended.errors)")
  }

  @Test func syncDown_runningSandbox_bringsAllContacts() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place)
    let ended = try await place.run(
      Built.lua,
      [
        "-e",
        """
        local t = require "tureen"
        t.async(function()
          assert(t.await(t.smartstore.registerSoup, "contacts", { { path = "Id", type = "string" } }))
          local target = { type = "soql", query = "SELECT Id, LastName FROM Contact" }
          local sync = assert(t.await(t.mobilesync.syncDown, target, "contacts", { mergeMode = "OVERWRITE" }))
          print(sync.status, sync.totalSize)
        end)
        assert(t.run())
        """,
      ], environment: try environment(place))
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "DONE\t5000\n")
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func contacts_mainJob_runsAgainstASandboxOfItsOwn() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place)
    let ended = try await place.run(
      Built.lua, [Built.package.path + "/scripts/contacts.lua"], environment: try environment(place))
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output.contains("5,000 contacts down"))
    #expect(ended.output.contains("6 up (2 created, 3 updated, 1 deleted)"))
    #expect(ended.output.contains("not changed"))
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test(arguments: [
    ("local function deep() error('boom') end deep()", 1, "in local 'deep'"), ("return 75", 75, ""), ("return 0", 0, ""),
    ("tureen.smartstore.getSoupIndexSpecs('nowhere')", 1, "without an error callback"),
  ])
  func main_inStockLua_setsTheExitStatusAndClosesTheState(body: String, status: Int32, expected: String) async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      closed = setmetatable({}, { __gc = function() print "closed" end })
      tureen.main(function() \(body) end)
      """, to: "script.lua")
    let ended = try await place.run(Built.lua, [script], environment: try environment(place))
    #expect(ended.status == status && ended.output == "closed\n", "\(ended)")
    #expect(expected.isEmpty || ended.errors.contains(expected), "\(ended)")
  }

  @Test func sync_noSandboxRunning_isAnErrorThatSaysHow() async throws {
    let place = try Workplace()
    let ended = try await place.run(
      Built.lua, [Built.package.path + "/scripts/contacts.lua"], environment: try environment(place))
    #expect(ended.status == 1)
    #expect(ended.errors.contains("tureen sandbox"), "got: \(ended.errors)")
  }

  @Test func state_closedInTheMiddleOfASync_endsInOrder() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let script = try place.write(
      """
      local t = require "tureen"
      t.smartstore.registerSoup("c", { { path = "Id", type = "string" } })
      local stored = false
      t.on("sync", function(sync) stored = stored or sync.progress > 0 end)
      t.mobilesync.syncDown({ type = "soql", query = "SELECT Id, LastModifiedDate FROM Contact" }, "c", {}, "down")
      while not stored do t.poll(1000) end
      print("left")
      """, to: "script.lua")
    let ended = try await place.run(
      Built.lua, [script], environment: try environment(place).merging(org.environment) { $1 })
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "left\n")
    org.open()
    let next = try await place.run(
      Built.lua,
      [
        "-e",
        """
        local t = require "tureen"
        t.mobilesync.getSyncStatus("down", function(sync) print(sync.status) end, print)
        t.run()
        """,
      ], environment: try environment(place).merging(org.environment) { $1 })
    #expect(next.output == "STOPPED\n", "\(next.errors)")
  }

  /// Lua unloads modules when a state closes, but threads of the Swift runtime still run in this one.
  @Test func library_afterItsLastState_staysLoaded() async throws {
    let ended = try await Workplace().run("/usr/bin/readelf", ["-d", Built.library])
    #expect(ended.status == 0 && ended.output.contains("NODELETE"), "\(ended.output)\(ended.errors)")
  }
}
