import RecordScan
import Testing

struct RecordScannerTests {
  @Test func scanArray_records_giveTheirTextAndFields() throws {
    let scan = try Scan(
      #"[{"Id":"1","n":-2.5,"t":true,"f":false,"z":null,"o":{"k":1},"l":[1]}, {"Id":"a\"b"},{ }]"#,
      paths: ["Id", "n", "t", "f", "z", "o", "l", "gone"])
    #expect(scan.records == [#"{"Id":"1","n":-2.5,"t":true,"f":false,"z":null,"o":{"k":1},"l":[1]}"#, #"{"Id":"a\"b"}"#, "{ }"])
    #expect(
      scan.fields[0] == [
        "plainString:1", "number:-2.5", "true:true", "false:false", "null:null", #"object:{"k":1}"#, "array:[1]", "missing",
      ])
    #expect(scan.fields[1].first == #"escapedString:a\"b"#)
    #expect(Set(scan.fields[2]) == ["missing"])
  }

  @Test func scanArray_emptyString_isAString() throws {
    #expect(try Scan(#"[{"a":""}]"#, paths: ["a"]).fields == [["plainString:"]])
  }

  @Test func scanArray_whiteSpaceEverywhere_changesNothing() throws {
    let blank = " \t\r\n"
    let text = ["[", "{", #""a""#, ":", "{", #""b""#, ":", "1", "}", ",", #""c""#, ":", "[", "]", "}", ",", "{", "}", "]"]
    let scan = try Scan(blank + text.joined(separator: blank) + blank, paths: ["a.b", "c"])
    #expect(scan.fields[0][0] == "number:1")
    #expect(scan.fields[0][1].hasPrefix("array:["))
    #expect(scan.records.count == 2)
  }

  @Test func scanArray_nestedPaths_areFollowed() throws {
    let scan = try Scan(
      #"[{"Owner":{"Name":"Ann","Manager":{"Name":"Bo"}},"x":1},{"Owner":null},{"Owner":"text"},{"Owner":{}}]"#,
      paths: ["Owner.Name", "Owner", "Owner.Manager.Name", "x.y"])
    #expect(scan.fields[0][0] == "plainString:Ann")
    #expect(scan.fields[0][1].hasPrefix("object:{"))
    #expect(scan.fields[0][2] == "plainString:Bo")
    #expect(scan.fields.map { $0[3] } == ["missing", "missing", "missing", "missing"])
    #expect(scan.fields[1..<4].map { $0[0] } == ["missing", "missing", "missing"])
    #expect(scan.fields[1][1] == "null:null")
  }

  @Test func scanArray_pathThroughAnArray_isReported() throws {
    let scan = try Scan(#"[{"a":[{"b":1}],"c":{"d":[1]}}]"#, paths: ["a", "a.b", "a.b.c", "c.d", "c.d.e"])
    #expect(scan.fields[0] == [#"array:[{"b":1}]"#, "arrayStep", "arrayStep", "array:[1]", "arrayStep"])
  }

  @Test func scanArray_samePathTwice_fillsBoth() throws {
    let scan = try Scan(#"[{"a":{"b":7}}]"#, paths: ["a.b", "a", "a.b", "a"])
    #expect(scan.fields[0] == ["number:7", #"object:{"b":7}"#, "number:7", #"object:{"b":7}"#])
  }

  @Test func scanArray_sameKeyTwice_lastCountsWhole() throws {
    let scan = try Scan(
      #"[{"a":1,"a":2},{"n":{"k":1},"n":{}},{"n":{"k":1},"n":5},{"n":[1],"n":{"k":3}}]"#, paths: ["a", "n.k"])
    #expect(scan.fields.map { $0[0] } == ["number:2", "missing", "missing", "missing"])
    #expect(scan.fields.map { $0[1] } == ["missing", "missing", "missing", "number:3"])
  }

  @Test func scanArray_escapedKey_isTheKeyItMeans() throws {
    let scan = try Scan(
      #"[{"\u0049d":"x","Own\u0065r":{"N\u0061me":"y"},"_soup\u0045ntryId":1},{"Id\n":"z"}]"#,
      paths: ["Id", "Owner.Name"], owned: ["_soupEntryId"])
    #expect(scan.fields == [["plainString:x", "plainString:y"], ["missing", "missing"]])
    #expect(scan.owned == [true, false])
  }

  @Test func scanArray_ownedKeys_areReportedOnTheFirstLevelOnly() throws {
    let scan = try Scan(
      #"[{"a":1},{"_x":1},{"b":{"_x":1}},{"attributes":{}},{"":0},{"_":1},{"bttributes":1}]"#,
      owned: ["_x", "attributes"])
    #expect(scan.owned == [false, true, false, true, false, false, false])
  }

  @Test func scanArray_emptyKeyAndDots_areKeysLikeOthers() throws {
    let scan = try Scan(#"[{"":{"":1},"a":{"":2},"a.b":3}]"#, paths: [".", "a.", "a.b"])
    #expect(scan.fields == [["number:1", "number:2", "missing"]])
  }

  @Test(arguments: ["{}", "1", "[1]", "[[]]", "[null]", "[{}] x", "[{},]", "[,{}]", "[{}", "", "[\"a\"]"])
  func scanArray_notAnArrayOfObjects_isRefused(_ text: String) {
    #expect(throws: ScanError.self) { try Scan(text) }
  }

  @Test func scanPage_envelope_isReadAroundTheRecords() throws {
    let scan = try Scan(
      #"{"totalSize":2,"nested":{"records":[9]},"records":[{"a":1},{"a":2}],"nextRecordsUrl":"/q/1-2","done":false}"#,
      paths: ["a"], recordsKey: "records", envelope: ["done", "totalSize", "nextRecordsUrl", "gone"])
    #expect(scan.hasRecords)
    #expect(scan.fields == [["number:1"], ["number:2"]])
    #expect(scan.envelope == ["false:false", "number:2", "plainString:/q/1-2", "missing"])
  }

  @Test func scanPage_withoutRecords_saysSo() throws {
    #expect(try Scan("{}", recordsKey: "records").hasRecords == false)
    #expect(try Scan(#"{"totalSize":0}"#, recordsKey: "records").hasRecords == false)
    #expect(try Scan(#"{"records":[ ]}"#, recordsKey: "records").hasRecords)
  }

  @Test func scanPage_recordsTwice_lastCounts() throws {
    let scan = try Scan(#"{"records":[{"a":1}],"records":[{"a":2},{"a":3}]}"#, paths: ["a"], recordsKey: "records")
    #expect(scan.fields == [["number:2"], ["number:3"]])
    #expect(try Scan(#"{"records":[1],"records":[]}"#, recordsKey: "records").records == [])
    #expect(throws: ScanError.self) { try Scan(#"{"records":[],"records":[1]}"#, recordsKey: "records") }
  }

  @Test(arguments: [
    #"{"records":null}"#, #"{"records":{}}"#, #"{"records":[1]}"#, #"{"records":[]}}"#, #"{"records":[],}"#, #"[]"#,
    #"{"records" []}"#, #"{"records":[{}]"#, #"{,"records":[]}"#,
  ])
  func scanPage_malformed_isRefused(_ text: String) {
    #expect(throws: ScanError.self) { try Scan(text, recordsKey: "records") }
  }

  @Test func scanPage_everyPrefix_isRefused() {
    let page = Array(#" {"done":true,"records":[{"Id":"é","O":{"N":[1,2.5]}},{}],"x":"\u0041"} "#.utf8)
    for length in 0..<page.count - 1 {
      #expect(throws: ScanError.self, "\(length) bytes") {
        try Scan(Array(page[..<length]), paths: ["Id", "O.N"], recordsKey: "records", envelope: ["x"])
      }
    }
    #expect(throws: Never.self) { try Scan(page, paths: ["Id"], recordsKey: "records") }
  }

  @Test func scan_again_forgetsThePageBefore() throws {
    var scanner = RecordScanner(plan: ScanPlan(paths: ["a"]))
    try Array(#"[{"a":1},{"a":2}]"#.utf8).withUnsafeBytes { try scanner.scanArray($0) }
    try Array(#"[{"b":1}]"#.utf8).withUnsafeBytes { try scanner.scanArray($0) }
    #expect(scanner.records.count == 1)
    #expect(scanner.values == [.missing])
  }

  @Test func scan_deepRecord_isRefusedNotFollowed() {
    let depth = JSONWalker.maximumDepth
    let text = "[" + String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth) + "]"
    #expect(throws: ScanError.self) { try Scan(text, paths: ["a.a.a"]) }
  }

  /// A path deeper than any text may be nested finds nothing, and is no danger to the stack.
  @Test func plan_pathOfAHundredThousandNames_findsNothing() throws {
    let deep = Array(repeating: "a", count: 100_000).joined(separator: ".")
    let longest = Array(repeating: "a", count: JSONWalker.maximumDepth).joined(separator: ".")
    let plan = ScanPlan(paths: [deep, "a", longest]).adding(ScanPlan(paths: [deep, "b"])).plan
    var scanner = RecordScanner(plan: plan)
    let page = Array(#"[{"a":1,"b":2}]"#.utf8)
    try page.withUnsafeBytes { try scanner.scanArray($0) }
    let kinds = (0..<plan.fieldCount).map { scanner.value(record: 0, field: $0).kind }
    #expect(kinds.filter { $0 == .number }.count == 2 && kinds[0] == .missing && kinds[1] == .number)
  }
}
