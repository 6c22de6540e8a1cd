import Glibc
import JSON
import MobileSync
import RecordScan
import RestClient
import SmartStore

/// Converts a response to the records for the soups: objects without relation markers, included
/// objects split off, and link rows. A page that needs no changes is scanned without being parsed
/// into values.
struct PageEditor: Sendable {
  let target: ParseSyncDownTarget
  let exchange: ParseExchange
  let context: FetchContext
  /// Whether entries may have members that this sync does not request.
  private let mayHaveMore: Bool
  /// The watermark of earlier runs, in ms since 1970 UTC; -1 for none.
  private let since: Int64

  init(_ target: ParseSyncDownTarget, _ exchange: ParseExchange, _ context: FetchContext, since: Int64) async throws {
    self.since = since
    self.target = target
    self.exchange = exchange
    self.context = context
    let soup = context.soup
    let known =
      target.rules.columns == nil
      ? 0
      : try await context.store.read {
        try $0.serverIdCount(in: soup, path: ParseTarget.fields.id, localPrefix: LocalField.localIdPrefix)
      }
    mayHaveMore = known > 0
  }

  private var rules: DownRules { target.rules }
  private static let envelope = ["count"]

  func edited(_ response: ConnectionResponse) async throws -> EditedPage {
    let body = response.body, scanned = try scanned(response)
    var page = EditedPage(
      parts: [scanned] + Array(repeating: nil, count: target.linkSoups.count + target.includeSoups.count),
      count: scanned.count, announced: scanned.envelope(0)?.boundedInteger.map { Int(clamping: $0) }, last: Self.last(scanned))
    guard scanned.count > 0 else {
      page.parts[0] = nil
      return page
    }
    if needsValues(body) {
      try await edit(scanned, &page, response)
    } else if Self.mayHaveMarkers(body) {
      page.parts[0] = try context.plan.scan(array: try withoutMarkers(scanned), of: response.response)
    }
    return page
  }

  /// Returns the objects that are not marked as deleted, for the first soup alone.
  func listed(_ response: ConnectionResponse) throws -> EditedPage {
    let scanned = try scanned(response)
    var page = EditedPage(parts: [scanned], count: scanned.count, announced: nil, last: Self.last(scanned))
    guard target.target.deletedField != nil, scanned.count > 0 else { return page }
    let objects = try (0..<scanned.count).map { try scanned.object(record: $0) }.filter { !isDeleted($0) }
    page.parts[0] = try scan(objects, place: 0, response)
    return page
  }

  private func scanned(_ response: ConnectionResponse) throws -> ScannedPage {
    let scanned: ScannedPage
    do {
      scanned = try context.plan.scan(response.body, recordsKey: "results", envelopeKeys: Self.envelope)
    } catch let error as ScanError {
      throw response.response.invalidBody("\(error.message) at byte \(error.offset)")
    }
    guard scanned.hasRecords else { throw response.response.invalidBody("the response has no 'results'") }
    return scanned
  }

  private static func last(_ page: ScannedPage) -> KeysetWalk.Position? {
    guard page.count > 0, let id = page.id(record: page.count - 1), let stamp = page.text(record: page.count - 1, extra: 0)
    else { return nil }
    return KeysetWalk.Position(updatedAt: stamp, objectId: id)
  }

