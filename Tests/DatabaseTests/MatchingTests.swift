import Database
import Testing

/// LIKE, GLOB and json_patch of a reading connection.
struct MatchingTests {
  private func memory() throws -> Connection { try Connection(path: ":memory:", mode: .readWriteCreate) }

  private func result(_ connection: Connection, _ sql: String, _ values: [SQLValue]) -> String {
    do { return "\(try connection.firstValue(sql, values) ?? .null)" } catch { return "error \(error.message)" }
  }

  /// They give what SQLite's own give, for damaged text as well.
  @Test func matching_anyPatternAndText_givesTheSameAsSQLites() throws {
    let plain = try memory(), reading = try memory()
    try reading.restrictToReading()
    var random = SystemRandomNumberGenerator()
    let texts = [
      "a", "A", "b", "é", "É", "漢", "%", "%", "_", "*", "*", "?", "[", "]", "^", "-", "[a-c]", "[^a]", "[]]", "\\", "%_", "aB",
    ]
    let pieces = texts.map { Array($0.utf8) } + [[0x80], [0xC3], [0xE6, 0xBC], [0xFF], [0xED, 0xA0, 0x80]]
    func value(_ most: Int) -> SQLValue {
      switch Int.random(in: 0..<40, using: &random) {
      case 0: return .null
      case 1: return .integer(.random(in: -20...120, using: &random))
      case 2: return .real(1.5)
      default:
        let bytes = (0..<Int.random(in: 0...most, using: &random)).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
        return .blob(bytes)
      }
    }
    // A cast of a blob is a text with any bytes.
    let calls = [
      "cast(?1 AS TEXT) LIKE cast(?2 AS TEXT)", "?1 LIKE ?2", "cast(?1 AS TEXT) GLOB cast(?2 AS TEXT)", "?1 NOT GLOB ?2",
      "cast(?1 AS TEXT) LIKE cast(?2 AS TEXT) ESCAPE '\\'", "cast(?1 AS TEXT) LIKE cast(?2 AS TEXT) ESCAPE '%'",
      "cast(?1 AS TEXT) LIKE cast(?2 AS TEXT) ESCAPE '_'", "cast(?1 AS TEXT) LIKE cast(?2 AS TEXT) ESCAPE 'é'",
      "cast(?1 AS TEXT) LIKE cast(?2 AS TEXT) ESCAPE ?2",
    ]
    for round in 0..<60_000 {
      let sql = "SELECT " + calls[round % calls.count], values = [value(7), value(6)]
      let expected = result(plain, sql, values), found = result(reading, sql, values)
      guard expected == found else {
        Issue.record("\(sql) of \(values): \(found), not \(expected)")
        return
      }
    }
  }

  @Test(arguments: [
    ("{}", "{}"), (#"{"a":1,"b":{"c":2}}"#, #"{"b":{"c":null,"d":[1]},"e":1.50}"#), ("[1]", #"{"a":1}"#), ("{}", "null"),
    (#"{"a":1}"#, "7"), ("{", "{}"), ("{}", "{"), (#"{"a":1,"a":2}"#, #"{"a":3}"#),
  ]) func patch_ofSmallObjects_givesTheSameAsSQLites(target: String, patch: String) throws {
    let plain = try memory(), reading = try memory()
    try reading.restrictToReading()
    for sql in ["SELECT json_patch(?1, ?2)", "SELECT json_array(json_patch(?1, ?2), 1)", "SELECT json_patch(?1, NULL)"] {
      let values: [SQLValue] = sql.contains("?2") ? [.text(target), .text(patch)] : [.text(target)]
      #expect(result(reading, sql, values) == result(plain, sql, values), "\(sql)")
    }
  }

  @Test func patch_ofLargeObjects_isALimit() throws {
    let connection = try memory()
    try connection.restrictToReading()
    let object = "(SELECT '{' || group_concat('\"k' || x || '\":1') || '}' FROM c)"
    let sql =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) SELECT json_patch(\(object), \(object))"
    #expect { try connection.firstValue(sql) } throws: { ($0 as? DatabaseError)?.isLimit ?? false }
  }

  /// A text of 200 MB against a pattern of 1000 bytes would take minutes, in one call.
  @Test(arguments: ["LIKE '%' || hex(zeroblob(490)) || '1%'", "GLOB '*' || hex(zeroblob(490)) || '1*'"])
  func matching_thatMayNotContinue_ends(_ condition: String) throws {
    let connection = try memory()
    try connection.restrictToReading()
    var looks = 0
    #expect {
      try connection.whileAllowed(
        {
          looks += 1
          return looks < 50
        }, { _ = try connection.firstValue("SELECT hex(zeroblob(50000000)) \(condition)") })
    } throws: { ($0 as? DatabaseError)?.isInterrupted ?? false }
    #expect(looks == 50)
  }

  /// Values beyond 16 MB are read as well, with a check before each instruction.
  @Test func reading_largeValues_runsAgainWithMoreChecks() throws {
    let connection = try memory()
    try connection.restrictToReading()
    var runs = 0, looks = 0
    let length = try connection.readWhileAllowed(
      {
        looks += 1
        return true
      }, wasTooLarge: { DatabaseError.isTooLarge(($0 as? DatabaseError)?.code) },
      {
        runs += 1
        return try connection.firstValue("SELECT length(upper(hex(zeroblob(10000000))))")
      })
    #expect(length == .integer(20_000_000) && runs == 2 && looks > 5)
    #expect(try connection.firstValue("SELECT length(hex(zeroblob(10000000)))") == .integer(20_000_000))
  }
}
