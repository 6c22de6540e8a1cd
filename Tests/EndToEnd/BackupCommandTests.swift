import Foundation
import Glibc
import JSON
import SmartStore
import TestSupport
import Testing

/// Tests `tureen store backup` and `store restore`.
@Suite(.timeLimit(.minutes(60))) struct BackupCommandTests {
  /// A home with two stores of the sandbox org, a global one, and one of an org that was signed in to.
  private func filled() async throws -> Workplace {
    let place = try Workplace()
    try StoreFiles.fill(place.home)
    try StoreFiles.fill(place.home, name: "große 表/..")
    try StoreFiles.fill(place.home, name: "shared", isGlobal: true)
    for folder in ["orgs/acme/ada%40acme%2Ecom/stores", "cache", "sandbox"] { try make(place.home + "/" + folder) }
    try FileManager.default.copyItem(
      atPath: (StoreFiles.path(place.home) as NSString).deletingLastPathComponent,
      toPath: place.home + "/orgs/acme/ada%40acme%2Ecom/stores/main")
    for (file, text) in [
      ("orgs.json", #"{"default": "acme"}"#),
      ("orgs/acme/org.json", #"{"name": "acme", "orgId": "00D000000000001AAA", "loginUrl": "https://acme.my.salesforce.com"}"#),
      ("orgs/acme/ada%40acme%2Ecom/session.json", #"{"canary": 1}"#),
      ("orgs/acme/ada%40acme%2Ecom/credentials.json", #"{"canary": 1}"#), ("cache/answers.sqlite", "canary"),
    ] {
      try place.write(text, to: "home/" + file)
      chmod("\(place.home)/\(file)", 0o600)
    }
    return place
  }

  private func make(_ folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private func tureen(_ place: Workplace, _ arguments: String..., environment: [String: String] = [:]) async throws -> Child.Ended
  {
    try await place.run(Built.tureen, arguments, environment: ["TUREEN_HOME": place.home].merging(environment) { $1 })
  }

  private func names(_ folder: String) -> [String] {
    (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).sorted()
  }

  @Test func row24_backup_isRestoredEqualWithNamesAndOrgs() async throws {
    let place = try await filled()
    let backup = try await tureen(place, "store", "backup", "saved")
    #expect(backup.status == 0 && backup.errors == "" && backup.output.hasPrefix("backed up 4 stores ("), "\(backup)")
    let files = names(place.path + "/saved")
    #expect(!files.contains { $0.contains("session") || $0.contains("credentials") || $0.contains("cache") }, "\(files)")
    #expect(!files.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") }, "\(files)")
    for file in files {
      let mode = try FileManager.default.attributesOfItem(atPath: "\(place.path)/saved/\(file)")[.posixPermissions] as? Int
      #expect((mode ?? 0) & 0o077 == 0, "\(file)")
    }

    let home = place.path + "/new home"
    let restored = try await tureen(place, "store", "restore", "--home", home, "saved")
    #expect(restored.status == 0 && restored.errors == "" && restored.output.hasPrefix("restored 4 stores ("), "\(restored)")
    let before = try await tureen(place, "store", "list", "--json").output
    let after = try await tureen(place, "store", "list", "--home", home, "--json").output
    func shown(_ text: String) throws -> [[JSONValue?]] {
      try text.split(separator: "\n").map { line in
        let store = try JSONValue(parsing: String(line))
        return ["org", "user", "storeName", "isGlobalStore", "soups", "entries", "syncs", "problem"].map { store[$0] }
      }
    }
    #expect(try shown(before) == shown(after) && shown(after).count == 4, "\(after)")
    for folder in names(home) where folder.hasSuffix("store.sqlite") {
      #expect(try FilledStore.dump("\(home)/\(folder)") == FilledStore.dump("\(place.home)/\(folder)"), "\(folder)")
    }
    // Two stores with one id would take each other's plans.
    var ids: [String] = []
    for store in [StoreFiles.path(place.home), StoreFiles.path(home)] {
      ids.append(try await place.run("/usr/bin/sqlite3", ["-readonly", store, "SELECT id FROM store_id"]).output)
    }
    #expect(ids[0].count == 37 && ids[1].count == 37 && ids[0] != ids[1], "\(ids)")
    let orgs = try await tureen(place, "orgs", "--home", home)
    #expect(orgs.output.contains("acme") && orgs.output.contains("ada@acme.com"), "\(orgs)")
  }

  /// The original's process holds the lease and loads for the first time, without indexes. The copy does not wait for it.
  @Test func row24_backupDuringALoad_worksAtOnce() async throws {
    let place = try Workplace(), org = try PagedOrg(holdsFrom: 2)
    try place.write(
      #"{"soups": [{"soupName": "contacts", "indexes": [{"path": "Id", "type": "string"}, {"path": "LastName", "type": "string"}]}]}"#,
      to: "userstore.json")
    try place.write(
      #"{"syncs": [{"syncName": "down", "syncType": "syncDown", "soupName": "contacts", "target": {"type": "soql", "#
        + #""query": "SELECT Id, LastName, LastModifiedDate FROM Contact"}}]}"#, to: "usersyncs.json")
    let sync = try Child(
      Built.tureen, ["sync", "--home", place.home, "--json", "down"], environment: org.environment, in: place.path)
    #expect(await sync.prints(#""progress":20"#))
    let backup = try await tureen(place, "store", "backup", "saved")
    #expect(backup.status == 0, "\(backup)")
    let home = place.path + "/other"
    #expect(try await tureen(place, "store", "restore", "--home", home, "saved").status == 0)
    let rows = try await tureen(
      place, "query", "--home", home, "--csv", "SELECT count(*) FROM {contacts} WHERE {contacts:LastName} = 'Number 7'",
      environment: org.environment)
    #expect(rows.output.hasSuffix("\n1\n"), "\(rows)")
    org.open()
    let next = try await tureen(place, "sync", "--home", home, "down", environment: org.environment)
    #expect(next.status == 0 && next.output.hasPrefix("down: DONE"), "\(next)")
    let all = try await tureen(
      place, "query", "--home", home, "--csv", "SELECT count(*), count(DISTINCT {contacts:Id}) FROM {contacts}",
      environment: org.environment)
    #expect(all.output.hasSuffix("\n\(PagedOrg.total),\(PagedOrg.total)\n"), "\(all)")
    #expect(await sync.ended().status == 0)
  }

  @Test func row24_damagedBackup_isRefusedAndNothingIsRestored() async throws {
    let place = try await filled()
    #expect(try await tureen(place, "store", "backup", "saved").status == 0)
    let home = place.path + "/other"
    for file in names(place.path + "/saved") where file.hasSuffix(".json") || file.hasSuffix("name") || file.hasSuffix(".sqlite")
    {
      let path = "\(place.path)/saved/\(file)", whole = try Data(contentsOf: URL(fileURLWithPath: path))
      var changed = whole
      changed[whole.count / 2] ^= 1
      for damage in [changed, whole.dropLast(), whole + Data([10]), Data()] as [Data] {
        // A manifest may have another line break.
        if file == "backup.json", damage.count > whole.count { continue }
        try damage.write(to: URL(fileURLWithPath: path))
        let ended = try await tureen(place, "store", "restore", "--home", home, "saved")
        let isEqual = (try? JSONValue(parsing: Array(damage))) == (try? JSONValue(parsing: Array(whole))) && file == "backup.json"
        #expect(ended.status == 1 || isEqual, "\(file): \(ended)")
        #expect(isEqual || ended.errors.contains("damaged"), "\(file): \(ended)")
        #expect(isEqual || place.path.isEmpty || !names(home).contains { $0.hasSuffix("store.sqlite") }, "\(file)")
        try? FileManager.default.removeItem(atPath: home)
      }
      try whole.write(to: URL(fileURLWithPath: path))
    }
    try FileManager.default.removeItem(atPath: place.path + "/saved/orgs/acme/org.json")
    let missing = try await tureen(place, "store", "restore", "--home", home, "saved")
    #expect(missing.status == 1 && missing.errors.contains("org.json"), "\(missing)")
  }

  @Test func row24_damagedStore_isNotBackedUp() async throws {
    let place = try await filled()
    let file = try #require(FileHandle(forUpdatingAtPath: StoreFiles.path(place.home)))
    for page in 2..<8 {
      try file.seek(toOffset: UInt64(page) * 8192)
      try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
    }
    try file.close()
    let ended = try await tureen(place, "store", "backup", "saved")
    #expect(ended.status == 1 && !FileManager.default.fileExists(atPath: place.path + "/saved"), "\(ended)")
    #expect(!names(place.path).contains { $0.contains("unfinished") }, "\(names(place.path))")
  }

  @Test func restore_homeThatHasAStore_isRefusedAndUnchanged() async throws {
    let place = try await filled()
    #expect(try await tureen(place, "store", "backup", "saved").status == 0)
    let before = names(place.home)
    let ended = try await tureen(place, "store", "restore", "saved")
    #expect(ended.status == 1 && ended.errors.contains("has these stores already: "), "\(ended)")
    #expect(names(place.home).filter { !$0.hasSuffix(".lock") } == before.filter { !$0.hasSuffix(".lock") })
    // One store less is not enough, all less are.
    for name in ["main", "große 表/.."] {
      #expect(try await tureen(place, "store", "remove", "--org", "sandbox", "--yes", name).status == 0)
    }
    #expect(try await tureen(place, "store", "restore", "saved").status == 1)
    for arguments in [["--org", "acme", "--user", "ada@acme.com", "main"], ["--global-store", "shared"]] {
      let removed = try await place.run(
        Built.tureen, ["store", "remove", "--yes"] + arguments, environment: ["TUREEN_HOME": place.home])
      #expect(removed.status == 0, "\(removed)")
    }
    let again = try await tureen(place, "store", "restore", "saved")
    #expect(again.status == 0, "\(again)")
    #expect(try FilledStore.dump(StoreFiles.path(place.home)).isEmpty == false)
  }

  @Test func restore_otherOrgOfTheName_isRefused() async throws {
    let place = try await filled()
    #expect(try await tureen(place, "store", "backup", "saved").status == 0)
    let home = place.path + "/other"
    try make(home + "/orgs/acme")
    try place.write(#"{"name": "acme", "orgId": "00D000000000009AAA"}"#, to: "other/orgs/acme/org.json")
    let ended = try await tureen(place, "store", "restore", "--home", home, "saved")
    #expect(ended.status == 1 && ended.errors.contains("is about another org"), "\(ended)")
    #expect(!names(home).contains { $0.hasSuffix("store.sqlite") }, "\(names(home))")
    try place.write(#"{"name": "acme", "orgId": "00D000000000001AAA", "note": 1}"#, to: "other/orgs/acme/org.json")
    #expect(try await tureen(place, "store", "restore", "--home", home, "saved").status == 0)
    #expect(try String(contentsOfFile: home + "/orgs/acme/org.json", encoding: .utf8).contains("note"))
  }

  /// A manifest that someone else wrote leads nowhere else.
  @Test(arguments: [
    "../out/store.sqlite", "orgs/acme/../../x/stores/s/store.sqlite", "/etc/passwd", "orgs/acme/ada/session.json",
    "orgs/acme/ada/stores/.hidden/store.sqlite", "orgs/acme/ada/stores/s/other.sqlite", "global/stores/s/../../name", "",
  ])
  func restore_pathThatLeadsOut_isRefused(path: String) async throws {
    let place = try await filled()
    #expect(try await tureen(place, "store", "backup", "saved").status == 0)
    let manifest: JSONValue = [
      "format": "tureen-backup/1", "madeAt": 1, "files": [["path": .string(path), "bytes": 1, "digest": "sha256-1M:00"]],
    ]
    try place.write(manifest.text, to: "saved/backup.json")
    let ended = try await tureen(place, "store", "restore", "--home", place.path + "/other", "saved")
    #expect(ended.status == 1 && ended.errors.contains("is not a path of a home"), "\(ended)")
  }

  @Test(
    arguments: [
      (["backup"], 64, "directory"), (["backup", "home/inside"], 1, "in the home that it saves"),
      (["backup", ""], 64, "is invalid"),
      (["backup", "nowhere/saved"], 1, "there is no folder"), (["backup", "home"], 1, "exists already"),
      (["restore", "nowhere"], 1, "is not a backup of stores"), (["restore", "home"], 1, "is not a backup of stores"),
      (["restore"], 64, "directory"),
    ] as [([String], Int32, String)])
  func archive_mistake_isRefusedAndNamed(arguments: [String], status: Int32, named: String) async throws {
    let place = try await filled()
    let ended = try await place.run(Built.tureen, ["store"] + arguments, environment: ["TUREEN_HOME": place.home])
    #expect(ended.status == status && ended.output == "" && ended.errors.contains(named), "\(ended)")
  }

  @Test func backup_emptyHomeOrDatabase_isRefused() async throws {
    let place = try Workplace()
    let empty = try await tureen(place, "store", "backup", "saved")
    #expect(empty.status == 1 && empty.errors.contains("there are no stores in"), "\(empty)")
    let database = try await tureen(
      place, "store", "backup", "saved", environment: ["TUREEN_STORE": "postgres://ada@127.0.0.1:1/app"])
    #expect(database.status == 1 && database.errors.contains("pg_dump"), "\(database)")
  }

  /// No file of the process may have more than 100 blocks, as on a disk with little room.
  @Test(arguments: ["backup", "restore"]) func archive_fullDisk_leavesNothing(verb: String) async throws {
    let place = try await filled(), home = place.path + "/other"
    #expect(try await tureen(place, "store", "backup", "saved").status == 0)
    let words = verb == "backup" ? "backup new" : "restore --home '\(home)' saved"
    let ended = try await place.run(
      "/bin/sh", ["-c", "ulimit -f 100; trap '' XFSZ; '\(Built.tureen)' store \(words)"], environment: ["TUREEN_HOME": place.home]
    )
    #expect(ended.status == 1 && ended.output == "", "\(ended)")
    let left = names(place.path).filter { $0.contains("unfinished") || $0.contains(".staging") || $0.hasPrefix("new") }
    #expect(left.isEmpty && !names(home).contains { $0.hasSuffix("store.sqlite") }, "\(left)")
  }

  /// What a killed process has left is removed by the next one, and does no harm.
  @Test func backup_killedBefore_isMadeAnew() async throws {
    let place = try await filled()
    try make(place.path + "/.other.unfinished-1-2/orgs")
    let ended = try await tureen(place, "store", "backup", "--json", "saved")
    #expect(ended.status == 0, "\(ended)")
    #expect(!names(place.path).contains { $0.contains("unfinished") })
    let lines = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(lines.last?["event"] == "storesBackedUp" && lines.last?["stores"] == 4, "\(lines)")
    #expect(lines.dropLast().allSatisfy { $0["event"] == "progress" && $0["count"] == 4 })
  }

  @Test(.enabled(if: TestKey.isSupported, "needs the trait Encryption"))
  func row24_encryptedStore_isBackedUpWithItsKey() async throws {
    let place = try Workplace(), key = ["TUREEN_STORE_KEY": "hunter2"]
    let made = try await tureen(
      place, "exec", "smartstore", "registerSoup", #"{"soupName":"s","indexes":[{"path":"a","type":"string"}]}"#,
      environment: key)
    #expect(made.status == 0, "\(made)")
    let without = try await tureen(place, "store", "backup", "saved")
    #expect(without.status == 1 && without.errors.contains("TUREEN_STORE_KEY"), "\(without)")
    #expect(try await tureen(place, "store", "backup", "saved", environment: key).status == 0)
    let home = place.path + "/other"
    #expect(try await tureen(place, "store", "restore", "--home", home, "saved").status == 0)
    let plain = try await tureen(place, "soups", "--home", home)
    #expect(plain.status == 1, "\(plain)")
    let soups = try await tureen(place, "soups", "--home", home, environment: key)
    #expect(soups.status == 0 && soups.output.contains("s"), "\(soups)")
  }
}
