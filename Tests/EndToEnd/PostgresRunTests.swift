import Foundation
import Glibc
import JSON
import PostgresStore
import TestSupport
import Testing

/// Stores in PostgreSQL with the built command: two homes stand for two machines.
@Suite(
  .enabled(if: PostgresCluster.isInstalled, "needs a PostgreSQL server (Debian: apt install postgresql)"),
  .ownThreads)
struct PostgresRunTests {
  /// The environment of a run whose stores are in a schema of the test's own.
  private func environment(_ schema: String, user: String = "tureen", port: Int? = nil) throws -> [String: String] {
    let port = try port ?? PostgresCluster.running().port
    return ["TUREEN_STORE": "postgres://\(user)@127.0.0.1:\(port)/postgres?sslmode=disable&schema=\(schema)"]
  }

  private func run(_ place: Workplace, home: String, _ script: String, _ environment: [String: String]) async throws
    -> Child.Ended
  {
    let path = try place.write(script, to: "script.lua")
    return try await Child(
      Built.tureen, ["run", "--home", place.path + "/" + home, path], environment: environment, in: place.path
    ).ended()
  }

  private static let write = """
    local tureen = require "tureen"
    local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
    smartstore.registerSoup(false, "contacts", { { path = "Id", type = "string" }, { path = "LastName", type = "string" },
      { path = "__local__", type = "string" } })
    tureen.async(function()
      local status = tureen.await(mobilesync.syncDown,
        { type = "soql", query = "SELECT Id, LastName FROM Contact ORDER BY Id LIMIT 3000" }, "contacts",
        { mergeMode = "OVERWRITE" })
      print(status.status, status.totalSize)
    end)
    """

  private static let read = """
    local tureen = require "tureen"
    tureen.smartstore.runSmartQuery({ queryType = "smart", smartSql = "SELECT count(*) FROM {contacts}", pageSize = 1 },
      function(cursor) print("found", cursor.currentPageOrderedEntries[1][1]) end)
    """

