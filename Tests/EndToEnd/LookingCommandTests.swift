import Foundation
import Glibc
import JSON
import PostgresStore
import TestSupport
import Testing

/// Commands that look change nothing, wait for nobody, need no secret, and say what they may not read.
@Suite(.timeLimit(.minutes(60)), .ownThreads) struct LookingCommandTests {
  /// The commands that only look, as they are typed.
  private static let looking = [
    "status", "status --json", "status --check=failed=0", "status --prometheus", "soups", "syncs --all",
    "query 'SELECT 1 FROM {contacts}'",
    "export contacts", "store list", "dirty", "dirty --fields contacts", "conflicts", "conflicts contacts",
  ]

  /// Those that need a synced home that can be written.
  private static let telling = [
    "runs", "runs 1", "runs --requests", "explain contacts 1", "explain contacts 2 --fields", "plan contactsUp",
    "doctor --offline",
  ]

  private static let project = """
    local tureen = require "tureen"
    local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
    tureen.main(function()
      assert(await(smartstore.registerSoup, "contacts",
        { { path = "Id", type = "string" }, { path = "__local__", type = "string" } }))
      assert(await(mobilesync.syncDown,
        { type = "soql", query = "SELECT Id, LastName, LastModifiedDate FROM Contact ORDER BY Id LIMIT 20" }, "contacts",
        { mergeMode = "MERGE" }, "contactsDown"))
      assert(await(mobilesync.createSyncUp, {}, "contacts", { fieldlist = { "LastName" }, mergeMode = "MERGE" },
        "contactsUp"))
      local entry = await(smartstore.retrieveSoupEntries, "contacts", { 1 })[1]
      entry.LastName, entry.__local__, entry.__locally_updated__ = "Edited", true, true
      assert(await(smartstore.upsertSoupEntries, "contacts", { entry }))
    end)
    """

  /// Creates a home with a synced soup, an edit and syncs.
  private func workplace(_ environment: [String: String] = [:]) async throws -> Workplace {
    let place = try Workplace()
    let script = try place.write(Self.project, to: "project.lua")
    let ended = try await Child(Built.tureen, ["run", "--home", place.home, script], environment: environment, in: place.path)
      .ended()
    #expect(ended.status == 0, "\(ended)")
    return place
  }

  /// Runs a command line with the home of the place.
  private func shell(
    _ place: Workplace, _ line: String, prefix: String = "", environment: [String: String] = [:]
  ) async throws -> Child.Ended {
    let command = line.split(separator: " ", maxSplits: line.hasPrefix("store ") ? 2 : 1).map(String.init)
    let words = line.hasPrefix("store ") ? Array(command.prefix(2)) : Array(command.prefix(1))
    let rest = command.dropFirst(words.count).joined(separator: " ")
    let text = "\(prefix) '\(Built.tureen)' \(words.joined(separator: " ")) --home '\(place.home)' \(rest)"
    return try await Child("/bin/sh", ["-c", text], environment: environment, in: place.path).ended()
  }

  /// Every file of the home with its contents and mode, except those that reading a database makes.
  private func files(_ place: Workplace) throws -> [String: String] {
    let names = FileManager.default.enumerator(atPath: place.home)?.compactMap { $0 as? String } ?? []
    var found: [String: String] = [:]
    for name in names where !name.hasSuffix("-shm") && !name.hasSuffix("-wal") {
      var info = stat()
      guard stat("\(place.home)/\(name)", &info) == 0 else { continue }
      let isFile = info.st_mode & S_IFMT == S_IFREG
      let bytes = isFile ? try Data(contentsOf: URL(fileURLWithPath: "\(place.home)/\(name)")).base64EncodedString() : ""
      found[name] = "\(info.st_mode) \(bytes)"
    }
    return found
  }

  // MARK: Nothing written

  @Test func row1_looking_changesNoFile() async throws {
    let place = try await workplace(), before = try files(place)
    for line in Self.looking + Self.telling {
      let ended = try await shell(place, line)
      #expect(ended.status == 0 && (line.hasPrefix("conflicts") || !ended.output.isEmpty), "\(line): \(ended)")
      #expect(try files(place) == before, "\(line)")
    }
  }

  /// Those that also ask the server: no file of a store changes, nor what its tables hold.
  @Test func row1_asking_changesNoStore() async throws {
    let place = try await workplace()
    try place.write(#"{"soups":[{"soupName":"more","indexes":[{"path":"Id","type":"string"}]}]}"#, to: "userstore.json")
    try place.write(
      #"{"syncs":[{"syncName":"more","syncType":"syncUp","soupName":"contacts","target":{},"options":{"fieldlist":["Title"]}}]}"#,
      to: "usersyncs.json")
    let store = try #require(place.stores.first { $0.contains("defaultStore") })
    let name = (store as NSString).deletingLastPathComponent + "/name"
    try FileManager.default.removeItem(atPath: name)
    func held() async throws -> String {
      let dump = try await place.run("/usr/bin/sqlite3", ["-readonly", store, ".dump"])
      #expect(dump.status == 0, "\(dump)")
      return dump.output
    }
    let before = try await held()
    for line in ["doctor", "plan contactsUp --server", "explain contacts 1 --server", "explain contacts 2 --server"] {
      let ended = try await shell(place, line)
      #expect(ended.status == 0 && !ended.output.isEmpty, "\(line): \(ended)")
      #expect(try await held() == before, "\(line)")
      #expect(!FileManager.default.fileExists(atPath: name), "\(line)")
    }
  }

  @Test(.enabled(if: PostgresCluster.isInstalled, "needs a PostgreSQL server (Debian: apt install postgresql)"))
  func row1_lookingIntoADatabase_changesNoRow() async throws {
    let cluster = try PostgresCluster.running(), schema = "looking_rows"
    let environment = [
      "TUREEN_STORE": "postgres://tureen@127.0.0.1:\(cluster.port)/postgres?sslmode=disable&schema=\(schema)"
    ]
    let place = try await workplace(environment)
    let connection = try cluster.connect()
    defer { connection.close() }
    func rows() throws -> String {
      try connection.query(
        """
        SELECT (SELECT string_agg(w::text, ';' ORDER BY id) FROM \(schema).writers w)
          || (SELECT string_agg(t::text, ';' ORDER BY id) FROM \(schema).stores t)
          || (SELECT t::text FROM \(schema)_1.state t)
          || (SELECT string_agg(l::text, ';' ORDER BY name) FROM \(schema)_1.leases l)
        """
      ).only().string(0)
    }
    let before = try rows()
    for line in Self.looking + Self.telling {
      let ended = try await shell(place, line, environment: environment)
      #expect(ended.status == 0, "\(line): \(ended)")
      #expect(try rows() == before, "\(line)")
    }
  }

  // MARK: In use, dead runs

  @Test func row2_runOfAKilledProcess_isShownAbandonedAndStays() async throws {
    let place = try await workplace()
    // As a process leaves it that is killed in the middle: RUNNING, and nobody holds the lease.
    let script = try place.write(
      """
      local tureen = require "tureen"
      local await = tureen.await
      tureen.main(function()
        local entries = assert(await(tureen.smartstore.querySoup, "syncs_soup",
          tureen.smartstore.buildExactQuerySpec("name", "contactsDown", 1))).currentPageOrderedEntries
        entries[1].status = "RUNNING"
        assert(await(tureen.smartstore.upsertSoupEntries, "syncs_soup", entries))
      end)
      """, to: "killed.lua")
    #expect(try await place.run(Built.tureen, ["run", "--home", place.home, script]).status == 0)
    let before = try files(place)
    for line in ["status", "syncs"] {
      let ended = try await shell(place, line)
      #expect(ended.status == 0 && ended.output.contains("ABANDONED"), "\(line): \(ended)")
    }
    #expect(try await shell(place, "status --check=failed=0").status == 2)
    let stored = try await shell(
      place, "query --csv \"SELECT {syncs_soup:status} FROM {syncs_soup} WHERE {syncs_soup:name} = 'contactsDown'\"")
    #expect(stored.output.hasSuffix("\nRUNNING\n"), "\(stored)")
    #expect(try files(place) == before)
  }

  @Test func row2_besideARunningSync_readsWhatIsThere() async throws {
    let place = try await workplace()
    let sandbox = try await Sandbox(place, options: ["--fault", "latency milliseconds=3000"])
    let sync = try Child(Built.tureen, ["sync", "--home", place.home, "contactsDown"], in: place.path)
    for line in Self.looking {
      let ended = try await shell(place, line)
      #expect(ended.status == 0, "\(line): \(ended)")
    }
    #expect(await sync.ended().status != 1)
    withExtendedLifetime(sandbox) {}
  }

  // MARK: Rights

  /// What another user is: nobody, if the tests run as root.
  private static let other = geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
  private static let canBeOther =
    geteuid() != 0 || FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

  /// Lets other users read the home and its files, but not write to them.
  private func open(_ place: Workplace) async throws {
    let rights = geteuid() == 0 ? "a+rX,go-w" : "a-w"
    let ended = try await Child("/bin/chmod", ["-R", rights, place.path], in: "/").ended()
    #expect(ended.status == 0, "\(ended)")
  }

  private func close(_ place: Workplace) async throws {
    _ = try await Child("/bin/chmod", ["-R", "u+rwX", place.path], in: "/").ended()
  }

  @Test(.enabled(if: canBeOther, "needs setpriv")) func row3_readOnlyFolder_worksWithoutALog() async throws {
    let place = try await workplace()
    for store in place.stores {
      for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + side) }
    }
    try await open(place)
    for line in Self.looking {
      let ended = try await shell(place, line, prefix: Self.other)
      #expect(ended.status == 0 && (line.hasPrefix("conflicts") || !ended.output.isEmpty), "\(line): \(ended)")
    }
    let names = FileManager.default.enumerator(atPath: place.home)?.compactMap { $0 as? String } ?? []
    #expect(!names.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") })
    try await close(place)
  }

  @Test(.enabled(if: canBeOther, "needs setpriv")) func row3_readOnlyFolderWithALog_isAnErrorThatNamesIt() async throws {
    let place = try await workplace()
    let store = try #require(place.stores.first { $0.contains("defaultStore") })
    // As a process leaves it that was killed: the log has the last transactions.
    #expect(FileManager.default.createFile(atPath: store + "-wal", contents: Data(repeating: 1, count: 64)))
    try? FileManager.default.removeItem(atPath: store + "-shm")
    try await open(place)
    let ended = try await shell(place, "soups", prefix: Self.other)
    #expect(ended.status == 1 && ended.errors.contains("store.sqlite-wal has unsaved changes"), "\(ended)")
    #expect(ended.errors.contains("look as its owner"))
    try await close(place)
  }

  @Test(.enabled(if: canBeOther, "needs setpriv"), arguments: ["status", "soups", "syncs", "store list", "dirty"])
  func row4_unreadableHome_isAnErrorWithTheFolder(_ line: String) async throws {
    for part in ["", "/orgs", "/orgs/sandbox", "/orgs/sandbox/sandbox-user/stores/defaultStore"] {
      let place = try await workplace()
      try await open(place)
      #expect(chmod(place.home + part, 0o000) == 0)
      let ended = try await shell(place, line, prefix: Self.other)
      chmod(place.home + part, 0o700)
      try await close(place)
      #expect(ended.status == 1, "\(line), \(part): \(ended)")
      #expect((ended.errors + ended.output).contains("Permission denied"), "\(line), \(part): \(ended)")
      #expect(!ended.output.contains("none yet"), "\(line), \(part): \(ended)")
    }
  }

  // MARK: Secrets

  @Test func row5_noSecretOfTheSignIn_isNeeded() async throws {
    let place = try Workplace()
    let key = try place.write("nothing", to: "key.pem")
    chmod(key, 0o600)
    let address = "https://acme.my.salesforce.com"
    let users = ["TUREEN_ORG": address, "TUREEN_CLIENT_ID": "client", "TUREEN_USERNAME": "ada@acme.com"]
    let made = try await Child(
      Built.tureen,
      [
        "exec", "--home", place.home, "smartstore", "registerSoup",
        #"{"soupName":"contacts","indexes":[{"path":"Id","type":"string"}]}"#,
      ],
      environment: users.merging(["TUREEN_CLIENT_SECRET": "s", "TUREEN_PASSWORD": "p"]) { $1 }, in: place.path
    ).ended()
    #expect(made.status == 0, "\(made)")
    for secrets in [
      ["TUREEN_PRIVATE_KEY_FILE": place.path + "/gone.pem"], ["TUREEN_PRIVATE_KEY_FILE": key],
      ["TUREEN_CLIENT_SECRET_FILE": place.path + "/gone", "TUREEN_PASSWORD_FILE": place.path + "/gone"],
      ["TUREEN_PASSWORD": "p", "TUREEN_CLIENT_SECRET_COMMAND": "false"],
    ] {
      for line in Self.looking.filter({ !$0.contains("contacts") || $0.hasPrefix("query") }) {
        let ended = try await shell(place, line, environment: users.merging(secrets) { $1 })
        #expect(ended.status == 0, "\(secrets) \(line): \(ended)")
      }
      let soups = try await shell(place, "soups", environment: users.merging(secrets) { $1 })
      #expect(soups.output.contains("contacts"), "\(secrets): \(soups)")
    }
    let sf = try await shell(place, "status", environment: ["TUREEN_ORG": "sf:gone", "PATH": "/nowhere"])
    #expect(sf.status == 0 && sf.output.contains("stores     none yet"), "\(sf)")
  }

  // MARK: Others

  @Test func row6_otherSchemas_areReadOrNamed() async throws {
    for version in 1...4 {
      let place = try Workplace(), folder = place.home + "/orgs/sandbox/sandbox-user/stores/kept"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try FileManager.default.copyItem(
        atPath: Built.package.path + "/Tests/Fixtures/store-\(version).sqlite", toPath: folder + "/store.sqlite")
      let before = try files(place)
      for line in [
        "status", "soups --store-name kept", "syncs --store-name kept", "dirty --store-name kept", "conflicts --store-name kept",
        "store list", "export --store-name kept contacts",
      ] {
        let ended = try await shell(place, line)
        #expect(ended.status == 0, "\(version), \(line): \(ended)")
        #expect(try files(place) == before, "\(version), \(line)")
      }
    }
  }

  @Test func row6_newerSchema_is1AndSaysWhatToDo() async throws {
    let place = try await workplace()
    let store = try #require(place.stores.first { $0.contains("defaultStore") })
    let file = try #require(FileHandle(forUpdatingAtPath: store))
    // The version is at byte 60 of the header. Source: SQLite, "Database File Format".
    try file.seek(toOffset: 60)
    try file.write(contentsOf: Data([0, 0, 0, 99]))
    try file.close()
    let ended = try await shell(place, "soups")
    #expect(ended.status == 1 && ended.errors.contains("newer Tureen"), "\(ended)")
  }

  @Test func lookingOnAFullDisk_works() async throws {
    let place = try await workplace()
    for store in place.stores {
      for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + side) }
    }
    // No file of the process may have a byte, as on a full disk.
    let ended = try await shell(place, "soups", prefix: "ulimit -f 0; trap '' XFSZ;")
    #expect(ended.status == 0 && ended.output.contains("contacts"), "\(ended)")
  }
}
