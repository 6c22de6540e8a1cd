import Glibc
import JSON
import LuaBridge
import SmartStore
import Support
import TestSupport
import Testing
import Tureen

@testable import Inspector

/// What the routes answer, over real sockets.
@Suite(.ownThreads, .timeLimit(.minutes(60))) struct AnswerTests {
  @Test func files_areServedByteForByteWithoutAToken() async throws {
    let home = try InspectedHome(), assets = Assets()
    #expect(assets.paths.contains("/") && assets.paths.contains("/js/main.js") && assets.paths.contains("/app.css"))
    for path in assets.paths {
      let file = try #require(assets.file(at: path)), answer = await home.get(path, ["Authorization": nil])
      #expect(answer.status == 200 && answer.body == file.bytes && answer.headers["content-type"] == file.type, "\(path)")
      #expect(answer.headers["content-length"] == "\(file.bytes.count)")
      let head = await home.client.send(home.request("HEAD", path))
      #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "\(file.bytes.count)")
    }
    for path in ["/index.html", "/js", "/js/", "/../Package.swift", "//", "/js/%6dain.js", "/app.css/"] {
      #expect(await home.get(path).status == 404, "\(path)")
    }
    #expect(await home.get("/?x=1").status == 200)
    await home.stop()
  }

  @Test func overview_isTheActionsResult() async throws {
    let home = try InspectedHome(), calls = ActionCalls(InspectedHome.settings(home.folder.path))
    guard case .success(let text) = calls.perform("mobilesync", "getOverview", [:]) else {
      Issue.record("no overview")
      return
    }
    calls.close()
    // A look reports the sizes at its own time.
    let answer = await home.get("/api/v1/overview").json
    let wanted = try JSONValue(parsing: text)
    #expect(
      answer["home"] == wanted["home"]
        && answer["stores"]?.arrayValue?.first?["soups"] == wanted["stores"]?.arrayValue?.first?["soups"])
    #expect(answer["stores"]?.arrayValue?.count == 1)
    await home.stop()
  }

  @Test func unsent_isListedInParts() async throws {
    let home = try InspectedHome()
    try InspectedHome.write(
      home.folder.path,
      [
        (
          "pgUpsertSoupEntries",
          [
            "soupName": "contacts", "externalIdPath": "_soupEntryId",
            "entries": [
              ["LastName": "A", "__local__": true, "__locally_created__": true],
              ["LastName": "B", "__local__": true, "__locally_created__": true],
            ],
          ]
        )
      ])
    let all = await home.get(InspectedHome.store + "/unsent").json
    #expect(all["total"] == 3 && all["next"]?.isNull == true && all["entries"]?.arrayValue?.count == 3, "\(all.text)")
    let first = await home.get(InspectedHome.store + "/unsent?limit=2").json
    #expect(first["entries"]?.arrayValue == Array((all["entries"]?.arrayValue ?? []).prefix(2)) && first["next"] == 2)
    let rest = await home.get(InspectedHome.store + "/unsent?limit=2&after=2").json
    #expect(rest["entries"]?.arrayValue == Array((all["entries"]?.arrayValue ?? []).suffix(1)) && rest["next"]?.isNull == true)
    #expect(await home.get(InspectedHome.store + "/unsent?state=waiting&soup=contacts").json["total"] == 3)
    let wrong = await home.get(InspectedHome.store + "/unsent?state=lost")
    #expect(wrong.status == 422 && wrong.code == "invalidArguments")
    #expect(await home.get(InspectedHome.store + "/unsent?soup=nowhere").status == 404)
    #expect(await home.get("/api/v1/stores/u:nowhere/unsent").status != 200)
    await home.stop()
  }

  @Test func entry_large_isCutAndSaysSo() async throws {
    let home = try InspectedHome(), long = String(repeating: "ä", count: 2_500_000)
    try InspectedHome.write(
      home.folder.path,
      [
        (
          "pgUpsertSoupEntries",
          [
            "soupName": "a/b & c", "externalIdPath": "_soupEntryId",
            "entries": [["Id": "x", "Text": .string(long), "N": 12345678901234567]],
          ]
        )
      ])
    let answer = await home.get(InspectedHome.store + "/soups/a%2Fb%20%26%20c/entries/1")
    #expect(
      answer.status == 200 && answer.body.count < 10_000 && answer.text.contains("… (5000000 bytes)")
        && answer.text.contains("12345678901234567"))
    let page = await home.query("SELECT {a/b & c:_soup} FROM {a/b & c}")
    #expect(page.status == 200 && page.body.count < 10_000)
    #expect(await home.get(InspectedHome.store + "/soups/contacts/entries/99").status == 404)
    await home.stop()
  }

  @Test func conflict_thatIsNone_is404() async throws {
    let home = try InspectedHome(writes: true)
    #expect(await home.get(InspectedHome.store + "/conflicts").json["total"] == 0)
    #expect(await home.get(InspectedHome.store + "/conflicts/contacts/1").code == "noSuchConflict")
    #expect(
      await home.post(InspectedHome.store + "/conflicts/contacts/1/resolve", ["side": "mine"], ["If-Match": "x"]).status == 404)
    await home.stop()
  }

  // MARK: Smart SQL

  @Test func row52_query_hasColumnsRowsAndPlan() async throws {
    let home = try InspectedHome()
    let answer = await home.query(
      "SELECT {contacts:LastName} AS name, {contacts:Title} FROM {contacts} WHERE {contacts:Title} = 'Nurse'"
    ).json
    #expect(
      answer["columns"] == ["name", "Title"] && answer["rows"]?.arrayValue?.first == ["Name 1", "Nurse"], "\(answer.text)")
    #expect(answer["total"] == 2 && answer["plan"]?["scans"] == [["soupName": "contacts", "paths": ["Title"]]], "\(answer.text)")
    let indexed = await home.query("SELECT {contacts:Title} FROM {contacts} c WHERE c.{contacts:LastName} = 'Name 1' ORDER BY 1")
      .json
    #expect(indexed["plan"]?["scans"] == [] && indexed["rows"]?.arrayValue?.count == 1, "\(indexed.text)")
    let alias = await home.query("SELECT count(*) FROM {contacts} AS c WHERE c.{contacts:Email} LIKE '%x'").json
    #expect(alias["plan"]?["scans"] == [["soupName": "contacts", "paths": ["Email"]]], "\(alias.text)")
    let some = await home.post(
      InspectedHome.store + "/query",
      ["sql": "SELECT {contacts:Id} FROM {contacts} WHERE {contacts:LastName} = ?", "args": ["Name 2"], "limit": 1]
    ).json
    #expect(some["rows"] == [["c2"]] && some["total"] == 1)
    await home.stop()
  }

  @Test(arguments: [
    "DELETE FROM {contacts}", "INSERT INTO {contacts} VALUES (1)", "UPDATE {contacts} SET soup = ''", "DROP TABLE TABLE_1",
    "ATTACH '/tmp/x' AS x", "PRAGMA user_version = 9", "PRAGMA user_version", "VACUUM", "BEGIN", "EXPLAIN SELECT 1",
    "SELECT 1; DELETE FROM {contacts}", "SELECT load_extension('x')", "CREATE TABLE x (a)", "",
    "SELECT", "SELECT * FROM {nowhere}", "SELECT writefile('/tmp/x', 'y')",
  ])
  func row52_query_thatIsNotARead_isRefused(sql: String) async throws {
    let home = try InspectedHome()
    let answer = await home.query(sql)
    #expect([404, 422].contains(answer.status), "\(answer.status) \(answer.text)")
    #expect(await home.query("SELECT count(*) FROM {contacts}").json["rows"] == [[3]])
    await home.stop()
  }

  @Test func row52_query_endless_isCut() async throws {
    let home = try InspectedHome(queryMs: 200)
    let answer = await home.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    #expect(answer.status == 504 && answer.code == "tooSlow", "\(answer.text)")
    #expect(await home.query("SELECT count(*) FROM {contacts}").status == 200)
    await home.stop()
  }

  // MARK: Nothing is written, and nobody is kept away

  private static let crawl = [
    "/", "/api/v1/overview", "/api/v1/health", InspectedHome.store + "/unsent", InspectedHome.store + "/conflicts",
    InspectedHome.store + "/runs", InspectedHome.store + "/runs/1", InspectedHome.store + "/requests",
    InspectedHome.store + "/soups/contacts/entries/1", InspectedHome.store + "/soups/contacts/entries/1/explain",
  ]

  private func hash(_ home: InspectedHome) throws -> [String: String] {
    let folder = home.folder.path + "/home"
    var found: [String: String] = [:], folders = [folder]
    while let next = folders.popLast() {
      for name in try FileSystem.entries(of: next) where !name.hasSuffix("-shm") && !name.hasSuffix("-wal") {
        var info = stat()
        #expect(lstat("\(next)/\(name)", &info) == 0)
        guard info.st_mode & S_IFMT != S_IFDIR else {
          // Its time changes when SQLite's side files appear.
          folders.append("\(next)/\(name)")
          found["\(next)/\(name)"] = "\(info.st_mode)"
          continue
        }
        found["\(next)/\(name)"] =
          "\(info.st_mode) \(info.st_mtim.tv_sec).\(info.st_mtim.tv_nsec) "
          + Digest.hex(try Digest.sha256(FileSystem.read("\(next)/\(name)") ?? []))
      }
    }
    return found
  }

  @Test func row47_aCrawlOfAllPages_writesNothing() async throws {
    let home = try InspectedHome(), before = try hash(home)
    for target in Self.crawl { #expect(await home.get(target).status != 0, "\(target)") }
    _ = await home.query("SELECT {contacts:_soup} FROM {contacts}")
    let stream = try #require(WireStream(home.client, home.request("GET", "/api/v1/events")))
    #expect(await stream.wait(for: "event: hello") != nil)
    #expect(try hash(home) == before)
    stream.end()
    await home.stop()
    #expect(try hash(home) == before)
  }

  @Test func row53_anOpenPage_keepsNobodyFromRemovingTheStore() async throws {
    let home = try InspectedHome()
    for target in Self.crawl { _ = await home.get(target) }
    let stream = try #require(WireStream(home.client, home.request("GET", "/api/v1/events")))
    #expect(await stream.wait(for: "event: hello") != nil)
    try InspectedHome.write(home.folder.path, [("pgRemoveStore", ["storeName": "defaultStore"])])
    let seen = await stream.wait(for: #""isGone":true"#)
    #expect(seen?.contains("u:defaultStore") == true)
    #expect(await home.get("/api/v1/overview").json["stores"] == [])
    #expect(await home.get(InspectedHome.store + "/unsent").status != 200)
    stream.end()
    await home.stop()
  }
}
