import JSON
import SmartStore
import TestSupport
import Testing
import Tureen

/// Files that were exported and are imported again, with ids and values that programs often change on the way.
@Suite struct ImportRunTests {
  private static let entries = """
    [{"id":"\u{e9}","n":1E400,"a":{"\u{e9}":1,"e\u{301}":"x"}},{"id":"e\u{301}","n":-0,"a":"text"},
     {"id":7,"n":18446744073709551615,"list":[1E400]},{"id":"1e2","n":9007199254740993},{"id":"-0","n":1.10},
     {"id":"\u{2126}","n":null},{"id":"\u{3a9}","n":""}]
    """

  private func with(_ body: (SoupFiles) throws -> Void) throws {
    let temporary = try TemporaryStore(soup: "things", [IndexSpec(path: "id", type: .string)])
    try temporary.store.upsert(Self.entries, into: "things", by: "id")
    try body(SoupFiles(store: temporary.store, soup: "things", externalIdPath: "id"))
  }

  @Test(arguments: ImportFormat.allCases)
  func importOfAnExport_idsAndNumbersOfAnyKind_changesNothing(format: ImportFormat) throws {
    try with { files in
      let before = try files.exported().records
      let report = try files.imported(files.exported(format), format)
      #expect(report.problems == [] && report.unchanged == 7 && report.created == 0 && report.updated == 0)
      #expect(try files.exported().records.joined(separator: "\n").utf8.elementsEqual(before.joined(separator: "\n").utf8))
    }
  }

  /// Each of two ids that differ in normalisation has its own line.
  @Test func import_linesOfIdsThatDifferInNormalisation_changeTheirEntries() throws {
    try with { files in
      let report = try files.imported(Array("id,n\n\u{e9},2\ne\u{301},3\n".utf8), .csv)
      #expect(report.problems == [] && report.updated == 2, "\(report.problems)")
      let records = try files.exported().records
      #expect(records[0].contains("\"n\":2") && records[1].contains("\"n\":3"), "\(records)")
    }
  }

  /// Columns whose names differ in normalisation have types of their own.
  @Test func import_columnsThatDifferInNormalisation_haveTheirOwnTypes() throws {
    let temporary = try TemporaryStore(soup: "things", [IndexSpec(path: "id", type: .string)])
    try temporary.store.upsert("[{\"id\":\"1\",\"\u{e9}\":1,\"e\u{301}\":\"1\"}]", into: "things", by: "id")
    let files = SoupFiles(store: temporary.store, soup: "things", externalIdPath: "id")
    let report = try files.imported(Array("id,\u{e9},e\u{301}\n2,5,6\n".utf8), .csv)
    #expect(report.problems == [] && report.created == 1)
    let made = try JSONValue(parsing: files.exported().records[1])
    #expect(made["\u{e9}"] == 5 && made["e\u{301}"] == "6", "\(made)")
  }

  /// An integer that no double holds is not the double beside it.
  @Test(arguments: ["csv", "patch"]) func edit_toTheNextNumber_isAnEdit(way: String) throws {
    let temporary = try TemporaryStore(soup: "things", [IndexSpec(path: "id", type: .string)])
    try temporary.store.upsert(#"[{"id":"1","n":9007199254740993}]"#, into: "things", by: "id")
    let files = SoupFiles(store: temporary.store, soup: "things", externalIdPath: "id")
    if way == "csv" {
      #expect(try files.imported(Array("id,n\n1,9007199254740992.0\n".utf8), .csv).updated == 1)
    } else {
      _ = try temporary.store.patch([EntryPatch(.entryId(1), set: ["n": .number(9_007_199_254_740_992)])], in: "things")
    }
    #expect(try JSONValue(parsing: files.exported().records[0])["n"]?.doubleValue == 9_007_199_254_740_992)
    #expect(try !files.exported().records[0].contains("9007199254740993"))
  }
}
