import RecordScan
import Testing

struct PathStepTests {
  @Test func scanElements_elementsThatAreNotObjects_areRecordsOfTheirKind() throws {
    try Array(#"{"x":[{"a":1},5,"t",null,[1],{}]}"#.utf8).withUnsafeBytes { bytes in
      var scanner = RecordScanner(plan: ScanPlan(paths: ["a"]))
      _ = try scanner.scanElements(bytes, from: 5, depth: 1)
      #expect(scanner.records.map(\.kind) == [.object, .number, .plainString, .null, .array, .object])
      #expect(scanner.value(record: 0, field: 0).kind == .number && scanner.value(record: 1, field: 0) == .missing)
    }
  }

  @Test func scanObject_deeperThanItsLimit_isRefused() throws {
    let text = Array(("{\"a\":" + String(repeating: "[", count: 5) + String(repeating: "]", count: 5) + "}").utf8)
    text.withUnsafeBytes { bytes in
      var scanner = RecordScanner(plan: ScanPlan(paths: ["a"]))
      scanner.depthLimit = 6
      #expect(throws: Never.self) { try scanner.scanObject(bytes) }
      scanner.depthLimit = 5
      #expect(throws: ScanError.self) { try scanner.scanObject(bytes) }
    }
  }
}
