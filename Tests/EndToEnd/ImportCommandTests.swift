import Foundation
import JSON
import Testing

/// `tureen export` and `tureen import`: records out of a soup and back, through files.
@Suite(.timeLimit(.minutes(60))) struct ImportCommandTests {
  /// A home with the soup `people`, found by `Key`, and three entries of a sync.
  private func workplace() async throws -> Workplace {
    let place = try Workplace()
    let indexes = #"[{"path":"Key","type":"string"},{"path":"Age","type":"integer"},{"path":"__local__","type":"string"}]"#
    #expect(try await place.exec("smartstore", "registerSoup", #"{"soupName":"people","indexes":\#(indexes)}"#).status == 0)
    let clean = #""__local__":false,"__locally_created__":false,"__locally_updated__":false,"__locally_deleted__":false"#
    let entries = #"""
      [{"Key":"a","Name":"Ann, \"A\"","Age":41,"Active":true,"Account":{"Name":"Acme"},\#(clean)},
       {"Key":"b","Name":"Bo\nB","Age":7,"Active":false,"Account":null,\#(clean)},
       {"Key":"c","Name":null,"Zip":"007","Tags":["x"],\#(clean)}]
      """#
    let stored = try await place.exec("smartstore", "upsertSoupEntries", #"{"soupName":"people","entries":\#(entries)}"#)
    #expect(stored.status == 0, "\(stored)")
    return place
  }

  private func tureen(_ place: Workplace, _ command: String, _ arguments: String..., input: String? = nil) async throws
    -> Child.Ended
  {
    try await Child(Built.tureen, [command, "--home", place.home] + arguments, in: place.path, input: input).ended()
  }

  private func dirty(_ place: Workplace) async throws -> [JSONValue] {
    let ended = try await place.run(
      Built.tureen,
      [
        "query", "--home", place.home, "--jsonl",
        "SELECT {people:_soup} FROM {people} WHERE {people:__local__} = 'true' ORDER BY {people:Key}",
      ])
    return try ended.output.split(separator: "\n").compactMap { try JSONValue(parsing: String($0))["_soup"] }
  }

  private static let csv = """
    Key,Name,Age,Active,Account.Name,Zip,Tags
    a,"Ann, ""A""\",41,true,Acme,,
    b,"Bo
    B",7,false,,,
    c,,,,,007,"[""x""]"

    """

  // MARK: Export

  @Test func export_formats_holdTheRecords() async throws {
    let place = try await workplace()
    let csv = try await tureen(place, "export", "people", "--csv")
    #expect(csv.status == 0 && csv.output == Self.csv && csv.errors == "", "\(csv)")
    let lines = try await tureen(place, "export", "people").output.split(separator: "\n").map {
      try JSONValue(parsing: String($0))
    }
    try #require(lines.count == 3)
    #expect(
      lines[0] == ["Key": "a", "Name": "Ann, \"A\"", "Age": 41, "Active": true, "Account": ["Name": "Acme"]])
    let array = try JSONValue(parsing: try await tureen(place, "export", "people", "--json").output)
    #expect(array == .array(lines))
    let own = try await tureen(place, "export", "people", "--own-fields")
    #expect(try JSONValue(parsing: String(own.output.split(separator: "\n")[0]))["_soupEntryId"] == 1)
  }

  @Test func export_file_appearsWholeOrNotAtAll() async throws {
    let place = try await workplace()
    let ended = try await tureen(place, "export", "people", "--output", "people.csv")
    #expect(ended.status == 0 && ended.output == "" && ended.errors == "tureen: 3 records written to people.csv\n", "\(ended)")
    #expect(try String(contentsOfFile: place.path + "/people.csv", encoding: .utf8) == Self.csv)
    let missing = try await tureen(place, "export", "poeple", "--output", "people.csv")
    #expect(missing.status == 1 && missing.errors.contains("did you mean 'people'?"), "\(missing)")
    #expect(try String(contentsOfFile: place.path + "/people.csv", encoding: .utf8) == Self.csv)
    let nowhere = try await tureen(place, "export", "people", "--output", "no/such/people.csv")
    #expect(nowhere.status == 69 && nowhere.errors.contains("no/such/people.csv cannot be written"), "\(nowhere)")
    // A file that gets too large fails as one on a full disk does.
    let full = try await place.run(
      "/bin/bash",
      ["-c", #"trap '' XFSZ; ulimit -f 0; exec "$0" export --home "$1" people --output people.csv"#, Built.tureen, place.home])
    #expect(full.status != 0, "\(full)")
    #expect(try String(contentsOfFile: place.path + "/people.csv", encoding: .utf8) == Self.csv)
    let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
    #expect(names.filter { $0.hasPrefix("people.csv") } == ["people.csv"])
  }

  // MARK: Import

  @Test(arguments: ["--csv", "--json", "--jsonl"]) func import_ofAnExport_changesNothing(format: String) async throws {
    let place = try await workplace()
    let file = "people." + format.dropFirst(2)
    #expect(try await tureen(place, "export", "people", "--output", file).status == 0)
    let ended = try await tureen(place, "import", "people", file, "--external-id", "Key", "--apply")
    #expect(ended.status == 0 && ended.output == "3 records: 0 created, 0 updated, 3 unchanged, 0 bad\n", "\(ended)")
    #expect(try await dirty(place) == [])
  }

  @Test func import_dryRunThenApply_marksWhatIsNewOrChanged() async throws {
    let place = try await workplace()
    try place.write("Key,Age,Active\na,42,true\nb,7,false\nd,9,true\n", to: "new.csv")
    let dry = try await tureen(place, "import", "people", "new.csv", "--external-id", "Key")
    #expect(dry.status == 0 && dry.output == "3 records: 1 created, 1 updated, 1 unchanged, 0 bad\n", "\(dry)")
    #expect(dry.errors == "tureen: nothing was stored; --apply stores the changes\n")
    #expect(try await dirty(place) == [])

    let applied = try await tureen(
      place, "import", "people", "new.csv", "--external-id", "Key", "--apply", "--record-type", "Person")
    #expect(applied.status == 0 && applied.output == dry.output, "\(applied)")
    let marked = try await dirty(place)
    try #require(marked.map { $0["Key"] } == ["a", "d"])
    #expect(marked[0]["Age"] == 42 && marked[0]["Name"] == "Ann, \"A\"")
    #expect(marked[0]["__locally_updated__"] == true && marked[0]["__locally_created__"] == false)
    #expect(
      marked[1]["__locally_created__"] == true && marked[1]["Active"] == true && marked[1]["attributes"]?["type"] == "Person")
    #expect(marked[1]["Id"]?.stringValue?.hasPrefix("local_") == true)

    // As after a run that was killed: what is stored is unchanged, and nothing is there twice.
    let again = try await tureen(place, "import", "people", "new.csv", "--external-id", "Key", "--apply", "--report-json")
    let report = try JSONValue(parsing: again.output)
    #expect(report["unchanged"] == 3 && report["created"] == 0 && report["applied"] == true, "\(again)")
    #expect(try await tureen(place, "query", "--csv", "SELECT count(*) AS n FROM {people}").output == "n\n4\n")
  }

  @Test func import_badLines_areToldAndNothingIsStored() async throws {
    let place = try await workplace()
    try place.write("Key,Age\na,42\nb\n,5\nc,many\na,1\nd,\"x\"y\ne,5\n", to: "bad.csv")
    let ended = try await tureen(place, "import", "people", "bad.csv", "--external-id", "Key", "--apply")
    #expect(ended.status == 1 && ended.output == "7 records: 1 created, 1 updated, 0 unchanged, 5 bad\n", "\(ended)")
    for text in [
      "bad.csv:3: the line has 1 field, the header has 2", "bad.csv:4: the record has no Key",
      "bad.csv:5: column 'Age': 'many' is not a number", "bad.csv:6: Key 'a' is already in line 2",
      "bad.csv:7: a field has text after its closing quote", "nothing was stored: correct the bad lines",
    ] { #expect(ended.errors.contains(text), "\(text) is missing in \(ended.errors)") }
    #expect(try await dirty(place) == [])
    let skipped = try await tureen(place, "import", "people", "bad.csv", "--external-id", "Key", "--apply", "--skip-bad")
    #expect(skipped.status == 0 && skipped.output == ended.output, "\(skipped)")
    #expect(try await dirty(place).map { $0["Key"] } == ["a", "e"])
  }

  @Test func import_duplicatesInTheSoup_areBad() async throws {
    let place = try await workplace()
    #expect(
      try await place.exec("smartstore", "upsertSoupEntries", #"{"soupName":"people","entries":[{"Key":"a"}]}"#).status == 0)
    try place.write("{\"Key\":\"a\",\"Age\":1}\n", to: "one.jsonl")
    let ended = try await tureen(place, "import", "people", "one.jsonl", "--external-id", "Key", "--apply")
    #expect(ended.status == 1 && ended.errors.contains("one.jsonl:1: the soup has more than one entry with Key 'a'"), "\(ended)")
  }

  @Test func import_standardInputAndPipes_areReadTwice() async throws {
    let place = try await workplace()
    let file = try place.write("Key;Age\r\na;50\r\n", to: "a.txt")
    let ended = try await tureen(
      place, "import", "people", "-", "--csv", "--separator", ";", "--external-id", "Key", "--apply", input: file)
    #expect(ended.status == 0 && ended.output.contains("1 updated"), "\(ended)")
    let piped = try await place.run(
      "/bin/bash",
      [
        "-c", #"echo '{"Key":"b","Age":8}' | "$0" import --home "$1" people - --jsonl --external-id Key --apply"#, Built.tureen,
        place.home,
      ])
    #expect(piped.status == 0 && piped.output.contains("1 updated"), "\(piped)")
    #expect(try await dirty(place).map { $0["Age"] } == [50, 8])
  }

  @Test func import_wrongNames_areToldWithWhatWasMeant() async throws {
    let place = try await workplace()
    try place.write("Key,Aeg\na,1\n", to: "p.csv")
    try place.write("Key,Age\na,\u{0}\n", to: "zero.csv")
    try Data([0x4B, 0x65, 0x79, 0x0A, 0xFC, 0x0A]).write(to: URL(fileURLWithPath: place.path + "/latin.csv"))
    let cases: [([String], Int32, String)] = [
      (["poeple", "p.csv", "--external-id", "Key"], 1, "did you mean 'people'?"),
      (["people", "p.csv", "--external-id", "key"], 1, "did you mean 'Key'?"),
      (["people", "p.csv", "--external-id", "Age"], 1, "has no column 'Age'"),
      (["people", "p.csv", "--external-id", "Key"], 0, "warning: no entry of 'people' has 'Aeg'; did you mean 'Age'?"),
      (["people", "p.csv"], 64, "external-id"),
      (["people", "missing.csv", "--external-id", "Key"], 66, "missing.csv cannot be read: No such file"),
      (["people", ".", "--csv", "--external-id", "Key"], 66, "is a folder"),
      (["people", "p.xls", "--external-id", "Key"], 64, "--csv, --json or --jsonl"),
      (["people", "p.csv", "--external-id", "Key", "--types", "Age=nubmer"], 64, "did you mean 'number'?"),
      (["people", "p.csv", "--external-id", "Key", "--types", "Old=number"], 64, "no column 'Old'"),
      (["people", "p.csv", "--external-id", "Key", "--separator", "ab"], 64, "--separator"),
      (["people", "p.csv", "--external-id", "Key", "--json"], 1, "must contain one JSON array"),
      (["people", "latin.csv", "--external-id", "Key"], 1, "latin.csv:2: field is not UTF-8"),
      (["people", "zero.csv", "--external-id", "Key"], 1, "is not a number"),
    ]
    for (arguments, status, text) in cases {
      let ended = try await place.run(Built.tureen, ["import", "--home", place.home] + arguments)
      #expect(ended.status == status && ended.errors.contains(text), "\(arguments): \(ended)")
    }
    #expect(try await dirty(place) == [])
  }

  /// What was imported is what the next sync up sends; an id of the server that the soup does not know is no new record.
  @Test func import_intoASyncedSoup_isSentByTheSyncUp() async throws {
    let place = try Workplace()
    for name in ["userstore.json", "usersyncs.json"] {
      try place.write(try String(contentsOfFile: Built.package.path + "/scripts/" + name, encoding: .utf8), to: name)
    }
    #expect(try await tureen(place, "sync", "--quiet", "contactsDown").status == 0)
    let row = try await tureen(place, "query", "--csv", "SELECT {contacts:Id} FROM {contacts} LIMIT 1")
    let id = try #require(row.output.split(separator: "\n").last)
    try place.write("Id,LastName,Title\n\(id),Changed,Boss\nlocal_new1,Fresh,Clerk\n003000000000000AAA,Lost,\n", to: "c.csv")
    let ended = try await tureen(place, "import", "contacts", "c.csv", "--external-id", "Id", "--apply", "--skip-bad")
    #expect(ended.status == 0 && ended.output == "3 records: 1 created, 1 updated, 0 unchanged, 1 bad\n", "\(ended)")
    #expect(ended.errors.contains("c.csv:4: the soup has no entry with Id '003000000000000AAA'"), "\(ended.errors)")
    let sent = try await tureen(place, "sync", "contactsUp")
    #expect(sent.status == 0 && sent.output.hasPrefix("contactsUp: DONE, 2 sent in "), "\(sent)")
    let found = try await tureen(
      place, "query", "--csv", "--org-query",
      "SELECT LastName, Title FROM Contact WHERE LastName IN ('Changed', 'Fresh') ORDER BY LastName")
    #expect(found.output == "LastName,Title\nChanged,Boss\nFresh,Clerk\n", "\(found)")
  }
}
