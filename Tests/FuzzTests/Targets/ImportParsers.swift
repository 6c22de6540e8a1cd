@testable import Tureen

/// The parsers of files to import.
enum ImportParsers {
  static let all: [FuzzedParser] = [
    FuzzedParser("csv", csv), FuzzedParser("jsonl") { try records($0, .jsonl) }, FuzzedParser("json") { try records($0, .json) },
  ]

  private static func fields(_ input: ByteReader) throws -> [CSVReader.Record] {
    var reader = CSVReader(input), found: [CSVReader.Record] = []
    while let record = try reader.next() { found.append(record) }
    return found
  }

  /// A file that arrives in pieces reads as a whole one does, and written records read the same.
  private static func csv(_ bytes: [UInt8]) throws -> String {
    // Ten thousands of columns take seconds, and find nothing that hundreds do not.
    guard bytes.count <= 4_000 else { throw FuzzedParser.Refused("longer than this target reads") }
    let whole = try fields(ByteReader(bytes))
    var rest = bytes[...]
    let pieces = try fields(
      ByteReader {
        defer { rest = rest.dropFirst(3) }
        return Array(rest.prefix(3))
      })
    try FuzzFailure.unless(pieces == whole, "in pieces the file reads differently")
    let good = whole.compactMap { try? $0.fields.get() }
    var written: [UInt8] = []
    for record in good { CSVText.append(record, to: &written) }
    let again = try fields(ByteReader(written)).map { try $0.fields.get() }
    let isSame = again.elementsEqual(good) { $0.elementsEqual($1) { $0.hasSameBytes(as: $1) } }
    try FuzzFailure.unless(isSame, "written and read again, the records differ")
    return try records(bytes, .csv)
  }

  private static func records(_ bytes: [UInt8], _ format: ImportFormat) throws -> String {
    var file = try ImportFile(ByteReader(bytes), format: format), count = 0, problems = 0
    let rules = ImportRules(externalIdPath: "Id")
    while let record = try file.next() {
      count += 1
      guard let record = try? record.get(), (try? rules.externalId(of: record)) != nil,
        (try? rules.decide(record, entries: [["Id": "x", "n": 5, "o": ["a": true]]])) != nil
      else {
        problems += 1
        continue
      }
    }
    try FuzzFailure.unless(count <= bytes.count, "\(count) records in \(bytes.count) bytes")
    return "\(FuzzSignal.magnitude(count)) \(FuzzSignal.magnitude(problems)) \(file.columns.isEmpty)"
  }
}
