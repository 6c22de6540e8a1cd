import Foundation
import JSON
import SandboxOrg
import Synchronization
import TestSupport
import Testing

@testable import Salesforce

/// Kills syncs with `kill -9` at random points. The next run continues: nothing is lost or created twice, and no sync stays
/// RUNNING.
///
/// `TUREEN_KILLS` sets the number of kills in each direction (default 25), `TUREEN_SEED` the random points.
/// `scripts/dev/scenarios` sets both. A failure says how to repeat them.
@Suite(.serialized) struct KillTests {
  private static let kills = RandomSeed.count("KILLS", usual: 25)
  private static let again = RandomSeed.again(Self.self, ["KILLS": kills])

  @Test func syncDown_killedAnywhere_isCompletedByTheNextRun() async throws {
    try await RandomSeed.walk(Self.again) { try await killDowns() }
  }

  private func killDowns() async throws {
    let bench = try await KillBench(seed: RandomSeed.value)
    for round in 0..<max(1, Self.kills / 4) {
      try bench.changeServer(round)
      for _ in 0..<4 { try await bench.run("down", killedAtRequest: 1...14) }
      let end = try await bench.run("down", killedAtRequest: nil)
      #expect(end.output.contains("DONE"), "\(Self.again), round \(round): \(end.output)\(end.errors)")
      #expect(!end.output.contains("left RUNNING"), "\(Self.again), round \(round): \(end.output)")
      #expect(try await bench.stored() == bench.onServer(), "\(Self.again), round \(round)")
    }
    await bench.close()
  }

  @Test func syncUp_killedAnywhere_sendsEverythingOnce() async throws {
    try await RandomSeed.walk(Self.again) { try await killUps() }
  }

  private func killUps() async throws {
    let bench = try await KillBench(seed: RandomSeed.value &+ 1)
    _ = try await bench.run("down", killedAtRequest: nil)
    for round in 0..<max(1, Self.kills / 10) {
      _ = try await bench.run("edit", killedAtRequest: nil)
      for _ in 0..<10 { try await bench.run("up", killedAtRequest: 1...8) }
      let end = try await bench.run("up", "finish", killedAtRequest: nil)
      let said: Comment = "\(Self.again), round \(round): \(end.output)\(end.errors)"
      #expect(end.output.contains("DONE") && end.output.contains("dirty 0"), said)
      let there = try bench.onServer()
      #expect(Set(there).count == there.count, "\(Self.again), round \(round): made twice")
      #expect(try await bench.stored() == there, "\(Self.again), round \(round)")
    }
    await bench.close()
  }
}

/// An org in this process, and a script in another process that is killed when a certain request arrives.
private final class KillBench: @unchecked Sendable {  // used by one test's task; the interceptor touches `target` alone
  private let org: SandboxServer
  private let place: Workplace
  private var random: SeededGenerator
  /// The process to kill, the number of requests until then, and the delay in µs after the last one.
  private let target = Mutex<(child: Child, requests: Int, delay: UInt32)?>(nil)

  private static let script = """
    local tureen = require "tureen"
    local smartstore, mobilesync, async, await = tureen.smartstore, tureen.mobilesync, tureen.async, tureen.await
    local what = arg[1]
    async(function()
      if not await(smartstore.soupExists, "contacts") then
        await(smartstore.registerSoup, "contacts", {
          { path = "Id", type = "string" }, { path = "LastName", type = "string" }, { path = "__local__", type = "string" },
          { path = "__sync_id__", type = "integer" },
        })
      end
      if what == "edit" then
        local entries, stamp = {}, os.time() .. "-" .. math.random(1 << 40)
        for n = 1, 7 do
          local name = "local " .. stamp .. "-" .. n
          entries[n] = {
            Id = "local_" .. stamp .. "-" .. n, LastName = name, attributes = { type = "Contact" }, __local__ = true,
            __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false,
          }
        end
        await(smartstore.upsertSoupEntries, "contacts", entries)
        print "edited"
        return
      end
      local target, options = { type = "soql", query = "SELECT Id, LastName, LastModifiedDate FROM Contact" },
        { mergeMode = "LEAVE_IF_CHANGED" }
      if what == "up" then target, options = { maxBatchSize = 2, lostCreateWaitMs = 3000 }, { fieldlist = { "LastName" }, mergeMode = "OVERWRITE" } end
      local before = await(mobilesync.getSyncStatus, what)
      if type(before) ~= "table" then before = nil end
      if before and before.status == "RUNNING" then print "left RUNNING" end
      local run = function()
        if before then return await(mobilesync.reSync, what) end
        if what == "up" then return await(mobilesync.syncUp, target, "contacts", options, what) end
        return await(mobilesync.syncDown, target, "contacts", options, what)
      end
      local done = run()
      -- Creates whose answer was lost are looked for, and sent again after a while.
      while arg[2] == "finish" and done.inDoubt > 0 do
        tureen.sleep(1000)
        done = await(mobilesync.reSync, what)
      end
      local dirty = await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(
        "SELECT count(*) FROM {contacts} WHERE {contacts:__local__} = 'true'", 1))
      print(done.status, "dirty " .. math.tointeger(dirty.currentPageOrderedEntries[1][1]))
    end)
    tureen.run()
    """

