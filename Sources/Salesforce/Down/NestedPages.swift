import Glibc
import JSON
import MobileSync
import RecordScan
import RestClient
import SmartStore

/// Completes child subqueries: a server sends the children of one record in pages of their own.
struct NestedPages: Sendable {
  let context: FetchContext

  /// Returns the page with all children of its records; the same page if none are missing.
  ///
  /// - Parameter hasNext: Whether the page itself names a next one.
  func complete(_ page: ScannedPage, _ response: RestResponse, hasNext: Bool) async throws -> ScannedPage {
    let marks = response.body.withUnsafeBytes { Self.marks(in: $0, atMost: 2) }
    guard marks > (hasNext ? 1 : 0) else { return page }
    var records: [[UInt8]] = []
    for i in 0..<page.count { records.append(try await completed(page.withText(record: i) { Array($0) }, response)) }
    return try context.plan.scan(array: ParentChildrenPage.array(records), of: response)
  }

  private static let mark: StaticString = "\"nextRecordsUrl\""

  /// Counts the members that name a next page, up to a limit.
  private static func marks(in bytes: UnsafeRawBufferPointer, atMost limit: Int) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    // The capital U is rarer than the other letters.
    let length = mark.utf8CodeUnitCount, letter = length - 4, end = start + bytes.count
    var place = start, count = 0
    while count < limit, let found = memchr(place, Int32(mark.utf8Start[letter]), end - place) {
      place = UnsafeRawPointer(found) + 1
      let first = place - 1 - letter
      guard first >= start, end - first >= length, memcmp(first, mark.utf8Start, length) == 0 else { continue }
      count += 1
    }
    return count
  }

  /// The result of a child subquery inside a record.
  private struct Children {
    /// The object's place in the record.
    let place: Range<Int>
    /// The texts of the children.
    let records: [[UInt8]]
    /// The list's place in the object.
    let list: Range<Int>
    let next: String?
  }

  /// Returns the text of a record with all its children, and theirs.
  private func completed(_ text: [UInt8], _ response: RestResponse) async throws -> [UInt8] {
    guard text.withUnsafeBytes({ Self.marks(in: $0, atMost: 1) }) > 0 else { return text }
    var out = text
    for children in try Self.children(of: text, response).reversed() {
      var records = children.records
      if let next = children.next { records += try await rest(from: next) }
      for i in records.indices { records[i] = try await completed(records[i], response) }
      let object = text[children.place], start = children.place.lowerBound
      let whole =
        Array(object[..<(start + children.list.lowerBound)]) + ParentChildrenPage.array(records)
        + object[(start + children.list.upperBound)...]
      out.replaceSubrange(children.place, with: try Self.ended(whole))
    }
    return out
  }

  /// Says in the result of a subquery that nothing follows.
  private static func ended(_ object: [UInt8]) throws -> [UInt8] {
    try object.withUnsafeBytes {
      try EntryText.rewrite($0, dropping: [PageEnvelope.nextPage, PageEnvelope.done], adding: [PageEnvelope.done: true])
    }
  }

  /// Finds the results of child subqueries among the members of a record.
  private static func children(of text: [UInt8], _ response: RestResponse) throws -> [Children] {
    try text.withUnsafeBytes { bytes in
      var members: [ScannedValue] = [], found: [Children] = []
      try ScannedValue(kind: .object, start: 0, count: bytes.count).forEachMember(in: bytes) { (_, _, value) throws(ScanError) in
        if value.kind == .object { members.append(value) }
      }
      for object in members {
        func member(_ name: String) throws -> ScannedValue {
          try object.value(at: [.member(Array(name.utf8), index: nil)], in: bytes)
        }
        let list = try member("records")
        guard list.kind == .array else { continue }
        var records: [[UInt8]] = []
        try list.forEachElement(in: bytes) { (record) throws(ScanError) in
          records.append(Array(record.slice(in: bytes)))
          return true
        }
        let next = try PageEnvelope.next(
          member(PageEnvelope.nextPage).plain(in: bytes), done: member(PageEnvelope.done).plain(in: bytes), response)
        found.append(
          Children(
            place: object.start..<object.start + object.count, records: records,
            list: list.start - object.start..<list.start + list.count - object.start, next: next))
      }
      return found
    }
  }

  /// Fetches the further pages of a subquery.
  private func rest(from first: String) async throws -> [[UInt8]] {
    var records: [[UInt8]] = [], trail = QueryTrail(), url: String? = first
    var scanner = RecordScanner(plan: ScanPlan(paths: []))
    while let next = url {
      let response = try await context.send(context.client.requests.queryMore(next)).response, before = records.count
      let total = try ParentChildrenPage.scan(response, with: &scanner) { bytes, record in
        records.append(Array(bytes[record.start..<record.start + record.count]))
      }
      url = total.next
      if let url { try trail.follow(url, records: records.count - before, total: total.size) }
    }
    return records
  }
}