  /// Whether the page must be parsed for more than removing relation markers.
  private func needsValues(_ body: ResponseBody) -> Bool {
    mayHaveMore || !rules.include.isEmpty || !target.refreshed.isEmpty || target.target.deletedField != nil
      || target.target.className == "_User" && Self.holds(body, #""sessionToken""#)
  }

  // MARK: Relation markers

  private static func mayHaveMarkers(_ body: ResponseBody) -> Bool { holds(body, #""Relation""#) }

  private static func holds(_ body: ResponseBody, _ text: StaticString) -> Bool {
    body.withUnsafeBytes { $0.holds(text) }
  }

  /// Returns the records without relation markers. Every object of a class has the markers of all
  /// its relations, so the first object yields their names.
  private func withoutMarkers(_ page: ScannedPage) throws -> [UInt8] {
    var names = IdSet(try page.object(record: 0).filter { Self.isRelationMarker($0.value) }.map(\.key))
    var out: [UInt8] = [UInt8(ascii: "[")]
    for i in 0..<page.count {
      if i > 0 { out.append(UInt8(ascii: ",")) }
      let text = try page.withText(record: i) { try EntryText.rewrite($0, dropping: names) }
      guard Self.mayHaveMarker(text) else {
        out += text
        continue
      }
      let object = try page.object(record: i)
      names.formUnion(object.filter { Self.isRelationMarker($0.value) }.map(\.key))
      out += JSONValue.object(object.filtered { !names.contains($0.key) }).serialized()
    }
    out.append(UInt8(ascii: "]"))
    return out
  }

  private static func mayHaveMarker(_ text: [UInt8]) -> Bool { text.withUnsafeBytes { $0.holds(#""Relation""#) } }

  static func isRelationMarker(_ value: JSONValue) -> Bool { value["__type"] == "Relation" }

  // MARK: Values

  private func edit(_ scanned: ScannedPage, _ page: inout EditedPage, _ response: ConnectionResponse) async throws {
    var objects: [JSONObject] = []
    for i in 0..<scanned.count {
      let object = try scanned.object(record: i)
      if isDeleted(object) {
        if let id = object["objectId"]?.stringValue { page.notes.deleted.append(id) }
        page.notes.left += 1
        continue
      }
      objects.append(object.filtered { key, value in !Self.isRelationMarker(value) && key != "sessionToken" })
    }
    if mayHaveMore { try await addMore(to: &objects) }
    if !rules.include.isEmpty {
      let included = try await SplitIncludes(target: target, exchange: exchange).split(&objects)
      let first = 1 + target.linkSoups.count
      for (i, soup) in target.includeSoups.enumerated() {
        page.parts[first + i] = try scan(included[soup] ?? [], place: first + i, response)
      }
    }
    if !target.refreshed.isEmpty {
      let links = try await LinkRefresh(target: target, exchange: exchange, context: context, since: since).refresh(&objects)
      for (i, soup) in target.linkSoups.enumerated() {
        page.parts[1 + i] = try scan(links.rows[soup] ?? [], place: 1 + i, response)
        if let gone = links.gone[soup], !gone.isEmpty { page.notes.goneElsewhere[1 + i] = gone }
      }
    }
    page.parts[0] = try scan(objects, place: 0, response)
  }

  private func scan(_ objects: [JSONObject], place: Int, _ response: ConnectionResponse) throws -> ScannedPage? {
    guard !objects.isEmpty else { return nil }
    let text = JSONValue.array(objects.map { .object($0) }).serialized()
    return try context.plans[place].scan(array: text, of: response.response)
  }

  /// Whether an object is marked as deleted, by a flag or a date in the agreed field.
  private func isDeleted(_ object: JSONObject) -> Bool {
    guard let field = target.target.deletedField, let value = object[field] else { return false }
    return value != false && !value.isNull
  }

  /// Preserves members of entries that this sync does not request.
  private func addMore(to objects: inout [JSONObject]) async throws {
    guard let columns = rules.columns else { return }
    let known = try await context.receivedRecords(objects.compactMap { $0["objectId"]?.stringValue })
    let asked = IdSet(columns).union(ParseNames.serverFields).union(["ACL"])
    let kept = IdSet(
      target.refreshed.compactMap { rule -> String? in if case .ids(let field) = rule.storage { field } else { nil } })
    for i in objects.indices {
      guard let entry = objects[i]["objectId"]?.stringValue.flatMap({ known[$0] }) else { continue }
      for (key, value) in entry where !asked.contains(key) && !kept.contains(key) && objects[i][key] == nil {
        objects[i][key] = value
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes contain an ASCII text in quotes. Searches for its second letter, which is
  /// rarer than the quote.
  func holds(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount, wanted = UnsafeRawPointer(text.utf8Start)
    guard var place = baseAddress, self.count >= count else { return false }
    let end = place + self.count, letter = Int32(text.utf8Start[1])
    place += 1
    while let found = memchr(place, letter, end - place) {
      let start = UnsafeRawPointer(found) - 1
      if end - start >= count, memcmp(start, wanted, count) == 0 { return true }
      place = UnsafeRawPointer(found) + 1
    }
    return false
  }
}
