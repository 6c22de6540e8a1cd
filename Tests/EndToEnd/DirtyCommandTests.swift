import Foundation
import JSON
import Testing

/// Tests `tureen dirty`, `conflicts` and `discard`: each state has a reason and commands that end it.
@Suite(.timeLimit(.minutes(60))) struct DirtyCommandTests {
  private static let syncs = """
    {"syncs": [
      {"syncName": "contactsDown", "syncType": "syncDown", "soupName": "contacts", "target": {"type": "soql",
        "query": "SELECT Id, FirstName, LastName, Title, Email, Phone FROM Contact ORDER BY Id LIMIT 20"},
       "options": {"mergeMode": "MERGE"}},
      {"syncName": "contactsUp", "syncType": "syncUp", "soupName": "contacts", "target": {},
       "options": {"fieldlist": ["LastName", "Title", "Email"], "mergeMode": "MERGE"}}]}
    """

  /// Entries 1 to 7: sent, refused, three conflicts, not listed, refused; and a refused new one.
  private static let edits = """
    local tureen = require "tureen"
    local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
    local sandbox = require "tureen.sandbox"
    tureen.main(function()
      local some = assert(await(smartstore.retrieveSoupEntries, "contacts", { 1, 2, 3, 4, 5, 6 }))
      local function edit(i, changes) assert(await(mobilesync.markUpdated, "contacts", some[i], changes)) end
      edit(1, { Title = "Director" })
      edit(2, { Email = "not an address" })
      edit(3, { Title = "Nurse" })
      assert(await(sandbox.update, "Contact", some[3].Id, { Title = "Head Nurse" }))
      edit(4, { Title = "Gone" })
      assert(await(sandbox.delete, "Contact", some[4].Id))
      assert(await(mobilesync.markDeleted, "contacts", some[5]))
      assert(await(sandbox.update, "Contact", some[5].Id, { Title = "Kept" }))
      edit(6, { Phone = "1" })
      assert(await(mobilesync.newRecord, "contacts", "Contact", { FirstName = "No last name" }))
    end)
    """

  private func workplace() async throws -> Workplace {
    let place = try Workplace()
    let indexes = #"[{"path":"Id","type":"string"},{"path":"__local__","type":"string"}]"#
    try place.write(#"{"soups":[{"soupName":"contacts","indexes":\#(indexes)}]}"#, to: "userstore.json")
    try place.write(Self.syncs, to: "usersyncs.json")
    #expect(try await tureen(place, "sync", "--quiet", "contactsDown").status == 0)
    let script = try place.write(Self.edits, to: "edits.lua")
    let ended = try await place.run(Built.tureen, ["run", "--home", place.home, script])
    #expect(ended.status == 0, "\(ended)")
    return place
  }

  private func tureen(_ place: Workplace, _ words: String...) async throws -> Child.Ended {
    try await place.run(Built.tureen, [words[0], "--home", place.home] + words.dropFirst())
  }

  private func entries(_ place: Workplace, _ filter: String...) async throws -> [JSONValue] {
    let ended = try await place.run(Built.tureen, ["dirty", "--home", place.home, "--json"] + filter)
    return try JSONValue(parsing: ended.output).arrayValue ?? []
  }

  @Test func row18_eachState_hasReasonAndRemedy_andIsCountedAsInStatus() async throws {
    let place = try await workplace()
    #expect(try await entries(place).map { $0["state"] } == Array(repeating: "waiting", count: 7))
    let sync = try await tureen(place, "sync", "contactsUp")
    #expect(sync.status == 2 && sync.errors.contains("see: tureen dirty --home"), "\(sync)")
    #expect(sync.errors.contains("refused: contacts 2"), "\(sync)")
    let found = try await entries(place)
    #expect(
      found.map { $0["state"]?.stringValue } == ["refused", "conflict", "conflict", "conflict", "skipped", "refused"], "\(found)")
    for entry in found {
      #expect(
        entry["reason"]?["text"]?.stringValue?.isEmpty == false && entry["remedies"]?.arrayValue?.isEmpty == false, "\(entry)")
      #expect(
        entry["title"]?.stringValue != nil && entry["since"]?.integerValue != nil && entry["by"]?["name"] == "edits.lua",
        "\(entry)")
    }
    let status = try JSONValue(parsing: try await tureen(place, "status", "--json").output)
    let soup = try #require(status["stores"]?.arrayValue?.first?["soups"]?.arrayValue?.first)
    let figures = ["dirty", "refused", "conflicts", "skipped", "waiting", "inDoubt", "held", "newConflicts"]
    #expect(figures.map { soup[$0]?.integerValue } == [6, 2, 3, 1, 0, 0, 0, 3], "\(soup)")
    let table = try await tureen(place, "dirty"), blocks = try await tureen(place, "dirty", "--refused")
    #expect(table.output.contains("SINCE") && table.output.contains("just now"), "\(table)")
    #expect(blocks.output.contains("Email changed just now by edits.lua, refused\n"), "\(blocks)")
    #expect(!blocks.output.contains("runs"), "it was one run")
    _ = try await tureen(place, "sync", "contactsUp")
    let again = try await tureen(place, "dirty", "--refused")
    #expect(again.output.contains("\n  refused in 2 runs, last just now\n"), "\(again)")
    let csv = try await tureen(place, "dirty", "--csv")
    #expect(csv.output.split(separator: "\n").first?.hasSuffix(",since,by,runs,lastTry\r") != nil, "\(csv)")
    for (option, count) in [("--refused", 2), ("--conflicts", 3), ("--skipped", 1), ("--waiting", 0), ("--in-doubt", 0)] {
      let listed = try await tureen(place, "dirty", "--jsonl", option)
      #expect(listed.status == (count > 0 ? 2 : 0) && listed.output.split(separator: "\n").count == count, "\(option): \(listed)")
    }
  }

  /// Each printed command, run as printed, ends the state; what drops changes gets --yes, as there is no terminal.
  @Test func row19_eachPrintedCommand_endsTheState() async throws {
    for index in 0..<6 {
      for choice in 0..<2 {
        let place = try await workplace()
        _ = try await tureen(place, "sync", "contactsUp")
        let before = try await entries(place), entry = before[index]
        let state = entry["state"]?.stringValue ?? "", id = entry["entryId"]?.integerValue ?? 0
        let blocks = try await tureen(
          place, "dirty", state == "conflict" ? "--conflicts" : "--" + state)
        let block = try #require(
          blocks.output.components(separatedBy: "\n\n").first { $0.hasPrefix("contacts \(id)  ") }, "\(blocks)")
        let commands = block.components(separatedBy: "\n").compactMap { line in
          line.range(of: "tureen ").map { String(line[$0.lowerBound...]) }
        }
        guard choice < commands.count else { continue }
        let command = commands[choice].replacingOccurrences(of: "tureen ", with: "'\(Built.tureen)' ")
        let drops = command.contains("discard") || command.contains("--theirs")
        let ended = try await place.run("/bin/sh", ["-c", command + (drops ? " --yes" : "")])
        #expect(ended.status == 0, "\(command): \(ended)")
        let after = try await entries(place)
        let rest = after.first { $0["entryId"] == .integer(id) }
        #expect(rest == nil || rest?["state"] == "waiting", "\(command): \(String(describing: rest))")
        #expect(after.count >= before.count - 1, "\(command)")
      }
    }
  }

  @Test func row20_conflicts_areDecidedByEntryFieldAndAll() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let shown = try await tureen(place, "conflicts", "contacts", "3")
    for text in ["both sides changed Title", "Nurse", "Head Nurse", "keep yours", "--theirs", "--field Title=theirs"] {
      #expect(shown.output.contains(text), "\(text): \(shown)")
    }
    #expect(try await tureen(place, "conflicts", "contacts", "9").status == 1)
    let list = try await tureen(place, "conflicts", "--json")
    #expect(try JSONValue(parsing: list.output).arrayValue?.map { $0["kind"] } == ["changed", "deletedThere", "deletedHere"])
    let unasked = try await place.run(
      Built.tureen, ["conflicts", "resolve", "--home", place.home, "contacts", "3", "--theirs"])
    #expect(unasked.status == 64 && unasked.errors.contains("--yes"), "\(unasked)")
    func resolve(_ words: String...) async throws -> Child.Ended {
      try await place.run(Built.tureen, ["conflicts", "resolve", "--home", place.home, "contacts"] + words)
    }
    // A deletion has no fields.
    let merged = try await resolve("--all", "--merge", "--yes")
    #expect(merged.status == 2 && merged.output.contains("1 conflict resolved, 2 stay"), "\(merged)")
    #expect(merged.errors.contains("decide with --mine or --theirs"))
    #expect(try await resolve("4", "--theirs", "--yes").status == 0)
    #expect(try await resolve("5", "--mine").status == 0)
    #expect(try await resolve("99", "--mine").status == 2)
    let rest = try await entries(place)
    #expect(!rest.contains { $0["state"] == "conflict" } && rest.first { $0["entryId"] == 5 }?["action"] == "delete", "\(rest)")
    let query = "SELECT {contacts:Title} FROM {contacts} WHERE {contacts:_soupEntryId} IN (3, 4)"
    #expect(try await tureen(place, "query", "--csv", query).output == "Title\nHead Nurse\n")
  }

  @Test func row21_discard_takesBackAndSaysWhatStays() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let kept = try await tureen(place, "discard", "contacts", "--refused", "--yes")
    #expect(kept.status == 2 && kept.output.contains("1 entry discarded, 1 kept"), "\(kept)")
    #expect(kept.errors.contains("only --created removes it"), "\(kept)")
    #expect(try await tureen(place, "discard", "contacts", "--refused", "--created", "--yes").status == 0)
    #expect(try await tureen(place, "discard", "contacts", "6", "--field", "Phone", "--yes").status == 0)
    let json = try await tureen(place, "discard", "contacts", "6", "--yes", "--json")
    let result = try JSONValue(parsing: json.output)
    #expect(json.status == 2 && result["kept"]?.arrayValue?.first?["code"] == "cannotDiscard", "\(json)")
    #expect(try await entries(place).map { $0["entryId"] } == [3, 4, 5])
    #expect(try await tureen(place, "discard", "contacts", "--yes").status == 64)
  }

  /// What one run found is decided and dropped together; what another one left stays.
  @Test func rows20And21_ofARun_areItsRecords() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let edit =
      #"{"soupName":"contacts","patches":[{"entryId":8,"set":{"Email":"nowhere"},"flags":{"__locally_updated__":true}}]}"#
    #expect(try await tureen(place, "exec", "smartstore", "patchSoupEntries", edit).status == 0)
    _ = try await tureen(place, "sync", "contactsUp")
    func resolve(_ words: String...) async throws -> Child.Ended {
      try await place.run(Built.tureen, ["conflicts", "resolve", "--home", place.home, "contacts", "--mine", "--run"] + words)
    }
    let none = try await resolve("1")
    #expect(none.status == 0 && none.errors.contains("no conflicts in 'contacts' that run 1 found"), "\(none)")
    let unknown = try await resolve("77")
    #expect(unknown.status == 1 && unknown.errors.contains("no run 77"), "\(unknown)")
    let resolved = try await resolve("2")
    #expect(resolved.output.hasPrefix("3 conflicts resolved"), "\(resolved)")
    #expect(try await resolve("2", "--all").status == 64)
    // Those that are decided now, too: they are still unsent.
    let discarded = try await tureen(place, "discard", "contacts", "--run", "2", "--created", "--yes")
    #expect(discarded.status == 0, "\(discarded)")
    #expect(try await entries(place).map { $0["entryId"] } == [8])
    let last = try await tureen(place, "discard", "contacts", "--run", "3", "--yes")
    #expect(last.status == 0 && last.output == "1 entry discarded\n", "\(last)")
    let nothing = try await tureen(place, "discard", "contacts", "--run", "3", "--yes")
    #expect(nothing.status == 0 && nothing.errors.contains("run 3 left no unsent entry in 'contacts'"), "\(nothing)")
  }

  @Test func row22_check_oldConflictIs0AndNewOneIs2() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let fresh = try await tureen(place, "status", "--check=newConflicts=0")
    #expect(fresh.status == 2 && fresh.errors.contains("check failed: 3 new conflicts. See: tureen dirty"), "\(fresh)")
    _ = try await tureen(place, "sync", "contactsUp")
    #expect(try await tureen(place, "status", "--check=newConflicts=0").status == 0)
    #expect(try await tureen(place, "status", "--check=conflicts=2").status == 2)
    #expect(try await tureen(place, "status", "--check=refused=2").status == 0)
    #expect(try await tureen(place, "status", "--check", "--json").status == 2)
    #expect(try await tureen(place, "status", "--check=conflict=1").status == 64)
    let file = place.path + "/metrics.prom"
    #expect(try await tureen(place, "status", "--prometheus", "--output", file).output == "")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(
      text.contains(#"tureen_unsent_entries{store="defaultStore",scope="user",soup="contacts",state="conflict"} 3"#), "\(text)")
  }

  /// Tables are as wide as the terminal, without colours.
  @Test(arguments: [80, 140]) func row45_terminal_getsTextThatFits(columns: Int) async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    for words in [
      ["dirty"], ["dirty", "--refused"], ["dirty", "--fields"], ["conflicts"], ["conflicts", "contacts", "3"], ["status"],
    ] {
      let child = try Child(
        Built.tureen, [words[0], "--home", place.home] + words.dropFirst(), in: place.path,
        terminal: Terminal(columns: UInt16(columns)))
      let ended = await child.ended()
      for line in ended.output.replacingOccurrences(of: "\r", with: "").split(separator: "\n") where !line.contains("tureen ") {
        #expect(line.count <= columns || line.hasPrefix("home "), "\(words): \(line)")
      }
      #expect(!ended.output.contains("\u{1b}"), "\(words)")
    }
  }

  /// The command, a script and a program get the same.
  @Test func row46_everyDoor_hasTheSameValue() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let command = try JSONValue(parsing: try await tureen(place, "dirty", "--json").output)
    let call = try await place.run(Built.tureen, ["exec", "--home", place.home, "mobilesync", "getDirtyEntries", "{}"])
    #expect(try JSONValue(parsing: call.output) == command)
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        print(tureen.json.encode(assert(tureen.await(tureen.mobilesync.getDirtyEntries))))
      end)
      """, to: "list.lua")
    let listed = try await place.run(Built.tureen, ["run", "--home", place.home, script])
    #expect(try JSONValue(parsing: listed.output) == command, "\(listed)")
  }
}
