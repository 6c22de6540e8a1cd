import JSON
import Testing

@testable import Tureen

/// What a record of a file does to the entry it belongs to.
@Suite struct ImportRulesTests {
  private let rules = ImportRules(externalIdPath: "Key")

  private func cells(_ members: KeyValuePairs<String, String>) -> ImportRecord {
    ImportRecord(line: 2, members: members.map { ($0.key, .cell($0.value)) })
  }

  private func json(_ object: JSONObject) -> ImportRecord {
    ImportRecord(line: 2, members: object.map { ($0.key, .json($0.value)) })
  }

  private func typed(_ types: IdMap<CellType>) -> ImportRules {
    var typed = rules
    typed.foundTypes = types
    return typed
  }

  private func updated(_ record: ImportRecord, _ entry: JSONObject, _ rules: ImportRules? = nil) throws -> JSONObject? {
    guard case .update(let entry) = try (rules ?? self.rules).decide(record, entries: [entry]) else { return nil }
    return entry
  }

  private let entry: JSONObject = [
    "_soupEntryId": 3, "Key": "k", "Text": "007", "Number": 5, "Flag": true, "Nothing": nil, "Empty": "",
    "List": [1, 2], "Account": ["Name": "Acme", "Id": "1"], "a.b": 1,
  ]

