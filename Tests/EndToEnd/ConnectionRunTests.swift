import Foundation
import Glibc
import TestSupport
import Testing

/// Tests named connections and their caches with the built command: several processes, kills, a full disk, the log.
@Suite(.timeLimit(.minutes(60))) struct ConnectionRunTests {
  private let place: Workplace
  private let server: ScriptedServer

  init() throws {
    place = try Workplace()
    server = try ScriptedServer(handler: { request in
      .json(#"{"path":"\#(request.path)"}"#, headers: [("Cache-Control", "max-age=86400"), ("ETag", "\"1\"")])
    })
    try place.write(#"{"api": {"baseURL": "\#(server.url)"}}"#, to: "connections.json")
  }

  private func exec(_ arguments: String, options: [String] = [], through shell: String? = nil) async throws -> Child.Ended {
    let words = ["exec", "--home", place.home, "--config", place.path] + options + ["network", "sendRequest", arguments]
    if let shell {
      return try await Child("/bin/bash", ["-c", shell, "bash", Built.tureen] + words, in: place.path).ended()
    }
    return try await Child(Built.tureen, words, in: place.path).ended()
  }

  private func tureen(_ words: [String]) async throws -> Child.Ended {
    try await Child(Built.tureen, words + ["--home", place.home], in: place.path).ended()
  }

  @Test func secondProcess_getsTheAnswerOfTheFirst() async throws {
    let first = try await exec(#"{"connection":"api","path":"/a","returnResponse":true}"#)
    let second = try await exec(#"{"connection":"api","path":"/a","returnResponse":true}"#)
    #expect(first.status == 0 && first.output.contains(#""cache":"miss""#), "\(first)")
    #expect(second.status == 0 && second.output.contains(#""cache":"hit""#), "\(second)")
    #expect(server.requests.count == 1)
    let list = try await tureen(["cache", "list"])
    #expect(list.status == 0 && list.output.hasPrefix("api\t200\t") && list.output.contains("\(server.url)/a\n"))
    let json = try await tureen(["cache", "list", "--json", "--connection", "API"])
    #expect(json.output.contains(#""connection":"api""#) && json.output.contains(#""status":200"#))
    let unknown = try await tureen(["cache", "list", "--connection", "other"])
    #expect(unknown.status == 64 && unknown.errors.contains("connection 'other' has no cache"))
    let cleared = try await tureen(["cache", "clear"])
    #expect(cleared.status == 0 && cleared.output == "1 stored answer removed\n")
    let offline = try await exec(#"{"connection":"api","path":"/a","cache":"offline"}"#)
    #expect(offline.status == 75 && offline.errors.contains("no response is stored"), "\(offline)")
    #expect(server.requests.count == 1)
  }

  private let manyRequests = """
    local tureen = require "tureen"
    local first, last = tonumber(arg[1]), tonumber(arg[2])
    tureen.run(function()
      for i = first, last do
        assert(tureen.await(tureen.network.sendRequest, { connection = "api", path = "/" .. i }))
      end
      print("done")
    end)
    """

  @Test func twoProcessesAtOnce_shareOneFile() async throws {
    let script = try place.write(manyRequests, to: "many.lua")
    let words = ["run", "--home", place.home, "--quiet", script]
    let a = try Child(Built.tureen, words + ["1", "150"], in: place.path)
    let b = try Child(Built.tureen, words + ["100", "250"], in: place.path)
    let ended = await [a.ended(), b.ended()]
    for end in ended { #expect(end.status == 0 && end.output == "done\n" && end.errors.isEmpty, "\(end)") }
    let list = try await tureen(["cache", "list"])
    #expect(list.output.split(separator: "\n").count == 250)
  }

  @Test func killedProcess_leavesAUsableCache() async throws {
    let script = try place.write(manyRequests, to: "many.lua")
    let words = ["run", "--home", place.home, "--quiet", script]
    for round in 1...4 {
      let child = try Child(Built.tureen, words + ["1", "100000"], in: place.path)
      // Kill it while it stores, in each round after a different number of responses.
      await server.received(round * 37)
      child.send(SIGKILL)
      _ = await child.ended()
    }
    let asked = server.requests.count
    let after = try await Child(Built.tureen, words + ["1", "30"], in: place.path).ended()
    #expect(after.status == 0 && after.output == "done\n" && after.errors.isEmpty, "\(after)")
    #expect(server.requests.count == asked, "what was stored before the kills is still there")
  }

  @Test func fullDisk_failsNoRequestAndIsSaidOnce() async throws {
    let script = try place.write(manyRequests, to: "many.lua")
    let ended = try await Child(
      "/bin/bash",
      [
        "-c", #"trap "" XFSZ; ulimit -f 16; exec "$@""#, "bash", Built.tureen, "run", "--home", place.home, "--quiet", script,
        "1", "100",
      ], in: place.path
    ).ended()
    // The requests succeed even if the cache cannot be written.
    #expect(ended.output == "done\n", "\(ended)")
    #expect(server.requests.count == 100)
  }

  @Test func logRequests_toStderr_withAndWithoutALevel() async throws {
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.run(function()
        assert(tureen.await(tureen.network.sendRequest, { connection = "api", path = "/x?token=CANARY" }))
        print(arg[1])
      end)
      """, to: "one.lua")
    let bare = try await Child(
      Built.tureen, ["run", "--log-requests", "--home", place.home, script, "--log-requests"], in: place.path
    ).ended()
    #expect(bare.status == 0 && bare.output == "--log-requests\n", "\(bare)")
    #expect(bare.errors.contains(" api GET \(server.url)/x?token=… 200 ") && !bare.errors.contains("  > "))
    let again = try await Child(Built.tureen, ["run", "--home", place.home, "--log-requests=debug", script], in: place.path)
      .ended()
    #expect(again.errors.contains(" hit\n"), "\(again)")
    let file = place.path + "/log"
    _ = try await Child(
      Built.tureen, ["run", "--home", place.home, script],
      environment: ["TUREEN_LOG_REQUESTS": "info", "TUREEN_LOG_REQUESTS_FILE": file], in: place.path
    ).ended()
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.hasSuffix(" hit\n") && !text.contains("CANARY"))
    let wrong = try await Child(
      Built.tureen, ["run", "--home", place.home, script], environment: ["TUREEN_LOG_REQUESTS": "inof"], in: place.path
    ).ended()
    #expect(wrong.status == 78 && wrong.errors.contains("TUREEN_LOG_REQUESTS: 'inof' is not a level; did you mean 'info'?"))
    let level = try await Child(Built.tureen, ["run", "--log-requests=loud", script], in: place.path).ended()
    #expect(level.status == 64)
  }

  @Test func typoInConnections_isStatus78() async throws {
    try place.write("{\"api\": {\"baseURL\": \"\(server.url)\",\n \"pauseMS\": 1}}", to: "connections.json")
    let ended = try await exec(#"{"connection":"api","path":"/a"}"#)
    #expect(ended.status == 78)
    #expect(ended.errors.contains("connections.json:2: connection 'api': 'pauseMS' is not known here; did you mean 'pauseMs'?"))
  }
}
