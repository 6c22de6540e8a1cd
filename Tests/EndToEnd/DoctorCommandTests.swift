import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests `tureen doctor`: each check, broken, is found, and its fix mends it.
@Suite(.timeLimit(.minutes(60))) struct DoctorCommandTests {
  private static let up =
    #"{"syncName": "up", "syncType": "syncUp", "soupName": "contacts", "target": {}, "options": {"fieldlist": ["LastName"]}}"#

  private func project(indexes: String = #"{"path": "__local__", "type": "string"}"#, syncs: String = up, limit: Int = 5)
    async throws -> Workplace
  {
    let place = try Workplace()
    try place.write(
      #"{"soups": [{"soupName": "contacts", "indexes": [{"path": "Id", "type": "string"}, \#(indexes)]}]}"#, to: "userstore.json")
    try place.write(
      """
      {"syncs": [{"syncName": "down", "syncType": "syncDown", "soupName": "contacts", "target": {"type": "soql",
        "query": "SELECT Id, LastName, LastModifiedDate FROM Contact \(limit > 5 ? "" : "WHERE Name = 'Ben Santos'")"}}\(syncs.isEmpty ? "" : ",") \(syncs)]}
      """, to: "usersyncs.json")
    #expect(try await place.run(Built.tureen, ["sync", "--quiet", "--home", place.home, "down"]).status == 0)
    return place
  }

  private func doctor(
    _ place: Workplace, _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> (status: Int32, checks: [JSONValue], ended: Child.Ended) {
    let ended = try await Child(
      Built.tureen, ["doctor", "--json", "--home", place.home] + arguments, environment: environment, in: place.path
    ).ended()
    let report = try? JSONValue(parsing: ended.output)
    return (ended.status, report?["checks"]?.arrayValue ?? [], ended)
  }

  private func found(_ checks: [JSONValue], _ name: String, _ status: String, _ text: String) -> Bool {
    checks.contains {
      $0["name"]?.stringValue == name && $0["status"]?.stringValue == status && $0["text"]?.stringValue?.contains(text) == true
    }
  }

  @Test func row44_soundHome_is0AndAllIsRight() async throws {
    let place = try await project()
    let (status, checks, ended) = try await doctor(place)
    #expect(status == 0 && checks.allSatisfy { ["ok", "skipped"].contains($0["status"]?.stringValue) }, "\(ended)")
    #expect(Set(checks.compactMap { $0["name"]?.stringValue }) == ["home", "config", "store", "net"], "\(checks)")
    let text = try await place.run(Built.tureen, ["doctor", "--home", place.home])
    #expect(text.status == 0 && text.output.contains("ok       home    ") && text.output.contains("3 right"), "\(text)")
  }

  @Test func row44_modes_areFoundAndMended() async throws {
    let place = try await project()
    let session = place.home + "/orgs/sandbox/sandbox-user/session.json"
    try place.write("{}", to: "home/orgs/sandbox/sandbox-user/session.json")
    #expect(chmod(place.home, 0o755) == 0 && chmod(session, 0o644) == 0)
    let broken = try await doctor(place, "--offline")
    #expect(broken.status == 2 && found(broken.checks, "home", "warn", "open to other users"), "\(broken.ended)")
    #expect(found(broken.checks, "home", "fail", "session.json can be read by other users"), "\(broken.ended)")
    #expect(broken.checks.contains { $0["fix"]?.stringValue == "chmod 600 \(session)" })
    let mended = try await doctor(place, "--offline", "--fix")
    #expect(mended.status == 0 && found(mended.checks, "home", "note", "mended"), "\(mended.ended)")
    #expect(try await doctor(place, "--offline").checks.filter { $0["name"] == "home" }.allSatisfy { $0["status"] == "ok" })
    #expect(chmod(place.home, 0o777) == 0)
    #expect(try await doctor(place, "--offline").status == 2)
    #expect(try await doctor(place, "--offline", "--fix").status == 0)
  }

  @Test func row44_wrongConfiguration_isNamedWithFileAndLine_andTheRestIsChecked() async throws {
    let place = try await project()
    try place.write("{\"syncs\": [\n{\"syncName\": \"x\", \"synType\": \"syncDown\"}]}", to: "usersyncs.json")
    let (status, checks, ended) = try await doctor(place, "--offline")
    #expect(status == 2 && found(checks, "config", "fail", "usersyncs.json:2"), "\(ended)")
    #expect(found(checks, "store", "ok", "'defaultStore' is sound"), "\(ended)")
    try place.write(
      #"{"syncs": [{"syncName": "x", "syncType": "syncDown", "soupName": "contacts", "after": "gone.lua", "target": {"type": "mru", "sobjectType": "Contact", "fieldlist": ["Id"]}}]}"#,
      to: "usersyncs.json")
    let hook = try await doctor(place, "--offline")
    #expect(hook.status == 2 && found(hook.checks, "config", "fail", "gone.lua"), "\(hook.ended)")
  }

  @Test func row44_damagedStore_isFound() async throws {
    let place = try await project(limit: 500)
    let store = try #require(place.stores.first { $0.contains("defaultStore") })
    let file = try #require(FileHandle(forUpdatingAtPath: store))
    for page in 4..<12 {
      try file.seek(toOffset: UInt64(page) * 8192)
      try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
    }
    try file.close()
    let (status, checks, ended) = try await doctor(place, "--offline")
    #expect(
      status == 2 && (found(checks, "store", "fail", "damaged") || found(checks, "store", "fail", "cannot be read")), "\(ended)")
  }

  @Test func row44_abandonedSync_isFoundAndMended() async throws {
    let place = try await project()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local found = assert(tureen.await(tureen.smartstore.querySoup, "syncs_soup",
          tureen.smartstore.buildExactQuerySpec("name", "down", 1))).currentPageOrderedEntries
        found[1].status = "RUNNING"
        assert(tureen.await(tureen.smartstore.upsertSoupEntries, "syncs_soup", found))
      end)
      """, to: "killed.lua")
    #expect(try await place.run(Built.tureen, ["run", "--home", place.home, script]).status == 0)
    let broken = try await doctor(place, "--offline")
    #expect(
      broken.status == 0 && found(broken.checks, "sync", "warn", "sync 'down' was running in a process that has ended"),
      "\(broken.ended)")
    #expect(broken.checks.contains { $0["fix"] == "tureen sync down" })
    let mended = try await doctor(place, "--offline", "--fix")
    #expect(found(mended.checks, "sync", "note", "mended"), "\(mended.ended)")
    #expect(!(try await doctor(place, "--offline")).checks.contains { $0["name"] == "sync" })
  }

  @Test func row44_failedSync_isFoundAndTheReportHasNoValues() async throws {
    let place = try await project()
    let server = try ScriptedServer { request in
      PagedOrg.token(request) ?? .restError(400, "BAD", "canary-value-4711 is not right")
    }
    let environment = [
      "TUREEN_ORG": server.url, "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u",
      "TUREEN_PASSWORD": "p",
    ]
    #expect(
      try await Child(Built.tureen, ["sync", "--home", place.home, "down"], environment: environment, in: place.path).ended()
        .status == 1)
    let count = server.requests.count
    let (status, checks, ended) = try await doctor(
      place, "--offline", "--report", place.path + "/report.json", environment: environment)
    #expect(status == 2 && found(checks, "sync", "fail", "canary-value-4711"), "\(ended)")
    #expect(server.requests.count == count, "offline sends nothing")
    let mode = try FileManager.default.attributesOfItem(atPath: place.path + "/report.json")[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let report = try String(contentsOfFile: place.path + "/report.json", encoding: .utf8)
    #expect(
      !report.contains("canary") && !report.contains(place.home) && report.contains("the last run of sync 'down' failed"),
      "\(report)")
  }

  @Test func row44_staleIndex_isFoundAndMended() async throws {
    let place = try await project()
    let store = try #require(place.stores.first { $0.contains("defaultStore") })
    let tampered = try await place.run(
      "/usr/bin/sqlite3", [store, "UPDATE TABLE_1 SET TABLE_1_0 = 'other' WHERE id = 1; SELECT changes();"])
    try #require(tampered.output.contains("1"), "\(tampered)")
    let broken = try await doctor(place, "--offline")
    #expect(
      broken.status == 2 && found(broken.checks, "store", "fail", "the index on 'Id' of soup 'contacts'"), "\(broken.ended)")
    let mended = try await doctor(place, "--offline", "--fix")
    #expect(found(mended.checks, "store", "note", "mended"), "\(mended.ended)")
    #expect(try await doctor(place, "--offline").status == 0)
  }

  @Test func row44_missingIndex_isFoundAndMended() async throws {
    let place = try await project(indexes: #"{"path": "LastName", "type": "string"}"#, limit: 1500)
    let broken = try await doctor(place, "--offline")
    #expect(found(broken.checks, "config", "warn", "no index on '__local__'"), "\(broken.ended)")
    let mended = try await doctor(place, "--offline", "--fix")
    #expect(found(mended.checks, "config", "note", "mended"), "\(mended.ended)")
    let soups = try await place.run(Built.tureen, ["soups", "--home", place.home, "--json", "contacts"])
    #expect(soups.output.contains("__local__"), "\(soups)")
    #expect(!(try await doctor(place, "--offline")).checks.contains { $0["text"]?.stringValue?.contains("__local__") == true })
  }

  @Test func row44_missingIndexOnTheId_isFoundAndMended() async throws {
    let place = try await project()
    let specs = #"{"soupName":"contacts","indexes":[{"path":"__local__","type":"string"}],"reIndexData":true}"#
    let altered = try await place.run(Built.tureen, ["exec", "--home", place.home, "smartstore", "pgAlterSoup", specs])
    #expect(altered.status == 0, "\(altered)")
    let broken = try await doctor(place, "--offline")
    #expect(broken.status == 2 && found(broken.checks, "config", "fail", "no index on 'Id'"), "\(broken.ended)")
    #expect(found(try await doctor(place, "--offline", "--fix").checks, "config", "note", "mended"))
    #expect(try await doctor(place, "--offline").status == 0)
  }

  @Test func row44_unsentEntriesWithoutASyncUp_areFound() async throws {
    let place = try await project(syncs: "")
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local found = assert(tureen.await(tureen.smartstore.retrieveSoupEntries, "contacts", { 1 }))
        assert(tureen.await(tureen.mobilesync.markUpdated, "contacts", found[1], { LastName = "x" }))
      end)
      """, to: "edit.lua")
    #expect(try await place.run(Built.tureen, ["run", "--home", place.home, script]).status == 0)
    let (_, checks, ended) = try await doctor(place, "--offline")
    #expect(found(checks, "sync", "warn", "no sync up sends the soup"), "\(ended)")
  }

  // MARK: Servers

  private static func date(_ seconds: Double) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSinceNow: seconds))
  }

  @Test(arguments: [(0.0, "ok", Int32(0)), (-120, "warn", 0), (3600, "fail", 2)])
  func row44_clock_isCompared(offset: Double, status: String, exit: Int32) async throws {
    let place = try Workplace()
    let server = try ScriptedServer { request in
      PagedOrg.token(request) ?? .json("{}", headers: [("Date", Self.date(offset))])
    }
    let environment = [
      "TUREEN_ORG": server.url, "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u",
      "TUREEN_PASSWORD": "p",
    ]
    let found = try await doctor(place, environment: environment)
    #expect(
      found.status == exit && found.checks.contains { $0["name"] == "clock" && $0["status"] == .string(status) }, "\(found.ended)"
    )
    #expect(
      self.found(found.checks, "auth", "ok", "takes the sign-in") && self.found(found.checks, "net", "ok", "answers"),
      "\(found.ended)")
  }

  @Test func row44_serverThatIsAwayOrRefuses_isFound() async throws {
    let place = try Workplace()
    var environment = ["TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u", "TUREEN_PASSWORD": "p"]
    environment["TUREEN_ORG"] = "http://127.0.0.1:1"
    let away = try await doctor(place, environment: environment)
    #expect(away.status == 2 && found(away.checks, "net", "fail", "cannot be reached"), "\(away.ended)")
    let server = try ScriptedServer { _ in
      .json(#"{"error":"invalid_grant","error_description":"authentication failure"}"#, status: 400)
    }
    environment["TUREEN_ORG"] = server.url
    let refused = try await doctor(place, environment: environment)
    #expect(refused.status == 2 && found(refused.checks, "auth", "fail", "refuses the sign-in"), "\(refused.ended)")
  }

  @Test func row44_connections_areAsked() async throws {
    let place = try Workplace()
    let server = try ScriptedServer { request in
      request.header("Authorization") == "Bearer right" ? .json("{}", status: 404) : .json("{}", status: 401)
    }
    try place.write(
      #"{"good": {"baseURL": "\#(server.url)/api", "headers": {"Authorization": {"env": "GOOD"}}}, "bad": {"baseURL": "\#(server.url)"},"#
        + #" "away": {"baseURL": "http://127.0.0.1:1"}}"#, to: "connections.json")
    let (status, checks, ended) = try await doctor(place, environment: ["GOOD": "Bearer right"])
    #expect(status == 2 && found(checks, "net", "ok", "connection 'good' answers"), "\(ended)")
    #expect(
      found(checks, "auth", "fail", "connection 'bad' refuses")
        && found(checks, "net", "fail", "connection 'away' cannot be reached"), "\(ended)")
  }

  // MARK: Doors

  @Test func row46_doctor_isAnActionButNotForRestrictedScripts() async throws {
    let place = try await project()
    let exec = try await place.exec("tureen.host", "doctor", #"{"offline": true}"#)
    let command = try await place.run(Built.tureen, ["doctor", "--offline", "--json", "--home", place.home])
    #expect(
      exec.status == 0 && exec.output.trimmingCharacters(in: .newlines) == command.output.trimmingCharacters(in: .newlines),
      "\(exec) \(command)")
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local report, err = tureen.await(tureen.host.doctor, { offline = true })
        print(report and #report.checks or err.code)
      end)
      """, to: "doctor.lua")
    let free = try await place.run(Built.tureen, ["run", "--home", place.home, script])
    #expect(free.output == "6\n", "\(free)")
    let restricted = try await place.run(Built.tureen, ["run", "--restricted", "--home", place.home, script])
    #expect(restricted.output == "restricted\n", "\(restricted)")
  }
}
