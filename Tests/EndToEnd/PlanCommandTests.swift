import Foundation
import JSON
import Testing

/// Tests `tureen plan` and `tureen apply`.
@Suite(.timeLimit(.minutes(60))) struct PlanCommandTests {
  private static let syncs = """
    {"syncs": [
      {"syncName": "contactsDown", "syncType": "syncDown", "soupName": "contacts", "target": {"type": "soql",
        "query": "SELECT Id, FirstName, LastName, Title, Email, Phone FROM Contact ORDER BY Id LIMIT 20"},
       "options": {"mergeMode": "MERGE"}},
      {"syncName": "contactsUp", "syncType": "syncUp", "soupName": "contacts", "target": {},
       "options": {"fieldlist": ["LastName", "Title", "Email"], "mergeMode": "MERGE"}}]}
    """

  private static func edits(_ title: String) -> String {
    """
    local tureen = require "tureen"
    local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
    tureen.main(function()
      local some = assert(await(smartstore.retrieveSoupEntries, "contacts", { 1, 2 }))
      for _, entry in ipairs(some) do
        assert(await(mobilesync.markUpdated, "contacts", entry, { Title = "\(title)" }))
      end
    end)
    """
  }

  private func workplace() async throws -> Workplace {
    let place = try Workplace()
    let indexes = #"[{"path":"Id","type":"string"},{"path":"LastName","type":"string"},{"path":"__local__","type":"string"}]"#
    try place.write(#"{"soups":[{"soupName":"contacts","indexes":\#(indexes)}]}"#, to: "userstore.json")
    try place.write(Self.syncs, to: "usersyncs.json")
    #expect(try await tureen(place, "sync", "--quiet", "contactsDown").status == 0)
    _ = try await tureen(place, "status")
    #expect(try await run(place, Self.edits("Director")).status == 0)
    return place
  }

  private func run(_ place: Workplace, _ script: String) async throws -> Child.Ended {
    let path = try place.write(script, to: "edits.lua")
    return try await place.run(Built.tureen, ["run", "--home", place.home, path])
  }

  private func tureen(_ place: Workplace, _ words: String...) async throws -> Child.Ended {
    try await place.run(Built.tureen, [words[0], "--home", place.home] + words.dropFirst())
  }

  @Test func plan_printsEntriesAndRequests_andSendsNothing() async throws {
    let place = try await workplace()
    let told = try await tureen(place, "plan", "contactsUp")
    #expect(told.status == 0, "\(told)")
    for text in [
      "contactsUp: 2 entries to send", "~  contacts 1", "→ Director", "1 look, 1 write, 1 read after", "Nothing was sent.",
    ] {
      #expect(told.output.contains(text), "\(text): \(told)")
    }
    let looked = try await tureen(place, "plan", "--server", "contactsUp")
    #expect(looked.status == 0 && looked.output.contains("Only looks were sent."), "\(looked)")
    #expect(looked.errors.contains("contactsUp: 1 look at the server"), "\(looked)")
    #expect(try await tureen(place, "plan", "contactsDown").status == 1)
    #expect(try await tureen(place, "plan", "none").status == 1)
    #expect(try await tureen(place, "plan").status == 64)
  }

  @Test func row34_file_isPrivate() async throws {
    let place = try await workplace()
    let file = place.home + "/plan.json"
    #expect(try await tureen(place, "plan", "--brief", "--output", file, "contactsUp").status == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let applied = try await tureen(place, "apply", file)
    #expect(applied.status == 0 && applied.output.contains("contactsUp: DONE, 2 sent"), "\(applied)")
    let again = try await tureen(place, "apply", file)
    #expect(again.status == 1 && again.errors.contains("applied before"), "\(again)")
    #expect(try await tureen(place, "apply", place.home + "/none.json").status == 66)
  }

  @Test func row33_editedSince_isLeftOut_andTheStatusIs2() async throws {
    let place = try await workplace()
    let file = place.home + "/plan.json"
    _ = try await tureen(place, "plan", "--output", file, "contactsUp")
    #expect(try await run(place, Self.edits("Chief")).status == 0)
    let whole = try await tureen(place, "apply", "--all-or-nothing", file)
    #expect(whole.status == 1 && whole.errors.contains("edited since"), "\(whole)")
    let applied = try await tureen(place, "apply", file)
    #expect(applied.status == 2 && applied.errors.contains("contacts 1 was left out: it was edited since"), "\(applied)")
  }

  /// The command, a script and a program get the same, but for the id and the time.
  @Test func row46_everyDoor_hasTheSamePlan() async throws {
    let place = try await workplace()
    func value(_ text: String) throws -> JSONObject {
      (try JSONValue(parsing: text).objectValue ?? [:]).filtered { key, _ in !["id", "madeAt", "by"].contains(key) }
    }
    let command = try await tureen(place, "plan", "--json", "contactsUp")
    let exec = try await place.run(
      Built.tureen, ["exec", "--home", place.home, "mobilesync", "planSync", #"{"syncName":"contactsUp"}"#])
    #expect(try value(exec.output) == value(command.output), "\(exec)")
    let asked = try await run(
      place,
      """
      local tureen = require "tureen"
      tureen.main(function()
        print(tureen.json.encode(assert(tureen.await(tureen.mobilesync.planSync, "contactsUp"))))
      end)
      """)
    #expect(try value(asked.output) == value(command.output), "\(asked)")
  }
}
