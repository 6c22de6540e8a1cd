import JSON
import MobileSync
import RecordScan
import RestClient
import SmartStore

/// Decodes the pages of a target. Compiled once for all pages.
///
/// It scans a page's bytes once for what the page says about the list, and once for its items and
/// the store's needs. A page that consists of an array takes a single scan. Pages are never parsed
/// into values.
struct PageReader: Sendable {
  let target: RestTarget
  private let pagePaths: PathSet
  private let reader: ItemReader
  /// See ``ItemReader/plan(storing:)``.
  private let storePlan: StorePlan?
  /// The body is the array of items, and no other value in it is used.
  private let readsArrayAlone: Bool
  /// This machine's clock, for servers that send no `Date`; in ms since 1970 UTC.
  private let now: @Sendable () -> Int64

  /// Limits of a page.
  enum Limit {
    /// Maximum nesting depth. Deeper bodies are attacks or mistakes.
    static let depth = 100
    static let items = 100_000
    /// Length of the excerpt of a body in an error, in bytes.
    static let shownBytes = 200
    /// How far this machine's clock may be behind the server's, in ms.
    static let clockErrorMs: Int64 = 86_400_000
  }

  private enum Field: Int { case items, next, cursor, total, totalPages, hasMore, end, token, watermark, deletedItems }

  /// - Parameters:
  ///   - store: The store's scan plan; nil if pages are not stored.
  ///   - now: This machine's clock, in ms since 1970 UTC.
  init(
    _ target: RestTarget, storing store: PagePlan? = nil, now: @escaping @Sendable () -> Int64 = SyncConfiguration.systemTime
  ) {
    self.target = target
    self.now = now
    let paging = target.paging, incremental = target.incremental
    // In the order of Field.
    let others = [
      paging.nextPath, paging.cursorPath, target.items.totalPath, paging.totalPagesPath, paging.hasMorePath,
      paging.endPath, incremental.tokenPath, incremental.watermarkPath, target.items.deletion.itemsPath,
    ]
    pagePaths = PathSet([target.items.itemsPath] + others)
    readsArrayAlone = target.items.itemsPath.steps == [] && others.allSatisfy { $0?.steps == nil }
    reader = ItemReader(target)
    let isStoredAsRead = target.transform == nil && target.detail == nil && !target.isPartial
    storePlan = isStoredAsRead ? store.flatMap(reader.plan(storing:)) : nil
  }

  /// Decodes a page.
  ///
  /// - Parameters:
  ///   - body: The bytes of the response. All ranges in the result are offsets in it.
  ///   - number: The page number for messages, from 1.
  ///   - kept: Returns a part of the body for the store that outlives the call.
  /// - Throws: ``RestPageError`` if the body does not match the target.
  func read(
    _ body: UnsafeRawBufferPointer, of answer: PageAnswer, page number: Int, kept: ((Range<Int>) -> any PageBytes)? = nil
  ) throws(RestPageError) -> CollectionPage {
    var page = CollectionPage(number: number, answer: answer)
    if target.items.dateField != nil, target.items.dateFormat != .integer {
      page.latestDate = answer.serverTime ?? now().addingReportingOverflow(Limit.clockErrorMs).partialValue
    }
    let bytes = ResponseBody.withoutByteOrderMark(body)
    // A 202 says that the server has begun. Its body is about the job, not about the list.
    page.isPending = answer.status == 202
    guard !page.isPending else { return page }
    if answer.status == 204 {
      try noteFacts(of: nil, in: &page, bytes)
      return page
    }
    guard answer.isJSON else {
      throw error(
        .notJSON, page, "Content-Type is '\(answer.mediaType ?? "")', not JSON; the body begins with \(PageReader.shown(bytes))")
    }
    do {
      let storing = storePlan.flatMap { plan in
        kept.map { (plan: plan, source: $0(body.count - bytes.count..<body.count)) }
      }
      if readsArrayAlone, let start = PageReader.arrayStart(bytes) {
        try noteFacts(of: nil, in: &page, bytes)
        let end = try reader.read(from: start, depth: 0, in: bytes, storing: storing, into: &page)
        try PageReader.expectEnd(bytes, at: end)
        try settle(&page)
      } else {
        let envelope = try Envelope(bytes, pagePaths)
        try noteFacts(of: envelope, in: &page, bytes)
        try readItems(of: envelope, storing, in: &page, bytes)
      }
    } catch let failure as ScanError {
      throw error(
        .notJSON, page,
        "the body is not valid JSON: \(failure.message) at byte \(failure.offset + body.count - bytes.count)"
          + MediaType.doubts(answer.headers))
    } catch let failure as RestPageError {
      throw failure
    } catch {
      throw self.error(.notJSON, page, "\(error)")
    }
    page.shift(by: body.count - bytes.count)
    return page
  }

