import Database
import Testing

/// The functions that a reading connection replaces.
struct LinearFunctionTests {
  private func memory() throws -> Connection { try Connection(path: ":memory:", mode: .readWriteCreate) }

  /// They give what SQLite's own give.
  @Test func linearFunctions_giveTheSameAsSQLites() throws {
    let plain = try memory(), reading = try memory()
    try reading.restrictToReading()
    var random = SystemRandomNumberGenerator()
    let letters = ["a", "b", "ab", "é", "漢", "😀", "", " ", "\u{0}", "aa"]
    func text() -> SQLValue {
      .text((0..<Int.random(in: 0...6, using: &random)).map { _ in letters.randomElement(using: &random)! }.joined())
    }
    func value() -> SQLValue {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: .null
      case 1: .integer(.random(in: -20...120, using: &random))
      case 2: .real(.random(in: -2...2, using: &random))
      case 3, 4: .blob((0..<Int.random(in: 0...4, using: &random)).map { _ in [0x61, 0x62, 0x80, 0xC3, 0xA9].randomElement()! })
      default: text()
      }
    }
    let calls = [
      ("instr(?1, ?2)", 2), ("replace(?1, ?2, ?3)", 3), ("trim(?1)", 1), ("trim(?1, ?2)", 2), ("ltrim(?1)", 1),
      ("ltrim(?1, ?2)", 2),
      ("rtrim(?1)", 1), ("rtrim(?1, ?2)", 2), ("instr(cast(?1 as text), ?2)", 2),
    ]
    for round in 0..<20_000 {
      let (call, count) = calls[round % calls.count], values = (0..<count).map { _ in value() }
      func result(_ connection: Connection) throws -> (SQLValue, Int64) {
        let statement = try connection.statement("SELECT \(call), length(\(call))")
        for (i, value) in values.enumerated() { statement.bind(Int32(i + 1), value) }
        #expect(try statement.step())
        return (statement.value(0), statement.int64(1))
      }
      let expected = try result(plain), found = try result(reading)
      #expect(found == expected, "\(call) of \(values)")
      guard found == expected else { return }
    }
  }

  /// A number from which nothing is replaced is a text in newer versions of SQLite only.
  @Test(arguments: ["7", "-1.5", "'7'", "NULL", "x'37'"]) func replace_ofNothing_hasTheTypeOfSQLites(_ value: String) throws {
    let plain = try memory(), reading = try memory()
    try reading.restrictToReading()
    let sql = "SELECT replace(\(value), '', 'x')"
    #expect(try reading.firstValue(sql) == plain.firstValue(sql))
  }

  /// SQLite's own take hours, and cannot be interrupted.
  @Test(arguments: [
    ("instr(a, b || 'x')", SQLValue.integer(0)), ("length(replace(a, b || 'x', 'y'))", .integer(20_000_000)),
    ("length(replace(a, 'a', ''))", .integer(0)), ("length(trim(a, c))", .integer(20_000_000)),
  ])
  func linearFunctions_longTexts_end(call: String, expected: SQLValue) throws {
    let connection = try memory()
    try connection.restrictToReading()
    let texts = "printf('%.*c', 20000000, 'a') AS a, printf('%.*c', 10000000, 'a') AS b, printf('%.*c', 60000, 'b') AS c"
    #expect(try connection.firstValue("SELECT \(call) FROM (SELECT \(texts))") == expected)
  }

  /// Reading a constant blob as text must not change it for the next row.
  @Test func instr_constantBlob_staysOne() throws {
    func positions(_ connection: Connection) throws -> [Int64] {
      let values = "SELECT 'aéb' AS v UNION ALL SELECT 'éb' UNION ALL SELECT x'61C3A962'"
      let statement = try connection.statement("SELECT instr(v, x'62') FROM (\(values))")
      var found: [Int64] = []
      while try statement.step() { found.append(statement.int64(0)) }
      return found
    }
    let plain = try memory(), reading = try memory()
    try reading.restrictToReading()
    #expect(try positions(reading) == positions(plain))
  }

  @Test func trim_longList_isAnError() throws {
    let connection = try memory()
    try connection.restrictToReading()
    #expect(throws: DatabaseError.self) { try connection.firstValue("SELECT trim('a', printf('%.*c', 70000, 'b'))") }
  }

  @Test func replace_beyondTheLimit_isAnError() throws {
    let connection = try memory()
    connection.setLimit(.valueBytes, 1_000_000)
    try connection.restrictToReading()
    #expect(throws: DatabaseError.self) {
      try connection.firstValue("SELECT length(replace(printf('%.*c', 1000, 'a'), 'a', printf('%.*c', 2000, 'b')))")
    }
  }
}
