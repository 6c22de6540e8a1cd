import Foundation
import Glibc
import TestSupport
import Testing

/// Tests commands in folders that other users could have written.
@Suite(.timeLimit(.minutes(60))) struct FolderTrustTests {
  private let secrets = [
    "TUREEN_CLIENT_ID": "app", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u", "TUREEN_PASSWORD": "hunter2",
  ]

  /// A folder with a home of its own whose `bootconfig.json` chooses an org.
  private func place(choosing url: String, mode: mode_t) throws -> Workplace {
    let place = try Workplace()
    #expect(mkdir(place.home, 0o700) == 0)
    try place.write(#"{"org": "\#(url)"}"#, to: "bootconfig.json")
    try place.write("require('tureen').network.sendRequest('', '/services/data', print)", to: "script.lua")
    #expect(chmod(place.path + "/bootconfig.json", 0o644) == 0 && chmod(place.path, mode) == 0)
    return place
  }

  @Test(arguments: [["run", "script.lua"], ["status"], ["sync", "x"], ["query", "SELECT 1"]])
  func command_inAFolderThatOthersCanWriteTo_is78AndAsksNobody(command: [String]) async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let place = try place(choosing: server.url, mode: 0o777)
    let arguments = [command[0], "--home", place.home] + command.dropFirst()
    let ended = try await place.run(Built.tureen, arguments, environment: secrets)
    #expect(ended.status == 78 && ended.output == "")
    #expect(
      ended.errors.contains("bootconfig.json:1: 'org' is refused") && ended.errors.contains("chmod go-w")
        && ended.errors.contains("set TUREEN_TRUST="), "\(ended.errors)")
    #expect(server.requests.isEmpty)
  }

  @Test func run_trustedFolder_usesItsOrg() async throws {
    let server = try ScriptedServer(handler: { request in
      guard request.path == "/services/oauth2/token" else { return .json("[]") }
      return .json(#"{"access_token": "t0", "instance_url": "http://\#(request.header("Host") ?? "")", "id": "x/1/2"}"#)
    })
    let place = try place(choosing: server.url, mode: 0o777)
    for trusted in ["/nowhere:\(place.path)", place.path + "/"] {
      let ended = try await place.runScript(
        place.path + "/script.lua", environment: secrets.merging(["TUREEN_TRUST": trusted]) { $1 })
      #expect(ended.status == 0, "\(ended.errors)")
    }
    #expect(server.requests.contains { $0.path.hasPrefix("/services/data") })
    let relative = try await place.runScript(place.path + "/script.lua", environment: ["TUREEN_TRUST": "job"])
    #expect(relative.status == 78 && relative.errors.contains("TUREEN_TRUST: 'job' must be an absolute path"))
  }

  @Test(.enabled(if: geteuid() == 0)) func run_asRootInAFolderOfAnotherUser_is78() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    let place = try place(choosing: server.url, mode: 0o755)
    #expect(chown(place.path, 65_534, 65_534) == 0)
    let ended = try await place.runScript(place.path + "/script.lua", environment: secrets)
    #expect(ended.status == 78 && ended.errors.contains("belongs to another user (id 65534)"), "\(ended)")
    #expect(server.requests.isEmpty)
  }

  /// Lua code that another user's file names is not run, and modules of the current folder are not found by themselves.
  @Test(arguments: [0o666, 0o644] as [mode_t]) func repl_syncsOfAFolder_runNoCodeOfTheFolder(mode: mode_t) async throws {
    let place = try Workplace(), marker = place.path + "/ran"
    try place.write("os.execute('touch \(marker)') return {}", to: "evil.lua")
    try place.write(
      #"{"syncs": [{"syncName": "s", "syncType": "syncDown", "soupName": "t", "#
        + #""target": {"type": "custom", "luaImpl": "evil"}}]}"#,
      to: "usersyncs.json")
    #expect(chmod(place.path + "/usersyncs.json", mode) == 0)
    let input = try place.write(
      """
      await(smartstore.registerSoup, "t", { { path = "Id", type = "string" } })
      await(mobilesync.reSync, "s")
      """, to: "input.lua")
    let ended = try await Child(
      Built.tureen, ["repl", "--home", place.home, "--config", "."], in: place.path, input: input
    ).ended()
    let expected = mode == 0o666 ? "the Lua code that 'luaImpl' names is refused" : "module 'evil' cannot be loaded"
    #expect(ended.errors.contains(expected) && ended.status != 0, "\(ended)")
    #expect(access(marker, F_OK) != 0)
  }

  /// A program named by another user's file is not run.
  @Test(arguments: ["connections.json", "target.json"])
  func restTry_fileOfOthers_runsNoCommand(open: String) async throws {
    let place = try Workplace(), marker = place.path + "/ran"
    let connection = """
      {"baseURL": "http://127.0.0.1:1", "auth": {"type": "bearer", "token": {"command": ["/usr/bin/touch", "\(marker)"]}}}
      """
    let target = #"{"type": "rest", "connection": "books", "url": "/books", "idFieldName": "id"}"#
    if open == "target.json" {
      try place.write("{\"connection\": \(connection), \"target\": \(target)}", to: "target.json")
    } else {
      try place.write(target, to: "target.json")
      try place.write("{\"books\": \(connection)}", to: "connections.json")
    }
    #expect(chmod(place.path + "/" + open, 0o666) == 0)
    let ended = try await place.run(Built.tureen, ["rest", "try", place.path + "/target.json"])
    #expect(ended.status == 78 && ended.errors.contains("is refused, because it reaches outside the folder"), "\(ended)")
    #expect(access(marker, F_OK) != 0)
    let trusted = try await place.run(
      Built.tureen, ["rest", "try", place.path + "/target.json"], environment: ["TUREEN_TRUST": place.path])
    #expect(trusted.status == 1 && access(marker, F_OK) == 0, "\(trusted)")
  }
}
