import Foundation
import JSON
import SandboxOrg
import Synchronization
import TestSupport
import Testing

@testable import Salesforce

/// Runs two programs on one store concurrently, many times: each writes, uploads and downloads with the same syncs, and edits
/// entries that the other may be uploading; responses get lost, and one of the programs is killed. Nothing is lost or created
/// twice, and no sync stays RUNNING.
///
/// `TUREEN_KILLS` and `TUREEN_SEED` have the same meaning as for ``KillTests``.
@Suite(.serialized) struct TwoProcessTests {
  private static let kills = RandomSeed.count("KILLS", usual: 25)
  private static let again = RandomSeed.again(Self.self, ["KILLS": kills])

  @Test func twoPrograms_onOneStore_loseNothingAndMakeNothingTwice() async throws {
    try await RandomSeed.walk(Self.again) { try await runBoth() }
  }

  private func runBoth() async throws {
    let bench = try await PairBench(seed: RandomSeed.value)
    // At least three: the first program is killed, the second one, none.
    for round in 0..<max(3, Self.kills / 20) {
      try await bench.round(round)
      let end = try await bench.finish()
      let said = "\(Self.again), round \(round)\n\(bench.said.joined(separator: "\n"))\n\(end.output)\(end.errors)"
      #expect(end.output.contains("up DONE") && end.output.contains("down DONE") && end.output.contains("dirty 0"), "\(said)")
      #expect(!end.output.contains("left RUNNING"), "\(said)")
      let there = try bench.onServer(), here = try await bench.stored()
      #expect(there == here, "\(said)")
      let isOnce = Set(there.map(\.name)).count == there.count, missing = bench.missing(from: there)
      #expect(isOnce && missing.isEmpty, "\(missing)\n\(said)")
      guard there == here, isOnce, missing.isEmpty else { break }
    }
    await bench.close()
  }
}

/// An org in this process, and a script that two other processes run on one store.
private final class PairBench: @unchecked Sendable {  // used by one test's task; the interceptor touches `target` alone
  struct Contact: Equatable, Comparable {
    let name: String
    let id: String
    let title: String

    static func < (a: Contact, b: Contact) -> Bool { (a.name, a.id) < (b.name, b.id) }
  }

  private let org: SandboxServer
  private let place: Workplace
  private var random: SeededGenerator
  /// By name: the last value that was written for certain, and the values that may have been written since.
  private var written: [String: [String]] = [:]
  /// The output of the programs in the last round.
  private(set) var said: [String] = []
  private let target = Mutex<(child: Child, requests: Int)?>(nil)

  /// Each program writes only its own entries: those that it created, and half of the server's. It prints a line before and after
  /// each write.
  private static let script = """
    io.stdout:setvbuf "no"
    local tureen = require "tureen"
    local smartstore, mobilesync, async, await = tureen.smartstore, tureen.mobilesync, tureen.async, tureen.await
    local what, me, round, seed = arg[1], arg[2], arg[3], tonumber(arg[4])
    math.randomseed(seed or 1)
    local flags = { "__locally_created__", "__locally_updated__", "__locally_deleted__" }

    local function entries()
      local cursor = assert(await(smartstore.runSmartQuery, smartstore.buildSmartQuerySpec(
        "SELECT {contacts:_soup} FROM {contacts} ORDER BY {contacts:LastName}", 1000)))
      local found = {}
      for i, row in ipairs(cursor.currentPageOrderedEntries) do found[i] = row[1] end
      return found
    end

    local function save(entry, value)
      entry.Title, entry.__local__ = value, true
      print("will", entry.LastName, value)
      assert(await(smartstore.upsertSoupEntries, "contacts", { entry }))
      print("did", entry.LastName, value)
    end

    local function create(n)
      local name = ("%s %s-%d"):format(me, round, n)
      local entry = { Id = ("local_%d"):format(math.random(1 << 52)), LastName = name, attributes = { type = "Contact" } }
      for _, flag in ipairs(flags) do entry[flag] = flag == "__locally_created__" end
      save(entry, ("%s.%d.new"):format(round, n))
    end

    local function mine(entry)
      local owner, number = entry.LastName:match "^(%a+) (%d+)"
      return owner == me or owner == "server" and (number % 2 == 0) == (me == "a")
    end

    local function edit(n)
      local own = {}
      for _, entry in ipairs(entries()) do if mine(entry) then own[#own + 1] = entry end end
      if #own == 0 then return end
      local entry = own[math.random(#own)]
      entry.__locally_updated__ = true
      save(entry, ("%s.%d.edit"):format(round, n))
    end

    --- Runs a sync that the other program may be running too.
    local function sync(name)
      while true do
        local done, err = await(mobilesync.reSync, name)
        if done or err.code ~= "runningElsewhere" then return done or err.sync end
        tureen.sleep(10)
      end
    end

    async(function()
      if what == "setup" then
        local specs = { { path = "__sync_id__", type = "integer" } }
        for _, path in ipairs { "Id", "LastName", "__local__" } do specs[#specs + 1] = { path = path, type = "string" } end
        assert(await(smartstore.registerSoup, "contacts", specs))
        local query = "SELECT Id, LastName, Title, LastModifiedDate FROM Contact"
        assert(await(mobilesync.createSyncDown,
          { type = "soql", query = query }, "contacts", { mergeMode = "LEAVE_IF_CHANGED" }, "down"))
        assert(await(mobilesync.createSyncUp,
          { maxBatchSize = 3, lostCreateWaitMs = 3000 }, "contacts",
          { fieldlist = { "LastName", "Title" }, mergeMode = "OVERWRITE" }, "up"))
        sync "down"
      elseif what == "work" then
        for n = 1, 3 do create(n) end
        local up = async(sync, "up")
        for n = 1, 3 do edit(n) end
        await(up)
        edit(4)
        sync "up"
        sync "down"
      else
        for _, name in ipairs { "up", "down" } do
          if await(mobilesync.getSyncStatus, name).status == "RUNNING" then print "left RUNNING" end
        end
        local up = sync "up"
        while up.status ~= "DONE" or up.inDoubt > 0 or up.failed > 0 do
          tureen.sleep(500)
          up = sync "up"
        end
        local down, dirty = sync "down", 0
        for _, entry in ipairs(entries()) do
          if entry.__local__ then dirty = dirty + 1; print("dirty", tureen.json.encode(entry)) end
        end
        print("up " .. up.status, "down " .. down.status, "dirty " .. dirty, up.error, down.error)
      end
    end)
    tureen.run()
    """