  @Test func sameValues_leaveTheEntryAlone() throws {
    let record = cells([
      "Key": "k", "Text": "007", "Number": "5.0", "Flag": "TRUE", "Nothing": "", "Empty": "", "Missing": "",
      "List": "[1, 2]", "Account.Name": "Acme", "a.b": "1", "__local__": "x", "_soupEntryId": "9",
    ])
    #expect(try rules.decide(record, entries: [entry]) == .unchanged)
    #expect(
      try rules.decide(json(["Key": "k", "Number": 5.0, "Account": ["Id": "1", "Name": "Acme"]]), entries: [entry]) == .unchanged)
  }

  /// Entries whose members are of different kinds in one column.
  private static let awkward: [JSONObject] = [
    ["Key": "1", "owner": "text", "o": ["x": 5]], ["Key": "2", "owner": ["login": "x"], "o": ["x": ["y": "z"]]],
    ["Key": "3", "owner": [:], "o": [:]], ["Key": "4", "owner": nil, "o": nil], ["Key": "5", "owner": [1, ["a": 2]], "o": "5"],
    ["Key": "6", "a.b": 1, "a": ["b": 2]], ["Key": "7", "\u{E9}": 1, "e\u{301}": 2, "K": 1, "\u{212A}": 2],
    ["Key": "8", "owner": "", "o": ["x": "5", "y": ["z": [:]]]], ["Key": "9", "owner": true, "o": "true"],
    ["Key": "10", "owner": " 007 \r\n\"", "o": 1e300, "n": "+5"], ["Key": "11", "owner": "{}", "o": ["x": "[1]"], "n": 5],
  ]

  @Test func cellsAsExported_leaveEachEntryAlone() throws {
    var columns = EntryColumns()
    let numbers = #"{"Key":"12","n":18446744073709551615,"owner":1.10,"o":{"x":1e3},"l":[0.1000000000000000055]}"#
    let entries = try Self.awkward + [#require(try JSONValue(parsing: numbers).objectValue)]
    for entry in entries { columns.note(EntryText(entry.serialized()), withOwnFields: false) }
    for entry in entries {
      let cells = EntryText(entry.serialized()).leaves
      let record = ImportRecord(line: 2, members: columns.names.map { ($0, .cell(cells[$0]?.text ?? "")) })
      #expect(try rules.decide(record, entries: [entry]) == .unchanged, "\(entry.text)")
    }
  }

  /// Keys with dots, at the top and within objects, and a key that begins with a combining accent.
  private static let dotted: JSONObject = [
    "Key": "k", "any": ["a.b": [1, 2], "c": ["d.e": ["f": 5]], "\u{301}x": true, "g.h": ["i": nil]], "a": "text", "a.b": 7,
  ]

  @Test(
    arguments: [
      ("any.a.b", "[3]", ["any", "a.b"], [3]), ("any.c.d.e.f", "6", ["any", "c", "d.e", "f"], 6),
      ("any.\u{301}x", "false", ["any", "\u{301}x"], false), ("any.g.h.i", "x", ["any", "g.h", "i"], "x"),
      ("a.b", "8", ["a.b"], 8), ("any.c.new", "x", ["any", "c", "new"], "x"),
      ("any.g.h.new.two", "x", ["any", "g.h", "new", "two"], "x"),
      ("any.c.d.e.new", "x", ["any", "c", "d.e", "new"], "x"), ("other.new", "x", ["other", "new"], "x"),
      ("a", "new", ["a"], "new"),
    ] as [(String, String, [String], JSONValue)])
  func cell_ofAKeyWithDots_changesOnlyThatMember(column: String, cell: String, keys: [String], value: JSONValue) throws {
    let changed = try #require(try updated(cells(["Key": "k", column: cell]), Self.dotted))
    #expect(changed.value(at: keys) == value, "\(changed.text)")
    let before = EntryText(Self.dotted.serialized()).leaves, after = EntryText(changed.serialized()).leaves
    for (path, leaf) in before where path != column { #expect(after[path]?.text == leaf.text, "\(path)") }
  }

  @Test func places_ofAColumn_areAllThatItCanMean() {
    #expect(Set(CellPath.places(of: "a.b.c")) == [["a.b.c"], ["a", "b.c"], ["a.b", "c"], ["a", "b", "c"]])
    #expect(CellPath.places(of: "a") == [["a"]])
    #expect(CellPath.places(of: "1.2.3.4.5.6.7.8.9").count == 2)
  }

  @Test func memberAndPartOfIt_inOneRecord_areRefused() throws {
    for entry in [self.entry, [:], ["Key": "k", "x": "text"]] as [JSONObject] {
      let problem = #expect(throws: ImportProblem.self) {
        _ = try rules.decide(cells(["Key": "k", "x": "new", "x.y": "1"]), entries: entry.isEmpty ? [] : [entry])
      }
      #expect(problem?.message.contains("'x'") == true)
    }
    #expect(try updated(cells(["Key": "k", "x": "", "x.y": "1"]), entry)?["x"] == ["y": "1"])
  }

  @Test(arguments: [#"{"Key":"k","a":1,"a":2}"#, #"{"Key":"k","o":{"b":1,"b":1}}"#, #"{"Key":"k","l":[{"\u0061":1,"a":2}]}"#])
  func memberTwice_isABadLine(text: String) throws {
    #expect(throws: ImportProblem.self) { try ImportFile.object(Array(text.utf8)[...], line: 1).get() }
  }

  @Test(arguments: ["1e999", "-1e400", "[1e999]", #"{"a":1E+400}"#]) func numberTooLarge_isABadLine(number: String) throws {
    let value = try JSONValue(parsing: number)
    #expect(throws: ImportProblem.self) { _ = try rules.decide(json(["Key": "k", "New": value]), entries: [entry]) }
    let typed = typed(["New": .number])
    #expect(throws: ImportProblem.self) { _ = try typed.decide(cells(["Key": "k", "New": number]), entries: [entry]) }
    #expect(
      try updated(cells(["Key": "k", "New": "18446744073709551616"]), entry, typed)?["New"]?.text == "18446744073709551616")
  }

  @Test func changedValues_getTheTypeOfTheField_andTheFlags() throws {
    let entry = try #require(
      try updated(
        cells(["Key": "k", "Text": "8", "Number": "6", "Flag": "false", "Account.Name": "Bolt", "New.Path": "x"]), entry))
    #expect(entry["Text"] == "8" && entry["Number"] == 6 && entry["Flag"] == false)
    #expect(entry["Account"] == ["Name": "Bolt", "Id": "1"] && entry["New"] == ["Path": "x"])
    #expect(entry["__local__"] == true && entry["__locally_updated__"] == true)
    #expect(entry["__locally_created__"] == false && entry["__locally_deleted__"] == false && entry["_soupEntryId"] == 3)
  }

  @Test func createdHere_staysCreated() throws {
    var made = entry
    made["__locally_created__"] = true
    let entry = try #require(try updated(cells(["Key": "k", "Number": "6"]), made))
    #expect(entry["__locally_created__"] == true && entry["__locally_updated__"] == true)
  }

  @Test func emptyCell_isNullUnlessKept() throws {
    let record = cells(["Key": "k", "Text": ""])
    #expect(try updated(record, entry)?["Text"] == .some(.null))
    var rules = rules
    rules.keepsEmpty = true
    #expect(try rules.decide(record, entries: [entry]) == .unchanged)
  }

  @Test func types_givenThenEntryThenSoupThenText() throws {
    var rules = rules
    rules.foundTypes = ["Nothing": .number, "Text": .number]
    #expect(try updated(cells(["Key": "k", "Nothing": "12", "Text": "12", "Other": "12"]), entry, rules)?["Nothing"] == 12)
    #expect(try updated(cells(["Key": "k", "Text": "12"]), entry, rules)?["Text"] == "12")
    #expect(try updated(cells(["Key": "k", "Other": "12"]), entry, rules)?["Other"] == "12")
    rules.givenTypes = ["Text": .number]
    #expect(try updated(cells(["Key": "k", "Text": "12"]), entry, rules)?["Text"] == 12)
  }

  @Test(
    arguments: [
      (["Key": "k", "Number": "five"], "column 'Number': 'five' is not a number"),
      (["Key": "k", "Number": "1,5"], "is not a number"), (["Key": "k", "Flag": "yes"], "is not true or false"),
      (["Key": "k", "List": "[1"], "is not JSON"), (["Key": "k", "Text.Part": "x"], "'Text' of the entry is a string"),
    ] as [(KeyValuePairs<String, String>, String)])
  func wrongValues_areNamed(members: KeyValuePairs<String, String>, message: String) {
    let error = #expect(throws: ImportProblem.self) { try rules.decide(cells(members), entries: [entry]) }
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
  }

  @Test func newRecord_getsIdTypeAndFlags() throws {
    var rules = rules
    (rules.recordType, rules.serverGivesIds) = ("Contact", true)
    guard case .create(let entry) = try rules.decide(cells(["Key": "n", "Text": "", "Id": ""]), entries: []) else {
      Issue.record("not created")
      return
    }
    #expect(entry["Key"] == "n" && entry["Text"] == nil && entry["attributes"] == ["type": "Contact"])
    #expect(entry["Id"]?.stringValue?.hasPrefix("local_") == true)
    #expect(entry["__local__"] == true && entry["__locally_created__"] == true && entry["__locally_updated__"] == false)
  }

  @Test func newRecord_withoutWhatTheServerNeeds_isBad() {
    var rules = rules
    rules.needsRecordType = true
    #expect(throws: ImportProblem.self) { try rules.decide(cells(["Key": "n"]), entries: []) }
    (rules.recordType, rules.serverGivesIds) = ("Contact", true)
    let error = #expect(throws: ImportProblem.self) { try rules.decide(cells(["Key": "n", "Id": "003x"]), entries: []) }
    #expect(error?.message.contains("no entry with Id '003x'") == true)
  }

  /// Under another record's id, a sync up would overwrite that record.
  @Test func serversId_staysInTheEntry() throws {
    var mine = entry
    mine["Id"] = "003a"
    let other = #expect(throws: ImportProblem.self) { try rules.decide(cells(["Key": "k", "Id": "003b"]), entries: [mine]) }
    #expect(other?.message.contains("has Id '003a', which cannot be changed") == true)
    #expect(throws: ImportProblem.self) { try rules.decide(json(["Key": "k", "Id": 5]), entries: [mine]) }
    #expect(throws: ImportProblem.self) { try rules.decide(json(["Key": "k", "Id": true]), entries: [mine]) }
    for record in [cells(["Key": "k", "Id": ""]), json(["Key": "k", "Id": nil]), cells(["Key": "k", "Id": "003a"])] {
      #expect(try rules.decide(record, entries: [mine]) == .unchanged)
    }
    #expect(try updated(cells(["Key": "k", "Id": "", "Number": "6"]), mine)?["Id"] == "003a")
    mine["Id"] = "local_1"
    #expect(try updated(cells(["Key": "k", "Id": "003c"]), mine)?["Id"] == "003c")
  }

  @Test func serversDate_isNotChanged() throws {
    var rules = rules, dated = entry
    (rules.dateField, dated["Changed"]) = ("Changed", "2026-02-01")
    let record = cells(["Key": "k", "Changed": "2026-01-01"]), edit = cells(["Key": "k", "Changed": "2026-01-01", "Number": "6"])
    #expect(try rules.decide(record, entries: [dated]) == .unchanged)
    #expect(try updated(edit, dated, rules)?["Changed"] == "2026-02-01")
  }

  /// An export from before the sync that gave the entry its id names a local id that no entry has now.
  @Test(arguments: ["local_2f0c4a1e-7a55-4b61-9d51-0d8ce27f3c11", "local_1716388", "003x"])
  func newRecord_withAnIdThatSomethingElseGave_isBad(_ id: String) {
    var rules = ImportRules(externalIdPath: "Id")
    (rules.recordType, rules.serverGivesIds) = ("Contact", true)
    #expect(throws: ImportProblem.self) { try rules.decide(cells(["Id": id]), entries: []) }
  }

  @Test func newRecord_numbersAndEmptyIds() throws {
    var rules = rules
    (rules.recordType, rules.serverGivesIds) = ("Contact", true)
    #expect(throws: ImportProblem.self) { try rules.decide(json(["Key": "n", "Id": 5]), entries: []) }
    guard case .create(let entry) = try rules.decide(json(["Key": "n", "Id": ""]), entries: []) else {
      Issue.record("not created")
      return
    }
    #expect(entry["Id"]?.stringValue?.hasPrefix("local_") == true)
    rules = ImportRules(externalIdPath: "Id")
    (rules.recordType, rules.serverGivesIds) = ("Contact", true)
    guard case .create = try rules.decide(cells(["Id": "local_new1"]), entries: []) else {
      Issue.record("not created")
      return
    }
  }

  @Test func entriesThatCannotBeChosenOrChanged_areBad() {
    var deleted = entry
    deleted["__locally_deleted__"] = true
    #expect(throws: ImportProblem.self) { try rules.decide(cells(["Key": "k", "Number": "9"]), entries: [entry, entry]) }
    #expect(throws: ImportProblem.self) { try rules.decide(cells(["Key": "k", "Number": "9"]), entries: [deleted]) }
  }

  @Test func externalId_isTakenFromItsPath() throws {
    #expect(try rules.externalId(of: cells(["Key": "7"])) == "7")
    var numeric = ImportRules(externalIdPath: "A.n")
    numeric.foundTypes = ["A.n": .number]
    #expect(try numeric.externalId(of: cells(["A.n": "7"])) == 7)
    #expect(try numeric.externalId(of: json(["A": ["n": 7]])) == 7)
    #expect(ImportRules.key(7) == "7" && ImportRules.key(7.0) == "7" && ImportRules.key("7") == "7")
    for record in [cells(["Key": ""]), cells(["Other": "x"]), json(["Key": nil]), json(["Key": true])] {
      #expect(throws: ImportProblem.self) { try rules.externalId(of: record) }
    }
  }

  @Test func jsonFiles_badLinesAreToldByNumber() throws {
    func read(_ text: String, _ format: ImportFormat) throws -> [Result<ImportRecord, ImportProblem>] {
      var file = try ImportFile(ByteReader(Array(text.utf8)), format: format)
      var found: [Result<ImportRecord, ImportProblem>] = []
      while let next = try file.next() { found.append(next) }
      return found
    }
    let lines = try read("{\"a\":1}\n\n[1]\n{\"a\":\n{\"a\":2}\r\n", .jsonl)
    #expect(lines.map { if case .failure(let problem) = $0 { problem.line } else { nil } } == [nil, 3, 4, nil])
    let array = try read("[\n {\"a\": [1, \"]\"]},\n 5,\n {\"b\": {}}\n]\n", .json)
    #expect(array.map { if case .failure(let problem) = $0 { problem.line } else { nil } } == [nil, 3, nil])
    for text in ["{}", "", "[{}", "[{}] x", "[{\"a\" 1}]"] {
      #expect(throws: ImportProblem.self, "\(text)") { try read(text, .json) }
    }
  }
}
