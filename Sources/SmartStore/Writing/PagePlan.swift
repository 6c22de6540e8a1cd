import JSON
import RecordScan

/// Bytes that keep their address for as long as the object lives.
package protocol PageBytes: AnyObject, Sendable {
  var bytes: UnsafeRawBufferPointer { get }
}

/// The fields to find in each record of a page: a soup's index specs and some additional fields,
/// compiled once per sync.
package struct PagePlan: Sendable {
  package let soup: String
  package let specs: [IndexSpec]
  private(set) var scan: ScanPlan
  /// Members that the scan reports, so that only records that have one are searched for them.
  package let ownedKeys: Set<[UInt8]>
  /// The position of the field that finds the entry.
  package let idField: Int
  /// The position of the caller's first additional field.
  package let firstExtra: Int

  package init(soup: String, specs: [IndexSpec], idPath: String, extraPaths: [String], ownedKeys: [String]) {
    self.soup = soup
    self.specs = specs
    self.ownedKeys = Set(ownedKeys.map { Array($0.utf8) })
    idField = specs.count
    firstExtra = idField + 1
    scan = ScanPlan(paths: specs.map(\.path) + [idPath] + extraPaths, ownedKeys: ownedKeys)
  }

  /// Returns the plan with further fields, for a target that reads more of each record than the
  /// store does: one scan serves both.
  /// - Returns: The plan, and the position of each field in its scans.
  package func adding(_ fields: ScanPlan) -> (plan: PagePlan, positions: [Int]) {
    var plan = self, positions: [Int] = []
    (plan.scan, positions) = scan.adding(fields)
    return (plan, positions)
  }

  /// Scans a page that is an object with its records under `recordsKey` or, if that is nil, an
  /// array of records.
  /// - Throws: ``ScanError`` if the text is not such JSON.
  package func scan(
    _ source: any PageBytes, recordsKey: String?, envelopeKeys: [String] = []
  ) throws -> ScannedPage {
    var scanner = RecordScanner(plan: scan)
    var hasRecords = true
    if let recordsKey {
      hasRecords = try scanner.scanPage(source.bytes, recordsKey: recordsKey, envelopeKeys: envelopeKeys)
    } else {
      try scanner.scanArray(source.bytes)
    }
    return page(source, scanner, hasRecords: hasRecords)
  }

  /// Scans the elements of an array that begins at `start`; see `RecordScanner.scanElements`. The
  /// page can be stored if every element is an object.
  /// - Returns: The page, and the offset after the array.
  package func scanElements(
    _ source: any PageBytes, from start: Int, depth: Int, depthLimit: Int
  ) throws(ScanError) -> (page: ScannedPage, end: Int) {
    var scanner = RecordScanner(plan: scan)
    scanner.depthLimit = depthLimit
    let end = try scanner.scanElements(source.bytes, from: start, depth: depth)
    return (page(source, scanner, hasRecords: true), end)
  }

  private func page(_ source: any PageBytes, _ scanner: RecordScanner, hasRecords: Bool) -> ScannedPage {
    // Every decoder must be able to read stored text. The replacement keeps all offsets.
    let clean = scanner.hasLoneSurrogate ? ByteArrayPage(withoutLoneSurrogates: source.bytes) : source
    return ScannedPage(plan: self, source: clean, scanner: scanner, hasRecords: hasRecords)
  }
}

