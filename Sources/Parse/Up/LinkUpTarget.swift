import JSON
import MobileSync
import RestClient
import SmartStore

/// Uploads the link rows of a soup: one PUT per owner with all of its relations.
struct LinkUpTarget: SyncUpTarget {
  let settings: UploadSettings
  private let target: ParseTarget
  private let rules: [RelationRule]
  private let connections: RestConnections?
  private let memory: UploadMemory

  init(_ target: ParseTarget, _ rules: [RelationRule], _ connections: RestConnections?, _ memory: UploadMemory) {
    self.target = target
    self.rules = rules
    self.connections = connections
    self.memory = memory
    let members = ["ownerId", "field", "relatedId"]
    settings = UploadSettings(
      json: target.json, fields: LinkRow.fields, create: members, update: members, maxBatchSize: Tuning.linkRows,
      lostCreateWaitMs: nil)
  }

  // MARK: Properties for the engine

  /// Relation changes may be sent twice.
  var traits: UploadTraits {
    UploadTraits {
      $0.looksForLostCreates = false
      $0.answersForItself = true
      $0.comparesFields = false
      $0.updatesWithCondition = false
    }
  }

  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord] { indices.map { _ in .unchanged } }

  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion] { indices.map { _ in .unknown } }

  func sendable(_ plan: DirtyBatch.Plan) -> SendableMembers { SendableMembers(paths: nil, sendsRemovals: true) }

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.isEmpty ? [] : [UploadGroup(uploads: uploads)] }

  // MARK: Sending

  private struct Row {
    let entry: JSONObject
    /// nil if the link cannot be sent.
    var link: LinkRow?
    /// The owner was created locally and has since been removed.
    var isOrphan = false
    var result: UploadResult?
  }

  private struct Owner: Hashable {
    let className: String
    let id: String

    static func == (a: Owner, b: Owner) -> Bool { a.className == b.className && a.id == b.id }
    func hash(into hasher: inout Hasher) { hasher.combine(ExactText(id)) }
  }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    try memory.check()
    let now = context.configuration.now()
    var rows: [Row] = [], owners: [Owner] = [], changes: [Owner: [RelationChange]] = [:]
    for upload in group.uploads {
      var row = try await self.row(batch.entry(upload.index), context, now)
      try await follow(&row, upload, batch.entryIds[upload.index], context, now)
      rows.append(row)
      guard let link = row.link, let rule = rule(link) else { continue }
      let owner = Owner(className: link.ownerClass, id: link.ownerId)
      var all = changes[owner] ?? []
      if changes[owner] == nil { owners.append(owner) }
      let i = all.firstIndex { $0.field == link.field } ?? all.count
      if i == all.count { all.append(RelationChange(field: link.field, className: rule.className)) }
      if upload.action == .delete { all[i].unlink(link.relatedId) } else { all[i].link(link.relatedId) }
      changes[owner] = all
    }
    let (outcomes, kept) = try await send(owners, changes, context)
    let results = zip(rows, group.uploads).map { row, upload -> UploadResult? in
      guard let link = row.link else { return row.result ?? failed("the row does not describe a link", now) }
      let owner = Owner(className: link.ownerClass, id: link.ownerId)
      switch outcomes[owner] {
      case .refused(let refusal)? where kept.contains(owner): return failed(refusal.ofKeptOwner, now)
      case .done?: return succeeded(row, link, upload.action)
      // Without its owner a link does not exist, and a locally deleted owner needs none.
      case .refused(let refusal)? where refusal.code == ServerCode.objectNotFound.rawValue && upload.action == .delete:
        return UploadResult(isSuccess: true)
      case .refused(let refusal)? where refusal.code == ServerCode.objectNotFound.rawValue && row.isOrphan:
        return succeeded(row, link, upload.action)
      case .refused(let refusal)?, .unknown(let refusal)?: return failed(refusal, now)
      case .lost?, .notSent?: return nil
      case nil: return failed("the link was not sent", now)
      }
    }
    if let end = outcomes.values.lazy.compactMap(\.end).first { throw UploadCutShort(end, results: results) }
    return results.compactMap { $0 }
  }

  /// - Returns: The outcome for each owner, and the owners that the server says do not exist, but
  ///   still shows.
  private func send(
    _ owners: [Owner], _ changes: [Owner: [RelationChange]], _ context: UploadContext
  ) async throws -> (outcomes: [Owner: BatchSender.Outcome], kept: Set<Owner>) {
    var exchange = try ParseExchange(connections, named: target.connection, context.control, pin: memory.pin)
    exchange.intent = context.intent
    let sender = BatchSender(exchange: exchange, memory: memory, isTransaction: false) { _ in .notMade }
    var outcomes: [Owner: BatchSender.Outcome] = [:], asked: [Owner] = [], requests: [ObjectRequest] = []
    for owner in owners {
      guard let body = RelationChange.body(changes[owner] ?? []) else {
        outcomes[owner] = .done([:])
        continue
      }
      asked.append(owner)
      requests.append(
        try ParseTarget.checked("relations") { () throws(ParseProblem) in try .update(owner.className, owner.id, body) })
    }
    guard !requests.isEmpty else { return (outcomes, []) }
    for (owner, outcome) in zip(asked, await sender.send(requests)) { outcomes[owner] = outcome }
    try await noteStamps(outcomes, context)
    let kept = await kept(&outcomes, exchange)
    return (outcomes, kept)
  }

  /// Looks for the owners that the server says do not exist. If that fails, their links stay open.
  private func kept(_ outcomes: inout [Owner: BatchSender.Outcome], _ exchange: ParseExchange) async -> Set<Owner> {
    let missing = outcomes.filter { _, outcome in
      if case .refused(let refusal) = outcome { refusal.code == ServerCode.objectNotFound.rawValue } else { false }
    }
    var kept = Set<Owner>()
    for (className, owners) in Dictionary(grouping: missing.keys, by: \.className) {
      do {
        let readable = try await exchange.readable(owners.map(\.id), in: className)
        kept.formUnion(readable.map { Owner(className: className, id: $0) })
      } catch {
        for owner in owners { outcomes[owner] = .lost(error, mayHaveTakenEffect: false) }
      }
    }
    return kept
  }

  /// Records the new time stamps of owners, which are not changes by other clients.
  private func noteStamps(_ outcomes: [Owner: BatchSender.Outcome], _ context: UploadContext) async throws {
    var stamps: [(soup: String, id: String, stamp: Int64)] = []
    for (owner, outcome) in outcomes {
      guard case .done(let answer) = outcome, let soup = soup(of: owner.className),
        let stamp = answer["updatedAt"]?.stringValue.flatMap({ TimeStamp.milliseconds($0) })
      else { continue }
      stamps.append((soup, owner.id, stamp))
    }
    guard !stamps.isEmpty, let store = context.origin?.store else { return }
    let noted = stamps
    try await store.write(.pulled) { transaction in
      for (soup, id, stamp) in noted where try transaction.soupExists(soup) {
        for entryId in try transaction.entryIds(in: soup, where: "objectId", equals: .text(id)) {
          try transaction.noteOwnStamp(stamp, of: entryId, in: soup)
        }
      }
    }
  }

  // MARK: Rows

  /// Holds back a link that mirrors a pointer until the server has the pointer.
  private func follow(
    _ row: inout Row, _ upload: PlannedUpload, _ entryId: Int64, _ context: UploadContext, _ now: Int64
  ) async throws {
    guard let link = row.link, let rule = rule(link), let mirror = rule.mirror, mirror.className == target.className,
      let soup = ownSoup, let origin = context.origin
    else { return }
    let isAdded = upload.action != .delete
    switch try await MirrorCheck(context: context, soup: soup).verdict(link, mirror, isAdded: isAdded) {
    case .send: return
    case .wait:
      row.result = failed("waiting for '\(mirror.field)' of \(mirror.className)/\(link.relatedId)", now)
    case .drop where context.intent.recorder != nil: row.result = UploadResult(isSuccess: true)
    case .drop:
      try await origin.store.write(.pulled) { transaction in
        if isAdded {
          try transaction.remove([entryId], from: origin.soup)
        } else {
          _ = try transaction.patch(
            entryId, in: origin.soup, setting: LocalField.clean, removing: [LocalField.lastError])
        }
      }
      row.result = UploadResult(isSuccess: true)
    }
    row.link = nil
  }

  private func rule(_ link: LinkRow) -> RelationRule? {
    rules.first { $0.field == link.field && target.ownerClass(of: $0) == link.ownerClass }
  }

  /// Returns the soup of a class's objects.
  private func soup(of className: String) -> String? {
    if className == target.className { return ownSoup }
    return target.pointers.first { $0.className == className }?.soup ?? rules.first { $0.className == className }?.soup
  }

  private var ownSoup: String? { memory.soup }

  private func row(_ entry: JSONObject, _ context: UploadContext, _ now: Int64) async throws -> Row {
    let named = entry["linkKey"]?.stringValue.flatMap { LinkRow.owner(ofKey: $0)?.className }
    let field = entry["field"]?.stringValue ?? ""
    let candidates = rules.filter { $0.field == field }
    let known = candidates.first { target.ownerClass(of: $0) == named } ?? candidates.first
    guard let rule = known, let link = LinkRow(entry, ownerClass: target.ownerClass(of: rule)) else {
      let message = "a link row needs 'ownerId', 'relatedId' and a 'field' that 'relations' lists; got '\(field)'"
      return Row(entry: entry, result: failed(message, now))
    }
    let ownerSoup = soup(of: link.ownerClass)
    let relatedSoup = rule.soup ?? soup(of: rule.className)
    guard let owner = try await id(link.ownerId, ownerSoup, context) else {
      return Row(entry: entry, result: failed("waiting for \(link.ownerClass)/\(link.ownerId)", now))
    }
    guard let related = try await id(link.relatedId, relatedSoup, context) else {
      return Row(entry: entry, result: failed("waiting for \(rule.className)/\(link.relatedId)", now))
    }
    var row = Row(entry: entry, link: LinkRow(link.ownerClass, owner, link.field, related))
    row.isOrphan = link.ownerId != owner ? try await !isHere(owner, ownerSoup, context) : false
    return row
  }

  private func isHere(_ id: String, _ soup: String?, _ context: UploadContext) async throws -> Bool {
    guard let soup, let store = context.origin?.store else { return true }
    return try await store.read { snapshot in
      guard try snapshot.soupExists(soup) else { return true }
      return try !snapshot.entryIds(in: soup, where: "objectId", equals: .text(id)).isEmpty
    }
  }

  private func id(_ id: String, _ soup: String?, _ context: UploadContext) async throws -> String? {
    guard id.hasPrefix(LocalField.localIdPrefix) else { return id }
    if let known = memory.assignedId(for: id) { return known }
    guard let soup else { return nil }
    return try await context.assignedId(for: id, in: soup)
  }

  // MARK: Results

  private func succeeded(_ row: Row, _ link: LinkRow, _ action: UploadAction) -> UploadResult {
    var result = UploadResult(isSuccess: true, id: action == .create ? link.key : nil)
    if action != .delete { result.record = link.json.filtered { key, value in row.entry[key] != value } }
    return result
  }

  private func failed(_ message: String, _ now: Int64) -> UploadResult {
    failed(ServerRefusal(status: nil, code: nil, message: message), now)
  }

  private func failed(_ refusal: ServerRefusal, _ now: Int64) -> UploadResult {
    UploadResult(isSuccess: false, error: try? JSONValue(parsing: Array(refusal.lastError(at: now).utf8)), says: [])
  }
}
