import Foundation
import Glibc
import TestSupport
import Testing

/// Tests programs that embed the library, compiled against an installed copy.
@Suite(.enabled(if: Built.loadsInForeignPrograms, "a sanitized library needs its runtime preloaded"))
struct EmbeddingTests {
  @Test func cProgram_ownPollLoop_registersUpsertsAndSyncsDown() async throws {
    let place = try Workplace()
    let program = try await Installed.compile("poll_loop", place)
    let sandbox = try await Sandbox(place)
    let ended = try await place.run(program, [place.home])
    #expect(ended.status == 0)
    #expect(ended.errors == "", "the library writes nothing")
    #expect(ended.output == "5001 people\n")
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func cProgram_noOrgToReach_getsTheErrorAndNothingIsPrinted() async throws {
    let place = try Workplace()
    let ended = try await place.run(try await Installed.compile("poll_loop", place), [place.home])
    #expect(ended.status == 1)
    #expect(ended.errors.contains("tureen sandbox"), "got: \(ended.errors)")
    #expect(ended.output == "")
  }

  @Test func handles_wrongUseAndEveryWayToClose_areDefined() async throws {
    let place = try Workplace()
    let ended = try await place.run(try await Installed.compile("handles", place), [place.path])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.errors == "")
    #expect(ended.output == "done\n")
  }

  @Test(.enabled(if: !Built.isSanitized, "a sanitizer needs more of the system than a worker has"))
  func cProgram_isolatedScripts_endWithAReason() async throws {
    let place = try Workplace()
    let program = try await Installed.compile("isolated", place)
    let ended = try await place.run(program, [place.home, Built.folder.path + "/tureen-worker"])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "found\ndone\n", "\(ended.output)")
  }

  @Test func cProgram_endlessQueries_giveWayToCancelCloseAndOtherCalls() async throws {
    let place = try Workplace()
    let ended = try await place.run(try await Installed.compile("endless_query", place), [place.home])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "done\n" && ended.errors == "")
  }

  @Test func close_whileASyncWaitsForItsServer_returnsAndAnswersTheCall() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let program = try await Installed.compile("running_sync", place)
    let ended = try await place.run(program, [place.home], environment: org.environment)
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "closed\n" && ended.errors == "")
    org.open()
    let next = try await place.runScript(
      try place.write(
        """
        local t = require "tureen"
        t.mobilesync.getSyncStatus("down", function(sync) print(sync.status) end, print)
        """, to: "script.lua"), environment: org.environment)
    #expect(next.output == "STOPPED\n", "\(next.errors)")
  }

  /// Tests `"signIn": "program"`.
  @Test func cProgram_thatSignsInItself_givesSessionsOrSaysWhyNot() async throws {
    let place = try Workplace()
    let org = try ScriptedServer(handler: { request in
      request.header("Authorization") == "Bearer good"
        ? .json("{}") : .restError(401, "INVALID_SESSION_ID", "Session expired or invalid")
    })
    let ended = try await place.run(try await Installed.compile("give_session", place), [place.path, org.url])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "done\n" && ended.errors == "")
    #expect(org.requests.allSatisfy { $0.path == "/services/data/v66.0/limits" })
    let files = FileManager.default.enumerator(atPath: place.path)?.compactMap { $0 as? String } ?? []
    #expect(!files.contains { $0.hasSuffix("session.json") })
  }

  @Test func luaStates_twoInAProcess_areIndependent() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let program = try await Installed.compile("two_states", place, flags: "lua5.4")
    let child = try Child(program, [place.path], environment: org.environment, in: place.path)
    #expect(await child.prints("closed one"))
    org.open()
    let ended = await child.ended()
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "closed one\nthe other: DONE 2000\nboth threads: DONE\n")
  }

  @Test func script_inLuvsLoop_syncsWhileTheLoopGoesOn() async throws {
    let place = try Workplace()
    let installed = try await Installed.shared()
    let sandbox = try await Sandbox(place)
    let ended = try await place.run(
      Built.lua, [Built.package.path + "/Tests/EndToEnd/Programs/luv_loop.lua"],
      environment: ["LUA_CPATH": installed.path + "/lib/lua/5.4/?.so;;", "TUREEN_HOME": place.home])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output == "DONE\t5000\ttrue\n")
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
  }

  @Test func swiftProgram_hostAndScriptUnderLimits_work() async throws {
    let place = try Workplace()
    let sandbox = try await Sandbox(place)
    let ended = try await place.run(Built.folder.path + "/SwiftSamples", [place.home, "Tool"])
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(
      ended.output == """
        sync down DONE with 5000
        script sees 5001
        script ended by its limit: instructions

        """)
    sandbox.child.send(SIGTERM)
    #expect(await sandbox.child.ended().status == 0)
  }

  /// Swift imports the header as it is: handles as opaque pointers, callbacks as C functions.
  @Test func header_throughSwiftsImporter_isUsable() async throws {
    let place = try Workplace()
    let installed = try await Installed.shared()
    _ = try place.write(
      """
      module TureenC { header "\(installed.path)/include/tureen.h" export * }
      """, to: "module.modulemap")
    let source = try place.write(
      """
      import TureenC
      var host: OpaquePointer?
      var error: UnsafeMutablePointer<CChar>?
      if tureen_open("{}", &host, &error) != Int32(TUREEN_OK) { tureen_text_free(error) }
      let id: Int64 = tureen_exec(host, "tureen.keyvalue", "kvGet", nil, { _, call, kind, json, length, _ in
        if kind == Int32(TUREEN_ANSWER_ERROR) { print(call, String(cString: json!), length) }
      }, nil, nil)
      _ = tureen_register(host, "com.acme.printer", nil, { host, call, action, arguments, length, user in
        _ = tureen_answer(host, call, Int32(TUREEN_ANSWER_RESULT), "true", 4)
      }, nil, nil, nil)
      while tureen_pending(host) > 0 { tureen_poll(host, -1) }
      tureen_free(host)
      """, to: "main.swift")
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let ended = try await place.run(
      "/usr/bin/env", ["swiftc", "-typecheck", "-I", place.path, source], environment: ["PATH": path])
    #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
  }
}
