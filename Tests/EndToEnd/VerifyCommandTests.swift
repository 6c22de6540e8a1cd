import Foundation
import JSON
import Testing

/// Tests `tureen verify`: its lines, its statuses, and that every door has the same answer.
@Suite(.timeLimit(.minutes(60))) struct VerifyCommandTests {
  private static let syncs = """
    {"syncs": [
      {"syncName": "contactsDown", "syncType": "syncDown", "soupName": "contacts", "target": {"type": "soql",
        "query": "SELECT Id, FirstName, LastName, Title, LastModifiedDate FROM Contact WHERE LastName = 'Santos'"}},
      {"syncName": "accountsDown", "syncType": "syncDown", "soupName": "accounts", "target": {"type": "soql",
        "query": "SELECT Id, Name, LastModifiedDate FROM Account"}},
      {"syncName": "contactsUp", "syncType": "syncUp", "soupName": "contacts", "target": {},
       "options": {"fieldlist": ["LastName", "Title"]}}]}
    """

  /// Removes an entry and changes another one below the sync; edits a third one.
  private static let damage = """
    local tureen = require "tureen"
    local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
    tureen.main(function()
      assert(await(smartstore.removeFromSoup, "contacts", { 1 }))
      local some = assert(await(smartstore.retrieveSoupEntries, "contacts", { 2, 3 }))
      some[1].Title = "Stale"
      assert(await(smartstore.upsertSoupEntries, "contacts", { some[1] }))
      assert(await(mobilesync.markUpdated, "contacts", some[2], { Title = "Director" }))
    end)
    """

  private func workplace() async throws -> Workplace {
    let place = try Workplace()
    let indexes = #"[{"path":"Id","type":"string"},{"path":"__local__","type":"string"}]"#
    try place.write(
      #"{"soups":[{"soupName":"contacts","indexes":\#(indexes)},{"soupName":"accounts","indexes":\#(indexes)}]}"#,
      to: "userstore.json")
    try place.write(Self.syncs, to: "usersyncs.json")
    #expect(try await tureen(place, "sync", "--quiet", "contactsDown", "accountsDown").status == 0)
    return place
  }

  private func tureen(_ place: Workplace, _ words: String...) async throws -> Child.Ended {
    try await place.run(Built.tureen, [words[0], "--home", place.home] + words.dropFirst())
  }

  @Test func row36_equalSoups_are0() async throws {
    let place = try await workplace()
    for level in ["count", "ids", "content"] {
      let ended = try await tureen(place, "verify", "--level", level, "contactsDown", "accountsDown")
      #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
      #expect(ended.output.contains("contactsDown: ") && ended.output.contains("accountsDown: "), "\(ended)")
      #expect(ended.output.contains(level == "count" ? "(count)" : "compared, \(level))"), "\(ended)")
    }
    let status = try await place.run(Built.tureen, ["status", "--home", place.home, "--json"])
    let syncs = try JSONValue(parsing: status.output)["stores"]?.arrayValue?.first?["syncs"]?.arrayValue ?? []
    let verified = syncs.filter { $0["name"] != "contactsUp" }.map { $0["lastVerified"]?.integerValue ?? 0 }
    #expect(verified.count == 2 && verified.allSatisfy { $0 > 0 }, "\(syncs)")
    let runs = try await tureen(place, "runs")
    #expect(runs.output.contains("equal (content)"), "\(runs)")
  }

  @Test func row37_row39_differences_are2AndMended() async throws {
    let place = try await workplace()
    let script = try place.write(Self.damage, to: "damage.lua")
    let ran = try await place.run(Built.tureen, ["run", "--home", place.home, script])
    #expect(ran.status == 0, "\(ran)")
    let found = try await tureen(place, "verify", "contactsDown")
    #expect(found.status == 2 && found.errors.isEmpty, "\(found)")
    for text in ["- contacts 2 ", "Title", "- contacts 3 ", "dirty: changed here, not sent yet", "equal otherwise ("] {
      #expect(found.output.contains(text), "\(text): \(found)")
    }
    let json = try await tureen(place, "verify", "--json", "contactsDown"), result = try JSONValue(parsing: json.output)
    #expect(json.status == 2 && result["equal"] == false && result["counts"]?["dirty"] == 1, "\(json)")
    let mended = try await tureen(place, "verify", "contactsDown", "--repair", "--max", "10")
    #expect(mended.status == 0 && mended.output.contains("repaired: 2 stored, 0 removed"), "\(mended)")
    let after = try await tureen(place, "verify", "contactsDown")
    #expect(after.status == 0 && after.output.contains("equal ("), "\(after)")
    #expect(after.output.contains("dirty: changed here"), "edits stay: \(after)")
  }

  @Test func verify_mistakes_haveTheirStatus() async throws {
    let place = try await workplace()
    let unknown = try await tureen(place, "verify", "contactDown")
    #expect(unknown.status == 1 && unknown.errors.contains("did you mean 'contactsDown'?"), "\(unknown)")
    let up = try await tureen(place, "verify", "contactsUp")
    #expect(up.status == 1 && up.errors.contains("wrongSyncType"), "\(up)")
    for words in [
      ["--max", "3", "contactsDown"], ["--level", "all", "contactsDown"], [], ["--repair", "--max", "0", "contactsDown"],
    ] {
      let ended = try await place.run(Built.tureen, ["verify", "--home", place.home] + words)
      #expect(ended.status == 64, "\(words): \(ended)")
    }
  }

  @Test func row46_everyDoor_hasTheSameResult() async throws {
    let place = try await workplace()
    let command = try await tureen(place, "verify", "--json", "contactsDown")
    let exec = try await place.run(
      Built.tureen, ["exec", "--home", place.home, "mobilesync", "verifySync", #"{"syncName": "contactsDown"}"#])
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        local result = assert(tureen.await(tureen.mobilesync.verifySync, "contactsDown", { level = "content" }))
        print(tureen.json.encode(result))
      end)
      """, to: "verify.lua")
    let lua = try await place.run(Built.tureen, ["run", "--home", place.home, script])
    let first = try JSONValue(parsing: command.output)
    #expect(first["equal"] == true && first["digest"]?.stringValue?.hasPrefix("sha256:") == true, "\(command)")
    for ended in [exec, lua] {
      let other = try JSONValue(parsing: ended.output)
      for key in ["equal", "complete", "local", "server", "compared", "digest", "missing", "extra", "different", "counts"] {
        #expect(other[key] == first[key], "\(key): \(ended)")
      }
    }
  }
}
