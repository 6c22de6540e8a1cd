import Foundation
import Glibc
import TestSupport
import Testing

@testable import Tureen

/// `IsolatedRun`: strangers' scripts for Swift programs.
struct IsolatedRunTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ change: (inout IsolatedRun) -> Void = { _ in }) -> IsolatedRun {
    var settings = HostSettings()
    settings.home = folder.path + "/home"
    var run = IsolatedRun(settings: settings)
    change(&run)
    return run
  }

  @Test func run_eachEnd_isToldApart() async throws {
    #expect(try await run().run(text: "assert(arg[1] == 'a')", arguments: ["a"]) == .done)
    #expect(try await run().run(text: "require('tureen').main(function() return 9 end)") == .exited(status: 9))
    let call = """
      local tureen = require "tureen"
      tureen.main(function() error(select(2, tureen.await(tureen.smartstore.clearSoup, "c"))) end)
      """
    #expect(try await run().run(text: call) == .failed(message: "", domain: "smartstore", code: "noSuchSoup"))
    guard case .failed(let message, "", "") = try await run().run(text: "error 'oh'", name: "named") else {
      Issue.record("no failure")
      return
    }
    #expect(message.hasPrefix("named:1: oh"))
    guard case .notRunnable = try await run().run(text: "x =") else {
      Issue.record("it is runnable")
      return
    }
    let short = run { $0.timeLimitMs = 200 }
    guard case .limitReached(.time, _) = try await short.run(text: "while true do end") else {
      Issue.record("no limit of time")
      return
    }
    let small = run { $0.memoryLimit = 8 << 20 }
    guard case .limitReached(.memory, _) = try await small.run(text: "local t = {} while true do t[#t + 1] = {} end") else {
      Issue.record("no limit of memory")
      return
    }
  }

  @Test func run_file_readsItHere() async throws {
    let path = folder.path + "/script.lua"
    try "assert(io == nil)".write(toFile: path, atomically: true, encoding: .utf8)
    #expect(try await run().run(file: path) == .done)
    #expect(
      try await run().run(file: path + "x")
        == .notRunnable(message: "cannot open \(path)x: \(String(cString: strerror(ENOENT)))"))
  }

  @Test func run_whatItPrints_goesToTheDescriptors() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let writing = ends[1]
    #expect(try await run { $0.output = writing }.run(text: "print 'said'") == .done)
    close(ends[1])
    let text = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true).readDataToEndOfFile()
    #expect(String(decoding: text, as: UTF8.self) == "said\n")
  }

  @Test func run_cancelledTask_interruptsTheScript() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let run = run { [writing = ends[1]] in $0.output = writing }
    let task = Task { try await run.run(text: "print 'on' while true do pcall(error) end") }
    let reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let said = try await Task.detached { try reading.read(upToCount: 3) }.value
    #expect(said == Data("on\n".utf8))
    task.cancel()
    #expect(try await task.value == .interrupted)
    close(ends[1])
  }

  @Test func run_wrongSettingsOrWorker_areNamed() async throws {
    var wrong = run()
    wrong.settings.configDirectory = folder.path
    try #"{"hom": 1}"#.write(toFile: folder.path + "/bootconfig.json", atomically: true, encoding: .utf8)
    await #expect(throws: HostError.self) { try await wrong.run(text: "") }
    let end = try await run { $0.worker = "/nonexistent/worker" }.run(text: "")
    guard case .workerEnded("notStarted", let message) = end else {
      Issue.record("\(end)")
      return
    }
    #expect(message.contains("/nonexistent/worker"))
  }

  @Test func run_twoAtOnceOnOneHome_bothEnd() async throws {
    let run = run()
    let script = """
      local tureen = require "tureen"
      tureen.main(function()
        assert(tureen.await(tureen.smartstore.registerSoup, "s", { { path = "Id", type = "string" } }))
        for i = 1, 50 do assert(tureen.await(tureen.smartstore.upsertSoupEntries, "s", { { Id = arg[1] .. i } })) end
      end)
      """
    async let first = run.run(text: script, arguments: ["a"])
    async let second = run.run(text: script, arguments: ["b"])
    #expect(try await [first, second] == [.done, .done])
    let counted = try await run.run(
      text: """
        local tureen = require "tureen"
        tureen.main(function()
          local spec = tureen.smartstore.buildSmartQuerySpec("SELECT count(*) FROM {s}", 1)
          assert(tureen.await(tureen.smartstore.runSmartQuery, spec).currentPageOrderedEntries[1][1] == 100)
        end)
        """)
    #expect(counted == .done)
  }
}
