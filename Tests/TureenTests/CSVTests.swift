import JSON
import Testing

@testable import Tureen

/// CSV as RFC 4180 has it, both ways, and what is wrong with what is not.
@Suite struct CSVTests {
  private func records(_ bytes: [UInt8], chunk: Int = .max, separator: UInt8 = UInt8(ascii: ",")) throws -> [CSVReader.Record] {
    var rest = bytes[...]
    let input = ByteReader {
      defer { rest = rest.dropFirst(chunk) }
      return Array(rest.prefix(chunk))
    }
    var reader = CSVReader(input, separator: separator), found: [CSVReader.Record] = []
    while let record = try reader.next() { found.append(record) }
    return found
  }

  private func fields(_ text: String, separator: UInt8 = UInt8(ascii: ",")) throws -> [[String]] {
    try records(Array(text.utf8), separator: separator).map { try $0.fields.get() }
  }

  @Test(arguments: [
    ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
    ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
    ("a,b\rc,d\r", [["a", "b"], ["c", "d"]]),
    ("\u{FEFF}a,b\n", [["a", "b"]]),
    (",\n", [["", ""]]),
    ("\"\"\n", [[""]]),
    ("\"\",x\n", [["", "x"]]),
    ("\"a,b\",\"c\"\"d\"\n", [["a,b", "c\"d"]]),
    ("\"line\nbreak\",\"\r\n\"\n", [["line\nbreak", "\r\n"]]),
    ("\n\na\n\n\nb\n", [["a"], ["b"]]),
    (" a , b \n", [[" a ", " b "]]),
    ("ä,日本,👍🏽\n", [["ä", "日本", "👍🏽"]]),
    ("", []), ("\n", []),
  ])
  func read_wellFormed(text: String, expected: [[String]]) throws { #expect(try fields(text) == expected) }

  @Test(arguments: [
    ("x\n\"a\"b,c\nd\n", 2, "after its closing quote"), ("x\na\"b,c\nd\n", 2, "is not quoted contains"),
    ("x\ny\n\"a\nd\n", 3, "the quote that opens in line 3 is not closed"), ("\"a\n\n\"b\nd\n", 1, "after its closing quote"),
  ])
  func read_fault_isToldWithItsLine(text: String, line: Int, message: String) throws {
    let bad = try records(Array(text.utf8)).filter { if case .failure = $0.fields { true } else { false } }
    #expect(bad.map(\.line) == [line])
    guard case .failure(let problem)? = bad.first?.fields else { return }
    #expect(problem.message.contains(message), "\(problem.message)")
  }

  @Test func read_fault_doesNotHideTheLinesBehindIt() throws {
    let found = try records(Array("a,\"b\"x,c\n\"1\n2\",y\nz\n".utf8))
    #expect(found.map(\.line) == [1, 2, 4])
    #expect(try found[1].fields.get() == ["1\n2", "y"] && found[2].fields.get() == ["z"])
  }

  @Test func read_notUTF8_isAFault() throws {
    let found = try records([0x61, 0x0A, 0x6D, 0xFC, 0x6C, 0x0A, 0x62, 0x0A])
    #expect(found[1].fields == .failure(CSVReader.Problem(message: "field is not UTF-8; save the file as UTF-8")))
    #expect(try found[2].fields.get() == ["b"])
  }

  /// Where the input is cut into chunks makes no difference.
  @Test(arguments: 1...9) func read_inChunks_isTheSame(chunk: Int) throws {
    let bytes = Array("\u{FEFF}a,\"b\r\n\"\"c\"\"\",日本\r\n\r\nx,y,z\r\"1\",2,\"3".utf8)
    #expect(try records(bytes, chunk: chunk) == records(bytes))
  }

  @Test func read_otherSeparator() throws {
    #expect(try fields("a;\"b;c\"\n", separator: UInt8(ascii: ";")) == [["a", "b;c"]])
    #expect(try fields("a\tb,c\n", separator: UInt8(ascii: "\t")) == [["a", "b,c"]])
  }

  @Test(arguments: [
    (["a", "b"], "a,b\n"), (["a,b", "c\"d", "e\nf", "g\rh"], "\"a,b\",\"c\"\"d\",\"e\nf\",\"g\rh\"\n"), ([""], "\"\"\n"),
    (["", ""], ",\n"), ([" a", "b "], "\" a\",\"b \"\n"), (["ä"], "ä\n"),
    (["\u{FEFF}a", "b"], "\"\u{FEFF}a\",b\n"),
  ])
  func write_andReadAgain(fields: [String], text: String) throws {
    var out: [UInt8] = []
    CSVText.append(fields, to: &out)
    #expect(String(decoding: out, as: UTF8.self) == text)
    #expect(try self.fields(text) == [fields])
  }

  @Test func importFile_headers_areChecked() {
    func problem(_ text: String) -> String? {
      do {
        _ = try ImportFile(ByteReader(Array(text.utf8)), format: .csv)
        return nil
      } catch { return (error as? ImportProblem)?.message }
    }
    #expect(problem("a,b\n") == nil)
    #expect(problem("")?.contains("empty") == true)
    #expect(problem("a,,b\n") == "column 2 of the header has no name")
    #expect(problem("a,b,a\n") == "the header has the column 'a' twice")
    #expect(problem("a;b\n")?.contains("';' separates") == true)
    #expect(problem("a\"\n")?.hasPrefix("the header: a field") == true)
  }
}

/// What columns are called, and what fits into a terminal.
@Suite struct SelectListTests {
  @Test(arguments: [
    ("SELECT {c:Name}, {c:Account.Name} FROM {c}", ["Name", "Account.Name"]),
    ("select distinct {c:Name} AS n, count(*) number from {c}", ["n", "number"]),
    ("SELECT a.{c:Name}, {c}.{c:Age}, x.y FROM {c} a", ["Name", "Age", "y"]),
    ("SELECT count( * ), max(a, b) FROM x", ["count( * )", "max(a, b)"]),
    ("SELECT 'a, b' AS \"my name\", 1 + 2, [x y] FROM x", ["my name", "1 + 2", "x y"]),
    ("WITH t AS (SELECT 1 AS inner) SELECT outer FROM t", ["outer"]),
    ("SELECT CASE WHEN a THEN 'x' END, a IS NULL -- , c\n, b /* , d */ FROM t", ["CASE WHEN a THEN 'x' END", "a IS NULL", "b"]),
    ("SELECT (SELECT max(i) FROM u), 1 UNION SELECT 2, 3", ["(SELECT max(i) FROM u)", "1"]),
    ("SELECT 1", ["1"]), ("nonsense", []),
  ])
  func names(sql: String, expected: [String]) { #expect(SelectList(sql).names == expected.map { Optional($0) }) }

  @Test func names_ofSOQL_keepTheParent() {
    let list = SelectList("SELECT Name, Account.Owner.Name, Account.Name, COUNT(Id) n FROM Contact", isSOQL: true)
    #expect(list.names == ["Name", "Account.Owner.Name", "Account.Name", "n"])
  }

  @Test func star_isWhatTheSoupHas() {
    let list = SelectList("SELECT *, 1 AS one FROM {c}")
    #expect(list.names == [nil, "one"] && list.references == [SelectList.Reference(soup: "c", path: nil)])
    #expect(list.columns(3) { _ in ["id", "soup"] } == ["id", "soup", "one"])
    #expect(list.columns(5) { _ in ["id", "soup"] } == ["column1", "column2", "column3", "column4", "column5"])
  }

  @Test(arguments: [
    ("abc", 3), ("", 0), ("日本", 4), ("e\u{301}", 1), ("👍🏽", 2), ("ａ", 2), ("é", 1), ("🇩🇪", 2),
  ])
  func displayWidth(text: String, width: Int) { #expect(DisplayWidth.of(text) == width) }

  @Test func table_fitsAndKeepsNumbers() {
    let columns: [TextTable.Column] = [.init("NAME"), .init("N", isNumeric: true), .init("LONG")]
    let rows = [["short", "1", String(repeating: "x", count: 60)], ["日本", "123456", "y"]]
    let text = TextTable.text(columns, rows, width: 30).split(separator: "\n").map(String.init)
    #expect(text.allSatisfy { DisplayWidth.of($0) <= 30 } && text.count == 3, "\(text)")
    #expect(text[1] == "short       1  xxxxxxxxxxxxxx…", "\(text)")
    #expect(text[2] == "日本   123456  y", "\(text)")
    let narrow = TextTable((1...20).map { TextTable.Column("column\($0)") }, sample: [], width: 40)
    #expect(!narrow.leftOut.isEmpty && narrow.heading.count <= 41)
    #expect(TextTable.cell("a\nb\tc\u{1b}[31m\u{202e}") == "a\\nb\\tc\\u{1b}[31m\\u{202e}")
  }
}
