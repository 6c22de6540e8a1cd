import Foundation
import JSON
import Testing

/// Tests `tureen query`: rows of a store or of the org, as a table, CSV or JSON.
@Suite(.timeLimit(.minutes(60))) struct QueryCommandTests {
  /// Creates a home with the soup `people`.
  private func workplace(_ entries: String = Self.entries) async throws -> Workplace {
    let place = try Workplace()
    let indexes = #"[{"path":"Name","type":"string"},{"path":"Age","type":"integer"},{"path":"__local__","type":"string"}]"#
    #expect(try await place.exec("smartstore", "registerSoup", #"{"soupName":"people","indexes":\#(indexes)}"#).status == 0)
    let stored = try await place.exec("smartstore", "upsertSoupEntries", #"{"soupName":"people","entries":\#(entries)}"#)
    #expect(stored.status == 0, "\(stored)")
    return place
  }

  private static let entries = #"""
    [{"Name":"Ann","Age":41,"Note":"a, \"b\"\nc","Address":{"City":"Lyon"}},
     {"Name":"Bo","Age":7,"Note":null,"Tags":["x","y"]}]
    """#

  private func query(_ place: Workplace, _ arguments: String...) async throws -> Child.Ended {
    try await place.run(Built.tureen, ["query", "--home", place.home] + arguments)
  }

  private static let select =
    "SELECT {people:Name}, {people:Age}, {people:Note} AS note, {people:Address.City}, {people:Tags} FROM {people} ORDER BY 1"

  @Test func query_csv_quotesWhatHasToBeQuoted() async throws {
    let ended = try await query(workplace(), "--csv", Self.select)
    #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    #expect(
      ended.output == "Name,Age,note,Address.City,Tags\nAnn,41,\"a, \"\"b\"\"\nc\",Lyon,\nBo,7,,,\"[\"\"x\"\",\"\"y\"\"]\"\n")
  }

  @Test func query_jsonAndJSONLines_holdTheValues() async throws {
    let place = try await workplace()
    let lines = try await query(place, "--jsonl", Self.select)
    #expect(lines.status == 0, "\(lines)")
    let first = try JSONValue(parsing: String(lines.output.split(separator: "\n")[0]))
    #expect(first == ["Name": "Ann", "Age": 41, "note": "a, \"b\"\nc", "Address.City": "Lyon", "Tags": nil])
    let array = try await query(
      place, "--json", "SELECT {people:_soup}, 1 AS one, 2 AS one FROM {people} WHERE {people:Age} < ?", "10")
    #expect(array.status == 0, "\(array)")
    let rows = try #require(try JSONValue(parsing: array.output).arrayValue)
    #expect(rows.count == 1 && rows[0]["_soup"]?["Name"] == "Bo" && rows[0]["one"] == 1 && rows[0]["one_2"] == 2)
    #expect(try await query(place, "--json", "SELECT 1 FROM {people} WHERE 0").output == "[]\n")
  }

  @Test func query_terminal_getsATableThatFitsAndObeysNothing() async throws {
    let long = String(repeating: "long words ", count: 20)
    let place = try await workplace(#"[{"Name":"\#(long)","Age":5},{"Name":"日本\u001b[31m","Age":12345}]"#)
    let child = try Child(
      Built.tureen, ["query", "--home", place.home, "SELECT {people:Name}, {people:Age} FROM {people} ORDER BY 2"],
      in: place.path, terminal: Terminal(columns: 40))
    let ended = await child.ended()
    let lines = ended.output.replacingOccurrences(of: "\r", with: "").split(separator: "\n").map(String.init)
    #expect(ended.status == 0 && lines.count == 3, "\(ended)")
    #expect(lines[0].hasPrefix("Name ") && lines[0].hasSuffix("   Age"), "\(lines)")
    #expect(lines[1].count == 40 && lines[1].hasSuffix("…      5"), "\(lines)")
    #expect(lines[2].hasPrefix("日本\\u{1b}[31m ") && lines[2].hasSuffix("  12345"), "\(lines)")
    #expect(!ended.output.contains("\u{1b}"))
  }

  /// Tests values of `?`: numbers stay numbers; a value that is not a JSON scalar is text.
  @Test(arguments: [("41", "Ann"), ("\"41\"", "Ann"), ("007", ""), ("7", "Bo")])
  func query_values_areBound(value: String, name: String) async throws {
    let place = try await workplace()
    let ended = try await query(
      place, "--csv", "SELECT {people:Name} FROM {people} WHERE CAST({people:Age} AS TEXT) = CAST(? AS TEXT)", value)
    #expect(ended.status == 0 && ended.output == "Name\n" + (name.isEmpty ? "" : name + "\n"), "\(ended)")
  }

  @Test(arguments: [
    ("SELECT {peple:Name} FROM {peple}", "did you mean 'people'?"),
    ("SELECT Nmae FROM {people}", "did you mean {people:Name}?"),
    ("SELECT Note FROM {people}", "did you mean {people:Note}?"),
    ("SELECT 1 FROM people", "did you mean {people}?"),
    ("SELEC 1", "near \"SELEC\": syntax error"),
    ("DELETE FROM {people}", "tureen query only reads"),
    ("SELECT 1; SELECT 2", "more than one statement"),
  ])
  func query_badSQL_is1AndSaysWhatWasMeant(sql: String, named: String) async throws {
    let ended = try await query(workplace(), "--csv", sql)
    #expect(ended.status == 1 && ended.output == "", "\(ended)")
    #expect(ended.errors.contains(named), "\(ended.errors)")
  }

  @Test func query_pathThatNoEntryHas_warns() async throws {
    let ended = try await query(workplace(), "--csv", "SELECT {people:Adress.City} FROM {people} LIMIT 1")
    #expect(ended.status == 0 && ended.output == "Adress.City\n\"\"\n", "\(ended)")
    #expect(ended.errors.contains("did you mean 'Address'?"))
  }

  @Test func query_storeThatIsNotThere_is1AndMakesNone() async throws {
    let place = try await workplace(), before = place.stores
    let ended = try await query(place, "--store-name", "defaultStor", "SELECT 1")
    #expect(ended.status == 1 && ended.errors.contains("did you mean --store-name 'defaultStore'?"), "\(ended)")
    let fresh = try await Workplace().run(Built.tureen, ["query", "--home", place.path + "/other", "SELECT 1"])
    #expect(fresh.status == 1 && fresh.errors.contains("does not exist yet"), "\(fresh)")
    #expect(place.stores == before)
  }

  @Test(arguments: [["query"], ["query", "--csv", "--json", "SELECT 1"], ["query", "--org-query", "SELECT Id", "x"]])
  func query_wrongUsage_is64(arguments: [String]) async throws {
    let ended = try await Workplace().run(Built.tureen, arguments)
    #expect(ended.status == 64 && ended.output == "", "\(ended)")
  }

  /// Reads the pages of a large result: each row occurs once and in order, and closing the pipe ends the command.
  @Test func query_manyRows_comeOnceEachAndStopWithTheReader() async throws {
    let place = try await workplace()
    let count = 60_000
    let sql =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) SELECT i, {people:Name} AS name "
      + "FROM n JOIN {people} ON {people:Age} = 7"
    let all = try await query(place, "--csv", sql)
    let lines = all.output.split(separator: "\n")
    #expect(all.status == 0 && lines.count == count + 1 && lines[0] == "i,name", "\(all.status) \(lines.count)")
    #expect(lines.dropFirst().enumerated().allSatisfy { $0.element == "\($0.offset + 1),Bo" })
    let head = try await place.run(
      "/bin/bash", ["-c", #"set -o pipefail; "$0" query --home "$1" --csv "$2" | head -2"#, Built.tureen, place.home, sql])
    #expect(head.status == 0 && head.output == "i,name\n1,Bo\n" && head.errors == "", "\(head)")
  }

  @Test func query_fullDisk_is69() async throws {
    let place = try await workplace()
    let ended = try await place.run(
      "/bin/sh", ["-c", #""$0" query --home "$1" --csv 'SELECT 1' >/dev/full"#, Built.tureen, place.home])
    #expect(ended.status == 69 && ended.errors.contains("standard output cannot be written: No space left"), "\(ended)")
  }

  @Test(arguments: ["version", "exec --list", "exec smartstore getDatabaseSize", "whoami", "query --jsonl 'SELECT 1'"])
  func output_cannotBeWritten_is69(_ command: String) async throws {
    let place = try await workplace(), options = command.hasPrefix("version") || command.contains("list") ? "" : #" --home "$1""#
    for output in ["/dev/full", "&-"] {
      let ended = try await place.run("/bin/sh", ["-c", #""$0" \#(command)\#(options) >\#(output)"#, Built.tureen, place.home])
      #expect(
        ended.status == 69 && ended.errors.contains("standard output cannot be written: "), "\(command) >\(output): \(ended)")
    }
  }

  @Test func config_noFolder_is64() async throws {
    let place = try await workplace()
    try place.write("{}", to: "file.json")
    for (config, reason) in [("missing", "No such file"), ("file.json", "file.json is not one")] {
      for command in [["soups"], ["exec", "smartstore", "getDatabaseSize"], ["repl"], ["sync", "contacts"]] {
        let ended = try await place.run(Built.tureen, command + ["--home", place.home, "--config", config])
        #expect(ended.status == 64 && ended.errors.contains(reason), "\(command): \(ended)")
      }
    }
  }

  @Test func orgQuery_soql_flattensParents() async throws {
    let place = try Workplace()
    let ended = try await query(
      place, "--csv", "--org-query",
      "SELECT LastName, Account.Name FROM Contact WHERE Account.Name != null ORDER BY Id LIMIT 2500")
    let lines = ended.output.split(separator: "\n")
    #expect(ended.status == 0 && lines.count == 2501 && lines[0] == "LastName,Account.Name", "\(ended.errors) \(lines.count)")
    #expect(lines.dropFirst().allSatisfy { !$0.hasPrefix(",") && !$0.hasSuffix(",") })
    let counted = try await query(place, "--jsonl", "--org-query", "SELECT COUNT() FROM Contact")
    #expect(counted.output == "{\"count\":5000}\n", "\(counted)")
    let grouped = try await query(place, "--jsonl", "--org-query", "SELECT COUNT(Id) n FROM Contact")
    #expect(grouped.output == "{\"n\":5000}\n", "\(grouped)")
    let wrong = try await query(place, "--json", "--org-query", "SELECT Nothing FROM Contact")
    #expect(wrong.status == 1 && (try? JSONValue(parsing: wrong.errors))?["domain"] == "network", "\(wrong)")
  }
}

extension Workplace {
  /// Makes one call of the bridge with this home.
  func exec(_ arguments: String...) async throws -> Child.Ended {
    try await run(Built.tureen, ["exec", "--home", home] + arguments)
  }
}
