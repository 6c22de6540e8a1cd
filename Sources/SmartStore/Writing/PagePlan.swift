import JSON
import RecordScan

/// Bytes that stay where they are for as long as the object lives.
package protocol PageBytes: AnyObject, Sendable {
  var bytes: UnsafeRawBufferPointer { get }
}

/// What to look for in each record of a page: a soup's index specs and some fields more, compiled once for a whole sync.
package struct PagePlan: Sendable {
  let soup: String
  let specs: [IndexSpec]
  private(set) var scan: ScanPlan
  /// Members that the scan reports, so that only records which bring one are gone through for them.
  let ownedKeys: Set<[UInt8]>
  /// Position of the field that finds the entry.
  let idField: Int
  /// Position of the first of the caller's own fields.
  let firstExtra: Int

  init(soup: Soup, idPath: String, extraPaths: [String], ownedKeys: [String]) {
    self.soup = soup.name
    specs = soup.specs
    self.ownedKeys = Set(ownedKeys.map { Array($0.utf8) })
    idField = soup.specs.count
    firstExtra = idField + 1
    scan = ScanPlan(paths: soup.specs.map(\.path) + [idPath] + extraPaths, ownedKeys: ownedKeys)
  }

  /// The same plan with further fields, for a target that reads more of each record than the store does: one scan serves both.
  /// - Returns: The plan, and where in its scans each of the fields stands.
  package func adding(_ fields: ScanPlan) -> (plan: PagePlan, positions: [Int]) {
    var plan = self, positions: [Int] = []
    (plan.scan, positions) = scan.adding(fields)
    return (plan, positions)
  }

  /// Scans a page that is an object with its records under `recordsKey`, or, without a key, an array of records.
  /// - Throws: ``ScanError`` when it is no such JSON.
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

  /// Scans the elements of an array that begins at `start`; see `RecordScanner.scanElements`. The page can be stored when every
  /// element is an object.
  /// - Returns: The page, and the offset behind the array.
  package func scanElements(
    _ source: any PageBytes, from start: Int, depth: Int, depthLimit: Int
  ) throws(ScanError) -> (page: ScannedPage, end: Int) {
    var scanner = RecordScanner(plan: scan)
    scanner.depthLimit = depthLimit
    let end = try scanner.scanElements(source.bytes, from: start, depth: depth)
    return (page(source, scanner, hasRecords: true), end)
  }

  private func page(_ source: any PageBytes, _ scanner: RecordScanner, hasRecords: Bool) -> ScannedPage {
    // What is stored is to be read by any decoder. Nothing moves, so what was found stays where it is.
    let clean = scanner.hasLoneSurrogate ? ByteArrayPage(withoutLoneSurrogates: source.bytes) : source
    return ScannedPage(plan: self, source: clean, scanner: scanner, hasRecords: hasRecords)
  }
}

/// A page of records, scanned: bytes and where in them everything lies. Immutable.
package final class ScannedPage: Sendable {
  let plan: PagePlan
  let source: any PageBytes
  /// The source's, which is asked once: records are read by the hundred thousand.
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
  /// Where in the bytes everything lies.
  package let scanner: RecordScanner
  /// False when the page is an object without the records member.
  package let hasRecords: Bool

  init(plan: PagePlan, source: any PageBytes, scanner: RecordScanner, hasRecords: Bool) {
    self.plan = plan
    self.source = source
    bytes = source.bytes
    self.scanner = scanner
    self.hasRecords = hasRecords
  }

  /// Number of records.
  package var count: Int { scanner.records.count }

  /// Of the soup that the page is for.
  package var indexCount: Int { plan.specs.count }

  /// An envelope member; nil when the page has none.
  package func envelope(_ i: Int) -> JSONValue? { value(scanner.envelope[i]) }

  /// A whole record, for the few that must be looked at closely.
  package func object(record: Int) throws -> JSONObject {
    let place = scanner.records[record]
    let slice = UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start + place.count])
    return try JSONValue(parsing: slice).objectValue ?? [:]
  }

  /// A whole record as it lies there.
  package func withText<T>(record: Int, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    let place = scanner.records[record]
    return try body(UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start + place.count]))
  }

  /// The text of a string field among the extra paths, nil when it is missing or no string.
  package func text(record: Int, extra: Int) -> String? {
    value(scanner.value(record: record, field: plan.firstExtra + extra))?.stringValue
  }

  /// Calls `body` with each record's position and the contents of a string field without escapes, where they lie; nil when it is
  /// missing, no string or has escapes.
  package func forEachRawText(extra: Int, _ body: (Int, UnsafeRawBufferPointer?) throws -> Void) rethrows {
    for i in 0..<count {
      let value = scanner.value(record: i, field: plan.firstExtra + extra)
      let isPlain = value.kind == .plainString
      try body(i, isPlain ? UnsafeRawBufferPointer(rebasing: bytes[value.start..<value.start + value.count]) : nil)
    }
  }

  /// The value that finds the entry, as text; nil when it is missing.
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

/// An array as a page.
package final class ByteArrayPage: PageBytes, @unchecked Sendable {
  private let buffer: UnsafeMutableRawBufferPointer

  package init(_ contents: [UInt8]) {
    buffer = .allocate(byteCount: max(1, contents.count), alignment: 8)
    buffer.copyBytes(from: contents)
    bytes = UnsafeRawBufferPointer(rebasing: buffer[..<contents.count])
  }

  /// A copy of JSON text in which U+FFFD stands for each escaped half of a surrogate pair.
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
