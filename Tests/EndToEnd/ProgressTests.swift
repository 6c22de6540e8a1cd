import Foundation
import Glibc
import TestSupport
import Testing

/// Tests the progress display of the built command.
@Suite(.timeLimit(.minutes(60))) struct ProgressTests {
  private let place: Workplace
  private let server: ScriptedServer
  /// Releases the second page.
  private let second = DispatchSemaphore(value: 0)

  init() throws {
    place = try Workplace()
    server = try ScriptedServer(handler: { [second] request in
      if request.target == "/rows" { return .json(#"[{"id":1},{"id":2}]"#, headers: [("Link", "</rows?page=2>; rel=next")]) }
      guard request.target == "/rows?page=2" else {
        return .json(#"{"message":"there is no such list"}"#, status: 404)
      }
      second.wait()
      return .json(#"[{"id":3}]"#)
    })
    try place.write(#"{"api": {"baseURL": "\#(server.url)"}}"#, to: "connections.json")
  }

  private func script(graceMs: Int, url: String = "/rows") throws -> String {
    try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        assert(tureen.await(tureen.smartstore.registerSoup, "rows", { { path = "id", type = "string" } }))
        local _, err = tureen.await(tureen.mobilesync.syncDown, { type = "rest", connection = "api", url = "\(url)",
          paging = { style = "link" } }, "rows", { graceMs = \(graceMs) }, "rows")
        print(err and err.code or "synced")
      end)
      """, to: "script.lua")
  }

  private func start(_ script: String, options: [String] = [], on terminal: Terminal? = nil) throws -> Child {
    try Child(
      Built.tureen, ["run", "--home", place.home] + options + [script], environment: ["NO_COLOR": "1"], in: place.path,
      terminal: terminal)
  }

  @Test func terminal_graceOver_showsABarThatIsRewrittenAndAFinalLine() async throws {
    let child = try start(try script(graceMs: 0), on: Terminal())
    #expect(await child.prints("rows  1 page, 2 records so far"), "\(child.printed)")
    second.signal()
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.output.contains("\r\u{1b}[K"), "\(ended)")
    let lines = ended.output.split(separator: "\r\n").map { $0.split(separator: "\u{1b}[K").last.map(String.init) ?? "" }
    #expect(lines.count == 2 && lines[1] == "synced", "\(lines)")
    #expect(lines[0].hasPrefix("tureen: sync 'rows': done, 3 records on 2 pages in "))
  }

  @Test(arguments: [[], ["--quiet"]]) func terminal_withinGrace_showsNothing(options: [String]) async throws {
    second.signal()
    let ended = await (try start(try script(graceMs: 600_000), options: options, on: Terminal())).ended()
    #expect(ended.status == 0 && ended.output == "synced\r\n", "\(ended)")
  }

  @Test func failure_isPrintedAtOnceAndStays() async throws {
    let script = try script(graceMs: 600_000, url: "/none"), ended = await (try start(script)).ended()
    #expect(ended.output == "httpStatus\n", "\(ended)")
    let said = ended.errors.split(separator: "\n").filter { $0.hasPrefix("tureen: ") }
    #expect(said.count == 1 && said[0].hasPrefix("tureen: sync 'rows' failed: "), "\(ended.errors)")
    #expect(said.first?.contains("there is no such list") == true)
    let quiet = await (try start(script, options: ["--quiet"])).ended()
    #expect(!quiet.errors.contains("tureen: sync"), "\(quiet.errors)")
  }

  @Test func noTerminal_shortSync_printsNothing() async throws {
    second.signal()
    let ended = await (try start(try script(graceMs: 0))).ended()
    #expect(ended.status == 0 && ended.output == "synced\n" && !ended.errors.contains("tureen:"), "\(ended)")
  }
}
