import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests the member `after` of a sync: a program that `tureen sync` runs when entries have changed.
@Suite(.timeLimit(.minutes(60))) struct AfterSyncTests {
  /// Four contacts of the sandbox org have this name.
  private static let ben = "WHERE Name = 'Ben Santos'"

  private func project(_ after: String, limit: Int = 4) throws -> Workplace {
    let place = try Workplace()
    try place.write(
      #"{"soups": [{"soupName": "contacts", "indexes": [{"path": "Id", "type": "string"}]}]}"#, to: "userstore.json")
    try write(after, limit: limit, place)
    return place
  }

  private func write(_ after: String, limit: Int = 4, _ place: Workplace) throws {
    try place.write(
      """
      {"syncs": [{"syncName": "down", "syncType": "syncDown", "soupName": "contacts", "after": \(after), "target":
        {"type": "soql", "query": "SELECT Id, LastName, LastModifiedDate FROM Contact \(limit > 4 ? "" : Self.ben)"}},
       {"syncName": "plain", "syncType": "syncDown", "soupName": "contacts", "target":
        {"type": "soql", "query": "SELECT Id, LastName, LastModifiedDate FROM Contact WHERE Name = 'James Santos'"}}]}
      """, to: "usersyncs.json")
  }

  private func sync(_ place: Workplace, _ arguments: String..., environment: [String: String] = [:]) async throws -> Child.Ended {
    try await place.run(Built.tureen, ["sync", "--home", place.home] + arguments, environment: environment)
  }

  private func text(_ place: Workplace, _ name: String) -> String? {
    try? String(contentsOfFile: place.path + "/" + name, encoding: .utf8)
  }

  @Test func after_command_getsTheChangedIds_andOnlyIfThereAreSome() async throws {
    let place = try project(#"["sh", "-c", "cat >>changes.json; echo told"]"#)
    let first = try await sync(place, "down")
    #expect(first.status == 0 && !first.output.contains("told") && first.errors.contains("told\n"), "\(first)")
    let input = try JSONValue(parsing: try #require(text(place, "changes.json")))
    #expect(input["syncName"] == "down" && input["syncType"] == "syncDown" && input["status"] == "DONE")
    #expect(input["storeName"] == "defaultStore" && input["isGlobalStore"] == false)
    #expect(
      input["changes"] == [["soupName": "contacts", "created": [1, 2, 3, 4], "updated": [], "removed": [], "all": false]],
      "\(input)"
    )
    #expect(try await sync(place, "down").status == 0)
    #expect(text(place, "changes.json")?.split(separator: "\n").count == 1, "nothing has changed")
    #expect(try await sync(place, "plain").status == 0)
    #expect(text(place, "changes.json")?.split(separator: "\n").count == 1, "another sync")
  }

  @Test func after_script_runsWithTheHomeOfTheSync() async throws {
    let place = try project(#""hooks/notify.lua""#)
    mkdir(place.path + "/hooks", 0o700)
    try place.write(
      """
      local tureen = require "tureen"
      local change = tureen.json.decode(io.read("a")).changes[1]
      tureen.main(function()
        local entries = assert(tureen.await(tureen.smartstore.retrieveSoupEntries, change.soupName, change.created))
        local file <close> = io.open("told.txt", "w")
        file:write(#entries, " ", entries[1].Id)
      end)
      """, to: "hooks/notify.lua")
    let ended = try await sync(place, "--json", "down")
    #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    #expect(text(place, "told.txt")?.hasPrefix("4 003") == true, "\(ended)")
  }

  @Test func after_removedByGhosts_isTold() async throws {
    let place = try project(#"["sh", "-c", "cat >changes.json"]"#), sandbox = try await Sandbox(place)
    #expect(try await sync(place, "down").status == 0)
    let query = try await place.run(
      Built.tureen,
      ["query", "--home", place.home, "--csv", "SELECT {contacts:Id} FROM {contacts} WHERE {contacts:_soupEntryId} = 1"])
    let id = try #require(query.output.split(separator: "\n").last)
    #expect(
      try await place.exec(
        "network", "sendRequest", #"{"path":"/services/data/v66.0/sobjects/Contact/\#(id)","method":"DELETE"}"#
      )
      .status == 0)
    #expect(try await sync(place, "--ghosts", "down").status == 0)
    let input = try JSONValue(parsing: try #require(text(place, "changes.json")))
    #expect(input["changes"]?.arrayValue?.first?["removed"] == [1], "\(input)")
    withExtendedLifetime(sandbox) {}
  }

  @Test func after_program_failing_is1AndNamed() async throws {
    let place = try project(#"["sh", "-c", "exit 3"]"#)
    let ended = try await sync(place, "down", "plain")
    #expect(
      ended.status == 1 && ended.errors.contains("after sync 'down': 'sh' ended with status 3")
        || ended.errors.contains("/sh' ended with status 3"), "\(ended)")
    #expect(ended.output.contains("down: DONE") && ended.output.contains("plain: DONE"), "\(ended)")
    let json = try await sync(try project(#"["sh", "-c", "kill -9 $$"]"#), "--json", "down")
    let message = try JSONValue(parsing: json.errors)["message"]?.stringValue
    #expect(json.status == 1 && message?.contains("was ended by signal 9") == true, "\(json)")
  }

  /// Ctrl-C and SIGTERM end the program as well.
  @Test func after_interrupt_endsTheProgram() async throws {
    let place = try project(#"["sh", "-c", "echo $$ >pid; echo waits; sleep 600 & wait"]"#)
    let child = try Child(Built.tureen, ["sync", "--home", place.home, "--every", "1h", "down"], in: place.path)
    #expect(await child.complains("waits"))
    child.send(SIGTERM)
    let ended = await child.ended()
    #expect(ended.status == 0 && !ended.errors.contains("after sync"), "\(ended)")
    let id = try #require(text(place, "pid").flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
    #expect(kill(id, 0) != 0 && errno == ESRCH)
  }

  @Test func after_manyChanges_areToldWithoutIds() async throws {
    let place = try project(#"["sh", "-c", "cat >changes.json"]"#, limit: 5000)
    #expect(try await sync(place, "down").status == 0)
    let input = try JSONValue(parsing: try #require(text(place, "changes.json")))
    let change = try #require(input["changes"]?.arrayValue?.first)
    let count = change["created"]?.arrayValue?.count ?? 0
    #expect(change["all"] == true && count == 0 || count == 5000, "\(count)")
  }

  @Test(arguments: [
    (#""notify""#, "'after' must be a Lua script such as"), (#""../up.lua""#, "must be a script in the folder of this file"),
    (#""/etc/x.lua""#, "must be a script in the folder of this file"), ("[]", "'after' must be a Lua script such as"),
    (#"["a", 1]"#, "'after' must be a Lua script such as"), ("{}", "'after' must be a Lua script such as"),
    (#""gone.lua""#, "has no such file"), (#"["./gone"]"#, "has no such file"), (#"["no-such-program-x"]"#, "no folder of PATH"),
    (#"["/no/such"]"#, "cannot be run"), (#"["./../up"]"#, "leads out of"),
  ])
  func after_mistake_is78AndNamedBeforeTheSync(after: String, message: String) async throws {
    let place = try project(after)
    let ended = try await sync(place, "down")
    #expect(ended.status == 78 && ended.output == "" && ended.errors.contains(message), "\(ended)")
    #expect(ended.errors.contains("usersyncs.json"), "\(ended)")
  }

  /// Files that others could have written make no code run.
  @Test func after_fileThatOthersCanWrite_runsNothing() async throws {
    let place = try project(#""notify.lua""#)
    try place.write("io.open('ran.txt', 'w')", to: "notify.lua")
    for (file, mode) in [("", 0o777), ("/usersyncs.json", 0o666), ("/notify.lua", 0o666), ("/notify.lua", 0o660)]
      as [(String, mode_t)]
    {
      var before = stat()
      #expect(stat(place.path + file, &before) == 0 && chmod(place.path + file, mode) == 0)
      let ended = try await sync(place, "down")
      #expect(ended.status == 78 && ended.errors.contains("is refused"), "\(file): \(ended)")
      #expect(text(place, "ran.txt") == nil, "\(file)")
      let trusted = try await sync(place, "down", environment: ["TUREEN_TRUST": place.path])
      #expect(trusted.status == 0, "\(file): \(trusted)")
      try? FileManager.default.removeItem(atPath: place.path + "/ran.txt")
      try FileManager.default.removeItem(atPath: place.home)
      chmod(place.path + file, before.st_mode & 0o777)
    }
  }

  /// The member is the file's alone: neither a script nor the store can name a program.
  @Test func after_ofAScript_isRefused() async throws {
    let place = try project("null")
    let ended = try await place.exec(
      "mobilesync", "ensureSync",
      #"{"syncName":"x","syncType":"syncDown","soupName":"contacts","target":{"type":"mru","sobjectType":"Contact"},"after":["sh"]}"#
    )
    #expect(ended.status == 64 || ended.status == 1, "\(ended)")
    #expect(ended.errors.contains("after"), "\(ended)")
  }
}