  @Test func run_syncOnOneMachine_isSeenOnAnother() async throws {
    let place = try Workplace(), environment = try environment("run_sync")
    let first = try await run(place, home: "one", Self.write, environment)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output == "DONE\t3000\n")
    let second = try await run(place, home: "two", Self.read, environment)
    #expect(second.status == 0, "\(second.errors)")
    #expect(second.output == "found\t3000\n")
    #expect(place.stores == [])
  }

  /// Two homes make 45 calls each of a budget of 60 that they share.
  @Test func run_sharedBudgetOfCalls_isNeverExceeded() async throws {
    let script = """
      local tureen = require "tureen"
      tureen.main(function()
        local made, refused, last = 0, 0, nil
        for _ = 1, 45 do
          local answer, err = tureen.await(tureen.force.query, "SELECT Id FROM Account LIMIT 1")
          if answer then made = made + 1 else refused, last = refused + 1, err end
        end
        print(made, refused, last and last.code, last and last["local"], last and last.message)
      end)
      """
    let place = try Workplace()
    var environment = try environment("run_budget")
    environment["TUREEN_API_BUDGET"] = "60"
    let first = try await run(place, home: "one", script, environment)
    #expect(first.output == "45\t0\tnil\tnil\tnil\n", "\(first.errors)")
    let second = try await run(place, home: "two", script, environment)
    #expect(second.output.hasPrefix("15\t30\trequestLimitExceeded\ttrue\tthe budget of API calls for 'sandbox': all hosts"))
    #expect(second.output.contains("the 60 calls a day that apiBudget allows"), "\(second.output)")
  }

  @Test(arguments: ["2", "3601", "soon"]) func run_wrongLease_is78(seconds: String) async throws {
    let ended = try await run(try Workplace(), home: "home", "print(1)", ["TUREEN_LEASE_SECONDS": seconds])
    #expect(ended.status == 78 && ended.errors.contains("TUREEN_LEASE_SECONDS must be a number of seconds from 3 to 3600"))
  }

  @Test(arguments: [
    ("60", nil, "apiBudget is set, and no database"),
    ("many", "run_wrong_budget", "TUREEN_API_BUDGET must be a number of API calls"),
    ("0", "run_wrong_budget", "TUREEN_API_BUDGET must be a number of API calls"),
  ]) func run_wrongBudget_is78(budget: String, schema: String?, says: String) async throws {
    let place = try Workplace()
    var environment = try schema.map { try self.environment($0) } ?? [:]
    environment["TUREEN_API_BUDGET"] = budget
    let ended = try await run(place, home: "home", "print(1)", environment)
    #expect(ended.status == 78 && ended.errors.contains(says), "\(ended.status) \(ended.errors)")
  }

  /// The commands that look into stores print the same for a database and for files.
  @Test func commands_thatReadAndImport_workAsWithFiles() async throws {
    let script = """
      local tureen = require "tureen"
      local smartstore = tureen.smartstore
      tureen.main(function()
        for name, kind in pairs { texts = "string", values = "json1", none = false } do
          local specs = { { path = "Name", type = "string" } }
          if kind then specs[2] = { path = "__local__", type = kind } end
          assert(tureen.await(smartstore.registerSoup, name, specs))
          assert(tureen.await(smartstore.upsertSoupEntries, name, tureen.array {
            { Name = "clean", __local__ = false, Count = 1 },
            { Name = "created", __local__ = true, __locally_created__ = true },
            { Name = "updated", __local__ = true, __locally_updated__ = true, Address = { City = "Rome", Open = true } },
            { Name = "deleted", __local__ = true, __locally_deleted__ = true },
            { Name = "brief", __local__ = true, __locally_created__ = true, __locally_deleted__ = true },
          }))
        end
      end)
      """
    let place = try Workplace(), database = try environment("run_commands")
    var printed: [[String]] = []
    for (home, environment) in [("files", [:]), ("database", database)] {
      let filled = try await run(place, home: home, script, environment)
      #expect(filled.status == 0, "\(filled.errors)")
      let rows = try place.write("Name,Count,Address.Open\nclean,2,\nnew,3,true\n", to: "rows.csv")
      var outputs: [String] = []
      for command in [
        ["soups", "--json"], ["import", "texts", rows, "--external-id", "Name"],
        ["import", "texts", rows, "--external-id", "Name", "--apply"], ["soups"],
        ["query", "SELECT {texts:Name} FROM {texts} ORDER BY {texts:Name}", "--csv"],
      ] {
        let ended = try await Child(
          Built.tureen, command + ["--home", place.path + "/" + home], environment: environment, in: place.path
        ).ended()
        #expect(ended.status == 0, "\(home) \(command): \(ended.errors)")
        // The two were filled one after the other.
        outputs.append(ended.output.replacing(#/"oldestWaiting":[0-9]+/#, with: ""))
      }
      let status = try await Child(
        Built.tureen, ["status", "--home", place.path + "/" + home], environment: environment, in: place.path
      ).ended()
      #expect(status.status == 0 && status.output.contains("texts"), "\(home): \(status.errors)")
      printed.append(outputs)
    }
    #expect(printed[0] == printed[1])
    #expect(printed[0][0].contains(#""created":1,"updated":1,"deleted":2"#), "\(printed[0][0])")
  }

  @Test func run_passwordOfAFile_isUsedAndInNoMessage() async throws {
    let place = try Workplace()
    let administrator = try PostgresCluster.running().connect()
    // The role and its password are those of SignInTests, which may run at the same time on the same server.
    try administrator.execute(
      """
      DO $$ BEGIN CREATE ROLE locked LOGIN PASSWORD 'r1ght-password';
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
      """)
    try administrator.execute("GRANT CREATE ON DATABASE postgres TO locked")
    var environment = try environment("run_password", user: "locked")
    #expect(chmod(try place.write("r1ght-password\n", to: "password"), 0o600) == 0)
    environment["TUREEN_STORE_PASSWORD_FILE"] = place.path + "/password"
    let script = "require 'tureen'.smartstore.registerSoup(true, 's', { { path = 'a', type = 'string' } })"
    let right = try await run(place, home: "home", script, environment)
    #expect(right.status == 0, "\(right.errors)")
    environment["TUREEN_STORE_PASSWORD_FILE"] = nil
    environment["TUREEN_STORE_PASSWORD"] = "hunter2"
    let wrong = try await run(place, home: "home", script, environment)
    #expect(wrong.status == 1)
    #expect(wrong.errors.contains("refused the sign-in of user 'locked'"))
    #expect(!wrong.errors.contains("hunter2"))
  }

  @Test func run_serverThatIsNotThere_saysSo() async throws {
    let place = try Workplace(), environment = try environment("run_nowhere", port: 1)
    let ended = try await run(place, home: "home", Self.read, environment)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("cannot connect to PostgreSQL at 127.0.0.1:1"))
  }

  @Test func run_badAddress_is78AndDoesNotQuoteIt() async throws {
    let place = try Workplace()
    let ended = try await run(place, home: "home", Self.read, ["TUREEN_STORE": "mysql://ada:hunter2@db/app"])
    #expect(ended.status == 78)
    #expect(ended.errors.contains("TUREEN_STORE: the database's address must begin with postgres://"))
    #expect(!ended.errors.contains("hunter2"))
  }
}
