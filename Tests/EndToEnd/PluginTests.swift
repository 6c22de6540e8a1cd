import Foundation
import Testing

/// Plug-ins of C programs and of scripts in stock Lua, on an installed library.
@Suite(.enabled(if: !Built.isSanitized, "a sanitized library loads in no foreign program"))
struct PluginTests {
  /// The program checks each case itself and says where one fails.
  @Test func cPlugin_calledAnsweredCancelledAndClosed_keepsEveryPromise() async throws {
    let place = try Workplace()
    let ended = try await place.run(try await Installed.compile("plugin", place), [place.home])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.errors == "", "the library writes nothing")
    #expect(ended.output == "done\n")
  }

  @Test func luaPlugin_inStockLua_answersAwaitsAndIsNamedInTheLogWhenItDoesNot() async throws {
    let place = try Workplace()
    let installed = try await Installed.shared()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.plugin("com.acme.printer", {
        print = function(args, success, _, progress)
          progress { page = 1 }
          tureen.sleep(1)
          success { pages = args.pages }
        end,
        silent = function() end,
      })
      local printer = tureen.service "com.acme.printer"
      tureen.async(function()
        local done, err = tureen.await(printer.print, { pages = 2 }, function(at) print("page", at.page) end)
        print("pages", assert(done, err).pages)
      end)
      assert(tureen.run())
      printer.silent()
      tureen.poll(1000)
      """, to: "script.lua")
    let ended = try await place.run(
      Built.lua, [script],
      environment: [
        "LUA_CPATH": installed.path + "/lib/lua/5.4/?.so;;", "TUREEN_HOME": place.home, "TUREEN_LOG": "warning",
      ])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "page\t1\npages\t2\n")
    #expect(ended.errors.contains("plug-in 'com.acme.printer' has not answered 'silent'; the host is closed"), "\(ended.errors)")
  }

  /// Loaded by stock Lua, a plug-in in C is called by scripts and by a plug-in in Lua.
  @Test func cPlugin_ofALuaModule_isCalledFromStockLuaAndFromAnotherPlugin() async throws {
    let place = try Workplace()
    let installed = try await Installed.shared()
    let source = Built.package.path + "/Tests/EndToEnd/Programs/c_actions.c"
    let compiled = try await place.run(
      "/bin/sh", ["-c", "cc -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC -o c_actions.so '\(source)'"])
    #expect(compiled.status == 0 && compiled.errors == "", "\(compiled.errors)")
    let script = try place.write(
      """
      local tureen = require "tureen"
      require "c_actions"
      local c = tureen.service "com.acme.c"
      tureen.plugin("com.acme.chain", {
        greet = function(args) return { text = assert(tureen.await(c.greet, args)).text:upper() } end,
      })
      tureen.main(function()
        print(assert(tureen.await(c.greet, { name = "Ada" })).text)
        print(assert(tureen.await(tureen.service("com.acme.chain").greet, { name = "Ida" })).text)
        local _, err = tureen.await(c.refuse, {})
        print(err.domain, err.code, err.message)
        -- What a C function raises is the call's error.
        _, err = tureen.await(c.greet, {})
        print(err.domain, err.message:match("string expected"))
        local info = assert(tureen.await(tureen.sdkinfo.getInfo))
        for _, name in ipairs(info.forcePluginsAvailable) do
          if name:match("^com%.acme%.") then print(name) end
        end
      end)
      """, to: "script.lua")
    let ended = try await place.run(
      Built.lua, [script],
      environment: [
        "LUA_CPATH": installed.path + "/lib/lua/5.4/?.so;\(place.path)/?.so;;", "TUREEN_HOME": place.home,
      ])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(
      ended.output == """
        hello Ada
        HELLO IDA
        com.acme.c\toutOfPaper\tthe tray is empty
        bridge\tstring expected
        com.acme.c
        com.acme.chain

        """)
  }
}