/// A scanned page of records: its bytes and the positions of the fields. Immutable.
package final class ScannedPage: Sendable {
  package let plan: PagePlan
  let source: any PageBytes
  /// The source's bytes, fetched once, because records are read by the hundred thousand.
  package nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
  /// The positions of records and fields.
  package let scanner: RecordScanner
  /// False if the page is an object without the records member.
  package let hasRecords: Bool

  init(plan: PagePlan, source: any PageBytes, scanner: RecordScanner, hasRecords: Bool) {
    self.plan = plan
    self.source = source
    bytes = source.bytes
    self.scanner = scanner
    self.hasRecords = hasRecords
  }

  /// The number of records.
  package var count: Int { scanner.records.count }

  /// The number of index specs of the page's soup.
  package var indexCount: Int { plan.specs.count }

  /// Returns an envelope member; nil if the page lacks it.
  package func envelope(_ i: Int) -> JSONValue? { value(scanner.envelope[i]) }

  /// Parses a whole record, for the few that need a closer look.
  package func object(record: Int) throws -> JSONObject {
    let found = scanner.records[record]
    let slice = UnsafeRawBufferPointer(rebasing: bytes[found.start..<found.start + found.count])
    return try JSONValue(parsing: slice).objectValue ?? [:]
  }

  /// Calls `body` with the text of a whole record.
  package func withText<T>(record: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    let found = scanner.records[record]
    return try body(UnsafeRawBufferPointer(rebasing: bytes[found.start..<found.start + found.count]))
  }

  /// Returns the text of a string field among the additional fields; nil if it is missing or not a
  /// string.
  package func text(record: Int, extra: Int) -> String? {
    value(scanner.value(record: record, field: plan.firstExtra + extra))?.stringValue
  }

  /// Returns a string or number among the additional fields as text; nil if it is missing or something else.
  package func value(record: Int, extra: Int) -> String? {
    switch value(scanner.value(record: record, field: plan.firstExtra + extra)) {
    case .string(let text): text
    case .integer(let number): String(number)
    case .decimal(let text): text
    case .number(let number): JSONValue.number(number).text
    default: nil
    }
  }

  /// Calls `body` with the position of each record and the bytes of a string field; nil if it is
  /// missing, not a string, or has escapes.
  package func forEachRawText(extra: Int, _ body: (Int, UnsafeRawBufferPointer?) throws -> Void) rethrows {
    for i in 0..<count {
      let value = scanner.value(record: i, field: plan.firstExtra + extra)
      let isPlain = value.kind == .plainString
      try body(i, isPlain ? UnsafeRawBufferPointer(rebasing: bytes[value.start..<value.start + value.count]) : nil)
    }
  }

  /// Returns the external id as text; nil if it is missing.
  package func id(record: Int) -> String? {
    switch value(scanner.value(record: record, field: plan.idField)) {
    case .string(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  private func value(_ scanned: ScannedValue) -> JSONValue? {
    let slice = UnsafeRawBufferPointer(rebasing: bytes[scanned.start..<scanned.start + scanned.count])
    switch scanned.kind {
    case .missing, .arrayStep: return nil
    case .plainString: return .string(String(decoding: slice, as: UTF8.self))
    case .escapedString:
      var text: [UInt8] = []
      JSONStringContents.append(slice.bindMemory(to: UInt8.self), to: &text)
      return .string(String(decoding: text, as: UTF8.self))
    default: return try? JSONValue(parsing: slice)
    }
  }
}

/// A page in memory of its own.
package final class ByteArrayPage: PageBytes, @unchecked Sendable {
  private let buffer: UnsafeMutableRawBufferPointer

  package init(_ contents: [UInt8]) {
    buffer = .allocate(byteCount: max(1, contents.count), alignment: 8)
    buffer.copyBytes(from: contents)
    bytes = UnsafeRawBufferPointer(rebasing: buffer[..<contents.count])
  }

  /// Copies JSON text and replaces each escaped lone surrogate by U+FFFD.
  init(withoutLoneSurrogates text: UnsafeRawBufferPointer) {
    buffer = .allocate(byteCount: max(1, text.count), alignment: 8)
    buffer.copyMemory(from: text)
    let copy = UnsafeMutableRawBufferPointer(rebasing: buffer[..<text.count])
    JSONStringContents.replaceLoneSurrogates(in: copy)
    bytes = UnsafeRawBufferPointer(copy)
  }

  deinit { buffer.deallocate() }

  package let bytes: UnsafeRawBufferPointer
}
