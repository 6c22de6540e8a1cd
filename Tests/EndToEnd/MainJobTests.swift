import Foundation
import JSON
import Testing

/// Tests `scripts/contacts.lua` as a new user runs it.
@Suite struct MainJobTests {
  private let script = Built.package.path + "/scripts/contacts.lua"

  @Test func contacts_newHome_syncsDownEditsSyncsUpAndAgain() async throws {
    let place = try Workplace()
    let first = try await place.runScript(script)
    #expect(first.status == 0)
    #expect(first.complaints == "")
    for line in [
      "5,000 contacts down", "2 created, 3 updated, 1 deleted, all in the store only",
      "6 up (2 created, 3 updated, 1 deleted)", "1 re-synced", "5,001 contacts in the store",
    ] {
      #expect(first.output.contains(line), "\(line) is missing in:\n\(first.output)")
    }
  }

  @Test func contacts_secondRun_goesOnFromTheStore() async throws {
    let place = try Workplace()
    #expect(try await place.runScript(script).status == 0)
    let second = try await place.runScript(script)
    #expect(second.status == 0)
    #expect(!second.output.contains("5,000 contacts down"))
    for line in [
      "0 changed on the server since", "the store has 5,001 contacts", "6 up (2 created, 3 updated, 1 deleted)", "1 re-synced",
      "5,002 contacts in the store",
    ] {
      #expect(second.output.contains(line), "\(line) is missing in:\n\(second.output)")
    }
  }

  @Test func run_json_printsEverySyncEventAsALine() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.smartstore.registerSoup("c", { { path = "Id", type = "string" } }, function()
        tureen.mobilesync.syncDown({ type = "soql", query = "SELECT Id FROM Contact" }, "c", {}, "down")
      end)
      """, to: "down.lua")
    let ended = try await place.runScript(script, options: ["--json"])
    #expect(ended.status == 0)
    #expect(ended.errors == "")
    let events = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    let details = events.compactMap { $0["detail"] }
    #expect(events.allSatisfy { $0["event"]?.stringValue == "sync" } && details.count == events.count)
    #expect(details.first?["status"]?.stringValue == "RUNNING")
    #expect(details.last?["status"]?.stringValue == "DONE")
    #expect(details.last?["totalSize"]?.integerValue == 5000)
    #expect(details.allSatisfy { $0["name"]?.stringValue == "down" && $0["storeName"] != nil })
    let progress = details.compactMap { $0["progress"]?.integerValue }
    #expect(progress == progress.sorted() && progress.last == 100)
  }

  @Test func run_inAPipe_drawsNoBar() async throws {
    let place = try Workplace()
    let ended = try await place.runScript(script)
    #expect(!ended.errors.contains("\u{1b}") && !ended.output.contains("\u{1b}"))
  }
}
