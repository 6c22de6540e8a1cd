import Testing

@testable import JSON

struct KnownKeysTests {
  @Test(arguments: [
    ("mergemode", "mergeMode"), ("createFieldList", "createFieldlist"), ("maxbatchsize", "maxBatchSize"),
    ("MergeMdoe", "mergeMode"), ("fieldslist", "fieldlist"), ("querySoup", "pgQuerySoup"), ("quer", "query"),
    ("quesry", "query"),
  ])
  func find_mistypedWord_isTheOneThatWasMeant(word: String, meant: String) {
    let known = ["createFieldlist", "fieldlist", "maxBatchSize", "mergeMode", "pgQuerySoup", "query"]
    #expect(NearestName.find(word, among: known) == meant)
  }

  @Test(arguments: ["colour", "", "x", "resolver"])
  func find_wordFarFromAll_isNothing(word: String) {
    #expect(NearestName.find(word, among: ["mergeMode", "fieldlist", "soql", "sosl"]) == nil)
    let long = String(repeating: "x", count: 10_000_000)
    #expect(NearestName.find(word + "x", among: [long, "mergeMode"]) == nil)
    #expect(NearestName.hint(for: word, among: Array(repeating: long, count: 2000)).utf8.count < 20_000)
    #expect(NearestName.find(String(repeating: word + "x", count: 10_000_000), among: ["mergeMode"]) == nil)
  }

  @Test(arguments: [("", "", 0), ("abc", "", 3), ("abc", "acb", 1), ("soql", "sqol", 1), ("kitten", "sitting", 3)])
  func edits_twoWords_areCounted(a: String, b: String, count: Int) {
    #expect(NearestName.edits(Array(a), Array(b)) == count)
  }

  @Test func unknown_firstKeyThatIsNotKnown_withWhatToSay() {
    let keys = KnownKeys(["path", "type"], ignoring: ["columnName"])
    #expect(keys.unknown(in: ["path": 1, "columnName": 2]) == nil)
    #expect(keys.unknown(in: ["path": 1, "Type": 2])! == ("Type", "is not known here; did you mean 'type'?"))
    #expect(keys.unknown(in: ["weight": 2])! == ("weight", "is not known here; known: path, type"))
    // No list follows when there is nothing to list.
    #expect(KnownKeys([]).unknown(in: ["weight": 2])! == ("weight", "is not known here"))
    // Canonically equivalent keys are different keys.
    #expect(KnownKeys(["e\u{301}"]).unknown(in: ["\u{e9}": 1]) != nil)
  }

  @Test func misspelled_otherKeysMayStandThere() {
    let keys = KnownKeys(["luaImpl"])
    #expect(keys.misspelled(in: ["luaImpl": 1, "folder": 2, "luaImp": 3]) == nil)
    #expect(keys.misspelled(in: ["luaimpl": 1])?.key == "luaimpl")
  }
}

struct JSONFilePlaceTests {
  private static let text = """
    {
      "syncs": [
        {"soupName": "a"},
        {
          "soupName": "b",
          "target": {
            "infos": [
              {"soupName": "c"},
              {
                "soupName": "d" } ] } } ] }
    """

  @Test(
    arguments: [
      ([.key("syncs"), .position(1)], 4), ([.key("syncs"), .position(1), .key("soupName")], 5),
      ([.key("syncs"), .position(1), .key("target"), .key("infos"), .position(1), .key("soupName")], 10),
      ([.key("syncs"), .position(1), .key("target"), .key("query")], 6), ([.key("syncs"), .position(9)], 2),
    ] as [([JSONFile.Step], Int)])
  func problem_atAPath_hasTheLineOfWhatIsThere(path: [JSONFile.Step], line: Int) throws {
    let file = try JSONFile(name: "f", text: Array(Self.text.utf8))
    #expect(file.problem(at: path, "wrong").description == "f:\(line): wrong")
  }
}
