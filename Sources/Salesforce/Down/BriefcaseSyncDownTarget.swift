import JSON
import MobileSync
import RecordScan
import RestClient
import SmartStore

/// Downloads the records that match the user's briefcase rules: several types, each into its own soup.
///
/// - Note: Source: Mobile SDK, `BriefcaseSyncDownTarget`. Follows all pages of ids, skips records that were deleted in the
///   meantime, and ignores types without an entry in `infos`.
struct BriefcaseSyncDownTarget: SyncDownTarget {
  /// The settings for one type.
  struct Info: Sendable {
    let type: String
    let soup: String
    let fields: TargetFields
    let fieldlist: [String]
  }

  let json: JSONObject
  let fields: TargetFields
  let infos: [Info]
  let idsPerRetrieve: Int

  /// The most records that the server retrieves in one request.
  private static let largestRetrieve = 2000

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: "briefcase target")
    fields = try TargetFields(json)
    idsPerRetrieve = try reader.count("countIdsPerRetrieve", limit: Self.largestRetrieve)
    guard let list = json["infos"], let elements = list.arrayValue, !elements.isEmpty else {
      throw SyncError(.invalidTarget, "briefcase target: 'infos' must be a list of types that is not empty").at(.key("infos"))
    }
    var infos: [Info] = []
    for (i, element) in elements.enumerated() {
      guard let object = element.objectValue else { throw reader.wrong("infos[\(i + 1)]", "an object", element) }
      let info: Info
      do {
        info = try Info(object, label: "briefcase target, infos[\(i + 1)]")
      } catch {
        throw error.at(.key("infos"), .position(i))
      }
      // If a type occurs twice, the later entry wins.
      infos.removeAll { $0.type == info.type }
      infos.append(info)
    }
    self.infos = infos
    var stored = json
    stored["countIdsPerRetrieve"] = .integer(Int64(idsPerRetrieve))
    self.json = fields.written(to: stored)
  }

  var isIncremental: Bool { true }

  func mappings(_ soupName: String) -> [SoupMapping] { infos.map { SoupMapping(soup: $0.soup, fields: $0.fields) } }

  // MARK: Fetching

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    let changedAfter = since > 0 ? TimeStamp.isoText(since) : nil
    let priming = try await primingPage(relayToken: nil, changedAfter: changedAfter, in: context)
    var fetch = Fetch(target: self, context: context)
    try fetch.note(priming)
    return try await fetch.page(
      of: priming.ids[...], seen: priming.ids.count, relayToken: priming.relayToken, serverTime: priming.serverTime)
  }

  /// The ids of one page of priming records, in order.
  struct PrimingPage: Sendable {
    var ids: [(place: Int, id: String)] = []
    /// The ids of all types, also of those without an entry in `infos`.
    var allIds: [String] = []
    var relayToken: String?
    var serverTime: Int64?
  }

  /// - Note: Source: Salesforce, Briefcase Priming Records: a request has either a relay token or a time, never both.
  func primingPage(
    relayToken: String?, changedAfter: String?, in context: FetchContext
  ) async throws -> PrimingPage {
    let answer = try await context.send(
      context.client.requests.primingRecords(relayToken: relayToken, changedAfter: changedAfter))
    let json = try answer.response.json()
    guard let types = json["primingRecords"]?.objectValue else {
      throw answer.response.invalidBody("the answer has no 'primingRecords'")
    }
    var page = PrimingPage(serverTime: answer.serverTime)
    if let token = json["relayToken"], !token.isNull {
      guard let text = token.stringValue, !text.isEmpty else {
        throw answer.response.invalidBody("'relayToken' is a \(token.kindName), not a token")
      }
      page.relayToken = text
    }
    for (type, recordTypes) in types {
      let place = infos.firstIndex { $0.type == type }
      for (_, records) in recordTypes.objectValue ?? [:] {
        let ids = try Self.ids(records, of: type, answer.response)
        page.allIds += ids
        if let place { page.ids += ids.map { (place, $0) } }
      }
    }
    return page
  }

  /// - Throws: `RestError` `.invalidBody` if a record has no id: it is then unknown which ones exist.
  private static func ids(_ records: JSONValue, of type: String, _ response: RestResponse) throws -> [String] {
    try (records.arrayValue ?? []).map { record in
      guard let id = record["id"]?.stringValue, !id.isEmpty else {
        throw response.invalidBody("a record of type '\(type)' in 'primingRecords' has no 'id'")
      }
      return id
    }
  }

  /// Retrieves records of one type by id, as the text of a JSON array.
  func records(_ ids: [String], of info: Info, in context: FetchContext) async throws -> TimedText {
    let answer = try await context.send(
      context.client.requests.collectionRetrieve(type: info.type, ids: ids, fields: info.fieldlist))
    do {
      let text = try answer.response.body.withUnsafeBytes { bytes in
        try ParentChildrenPage.array(Self.objects(in: bytes))
      }
      return TimedText(text: text, response: answer.response)
    } catch let error as ScanError {
      throw answer.response.invalidBody("\(error.message) at byte \(error.offset)")
    }
  }

  struct TimedText: Sendable {
    let text: [UInt8]
    let response: RestResponse
  }

  /// Returns the objects in a JSON array; skips nulls and other values.
  private static func objects(in bytes: UnsafeRawBufferPointer) throws(ScanError) -> [[UInt8]] {
    var walker = JSONWalker(bytes), found: [[UInt8]] = []
    walker.skipWhitespace()
    try walker.expect(UInt8(ascii: "["), "expected an array of records")
    walker.skipWhitespace()
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "]") { return [] }
    while true {
      let value = try walker.skipValue(depth: 1)
      if value.kind == .object { found.append(Array(bytes[value.start..<value.start + value.count])) }
      walker.skipWhitespace()
      guard walker.p < walker.end else { throw walker.failure("unterminated array") }
      if walker.p.pointee == UInt8(ascii: "]") { return found }
      try walker.expect(UInt8(ascii: ","), "',' is missing")
    }
  }

  /// Follows relay tokens; pages that bring no new id must end.
  struct RelayTrail: Sendable {
    private var trail = QueryTrail()
    private var seen = IdSet()

    mutating func note(_ page: PrimingPage) throws(SyncError) {
      let before = seen.count
      seen.formUnion(page.allIds)
      if let token = page.relayToken { try trail.follow(token, records: seen.count - before, total: nil) }
    }
  }

  // MARK: Ghosts

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    var found = [IdSet](repeating: [], count: infos.count), token: String?, trail = RelayTrail()
    repeat {
      let page = try await primingPage(relayToken: token, changedAfter: nil, in: context)
      for entry in page.ids { found[entry.place].insert(entry.id) }
      token = page.relayToken
      try trail.note(page)
    } while token != nil
    return found
  }

  // MARK: Pages

  /// Retrieves the records slice by slice, and requests the next page of ids when the current one is used up.
  private struct Fetch: Sendable {
    let target: BriefcaseSyncDownTarget
    let context: FetchContext
    /// The relay tokens and ids so far.
    private var trail = RelayTrail()

    init(target: BriefcaseSyncDownTarget, context: FetchContext) {
      self.target = target
      self.context = context
    }

    mutating func note(_ priming: PrimingPage) throws(SyncError) { try trail.note(priming) }

    /// - Parameters:
    ///   - ids: The remaining ids of the current priming page.
    ///   - seen: The number of ids on all priming pages so far.
    func page(
      of ids: ArraySlice<(place: Int, id: String)>, seen: Int, relayToken: String?, serverTime: Int64?
    ) async throws -> SyncDownPage? {
      guard !ids.isEmpty else {
        guard let relayToken else { return nil }
        var onward = self
        let priming = try await target.primingPage(relayToken: relayToken, changedAfter: nil, in: context)
        try onward.note(priming)
        return try await onward.page(
          of: priming.ids[...], seen: seen + priming.ids.count, relayToken: priming.relayToken, serverTime: serverTime)
      }
      let slice = ids.prefix(target.idsPerRetrieve), rest = ids.dropFirst(target.idsPerRetrieve)
      var parts = [ScannedPage?](repeating: nil, count: target.infos.count)
      for (place, info) in target.infos.enumerated() {
        let wanted = slice.filter { $0.place == place }.map(\.id)
        guard !wanted.isEmpty else { continue }
        let answer = try await target.records(wanted, of: info, in: context)
        parts[place] = try context.plans[place].scan(array: answer.text, of: answer.response)
      }
      var page = SyncDownPage(parts: parts, totalSize: seen, serverTime: serverTime)
      if !rest.isEmpty || relayToken != nil {
        page.next = { try await self.page(of: rest, seen: seen, relayToken: relayToken, serverTime: serverTime) }
      }
      return page
    }
  }
}

extension BriefcaseSyncDownTarget.Info {
  fileprivate init(_ json: JSONObject, label: String) throws(SyncError) {
    let reader = TargetReader(json: json, label: label)
    type = try reader.string("sobjectType")
    soup = try reader.string("soupName")
    fields = try TargetFields(json)
    fieldlist = try reader.fieldlist("fieldlist").including(fields.id, fields.modificationDate)
  }
}
