import JSON
import MobileSync
import RecordScan
import RestClient
import SmartStore

/// A page of parents with nested children, split into the texts of the single records.
struct ParentChildrenPage {
  /// A child in the form that is stored, with its parent's id.
  struct Child {
    let id: String
    let text: [UInt8]
    /// The index of its parent on the page.
    let parent: Int
  }

  /// A reference to further children of one parent that did not fit on the page.
  struct More {
    let url: String
    let parentId: String
    let parent: Int
  }

  let totalSize: Int64?
  let next: String?
  /// The texts of the parents without their children.
  private(set) var parents: [[UInt8]] = []
  private(set) var children: [Child] = []
  private(set) var unfinished: [More] = []

  /// - Throws: `RestError` `.invalidBody`.
  init(_ response: RestResponse, info: ParentChildrenInfo) throws {
    let name = info.childrenName
    var scanner = RecordScanner(
      plan: ScanPlan(
        paths: [
          info.parent.fields.id, name + ".records", name + "." + PageEnvelope.nextPage, name + "." + PageEnvelope.done,
        ]))
    let said = try ParentChildrenPage.scan(response, with: &scanner)
    (totalSize, next) = (said.size, said.next)
    try ParentChildrenPage.reading(response) { bytes in
      for (i, record) in scanner.records.enumerated() {
        let text = UnsafeRawBufferPointer(rebasing: bytes[record.start..<record.start + record.count])
        parents.append(try EntryText.rewrite(text, dropping: [name]))
        guard let parentId = scanner.value(record: i, field: 0).string(in: bytes), !parentId.isEmpty else {
          throw response.invalidBody("record \(i + 1) has no '\(info.parent.fields.id)'")
        }
        let nested = scanner.value(record: i, field: 1)
        guard nested.kind == .array else { continue }
        let list = UnsafeRawBufferPointer(rebasing: bytes[nested.start..<nested.start + nested.count])
        children += try ParentChildrenPage.children(in: list, of: parentId, parent: i, info: info)
        let url = scanner.value(record: i, field: 2), done = scanner.value(record: i, field: 3)
        let next = try PageEnvelope.next(url.plain(in: bytes), done: done.plain(in: bytes), response)
        if let next { unfinished.append(More(url: next, parentId: parentId, parent: i)) }
      }
    }
  }

  /// Parses a further page of one parent's children.
  static func children(
    _ response: RestResponse, of parentId: String, parent: Int, info: ParentChildrenInfo
  ) throws -> (children: [Child], said: Envelope) {
    var scanner = RecordScanner(plan: ScanPlan(paths: [])), text: [[UInt8]] = []
    let said = try scan(response, with: &scanner) { bytes, record in
      text.append(Array(bytes[record.start..<record.start + record.count]))
    }
    return try reading(response) { _ in
      let found = try array(text).withUnsafeBytes { try children(in: $0, of: parentId, parent: parent, info: info) }
      return (found, said)
    }
  }

  private static func children(
    in list: UnsafeRawBufferPointer, of parentId: String, parent: Int, info: ParentChildrenInfo
  ) throws -> [Child] {
    let field = info.parentIdField
    var scanner = RecordScanner(plan: ScanPlan(paths: [info.children.fields.id]))
    try scanner.scanArray(list)
    return try scanner.records.enumerated().map { i, record in
      let text = UnsafeRawBufferPointer(rebasing: list[record.start..<record.start + record.count])
      guard let id = scanner.value(record: i, field: 0).string(in: list), !id.isEmpty else {
        throw ScanError(offset: record.start, message: "child \(i + 1) has no '\(info.children.fields.id)'")
      }
      return Child(
        id: id,
        text: try EntryText.rewrite(text, dropping: [field], adding: [field: .string(parentId)]), parent: parent)
    }
  }

  /// What a page says besides its records.
  struct Envelope: Sendable {
    let size: Int64?
    let next: String?
  }

  /// Scans a page of a query and calls `body` with each record.
  static func scan(
    _ response: RestResponse, with scanner: inout RecordScanner,
    _ body: (UnsafeRawBufferPointer, ScannedRecord) -> Void = { _, _ in }
  ) throws -> Envelope {
    try reading(response) { bytes in
      guard
        try scanner.scanPage(
          bytes, recordsKey: "records", envelopeKeys: [PageEnvelope.totalSize, PageEnvelope.nextPage, PageEnvelope.done])
      else { throw response.invalidBody("the answer has no 'records'") }
      for record in scanner.records { body(bytes, record) }
      let said = scanner.envelope.map { $0.plain(in: bytes) }
      return Envelope(size: said[0]?.boundedInteger, next: try PageEnvelope.next(said[1], done: said[2], response))
    }
  }

  private static func reading<T>(_ response: RestResponse, _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T {
    do {
      return try response.body.withUnsafeBytes { bytes in try body(bytes) }
    } catch let error as ScanError {
      throw response.invalidBody("\(error.message) at byte \(error.offset)")
    }
  }

  /// Returns the text of a JSON array of records.
  static func array(_ records: [[UInt8]]) -> [UInt8] {
    var text: [UInt8] = [UInt8(ascii: "[")]
    text.reserveCapacity(records.reduce(2) { $0 + $1.count + 1 })
    for (i, record) in records.enumerated() {
      if i > 0 { text.append(UInt8(ascii: ",")) }
      text.append(contentsOf: record)
    }
    text.append(UInt8(ascii: "]"))
    return text
  }
}
