import Foundation
import Glibc
import Testing

/// Tests `tureen run` with scripts that exceed their limits.
@Suite struct ScriptLimitTests {
  private func run(_ script: String, _ options: [String]) async throws -> Child.Ended {
    let place = try Workplace()
    return try await place.runScript(try place.write(script, to: "script.lua"), options: options)
  }

  @Test(arguments: [
    ("--memory-limit", "16M", "local t = {} while true do t[#t + 1] = {} end", "16777216 bytes of memory"),
    ("--instruction-limit", "5000000", "while true do pcall(function() while true do end end) end", "5000000 instructions"),
    ("--time-limit", "2", "require 'tureen'.poll(1e9)", "time limit of 2 s"),
  ])
  func run_limitReached_is77AndNamesItWithItsOption(
    option: String, value: String, script: String, named: String
  ) async throws {
    let ended = try await run("print('begins')\n" + script, [option, value])
    #expect(ended.status == 77)
    #expect(ended.output == "begins\n")
    #expect(ended.errors.contains(named) && ended.errors.contains("(\(option))"), "got: \(ended.errors)")
  }

  /// Loops inside the standard libraries and the compiler, which hooks cannot interrupt.
  @Test(arguments: [
    "while true do pcall(table.insert, lying, 1, 1) end", "while true do pcall(table.remove, lying, 1) end",
    "while true do pcall(table.concat, texts) end",
    "local t = {} for i = 1, 1 << 16 do t[i] = i end while true do pcall(table.sort, t, rawequal) end",
    "if a then elseif a then end",
  ])
  func run_instructionLimitInsideALibraryFunction_is77(loop: String) async throws {
    let elseifs = String(repeating: "elseif a then ", count: loop.hasPrefix("if") ? 400_000 : 0)
    let ended = try await run(
      """
      local lying = setmetatable({}, { __len = function() return 1 << 40 end, __index = rawequal, __newindex = rawequal })
      local texts = setmetatable({}, { __len = function() return 1 << 40 end, __index = function() return "" end })
      \(elseifs.isEmpty ? loop : "if a then " + elseifs + "end")
      """, ["--restricted", "--instruction-limit", "1000000"])
    #expect(ended.status == 77)
    #expect(ended.errors.contains("1000000 instructions (--instruction-limit)"), "got: \(ended.errors)")
  }

  /// Ephemeron tables whose keys keep each other alive in random order, which makes a collection quadratic.
  @Test func run_instructionLimitInsideAGarbageCollection_endsTheProcessWith77() async throws {
    let ended = try await run(
      """
      local n, k, p, e, seed = 100000, {}, {}, {}, 7
      for i = 1, n + 1 do k[i], p[i] = {}, i end
      for i = n, 2, -1 do
        seed = (seed * 1103515245 + 12345) % 2147483648
        local j = (seed >> 8) % i + 1
        p[i], p[j] = p[j], p[i]
      end
      for j = 1, n do e[j] = setmetatable({ [k[p[j]]] = k[p[j] + 1] }, { __mode = "k" }) end
      local first = k[1]
      k = nil
      print("collects")
      collectgarbage()
      print("not reached", first)
      """, ["--restricted", "--instruction-limit", "8000000"])
    #expect(ended.status == 77)
    #expect(ended.output == "collects\n" || ended.output == "")
    #expect(ended.errors.contains("8000000 instructions (--instruction-limit)"), "got: \(ended.errors)")
  }

  @Test func run_memoryLimitBelowLuaItself_is77AndSaysSo() async throws {
    let ended = try await run("print('not reached')", ["--memory-limit", "64K"])
    #expect(ended.status == 77)
    #expect(ended.output == "" && ended.errors.contains("--memory-limit"), "got: \(ended.errors)")
  }

  @Test func run_limitReachedInTheMiddleOfASync_closesInOrder() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } })
      local stored = false
      tureen.on("sync", function(sync) stored = stored or sync.progress > 0 end)
      tureen.mobilesync.syncDown({ type = "soql", query = "SELECT Id, LastModifiedDate FROM Contact" }, "c", {}, "down")
      while not stored do tureen.poll(1000) end
      while true do pcall(error) end
      """, to: "script.lua")
    let ended = try await place.runScript(
      script, options: ["--instruction-limit", "50000000"], environment: org.environment)
    #expect(ended.status == 77, "\(ended.errors)")
    org.open()
    let next = try await place.runScript(
      try place.write(
        """
        local t = require "tureen"
        t.mobilesync.getSyncStatus("down", function(sync) print(sync.status) end, print)
        """, to: "next.lua"), environment: org.environment)
    #expect(next.output == "STOPPED\n", "\(next.errors)")
  }

  @Test func run_waitsWhereNothingInterrupts_isEndedByTheProcess() async throws {
    let place = try Workplace()
    #expect(mkfifo(place.path + "/nobody-writes", 0o600) == 0)
    let script = try place.write("print(io.open('nobody-writes'))", to: "script.lua")
    let ended = try await place.runScript(script, options: ["--time-limit", "0.1"])
    #expect(ended.status == 77)
    #expect(ended.output == "" && ended.errors.contains("cannot be interrupted"), "got: \(ended.errors)")
  }

  @Test func run_restricted_syncsButReachesNoFileOrProgram() async throws {
    let ended = try await run(
      """
      local tureen = require "tureen"
      print(io, debug, package, dofile, loadfile, os.execute, os.getenv, string.dump)
      print(pcall(require, "lfs"))
      print(pcall(tureen.configure, { home = "/tmp" }))
      tureen.network.sendRequest("", "/services/data", nil, function(err) print(err.code) end, "POST", {}, {},
        { f = { fileUrl = "/etc/passwd" } })
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } }, function()
        tureen.mobilesync.syncDown({ type = "soql", query = "SELECT Id FROM Contact" }, "c", {}, function(sync)
          if sync.status == "DONE" then print("synced", sync.totalSize) end
        end)
      end)
      """, ["--restricted"])
    #expect(ended.status == 0, "\(ended.errors)")
    let lines = ended.output.split(separator: "\n")
    #expect(lines.first == "nil\tnil\tnil\tnil\tnil\tnil\tnil\tnil")
    for text in ["module 'lfs' is not available", "tureen.configure is not available", "restricted", "synced\t5000"] {
      #expect(ended.output.contains(text), "\(text) is missing in:\n\(ended.output)")
    }
  }

  @Test(arguments: [
    ["--memory-limit", "lots"], ["--memory-limit", "0"], ["--time-limit", "-1"], ["--time-limit", "nan"],
    ["--instruction-limit", "many"],
  ])
  func run_wrongLimit_is64AndNamesIt(options: [String]) async throws {
    let ended = try await run("print('not reached')", options)
    #expect(ended.status == 64)
    #expect(ended.errors.contains(options[0]) && ended.output == "", "got: \(ended.errors)")
  }
}