  init(seed: UInt64) async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .custom(accounts: 1, contacts: 24)
    configuration.pageSize = 2
    org = try await SandboxServer.start(configuration)
    place = try Workplace()
    try place.write(Self.script, to: "script.lua")
    random = SeededGenerator(state: seed)
    org.setInterceptor { [weak self] _ in
      self?.count()
      return nil
    }
  }

  func close() async { await org.stop() }

  private func count() {
    let due = target.withLock { target -> (child: Child, delay: UInt32)? in
      guard let now = target else { return nil }
      target?.requests -= 1
      guard now.requests <= 1 else { return nil }
      target = nil
      return (now.child, now.delay)
    }
    guard let due else { return }
    usleep(due.delay)
    due.child.send(SIGKILL)
  }

  /// Runs the script. If it sends fewer requests than that, it runs to its end.
  @discardableResult
  func run(_ what: String..., killedAtRequest range: ClosedRange<Int>?) async throws -> Child.Ended {
    let child = try Child(
      Built.tureen, ["run", "--home", place.home, "script.lua"] + what,
      environment: [
        "TUREEN_ORG": org.url, "TUREEN_CLIENT_ID": org.clientId, "TUREEN_CLIENT_SECRET": org.clientSecret,
        "TUREEN_USERNAME": org.username, "TUREEN_PASSWORD": org.password,
      ], in: place.path)
    if let range {
      let requests = Int.random(in: range, using: &random), delay = UInt32.random(in: 0...4_000, using: &random)
      target.withLock { $0 = (child, requests, delay) }
    }
    let ended = await child.ended()
    target.withLock { $0 = nil }
    return ended
  }

  /// Creates, changes and deletes a few records on the server.
  func changeServer(_ round: Int) throws {
    let ids =
      try org.query("SELECT Id FROM Contact ORDER BY Id")["records"]?.arrayValue?.compactMap { $0["Id"]?.stringValue } ?? []
    for id in ids.prefix(9) {
      try org.update("Contact", id: id, fields: ["LastName": .string("round \(round), \(id)")])
    }
    for n in 0..<5 { try org.create("Contact", fields: ["LastName": .string("round \(round), new \(n)")]) }
  }

  func onServer() throws -> [String] {
    let records = try org.query("SELECT Id, LastName FROM Contact")["records"]?.arrayValue ?? []
    return records.map { "\($0["LastName"]?.stringValue ?? "-") \($0["Id"]?.stringValue ?? "-")" }.sorted()
  }

  /// Returns the content of the store's file, read with the stock `sqlite3` tool after an integrity check.
  func stored() async throws -> [String] {
    let file = try #require(place.stores.first)
    let ended = try await place.run(
      "/usr/bin/sqlite3",
      [
        "-readonly", file,
        """
        PRAGMA integrity_check;
        SELECT json_extract(soup, '$.LastName') || ' ' || json_extract(soup, '$.Id') FROM TABLE_1;
        """,
      ])
    var lines = ended.output.split(separator: "\n").map(String.init)
    #expect(ended.status == 0 && lines.first == "ok", "\(ended.output)\(ended.errors)")
    lines.removeFirst()
    return lines.sorted()
  }
}
