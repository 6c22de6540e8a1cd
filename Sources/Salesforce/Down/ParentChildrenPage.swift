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

  let totalSize: Int?
  let next: String?
  /// The texts of the parents without their children.
  private(set) var parents: [[UInt8]] = []
  private(set) var children: [Child] = []
  private(set) var unfinished: [More] = []

  /// - Throws: `RestError` `.invalidBody`.
  init(_ response: RestResponse, info: ParentChildrenInfo) throws {
    let name = info.childrenName
    var scanner = RecordScanner(
      plan: ScanPlan(paths: [info.parent.fields.id, name + ".records", name + "." + PageEnvelope.nextPage]))
    (totalSize, next) = try ParentChildrenPage.reading(response) { bytes in
      try ParentChildrenPage.scan(bytes, with: &scanner, response)
    }
    try ParentChildrenPage.reading(response) { bytes in
      for (i, record) in scanner.records.enumerated() {
        let text = UnsafeRawBufferPointer(rebasing: bytes[record.start..<record.start + record.count])
        parents.append(try EntryText.rewrite(text, dropping: [name]))
        let parentId = scanner.value(record: i, field: 0).string(in: bytes) ?? ""
        let nested = scanner.value(record: i, field: 1)
        guard nested.kind == .array else { continue }
        let list = UnsafeRawBufferPointer(rebasing: bytes[nested.start..<nested.start + nested.count])
        children += try ParentChildrenPage.children(in: list, of: parentId, parent: i, info: info)
        if let url = scanner.value(record: i, field: 2).string(in: bytes) {
          unfinished.append(More(url: url, parentId: parentId, parent: i))
        }
      }
    }
  }

  /// Parses a further page of one parent's children.
  static func children(
    _ response: RestResponse, of parentId: String, parent: Int, info: ParentChildrenInfo
  ) throws -> (children: [Child], next: String?) {
    var scanner = RecordScanner(plan: ScanPlan(paths: []))
    return try reading(response) { bytes in
      let (_, next) = try scan(bytes, with: &scanner, response)
      var text: [[UInt8]] = []
      for record in scanner.records { text.append(Array(bytes[record.start..<record.start + record.count])) }
      let found = try array(text).withUnsafeBytes { try children(in: $0, of: parentId, parent: parent, info: info) }
      return (found, next)
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
      return Child(
        id: scanner.value(record: i, field: 0).string(in: list) ?? "",
        text: try EntryText.rewrite(text, dropping: [field], adding: [field: .string(parentId)]), parent: parent)
    }
  }

  private static func scan(
    _ bytes: UnsafeRawBufferPointer, with scanner: inout RecordScanner, _ response: RestResponse
  ) throws -> (Int?, String?) {
    guard
      try scanner.scanPage(
        bytes, recordsKey: "records", envelopeKeys: [PageEnvelope.totalSize, PageEnvelope.nextPage])
    else { throw response.invalidBody("the answer has no 'records'") }
    let total =
      scanner.envelope[0].kind == .number ? Int(String(decoding: scanner.envelope[0].slice(in: bytes), as: UTF8.self)) : nil
    return (total, scanner.envelope[1].string(in: bytes))
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
