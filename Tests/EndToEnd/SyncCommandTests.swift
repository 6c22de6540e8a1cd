import Foundation
import JSON
import Testing

/// Tests `tureen sync`, `syncs`, `soups` and `status` in a project's folder.
@Suite(.timeLimit(.minutes(60))) struct SyncCommandTests {
  private func project() throws -> Workplace {
    let place = try Workplace()
    for name in ["userstore.json", "usersyncs.json"] {
      try place.write(try String(contentsOfFile: Built.package.path + "/scripts/" + name, encoding: .utf8), to: name)
    }
    return place
  }

  private func tureen(_ place: Workplace, _ command: String, _ arguments: String...) async throws -> Child.Ended {
    try await place.run(Built.tureen, [command, "--home", place.home] + arguments)
  }

  @Test func sync_namedSyncs_runInOrderAndSayWhatTheyDid() async throws {
    let place = try project()
    let ended = try await tureen(place, "sync", "contactsDown", "contactsUp")
    #expect(ended.status == 0 && ended.complaints == "", "\(ended)")
    let lines = ended.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 2 && lines[0].hasPrefix("contactsDown: DONE, 5000 fetched in "), "\(lines)")
    #expect(lines.last?.hasPrefix("contactsUp: DONE, 0 sent in ") == true)

    let listed = try await tureen(place, "syncs")
    let table = listed.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(listed.status == 0 && table.count == 3 && table[0].prefix(4) == ["NAME", "TYPE", "SOUP", "STATUS"], "\(listed)")
    #expect(table[1].prefix(4) == ["contactsDown", "down", "contacts", "DONE"] && table[2][1] == "up")
    let states = try await tureen(place, "syncs", "--json").output.split(separator: "\n").map {
      try JSONValue(parsing: String($0))
    }
    #expect(states.map { $0["name"] } == ["contactsDown", "contactsUp"] && states[0]["fetched"] == 5000)
  }

  @Test func sync_json_printsEventsAlone() async throws {
    let place = try project()
    let ended = try await tureen(place, "sync", "--json", "--all")
    #expect(ended.status == 0 && ended.errors == "", "\(ended.errors)")
    let events = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    let done = events.filter { $0["detail"]?["status"] == "DONE" }.map { $0["detail"]?["name"] }
    #expect(done == ["contactsUp", "contactsDown"] && events.allSatisfy { $0["event"] == "sync" })
  }

  @Test func sync_refusedRecord_is2AndIsCounted() async throws {
    let place = try project()
    #expect(try await tureen(place, "sync", "--quiet", "contactsDown").output == "")
    let entry =
      #"{"Id":"local_1","FirstName":"No last name","attributes":{"type":"Contact"},"__local__":true,"__locally_created__":true,"#
      + #""__locally_updated__":false,"__locally_deleted__":false}"#
    #expect(
      try await place.exec("smartstore", "upsertSoupEntries", #"{"soupName":"contacts","entries":[\#(entry)]}"#).status == 0)
    let soups = try await tureen(place, "soups", "--json", "contacts")
    let figures = try JSONValue(parsing: soups.output)
    #expect(figures["entries"] == 5001 && figures["dirty"] == 1 && figures["created"] == 1 && figures["updated"] == 0, "\(soups)")

    let ended = try await tureen(place, "sync", "contactsUp")
    #expect(ended.status == 2 && ended.output.contains("contactsUp: DONE, 0 sent, 1 refused in"), "\(ended)")
    let status = try await tureen(place, "status")
    #expect(status.status == 0 && status.output.contains("store defaultStore, "), "\(status)")
    #expect(status.output.contains("UNSENT") && status.output.contains("1 refused"), "\(status.output)")
    let json = try JSONValue(parsing: try await tureen(place, "status", "--json").output)
    #expect(json["org"] == "sandbox" && json["stores"]?.arrayValue?.first?["soups"]?.arrayValue?.first?["dirty"] == 1)
  }

  @Test func sync_ghosts_removesWhatTheServerHasNoMore() async throws {
    let place = try project()
    let sandbox = try await Sandbox(place)
    #expect(try await tureen(place, "sync", "contactsDown").status == 0)
    let deleted = try await tureen(place, "query", "--csv", "SELECT {contacts:Id} FROM {contacts} LIMIT 1")
    let id = try #require(deleted.output.split(separator: "\n").last)
    #expect(
      try await place.exec(
        "network", "sendRequest", #"{"path":"/services/data/v66.0/sobjects/Contact/\#(id)","method":"DELETE"}"#
      )
      .status == 0)
    let ended = try await tureen(place, "sync", "--ghosts", "contactsDown")
    #expect(ended.status == 0 && ended.output.contains(", 1 ghost removed"), "\(ended)")
    withExtendedLifetime(sandbox) {}
  }

  @Test func sync_wrongName_is1AndSaysWhatWasMeant() async throws {
    let place = try project()
    let ended = try await tureen(place, "sync", "contactDown")
    #expect(ended.status == 1 && ended.errors.contains("sync 'contactDown' does not exist; did you mean 'contactsDown'?"))
    let json = try await tureen(place, "sync", "--json", "contactDown")
    #expect(try JSONValue(parsing: json.errors)["code"] == "noSuchSync")
    let soup = try await tureen(place, "soups", "contcts")
    #expect(soup.status == 1 && soup.errors.contains("did you mean 'contacts'?"), "\(soup)")
  }

  @Test func sync_orgThatIsAway_is75AndTheOthersRun() async throws {
    let place = try project()
    let environment = [
      "TUREEN_ORG": "http://127.0.0.1:1", "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u",
      "TUREEN_PASSWORD": "p",
    ]
    let ended = try await place.run(
      Built.tureen, ["sync", "--home", place.home, "contactsDown", "contactsDown"], environment: environment)
    #expect(ended.status == 75 && ended.output == "", "\(ended)")
    #expect(ended.errors.components(separatedBy: "sync 'contactsDown' failed: ").count == 3, "\(ended.errors)")
  }

  @Test(arguments: [["sync"], ["sync", "--all", "x"], ["sync", "--nothing"]])
  func sync_wrongUsage_is64(arguments: [String]) async throws {
    #expect(try await Workplace().run(Built.tureen, arguments).status == 64)
  }

  @Test func status_emptyHome_makesNothing() async throws {
    let place = try Workplace()
    let ended = try await tureen(place, "status")
    #expect(
      ended.status == 0 && ended.output.contains("org        sandbox\n") && ended.output.hasSuffix("none yet\n"), "\(ended)")
    #expect(!FileManager.default.fileExists(atPath: place.home))
  }

  @Test func version_json_isOneObject() async throws {
    let ended = try await Workplace().run(Built.tureen, ["version", "--json"])
    let object = try JSONValue(parsing: ended.output)
    #expect(object["modelVersion"]?.stringValue != nil && object["encryption"]?.boolValue != nil, "\(ended)")
    #expect(
      try await Workplace().run(Built.tureen, ["version"]).output.hasPrefix("tureen \(object["version"]?.stringValue ?? "?") "))
  }
}