  init(seed: UInt64) async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.pageSize = 4
    org = try await SandboxServer.start(configuration)
    for n in 0..<8 { try org.create("Contact", fields: ["LastName": .string("server \(n)")]) }
    place = try Workplace()
    try place.write(Self.script, to: "script.lua")
    random = SeededGenerator(state: seed)
    org.setInterceptor { [weak self] _ in
      self?.count()
      return nil
    }
    let setup = try await child("setup").ended()
    #expect(setup.status == 0, "\(setup)")
  }

  func close() async { await org.stop() }

  private func count() {
    let due = target.withLock { target -> Child? in
      guard let now = target else { return nil }
      target?.requests -= 1
      guard now.requests <= 1 else { return nil }
      target = nil
      return now.child
    }
    due?.send(SIGKILL)
  }

  private func child(_ what: String...) throws -> Child {
    try Child(
      Built.tureen, ["run", "--quiet", "--home", place.home, "script.lua"] + what,
      environment: [
        "TUREEN_ORG": org.url, "TUREEN_CLIENT_ID": org.clientId, "TUREEN_CLIENT_SECRET": org.clientSecret,
        "TUREEN_USERNAME": org.username, "TUREEN_PASSWORD": org.password,
      ], in: place.path)
  }

  /// Runs both programs at once, with occasional lost responses. In two of three rounds one of them is killed.
  func round(_ round: Int) async throws {
    if let id = try ids().randomElement(using: &random) {
      try org.update("Contact", id: id, fields: ["Department": .string("round \(round)")])
    }
    try org.faults.add(.dropBeforeResponse(), when: .nth(Int.random(in: 2...12, using: &random)), path: "composite/**")
    let programs = try ["a", "b"].map { try child("work", $0, "\(round)", "\(random.next() >> 40)") }
    if round % 3 < 2 {
      let requests = Int.random(in: 3...14, using: &random)
      target.withLock { $0 = (programs[round % 2], requests) }
    }
    said = []
    for program in programs {
      let ended = await program.ended()
      target.withLock { $0 = nil }
      said.append(ended.output + ended.errors)
      note(ended.output)
    }
    org.faults.clear()
  }

  func finish() async throws -> Child.Ended { try await child("finish").ended() }

  private func note(_ output: String) {
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: "\t").map(String.init)
      guard parts.count == 3 else { continue }
      // Any of the values without a confirmation may be the last one written.
      if parts[0] == "did" { written[parts[1]] = [parts[2]] }
      if parts[0] == "will" { written[parts[1], default: [""]].append(parts[2]) }
    }
  }

  /// Returns the values that were written but are missing.
  func missing(from there: [Contact]) -> [String] {
    written.sorted { $0.key < $1.key }.compactMap { name, values in
      let found = there.first { $0.name == name }
      // A killed program may not have created the entry yet.
      if found == nil, values.first?.isEmpty == true { return nil }
      guard let title = found?.title else { return "\(name) is lost" }
      return values.contains(title) ? nil : "\(name) has \(title) and not one of \(values)"
    }
  }

  private func ids() throws -> [String] {
    try org.query("SELECT Id FROM Contact ORDER BY Id")["records"]?.arrayValue?.compactMap { $0["Id"]?.stringValue } ?? []
  }

  func onServer() throws -> [Contact] {
    let records = try org.query("SELECT Id, LastName, Title FROM Contact")["records"]?.arrayValue ?? []
    return records.map { record in
      func text(_ name: String) -> String { record[name]?.stringValue ?? "" }
      return Contact(name: text("LastName"), id: text("Id"), title: text("Title"))
    }.sorted()
  }

  /// Returns the content of the store's file, read with the stock `sqlite3` tool.
  func stored() async throws -> [Contact] {
    let file = try #require(place.stores.first)
    let columns = ["LastName", "Id", "Title"].map { "coalesce(json_extract(soup, '$.\($0)'), '')" }
    let ended = try await place.run(
      "/usr/bin/sqlite3", ["-readonly", "-separator", "\t", file, "SELECT \(columns.joined(separator: ", ")) FROM TABLE_1;"])
    #expect(ended.status == 0, "\(ended.errors)")
    return ended.output.split(separator: "\n").map { line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Contact(name: parts[0], id: parts[1], title: parts[2])
    }.sorted()
  }
}
