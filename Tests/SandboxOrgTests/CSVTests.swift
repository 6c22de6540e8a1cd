import Testing

@testable import SandboxOrg

@Suite struct CSVTests {
  private func read(_ text: String, delimiter: ColumnDelimiter = .comma) throws -> [[String]] {
    let bytes = Array(text.utf8)
    let reader = CSVReader(delimiter: delimiter.byte)
    var records: [[String]] = []
    var at = 0
    while at < bytes.count, let record = try reader.record(in: bytes, at: at, isLast: true) {
      records.append(record.fields)
      at = record.end
    }
    return records
  }

  @Test(
    arguments: [
      ("", []), ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]), ("a,b\n1,2", [["a", "b"], ["1", "2"]]),
      ("a\r\n1\r\n", [["a"], ["1"]]), ("\"a\",\"b,c\"\n", [["a", "b,c"]]), ("\"say \"\"hi\"\"\"", [["say \"hi\""]]),
      ("\"two\nlines\",x\n", [["two\nlines", "x"]]), (",\n", [["", ""]]), ("a,\n", [["a", ""]]), ("\n", [[""]]),
      ("\"\",\"\"", [["", ""]]), ("é,日本\n", [["é", "日本"]]), (" a , b \n", [[" a ", " b "]]),
    ] as [(String, [[String]])])
  func reader_wellFormedText_givesFields(text: String, records: [[String]]) throws {
    #expect(try read(text) == records)
  }

  @Test(
    arguments: [
      ("a\"b,c\n", "a quote is in the middle of an unquoted field"),
      ("\"a\"b\n", "text follows a closing quote"), ("\"a,b\n", "a quote is not closed"),
      ("a\rb\n", "a carriage return is not followed by a line feed"), ("a\r", "a carriage return is not followed by a line feed"),
    ])
  func reader_malformedText_tellsWhy(text: String, message: String) {
    #expect(throws: CSVReader.Problem(message: message)) { try read(text) }
  }

  @Test func reader_invalidUTF8_isRefused() {
    #expect(throws: CSVReader.Problem(message: "a field is not UTF-8")) {
      try CSVReader(delimiter: 0x2C).record(in: [0x61, 0xFF, 0x0A], at: 0, isLast: true)
    }
  }

  /// Wherever the window ends, the reader asks for more or returns the same record.
  @Test(arguments: ["a,\"b\"\"c\"\r\n", "\"x\ny\",z\n", "plain,text\r\n"])
  func reader_everyCut_asksForMore(text: String) throws {
    let bytes = Array(text.utf8)
    let reader = CSVReader(delimiter: 0x2C)
    let whole = try #require(try reader.record(in: bytes, at: 0, isLast: false))
    #expect(whole.end == bytes.count)
    for cut in 0..<bytes.count {
      #expect(try reader.record(in: Array(bytes[..<cut]), at: 0, isLast: false) == nil)
    }
  }

  @Test(arguments: [ColumnDelimiter.backquote, .caret, .comma, .pipe, .semicolon, .tab])
  func lines_everyDelimiter_readBackTheSame(delimiter: ColumnDelimiter) throws {
    let fields = ["a", "", "with \"quotes\"", "two\nlines", "a`^,|;\tb", "日本"]
    let line = CSVLine(delimiter, fields).ended(by: .crlf)
    #expect(try read(String(decoding: line, as: UTF8.self), delimiter: delimiter) == [fields])
  }
}
