import Foundation
import Testing

/// Tests plug-ins of C programs and of scripts in stock Lua with an installed library.
@Suite(.enabled(if: Built.loadsInForeignPrograms, "a sanitized library needs its runtime preloaded"))
struct PluginTests {
  /// The program itself checks all cases and reports failures.
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
        silent = function(_, _) end,
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
    _ = try await module("cc -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC", "c_actions.c", place)
    let script = """
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
      """
    let ended = try await run(script, place)
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

  /// The module registers with the C API on the state's own handle, and answers from other threads.
  @Test(arguments: [false, true])
  func cPlugin_onTheHandleOfALuaState_isCalledByScriptsAndCallsOthers(inTureenRun: Bool) async throws {
    let place = try Workplace()
    let printer = try await module(
      "cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -pthread -shared -fPIC", "c_printer.c", place)
    let ended = try await run(
      """
      local misuse = require "\(printer)"
      local tureen = require "tureen"
      local printer = tureen.service "com.acme.printer"
      tureen.plugin("com.acme.chain", {
        greet = function(args) return { text = "hello " .. args.name, pages = assert(tureen.await(printer.print)).pages } end,
      })
      tureen.document.addEventListener("com.acme.printer.jammed", function(event) print("jammed", event.detail.tray) end)
      print(misuse())
      tureen.main(function()
        print(assert(tureen.await(printer.print, {}, function(at) print("page", at.page) end)).pages)
        local relayed = assert(tureen.await(printer.relay, { name = "Ada" }))
        print(relayed.text, relayed.pages)
        local _, err = tureen.await(printer.jam, {})
        print(err.domain, err.code, err.message)
        local id = printer.hold({}, print)
        tureen.sleep(1)
        tureen.cancel(id)
      end)
      """, place, inTureenRun: inTureenRun)
    #expect(ended.status == 0 && ended.errors == "", "\(ended.errors)")
    #expect(
      ended.output == """
        -1\t-1\t-1
        page\t1
        1
        hello Ada\t1
        jammed\t2
        com.acme.printer\tjammed\ttray 2 is jammed
        let go

        """)
  }

  /// A C module finds the bridge of `tureen run`, also if it is loaded before and after the script's `require "tureen"`.
  @Test func luaopenTureen_underTureenRun_givesTheSameModule() async throws {
    let place = try Workplace()
    _ = try await module("cc -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC", "c_opens.c", place)
    let ended = try await run(
      """
      local first = require "c_opens"
      local tureen = require "tureen"
      package.loaded.c_opens, package.loaded.tureen = nil, nil
      print(first == tureen, require "c_opens" == tureen)
      """, place, inTureenRun: true)
    #expect(ended.status == 0 && ended.errors == "", "\(ended.errors)")
    #expect(ended.output == "true\ttrue\n")
  }

  @Test func swiftPlugin_onTheHandleOfAStockLuaState_isCalledByScriptsAndOtherPlugins() async throws {
    let place = try Workplace()
    let installed = try await Installed.shared()
    let press = try await module(
      "swiftc -emit-library -module-name swift_printer -import-objc-header '\(installed.path)/include/tureen.h'",
      "swift_printer.swift", place)
    let ended = try await run(
      """
      local tureen = require "tureen"
      require "\(press)"
      local press = tureen.service "com.acme.press"
      tureen.plugin("com.acme.chain", { relay = function(args) return assert(tureen.await(press.fold, args)) end })
      tureen.main(function()
        local folded = assert(tureen.await(press.fold, { times = 2 }, function(at) print("sheet", at.sheet) end))
        print(folded.action, folded.arguments.times)
        print(assert(tureen.await(tureen.service("com.acme.chain").relay, { times = 3 })).arguments.times)
      end)
      """, place)
    #expect(ended.status == 0 && ended.errors == "", "\(ended.errors)")
    #expect(ended.output == "sheet\t1\nfold\t2\n3\n")
  }

  /// Compiles a program of `Tests/EndToEnd/Programs` to a module for Lua. - Returns: Its name for `require`.
  private func module(_ compiler: String, _ source: String, _ place: Workplace) async throws -> String {
    let installed = try await Installed.shared()
    let name = String(source.prefix { $0 != "." }), path = Built.package.path + "/Tests/EndToEnd/Programs/" + source
    // The compiler is found through the machine's PATH.
    let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
    let compiled = try await place.run(
      "/bin/sh",
      [
        "-c",
        """
        \(compiler) -o '\(place.path)/\(name).so' '\(path)' -I '\(installed.path)/include' -L '\(installed.path)/lib' \
        -ltureen -Xlinker -rpath -Xlinker '\(installed.path)/lib'
        """,
      ], environment: environment)
    #expect(compiled.status == 0 && compiled.errors == "", "\(compiled.errors)")
    return name
  }

  /// Runs a script in stock Lua, or by the command.
  private func run(_ script: String, _ place: Workplace, inTureenRun: Bool = false) async throws -> Child.Ended {
    let installed = try await Installed.shared(), path = try place.write(script, to: "script.lua")
    let environment = [
      "LUA_CPATH": installed.path + "/lib/lua/5.4/?.so;\(place.path)/?.so;;", "TUREEN_HOME": place.home,
    ]
    if inTureenRun { return try await place.runScript(path, environment: environment) }
    return try await place.run(Built.lua, [path], environment: environment)
  }
}