  func error(_ code: RestPageError.Code, _ page: CollectionPage, _ what: String) -> RestPageError {
    target.pageError(code, page.number, what)
  }

  private static func shown(_ bytes: UnsafeRawBufferPointer) -> String {
    bytes.isEmpty ? "nothing" : "'\(String(decoding: bytes.prefix(Limit.shownBytes), as: UTF8.self))'"
  }

  /// - Parameter envelope: nil for a response without a body, where only the headers count.
  private func noteFacts(
    of envelope: Envelope?, in page: inout CollectionPage, _ bytes: UnsafeRawBufferPointer
  ) throws(RestPageError) {
    let answer = page.answer
    func fact(_ field: Field, _ path: ValuePath?) -> FactValue {
      if let name = path?.headerName { return FactValue(header: answer.header(name)) }
      return envelope.map { FactValue($0[field.rawValue], in: bytes) } ?? .missing
    }
    let paging = target.paging
    page.facts.next = fact(.next, paging.nextPath)
    page.facts.cursor = fact(.cursor, paging.cursorPath)
    page.facts.total = fact(.total, target.items.totalPath).integer.flatMap { $0 < 0 ? nil : $0 }
    page.facts.totalPages = fact(.totalPages, paging.totalPagesPath).integer
    page.facts.hasMore = try flag("hasMorePath", paging.hasMorePath, fact(.hasMore, paging.hasMorePath), page)
    page.facts.isEnd = try flag("endPath", paging.endPath, fact(.end, paging.endPath), page)
    page.facts.token = fact(.token, target.incremental.tokenPath).continuation
    page.facts.watermark = fact(.watermark, target.incremental.watermarkPath).continuation
  }

  /// - Returns: nil if the page says nothing.
  private func flag(
    _ key: String, _ path: ValuePath?, _ fact: FactValue, _ page: CollectionPage
  ) throws(RestPageError) -> Bool? {
    switch fact.flag {
    case .says(let flag): return flag
    case .silent: return nil
    case .unreadable:
      let what = fact == .other ? "an array or an object" : "a text"
      throw error(.wrongShape, page, "'\(key)' (\(path?.text ?? "")) leads to \(what), not to true or false")
    }
  }

  private func readItems(
    of envelope: Envelope, _ storing: (plan: StorePlan, source: any PageBytes)?, in page: inout CollectionPage,
    _ bytes: UnsafeRawBufferPointer
  ) throws {
    let array = envelope[Field.items.rawValue]
    switch array.kind {
    case .array:
      _ = try reader.read(from: array.start, depth: 1, in: bytes, storing: storing, into: &page)
    case .null: break
    case .missing where target.items.takesMissingItems, .object where target.items.takesMissingItems:
      if let name = PageReader.errorMember(of: envelope.root, bytes) {
        throw error(.wrongShape, page, "the response has no items but the member '\(name)': it is an error, not an empty page")
      }
    default: throw error(.wrongShape, page, wrongItems(array, envelope.root, bytes))
    }
    try reader.readDeletedItems(envelope[Field.deletedItems.rawValue], in: bytes, into: &page)
    try settle(&page)
  }

  private func settle(_ page: inout CollectionPage) throws(RestPageError) {
    if page.itemCount > Limit.items {
      throw error(.tooManyItems, page, "\(page.itemCount) items exceed the limit of \(Limit.items) per page")
    }
    // If all dates are later than this machine's clock, the clock is wrong.
    if page.answer.serverTime == nil, page.facts.newestDate == nil { page.facts.newestDate = page.facts.newestStatedDate }
    page.settle()
  }

  /// Returns the offset of the body's array, if the body starts with one.
  private static func arrayStart(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var walker = JSONWalker(bytes)
    walker.skipWhitespace()
    return walker.p < walker.end && walker.p.pointee == UInt8(ascii: "[") ? walker.offset : nil
  }

