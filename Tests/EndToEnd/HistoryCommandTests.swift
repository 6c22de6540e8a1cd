import Foundation
import JSON
import Testing

/// Tests `tureen runs` and `tureen explain`, and who the history says it was.
@Suite(.timeLimit(.minutes(60))) struct HistoryCommandTests {
  private static let syncs = """
    {"syncs": [
      {"syncName": "contactsDown", "syncType": "syncDown", "soupName": "contacts", "target": {"type": "soql",
        "query": "SELECT Id, FirstName, LastName, Title, Email, Phone FROM Contact ORDER BY Id LIMIT 20"},
       "options": {"mergeMode": "MERGE"}},
      {"syncName": "contactsUp", "syncType": "syncUp", "soupName": "contacts", "target": {},
       "options": {"fieldlist": ["LastName", "Title", "Email"], "mergeMode": "MERGE"}}]}
    """

  private static let edits = """
    local tureen = require "tureen"
    local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
    tureen.main(function()
      local some = assert(await(smartstore.retrieveSoupEntries, "contacts", { 1, 2 }))
      assert(await(mobilesync.markUpdated, "contacts", some[1], { Title = "Director" }))
      assert(await(mobilesync.markUpdated, "contacts", some[2], { Email = "canary not an address" }))
    end)
    """

  private func workplace() async throws -> Workplace {
    let place = try Workplace()
    let indexes = #"[{"path":"Id","type":"string"},{"path":"LastName","type":"string"},{"path":"__local__","type":"string"}]"#
    try place.write(#"{"soups":[{"soupName":"contacts","indexes":\#(indexes)}]}"#, to: "userstore.json")
    try place.write(Self.syncs, to: "usersyncs.json")
    #expect(try await tureen(place, "sync", "--quiet", "contactsDown").status == 0)
    let script = try place.write(Self.edits, to: "edits.lua")
    let ended = try await place.run(Built.tureen, ["run", "--home", place.home, script])
    #expect(ended.status == 0, "\(ended)")
    return place
  }

  private func tureen(
    _ place: Workplace, _ words: String..., environment: [String: String] = [:]
  ) async throws -> Child.Ended {
    try await place.run(Built.tureen, [words[0], "--home", place.home] + words.dropFirst(), environment: environment)
  }

  private func json(_ place: Workplace, _ words: String...) async throws -> JSONValue {
    let ended = try await place.run(Built.tureen, [words[0], "--home", place.home] + words.dropFirst() + ["--json"])
    return try JSONValue(parsing: ended.output)
  }

  // MARK: Runs

  @Test func row43_eachRun_isListedWithWhoRanItAndWhatCame() async throws {
    let place = try await workplace()
    #expect(try await tureen(place, "sync", "contactsUp").status == 2)
    let list = try await tureen(place, "runs")
    let lines = list.output.split(separator: "\n").map(String.init)
    #expect(list.status == 0, "\(list)")
    try #require(lines.count == 3, "\(list)")
    #expect(
      lines[1].contains("contactsUp") && lines[1].contains("tureen sync") && lines[1].contains("DONE, look: 1 sent, 1 refused"))
    #expect(lines[2].contains("contactsDown") && lines[2].contains("20 stored"), "\(list)")
    let runs = try await json(place, "runs")["runs"]?.arrayValue ?? []
    try #require(runs.map { $0["run"] } == [2, 1], "\(runs)")
    #expect(runs[0]["look"] == true && runs[1]["look"] == false)
    #expect(runs[0]["by"]?["kind"] == "cli" && runs[0]["by"]?["name"] == "sync" && runs[0]["by"]?["pid"]?.integerValue != nil)
    let detail = try await tureen(place, "runs", "2")
    for text in ["run 2", "contactsUp: DONE, look", "uploaded: 1", "refused: 1", "contacts 2", "POST"] {
      #expect(detail.output.contains(text), "\(text): \(detail)")
    }
    let requests = try await tureen(place, "runs", "--requests", "--jsonl")
    let figures = try runs.map { try #require($0["counts"]?["requests"]?.integerValue) }.reduce(0, +)
    #expect(requests.output.split(separator: "\n").count == Int(figures), "\(requests)")
    #expect(try await tureen(place, "runs", "contactsDown", "--jsonl").output.split(separator: "\n").count == 1)
    #expect(try await tureen(place, "runs", "--failed", "--jsonl").output.split(separator: "\n").count == 1)
    #expect(try await tureen(place, "runs", "--since", "1h", "--limit", "1", "--jsonl").output.split(separator: "\n").count == 1)
    #expect(try await tureen(place, "runs", "--since", "soon").status == 64)
    let missing = try await tureen(place, "runs", "99")
    #expect(missing.status == 1 && missing.errors.contains("the history has no run 99"), "\(missing)")
    #expect(try await tureen(place, "runs", "none").status == 1)
  }

  @Test func row10_off_saysThatNoHistoryIsKept() async throws {
    let place = try Workplace()
    let off = ["TUREEN_HISTORY": "off"]
    let made = try await tureen(
      place, "exec", "smartstore", "registerSoup", #"{"soupName":"notes","indexes":[{"path":"a","type":"string"}]}"#,
      environment: off)
    #expect(made.status == 0, "\(made)")
    let list = try await tureen(place, "runs", environment: off)
    #expect(list.status == 0 && list.output == "" && list.errors.contains("no history is kept"), "\(list)")
    let wrong = try await tureen(place, "runs", environment: ["TUREEN_HISTORY": "some"])
    #expect(wrong.status == 78 && wrong.errors.contains("TUREEN_HISTORY must be all, names or off"), "\(wrong)")
  }

  // MARK: Pictures

  /// Files that any browser shows: well-formed, for their user alone, with nothing from elsewhere.
  private func expectPicture(_ place: Workplace, _ name: String, _ texts: [String]) async throws {
    let file = place.path + "/" + name, text = try String(contentsOfFile: file, encoding: .utf8)
    let program = "import sys, xml.dom.minidom as x; print(x.parse(sys.argv[1]).documentElement.tagName)"
    let parsed = try await place.run("/usr/bin/python3", ["-c", program, file])
    #expect(parsed.output == "svg\n", "\(parsed)")
    for one in texts { #expect(text.contains(one), "\(one): \(text)") }
    #expect(!text.contains("<script") && !text.contains("href") && !text.contains("url("), "\(text)")
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
  }

  @Test func run_isDrawnIntoAFile() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let plain = try await tureen(place, "runs", "2")
    let drawn = try await tureen(place, "runs", "2", "--svg", "run.svg")
    #expect(drawn.status == 0 && drawn.output == plain.output, "\(drawn)")
    try await expectPicture(place, "run.svg", ["run 2: contactsUp", "1 sent, 1 refused", "POST …/composite", "class=\"up\""])
    for words in [
      ["runs", "--svg", "x.svg"], ["runs", "contactsUp", "--svg", "x.svg"], ["runs", "2", "--requests", "--svg", "x.svg"],
    ] {
      #expect(try await place.run(Built.tureen, words + ["--home", place.home]).status == 64, "\(words)")
    }
    let missing = try await tureen(place, "runs", "77", "--svg", "x.svg")
    #expect(missing.status == 1 && !FileManager.default.fileExists(atPath: place.path + "/x.svg"), "\(missing)")
    let nowhere = try await tureen(place, "runs", "2", "--svg", "no/where.svg")
    #expect(nowhere.status == 1 && nowhere.errors.contains("cannot write the picture to no/where.svg"), "\(nowhere)")
  }

  @Test func conflict_isDrawnIntoAFile() async throws {
    let place = try await workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local sandbox = require "tureen.sandbox"
      tureen.main(function()
        local one = assert(tureen.await(tureen.smartstore.retrieveSoupEntries, "contacts", { 3 }))[1]
        assert(tureen.await(tureen.mobilesync.markUpdated, "contacts", one, { Title = "<Nurse & \\u{1}>" }))
        assert(tureen.await(sandbox.update, "Contact", one.Id, { Title = "Head Nurse" }))
      end)
      """, to: "both.lua")
    #expect(try await tureen(place, "run", script).status == 0)
    _ = try await tureen(place, "sync", "contactsUp")
    let drawn = try await tureen(place, "conflicts", "contacts", "3", "--svg", "conflict.svg")
    #expect(drawn.status == 0 && drawn.output.contains("keep yours"), "\(drawn)")
    try await expectPicture(place, "conflict.svg", ["contacts 3", "&lt;Nurse &amp;", "Head Nurse", "both sides changed Title"])
    #expect(try await tureen(place, "conflicts", "contacts", "--svg", "x.svg").status == 64)
  }

  // MARK: Explain

  @Test func explain_askingTheServer_knowsItsValue() async throws {
    let place = try await workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local sandbox = require "tureen.sandbox"
      tureen.main(function()
        local one = assert(tureen.await(tureen.smartstore.retrieveSoupEntries, "contacts", { 1 }))[1]
        assert(tureen.await(sandbox.update, "Contact", one.Id, { Title = "Head of all" }))
        local told = assert(tureen.await(tureen.mobilesync.explainEntry, "contacts", 1, { server = true }))
        print(told.next[1].expect)
      end)
      """, to: "theirs.lua")
    let ran = try await tureen(place, "run", script)
    #expect(ran.output == "conflict\n", "\(ran)")
    #expect(try await json(place, "explain", "contacts", "1")["next"]?.arrayValue?.first?["expect"] == "send")
    let told = try await json(place, "explain", "contacts", "1", "--server")
    #expect(told["next"]?.arrayValue?.first?["expect"] == "conflict", "\(told.text)")
    let shown = try await tureen(place, "explain", "contacts", "1", "--server", "--fields")
    #expect(shown.output.contains("SERVER") && shown.output.contains("Head of all"), "\(shown)")
    #expect(try await tureen(place, "conflicts").errors.contains("there are no conflicts"), "nothing was written")
  }

  @Test func row40_refusedRecord_isExplained() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let told = try await tureen(place, "explain", "contacts", "2")
    #expect(told.status == 0 && told.output.contains("is refused: Email changed here by edits.lua"), "\(told)")
    for text in [
      "invalid email address: canary", "next", "contactsUp sends Email again and is refused again", "run 2: sent, refused",
      "first load",
    ] {
      #expect(told.output.contains(text), "\(text): \(told)")
    }
    #expect(told.output.split(separator: "\n").count <= 40)
    let fields = try await tureen(place, "explain", "contacts", "2", "--fields")
    #expect(fields.output.contains("local, edits.lua") && fields.output.contains("server, run 1"), "\(fields)")
    let sent = try await json(place, "explain", "contacts", "1")
    #expect(sent["state"] == "clean" && sent["log"]?.arrayValue?.first?["fields"] == ["Title"], "\(sent)")
    #expect(try await tureen(place, "explain", "contacts").status == 64)
    let unknown = try await tureen(place, "explain", "contacts", "--id", "003000000000000AAA")
    #expect(unknown.status == 0 && unknown.output.contains("not recorded"), "\(unknown)")
    #expect(try await tureen(place, "explain", "none", "1").status == 1)
  }

  /// The command, a script and a program get the same.
  @Test func row46_everyDoor_hasTheSameValue() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    for (words, action, call, arguments) in [
      (["runs", "2"], "getRuns", "mobilesync.getRuns, { run = 2 }", #"{"run":2}"#),
      (
        ["explain", "contacts", "2"], "explainEntry", #"mobilesync.explainEntry, "contacts", 2"#,
        #"{"soupName":"contacts","entryId":2}"#
      ),
    ] {
      let command = try await place.run(Built.tureen, [words[0], "--home", place.home] + words.dropFirst() + ["--json"])
      let value = try JSONValue(parsing: command.output)
      let exec = try await place.run(Built.tureen, ["exec", "--home", place.home, "mobilesync", action, arguments])
      #expect(try JSONValue(parsing: exec.output) == value, "\(exec)")
      let script = try place.write(
        """
        local tureen = require "tureen"
        local mobilesync = tureen.mobilesync
        tureen.main(function() print(tureen.json.encode(assert(tureen.await(\(call))))) end)
        """, to: "ask.lua")
      let asked = try await place.run(Built.tureen, ["run", "--home", place.home, script])
      #expect(try JSONValue(parsing: asked.output) == value, "\(asked)")
    }
  }

  // MARK: Who

  /// Row 12: each way in is told by its name.
  @Test func row12_eachProgram_isNamed() async throws {
    let place = try await workplace()
    let patch = #"{"soupName":"contacts","patches":[{"entryId":3,"set":{"Title":"E"},"flags":{"__locally_updated__":true}}]}"#
    let exec = try await tureen(place, "exec", "smartstore", "patchSoupEntries", patch)
    #expect(exec.status == 0, "\(exec)")
    try place.write("LastName\nImported\n", to: "new.csv")
    let imported = try await tureen(place, "import", "--external-id", "LastName", "--apply", "contacts", "new.csv")
    #expect(imported.status == 0, "\(imported)")
    let script = try place.write(
      Self.edits.replacingOccurrences(of: #"{ Title = "Director" }"#, with: #"{ Title = "Editor" }"#), to: "job.lua")
    let job = try await tureen(place, "run", script, environment: ["TUREEN_JOB": "3/4"])
    #expect(job.status == 0, "\(job)")
    func by(_ entry: Int) async throws -> JSONValue? {
      let log = try await json(place, "explain", "contacts", "\(entry)")["log"]?.arrayValue
      return log?.first { $0["run"] == .null }?["by"]
    }
    let edited = try await by(1), patched = try await by(3), made = try await by(21)
    #expect(edited?["kind"] == "job" && edited?["name"] == "job.lua")
    #expect(patched?["kind"] == "exec" && made?["kind"] == "import")
    let synced = try await tureen(place, "sync", "contactsUp", environment: ["TUREEN_JOB": "3/5"])
    #expect(synced.status == 2, "\(synced)")
    #expect(try await json(place, "runs")["runs"]?.arrayValue?.first?["job"] == "3/5")
  }

  /// Row 17: neither a token nor a value leaves the columns that are for values.
  @Test func row17_canaries_areNowhereElse() async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    let store = try #require(place.stores.first)
    let dump = try await place.run(
      "/usr/bin/sqlite3",
      [
        store,
        "SELECT * FROM actors; SELECT * FROM sync_runs; SELECT * FROM run_events; SELECT cause, fields, recordId FROM entry_log",
      ])
    #expect(dump.status == 0 && dump.output.contains("contactsUp"), "\(dump)")
    #expect(!dump.output.contains("canary") && !dump.output.contains("Bearer") && !dump.output.contains("?"), "\(dump)")
  }

  /// Tables are as wide as the terminal, without colours.
  @Test(arguments: [80, 140]) func row45_terminal_getsTextThatFits(columns: Int) async throws {
    let place = try await workplace()
    _ = try await tureen(place, "sync", "contactsUp")
    for words in [
      ["runs"], ["runs", "2"], ["runs", "--requests"], ["explain", "contacts", "2"], ["explain", "contacts", "2", "--fields"],
    ] {
      let child = try Child(
        Built.tureen, [words[0], "--home", place.home] + words.dropFirst(), in: place.path,
        terminal: Terminal(columns: UInt16(columns)))
      let ended = await child.ended()
      for line in ended.output.replacingOccurrences(of: "\r", with: "").split(separator: "\n") {
        #expect(line.count <= columns || line.hasPrefix("limits "), "\(words): \(line)")
      }
      #expect(!ended.output.contains("\u{1b}"), "\(words)")
    }
  }
}
