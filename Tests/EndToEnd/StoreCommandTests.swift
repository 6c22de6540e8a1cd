import Foundation
import Glibc
import JSON
import PostgresStore
import SmartStore
import TestSupport
import Testing

/// Tests `tureen store list`, `copy` and `remove`. Those with a database are in ``StoreDatabaseCommandTests``.
@Suite(.timeLimit(.minutes(60))) struct StoreCommandTests {
  private func tureen(_ place: Workplace, _ arguments: String..., environment: [String: String] = [:]) async throws -> Child.Ended
  {
    try await place.run(Built.tureen, ["store"] + arguments, environment: ["TUREEN_HOME": place.home].merging(environment) { $1 })
  }

  @Test func copy_toAnotherHome_isListedThereAndTheSame() async throws {
    let place = try Workplace(), other = place.path + "/other"
    try StoreFiles.fill(place.home)
    let ended = try await tureen(place, "copy", "home", other, "--store-name", "main")
    #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    #expect(
      ended.output
        == "copied store 'main' (sandbox/sandbox-user) in \(place.home) to \(other): 4 soups, 180 entries; the copy has an id of "
        + "its own and no history\n")
    #expect(try FilledStore.dump(StoreFiles.path(other)) == FilledStore.dump(StoreFiles.path(place.home)))
    let listed = try await tureen(place, "list", other, "--json")
    let line = try JSONValue(parsing: listed.output)
    #expect(listed.status == 0 && line["storeName"] == "main" && line["org"] == "sandbox", "\(listed)")
    #expect(line["user"] == "sandbox-user" && line["engine"] == "sqlite" && line["soups"] == 4 && line["entries"] == 180)
    #expect(line["isUnfinished"] == false && line["place"] == .string(other) && line["bytes"]?.integerValue ?? 0 > 10_000)
    let table = try await tureen(place, "list")
    let rows = table.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(rows.count == 2 && rows[0] == ["STORE", "ORG", "USER", "ENGINE", "SIZE", "SOUPS", "ENTRIES", "STATE"], "\(table)")
    #expect(rows.last?.prefix(4) == ["main", "sandbox", "sandbox-user", "sqlite"])
  }

  @Test func copy_global_hasAnotherName() async throws {
    let place = try Workplace()
    try StoreFiles.fill(place.home, isGlobal: true)
    let ended = try await tureen(
      place, "copy", "home", "home", "--global-store", "--store-name", "main", "--to-store-name", "second", "--json")
    #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    let lines = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(lines.last?["event"] == "storeCopied" && lines.last?["entries"] == 180 && lines.last?["found"] == 0, "\(ended)")
    #expect(lines.dropLast().allSatisfy { $0["event"] == "storeCopy" && $0["total"] == 180 })
    #expect(Set(lines.compactMap { $0["phase"]?.stringValue }) == ["copying", "indexing", "comparing"])
    let listed = try await tureen(place, "list", "--json").output
    #expect(
      listed.split(separator: "\n").count == 2 && listed.contains(#""storeName":"second","isGlobalStore":true"#), "\(listed)")
  }

  /// What is named; nothing is created by a mistake.
  @Test(
    arguments: [
      (
        ["copy", "home", "home", "--store-name", "main"], 64, "FROM and TO are the same: store 'main' (sandbox/sandbox-user) in "
      ),
      (["copy", "hoem", "other/home", "--store-name", "main"], 64, "FROM: there is no folder 'hoem'; did you mean 'home'?"),
      (["copy", "home", "databse", "--store-name", "main"], 64, "TO: there is no folder 'databse'; did you mean 'database'?"),
      (["copy", "home", "new", "--store-name", "main"], 64, "TO: there is no folder 'new'; give 'home', 'database', the folder"),
      (["copy", "home", "database", "--store-name", "main"], 64, "TO: 'database' is the one that TUREEN_STORE names"),
      (["copy", "home", "mysql://ada:hunter2@db/app", "--store-name", "main"], 64, "TO: the address of a database begins with"),
      (["copy", "home", "postgres://ada:hunter2@db/app", "--store-name", "main"], 64, "TO: the address contains a password"),
      (["copy", "home", "./other", "--store-name", "mian"], 1, "there is no store 'mian' (sandbox/sandbox-user) in "),
      (["copy", "home", "./other", "--store-name", "mian"], 1, "; did you mean 'main'?"),
      (["copy", "home", "./other", "--store-name", "main", "--org", "acme"], 67, "no org is known as 'acme'"),
      (["copy", "home", "./other", "--global-store", "--store-name", "main"], 1, "there is no global store 'main' in "),
      (["copy", "home", "home", "--store-name", "main", "--to-store-name", "second"], 1, "second/store.sqlite exists already"),
      (["copy", "home"], 64, "<to>"), (["remove", "mian", "--yes"], 1, "did you mean 'main'?"),
      (["remove", "main"], 64, "give --yes to do it: Remove store 'main' (sandbox/sandbox-user)"),
      (["list", "nowhere"], 64, "the place: there is no folder 'nowhere'"),
    ] as [([String], Int32, String)])
  func command_mistake_isRefusedAndNamed(arguments: [String], status: Int32, named: String) async throws {
    let place = try Workplace()
    try StoreFiles.fill(place.home)
    try StoreFiles.fill(place.home, name: "second")
    let before = place.stores
    let ended = try await place.run(Built.tureen, ["store"] + arguments, environment: ["TUREEN_HOME": place.home])
    #expect(ended.status == status && ended.output == "", "\(ended)")
    #expect(ended.errors.contains(named) && !ended.errors.contains("hunter2"), "\(ended.errors)")
    #expect(place.stores == before)
    for name in ["other", "new", "databse"] { #expect(!FileManager.default.fileExists(atPath: place.path + "/" + name)) }
  }

  @Test func remove_store_isGoneAndOthersStay() async throws {
    let place = try Workplace()
    try StoreFiles.fill(place.home)
    try StoreFiles.fill(place.home, name: "second")
    let ended = try await tureen(place, "remove", "second", "--yes")
    #expect(ended.status == 0 && ended.output == "removed store 'second' (sandbox/sandbox-user) in \(place.home)\n", "\(ended)")
    #expect(try await tureen(place, "list", "--json").output.split(separator: "\n").count == 1)
    let open = try StoreFiles.open(place.home, name: "main")
    let inUse = try await tureen(place, "remove", "main", "--yes")
    #expect(inUse.status == 75 && inUse.errors.contains("store 'main' is open in another process"), "\(inUse)")
    open.close()
  }

  /// Begins copies until a signal cuts one short: on a busy machine a copy may be finished before the signal arrives.
  /// - Returns: The home with the unfinished copy, and how the command ended.
  private func copyCutShort(by signal: Int32, at point: String, in place: Workplace) async throws -> (String, Child.Ended) {
    for attempt in 1...20 {
      let other = "\(place.path)/other\(attempt)"
      let child = try Child(
        Built.tureen, ["store", "copy", place.home, other, "--store-name", "main", "--json"],
        environment: ["TUREEN_HOME": place.home], in: place.path)
      #expect(await child.prints(point))
      child.send(signal)
      let ended = await child.ended()
      let listed = try await tureen(place, "list", environment: ["TUREEN_HOME": other])
      #expect(listed.status == 0, "\(listed)")
      if listed.output.contains("unfinished copy") { return (other, ended) }
      #expect(ended.status == 0 || ended.status == 128 + signal, "\(ended)")
    }
    throw CopyFinished()
  }

  /// Each of 20 copies was finished before it could be cut short.
  private struct CopyFinished: Error {}

  /// `tureen status` and scripts do not stumble over an unfinished copy, and a script that opens it is told what to do.
  @Test func copy_killed_isRefusedListedAndRemovable() async throws {
    let place = try Workplace()
    try StoreFiles.fill(place.home, isLarge: true)
    let (other, ended) = try await copyCutShort(by: SIGKILL, at: #""phase":"copying","soup":"large""#, in: place)
    #expect(ended.status == 128 + SIGKILL)
    let environment = ["TUREEN_HOME": other]
    let soups = try await place.run(Built.tureen, ["soups", "--store-name", "main"], environment: environment)
    #expect(soups.status == 1 && soups.errors.contains("run `tureen store copy` again to finish it"), "\(soups)")
    #expect(try await place.run(Built.tureen, ["status"], environment: environment).status == 0)
    #expect(try await tureen(place, "remove", "main", "--yes", environment: environment).status == 0)
    #expect(try await tureen(place, "list", environment: environment).errors.contains("there are no stores yet"))
  }

  /// The first Ctrl-C ends the copy after a batch.
  @Test func copy_interrupted_is130AndContinues() async throws {
    let place = try Workplace()
    try StoreFiles.fill(place.home, isLarge: true)
    let (other, ended) = try await copyCutShort(by: SIGINT, at: #""phase":"copying","soup":"contacts""#, in: place)
    #expect(ended.status == 130 && ended.errors == "tureen: interrupted; run the command again to continue\n", "\(ended)")
    let again = try await place.run(
      Built.tureen, ["store", "copy", place.home, other, "--store-name", "main", "--json"],
      environment: ["TUREEN_HOME": place.home])
    let line = try JSONValue(parsing: String(again.output.split(separator: "\n").last ?? ""))
    #expect(again.status == 0 && line["found"]?.integerValue ?? 0 > 0, "\(again)")
    #expect(try FilledStore.dump(StoreFiles.path(other)) == FilledStore.dump(StoreFiles.path(place.home)))
  }
}

/// The same with a database.
@Suite(
  .timeLimit(.minutes(60)), .ownThreads,
  .enabled(if: PostgresCluster.isInstalled, "needs a PostgreSQL server (Debian: apt install postgresql)")
)
struct StoreDatabaseCommandTests {
  /// The environment of a command whose database is a schema of the test's own.
  private func environment(_ place: Workplace, _ schema: String) throws -> [String: String] {
    let port = try PostgresCluster.running().port
    return [
      "TUREEN_HOME": place.home,
      "TUREEN_STORE": "postgres://tureen:unused@127.0.0.1:\(port)/postgres?sslmode=disable&schema=\(schema)",
    ]
  }

  /// Killed at several points, the copy is either refused or finished, and the next run continues.
  @Test(arguments: [(true, "kill_to"), (false, "kill_from")])
  func copy_killedAnywhere_isContinued(isTarget: Bool, schema: String) async throws {
    let place = try Workplace(), environment = try environment(place, schema), other = place.path + "/other"
    try StoreFiles.fill(place.home, isLarge: true)
    var from = "home", to = "database"
    if !isTarget {
      let there = try await place.run(
        Built.tureen, ["store", "copy", "home", "database", "--store-name", "main"], environment: environment)
      #expect(there.status == 0, "\(there)")
      (from, to) = ("database", other)
    }
    let opener = isTarget ? environment : ["TUREEN_HOME": other]
    var arguments: [String] = [], name = "", kills = 0, attempts = 0
    // On a busy machine a copy may finish before it is killed; another one is begun then.
    while kills == 0, attempts < 20 {
      attempts += 1
      name = "copy\(attempts)"
      arguments = ["store", "copy", from, to, "--store-name", "main", "--to-store-name", name, "--json"]
      for point in [
        #""phase":"copying","soup":"contacts""#, #""phase":"copying","soup":"large","done":2"#, #""phase":"indexing""#,
        #""phase":"comparing""#,
      ] {
        let child = try Child(Built.tureen, arguments, environment: environment, in: place.path)
        #expect(await child.prints(point))
        child.send(SIGKILL)
        let status = await child.ended().status
        guard status == 128 + SIGKILL else {
          #expect(status == 0)
          break
        }
        let refused = try await place.run(
          Built.tureen, ["soups", "--store-name", name, "--json"], environment: opener)
        // The process may have been killed after it finished the copy, and before it ended.
        guard refused.status != 0 else { break }
        kills += 1
        #expect(refused.errors.contains("run `tureen store copy` again to finish it"), "\(refused)")
      }
    }
    #expect(kills > 0)
    let last = try await place.run(Built.tureen, arguments, environment: environment)
    if last.status == 0 {
      let line = try JSONValue(parsing: String(last.output.split(separator: "\n").last ?? ""))
      #expect(line["found"]?.integerValue ?? 0 > 0 && line["entries"] == .integer(180 + StoreFiles.largeCount), "\(last)")
    } else {
      #expect(last.errors.contains("exists already"), "\(last)")
    }
    let back = place.path + "/back"
    if isTarget {
      let ended = try await place.run(
        Built.tureen, ["store", "copy", "database", back, "--store-name", name], environment: environment)
      #expect(ended.status == 0, "\(ended)")
    }
    let copy = StoreFiles.path(isTarget ? back : other, name: name)
    #expect(try FilledStore.dump(copy) == FilledStore.dump(StoreFiles.path(place.home)))
  }

  /// Unsent edits of the original are sent once, by the copy.
  @Test func sync_ofTheCopy_sendsEachEditOnce() async throws {
    let place = try Workplace(), database = try environment(place, "sync_copy")
    try place.write(
      """
      {"soups": [{"soupName": "contacts", "indexes": [{"path": "Id", "type": "string"}, {"path": "LastName", "type": "string"},
        {"path": "__local__", "type": "string"}]}]}
      """, to: "userstore.json")
    try place.write(
      """
      {"syncs": [
        {"syncName": "down", "syncType": "syncDown", "soupName": "contacts", "options": {"mergeMode": "LEAVE_IF_CHANGED"},
         "target": {"type": "soql", "query": "SELECT Id, LastName, LastModifiedDate FROM Contact WHERE LastName LIKE 'S%'"}},
        {"syncName": "up", "syncType": "syncUp", "soupName": "contacts", "target": {"createFieldlist": ["LastName"]},
         "options": {"fieldlist": ["LastName"], "mergeMode": "OVERWRITE"}}]}
      """, to: "usersyncs.json")
    let files = ["TUREEN_HOME": place.home]
    func tureen(_ arguments: String..., in environment: [String: String]) async throws -> String {
      let ended = try await place.run(Built.tureen, arguments, environment: environment)
      #expect(ended.status == 0, "\(arguments): \(ended)")
      return ended.output
    }
    #expect(try await tureen("sync", "down", in: files).hasPrefix("down: DONE"))
    let script = try place.write(
      """
      local tureen = require "tureen"
      local smartstore = tureen.smartstore
      tureen.main(function()
        local found = assert(tureen.await(smartstore.querySoup, "contacts",
          { queryType = "range", indexPath = "LastName", pageSize = 1 })).currentPageOrderedEntries[1]
        found.LastName, found.__local__, found.__locally_updated__ = "Sedited", true, true
        local made = {}
        for i = 1, 3 do
          made[i] = { Id = "local_" .. i, LastName = "Screated" .. i, attributes = { type = "Contact" },
            __local__ = true, __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false }
        end
        made[4] = found
        assert(tureen.await(smartstore.upsertSoupEntries, "contacts", tureen.array(made), "Id"))
      end)
      """, to: "edit.lua")
    _ = try await tureen("run", script, in: files)
    #expect(try await tureen("store", "copy", "home", "database", in: database).contains("copied store 'defaultStore'"))
    #expect(try await tureen("sync", "up", in: database).hasPrefix("up: DONE, 4 sent"))
    #expect(try await tureen("sync", "up", in: database).hasPrefix("up: DONE, 0 sent"))
    // The states of syncs were copied: the next run down fetches no more than the new records.
    let down = try await tureen("sync", "down", in: database)
    let fetched = down.firstMatch(of: #/down: DONE, ([0-9]+) fetched/#).flatMap { Int($0.output.1) }
    #expect(fetched.map { $0 <= 4 } == true, "\(down)")
    let org = try await tureen(
      "query", "--org-query",
      "SELECT LastName FROM Contact WHERE LastName LIKE 'Screated%' OR LastName = 'Sedited' ORDER BY LastName", "--csv",
      in: database)
    #expect(org == "LastName\nScreated1\nScreated2\nScreated3\nSedited\n", "\(org)")
  }

  @Test func copy_syncThatRuns_is75() async throws {
    let place = try Workplace(), environment = try environment(place, "copy_running")
    try StoreFiles.fill(place.home)
    // The sync of another host.
    let store = try StoreFiles.open(place.home, name: "main")
    defer { store.close() }
    let now = Int64(Date().timeIntervalSince1970 * 1000)
    _ = try store.writeBlocking(.synced) { transaction in
      try transaction.acquireLease("sync:3", owner: "another host", now: now, duration: 600_000) { _ in true }
    }
    let ended = try await place.run(
      Built.tureen, ["store", "copy", "home", "database", "--store-name", "main"], environment: environment)
    #expect(ended.status == 75 && ended.errors.contains("a sync of the store is running (sync:3)"), "\(ended)")
    let listed = try await place.run(Built.tureen, ["store", "list", "database"], environment: environment)
    #expect(listed.errors.contains("there are no stores yet"), "a refused copy leaves nothing behind: \(listed)")
  }

  /// The address of the database is the only one with a password, which no output shows.
  @Test func commands_ofADatabase_listRemoveAndNameNoPassword() async throws {
    let place = try Workplace(), environment = try environment(place, "list_stores")
    try StoreFiles.fill(place.home)
    func tureen(_ arguments: String...) async throws -> Child.Ended {
      let ended = try await place.run(Built.tureen, ["store"] + arguments, environment: environment)
      #expect(!ended.output.contains("unused") && !ended.errors.contains("unused"), "\(ended)")
      return ended
    }
    #expect(try await tureen("copy", "home", "database", "--store-name", "main").status == 0)
    let exists = try await tureen("copy", "home", "database", "--store-name", "main")
    #expect(exists.status == 1 && exists.errors.contains("store 'main' of the database exists already"), "\(exists)")
    let lines = try await tureen("list", "--json").output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(lines.map { $0["engine"] } == ["sqlite", "postgres"] && lines.map { $0["entries"] } == [180, 180], "\(lines)")
    #expect(lines.map { $0["org"] } == ["sandbox", "sandbox"] && lines.map { $0["user"] } == ["sandbox-user", "sandbox-user"])
    let missing = try await tureen("copy", "database", "./other", "--store-name", "main", "--org", "sandbx")
    #expect(missing.status == 67 && missing.errors.contains("is of org 'sandbx'; did you mean 'sandbox'?"), "\(missing)")
    let removed = try await tureen("remove", "main", "--yes")
    #expect(removed.status == 0 && removed.output.contains("in postgres://tureen@127.0.0.1"), "\(removed)")
    #expect(try await tureen("list", "--json").output.split(separator: "\n").count == 1)
    #expect(try await tureen("remove", "main", "--yes", "--in", "home").status == 0)
    #expect(place.stores == [])
  }
}

/// Commands that delete the stores of a user delete those in the database, too.
@Suite(
  .timeLimit(.minutes(60)), .ownThreads,
  .enabled(if: PostgresCluster.isInstalled, "needs a PostgreSQL server (Debian: apt install postgresql)")
)
struct AccountStoreTests {
  private let place: Workplace
  private let environment: [String: String]
  private let schema: String

  init() throws {
    place = try Workplace()
    let port = try PostgresCluster.running().port
    schema = "account_" + UUID().uuidString.prefix(8).lowercased()
    environment = [
      "TUREEN_HOME": place.home,
      "TUREEN_STORE": "postgres://tureen@127.0.0.1:\(port)/postgres?sslmode=disable&schema=\(schema)",
    ]
    try StoreFiles.fill(place.home)
    try FileManager.default.createDirectory(
      atPath: place.home + "/orgs/acme/ada", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private func tureen(_ arguments: String...) async throws -> Child.Ended {
    try await place.run(Built.tureen, arguments, environment: environment)
  }

  private func copy(toUser user: String) async throws {
    let ended = try await tureen(
      "store", "copy", "home", "database", "--store-name", "main", "--to-org", "acme", "--to-user", user)
    #expect(ended.status == 0, "\(ended)")
  }

  /// The owners of the stores in the database.
  private func owners() async throws -> [String] {
    let lines = try await tureen("store", "list", "database", "--json").output.split(separator: "\n")
    return try lines.map { line in
      let store = try JSONValue(parsing: String(line))
      return "\(store["org"]?.stringValue ?? "")/\(store["user"]?.stringValue ?? "")"
    }
  }

  @Test func logout_deleteStores_deletesThoseOfTheUserAlone() async throws {
    try await copy(toUser: "ada")
    try await copy(toUser: "bob")
    let kept = try await tureen("logout", "--org", "acme", "--user", "ada")
    #expect(kept.status == 67, "\(kept)")
    #expect(try await owners() == ["acme/ada", "acme/bob"])
    let asked = try await tureen("logout", "--org", "acme", "--user", "ada", "--delete-stores")
    #expect(asked.status == 64 && asked.errors.contains("Delete 1 store, in postgres://tureen@127.0.0.1"), "\(asked)")
    let ended = try await tureen("logout", "--org", "acme", "--user", "ada", "--delete-stores", "--yes", "--json")
    #expect(ended.status == 0 && ended.output.contains(#""deletedStores":1"#), "\(ended)")
    #expect(try await owners() == ["acme/bob"])
  }

  @Test func orgsRemove_removesTheStoresOfItsUsers() async throws {
    try await copy(toUser: "ada")
    try await copy(toUser: "bob")
    // While a store is open nothing is removed.
    let connector = PostgresConnector(try PostgresCluster.running().address(schema: schema))
    let engines = PostgresEngines(connector, org: "acme", user: "ada")
    let open = Store(name: "main", isGlobal: false, engine: try engines.open("main", isGlobal: false))
    #expect(try open.soupNames().count == 4)
    let refused = try await tureen("orgs", "remove", "acme", "--yes")
    #expect(refused.status == 75 && refused.errors.contains("store 'main' is open in another process"), "\(refused)")
    #expect(FileManager.default.fileExists(atPath: place.home + "/orgs/acme/ada"))
    open.close()
    engines.close()
    let removed = try await tureen("orgs", "remove", "acme", "--yes")
    #expect(removed.status == 0 && removed.output == "'acme' is removed\n", "\(removed)")
    // This home does not know bob.
    #expect(try await owners() == ["acme/bob"])
    #expect(!FileManager.default.fileExists(atPath: place.home + "/orgs/acme"))
  }
}

/// Stores of the sandbox's user in a home.
enum StoreFiles {
  /// The entries of the soup `large`, which takes several batches.
  static let largeCount: Int64 = 300

  private static func engines(_ home: String) -> SQLiteEngines {
    SQLiteEngines(
      userDirectory: home + "/orgs/sandbox/sandbox-user/stores", globalDirectory: home + "/global/stores", recovery: .refuse,
      key: { nil })
  }

  static func path(_ home: String, name: String = "main") -> String {
    "\(home)/orgs/sandbox/sandbox-user/stores/\(name)/store.sqlite"
  }

  static func open(_ home: String, name: String, isGlobal: Bool = false) throws -> Store {
    if !FileManager.default.fileExists(atPath: home) {
      try FileManager.default.createDirectory(
        atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    return Store(name: name, isGlobal: isGlobal, engine: try engines(home).open(name, isGlobal: isGlobal))
  }

  static func fill(_ home: String, name: String = "main", isGlobal: Bool = false, isLarge: Bool = false) throws {
    let store = try open(home, name: name, isGlobal: isGlobal)
    defer { store.close() }
    try FilledStore.fill(store, seed: 9)
    guard isLarge else { return }
    try store.registerSoup("large", indexSpecs: FilledStore.specs)
    let body = String(repeating: "0123456789abcdef", count: 640)
    let entries = (0..<largeCount).map { "{\"Id\":\"\($0)\",\"Name\":\"n\($0)\",\"body\":\"\(body)\"}" }
    _ = try store.upsert(Array("[\(entries.joined(separator: ","))]".utf8), into: "large")
  }
}