  private static func expectEnd(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(ScanError) {
    var walker = JSONWalker(bytes)
    walker.p += offset
    try walker.expectEnd()
  }

  /// Returns the name of the member with which a response with a status of success reports an error.
  private static func errorMember(of root: ScannedValue, _ bytes: UnsafeRawBufferPointer) -> String? {
    var found: String?
    try? root.forEachMember(in: bytes) { (key, _, value) throws(ScanError) in
      let name = String(decoding: key.meaning, as: UTF8.self)
      guard name == "error" || name == "errors" else { return }
      let text = String(decoding: value.slice(in: bytes), as: UTF8.self)
      let saysNone = value.kind == .null || value.kind == .false || ["", "[]", "{}", "0"].contains(text)
      if !saysNone { found = name }
    }
    return found
  }

  /// Describes the value found in place of the items.
  private func wrongItems(_ value: ScannedValue, _ root: ScannedValue, _ bytes: UnsafeRawBufferPointer) -> String {
    let path = target.items.itemsPath.text
    guard value.kind == .missing else { return "'itemsPath' (\(path)) leads to \(value.kindName), not to an array" }
    var keys: [String] = []
    try? root.forEachMember(in: bytes) { (key, _, _) throws(ScanError) in
      if keys.count < 10 { keys.append(String(decoding: key.meaning, as: UTF8.self)) }
    }
    let members = keys.isEmpty ? root.kindName : "an object with the members \(keys.joined(separator: ", "))"
    return "'itemsPath' (\(path)) has no value; the response is \(members)"
  }
}

/// A scanned body with the values at the page's paths.
private struct Envelope {
  let root: ScannedValue
  private var values: [ScannedValue] = []

  /// - Throws: `ScanError` if the text is not a single JSON value; scans every byte.
  init(_ bytes: UnsafeRawBufferPointer, _ paths: PathSet) throws(ScanError) {
    var scanner = RecordScanner(plan: paths.plan)
    scanner.depthLimit = PageReader.Limit.depth
    var walker = JSONWalker(bytes)
    walker.depthLimit = PageReader.Limit.depth
    walker.skipWhitespace()
    let isObject = walker.p < walker.end && walker.p.pointee == UInt8(ascii: "{")
    if isObject {
      try scanner.scanObject(bytes)
      root = ScannedValue(kind: .object, start: scanner.records[0].start, count: scanner.records[0].count)
    } else {
      let value = try walker.skipValue(depth: 0)
      try walker.expectEnd()
      root = ScannedValue(kind: value.kind, start: value.start, count: value.count)
    }
    for i in 0..<paths.count {
      let scanned = isObject ? paths.scanned(i, record: 0, by: scanner) : .missing
      values.append(try paths.value(i, scanned: scanned, root: root, in: bytes))
    }
  }

  subscript(_ field: Int) -> ScannedValue { values[field] }
}

extension RestTarget {
  /// Makes an error that names the target and the page. Omits the query, which may contain a
  /// secret.
  func pageError(_ code: RestPageError.Code, _ page: Int, _ what: String) -> RestPageError {
    let path = url.text.prefix { $0 != "?" }
    return RestPageError(code: code, description: "rest target '\(connection)' \(path), page \(page): \(what)")
  }
}

extension ScannedValue {
  /// The type of the value, for messages.
  var kindName: String {
    switch kind {
    case .missing, .arrayStep: "nothing"
    case .plainString, .escapedString: "text"
    case .number: "a number"
    case .true, .false: "a boolean"
    case .null: "null"
    case .object: "an object"
    case .array: "an array"
    }
  }
}

extension CollectionPage {
  /// Keeps the last occurrence of each id; a tombstone takes precedence over items.
  fileprivate mutating func settle() {
    // Usually there are no duplicates and no tombstones.
    if removed.isEmpty, ids.count == items.count, IdSet(ids).count == ids.count {
      isUntouched = isUntouched && items.count == itemCount
      return
    }
    let marked = IdSet(removed), unmarked = items.filter { !marked.contains($0.id) }
    var seen = marked
    items = unmarked.reversed().filter { seen.insert($0.id).inserted }.reversed()
    duplicates = unmarked.count - items.count
    removed = Array(marked).sorted()
    let stored = IdSet(items.map(\.id))
    excluded = IdSet(excluded).filter { !stored.contains($0) && !marked.contains($0) }.sorted()
    isUntouched = isUntouched && items.count == itemCount
  }

  /// Shifts all ranges by the length of a byte order mark.
  fileprivate mutating func shift(by count: Int) {
    guard count > 0 else { return }
    array = array.map { $0.lowerBound + count..<$0.upperBound + count }
    items = items.map { item in
      PageItem(
        id: item.id, date: item.date, place: item.place.lowerBound + count..<item.place.upperBound + count,
        numericId: item.numericId.map { id in
          NumericId(place: id.place.lowerBound + count..<id.place.upperBound + count, digits: id.digits)
        }, edited: item.edited)
    }
  }
}
