import JSON
import RestClient
import SmartStore

/// Settles creates with lost answers by searching for their records on the server, before anything
/// is sent.
struct LostCreates {
  /// How to search for creates of an older build, which did not store what it sent.
  struct Older: Sendable {
    let lookup: SentCreate.Lookup
    let plan: DirtyBatch.Plan
  }

  let soupName: String
  /// nil leaves these creates to a sync up.
  var older: Older?
  /// Whether the entries are those that the sync counts.
  var isCounted = false
  /// Finds creates with keys; nil leaves these to a sync up.
  var finder: (target: any SyncUpTarget, context: UploadContext)?
  /// The sync whose creates are looked up; nil for all.
  var syncId: Int64?

  /// Searches for the records and writes the decisions.
  /// - Parameter leavingDoubts: Skips creates that an earlier search could not decide.
  /// - Returns: Entries whose creates stay in doubt, or may still appear; these must not be sent.
  func resolve(_ record: RunRecord, leavingDoubts: Bool = false) async throws -> Set<Int64> {
    let environment = record.environment, asked = environment.configuration.now()
    let pending = try await pending(environment, leavingDoubts: leavingDoubts, now: asked)
    guard !pending.isEmpty else { return [] }
    let found = try await search(pending, environment, now: asked)
    try await write(found.verdicts, found.records, pending, asked, record)
    record.logDoubts()
    return found.doubtful
  }

  /// Searches for the records, or notes the searches, and writes nothing.
  /// - Returns: Entries that the run would not send as they are: those in doubt, and those whose records were found.
  func plan(_ record: RunRecord, _ recorder: PlanRecorder) async throws -> Set<Int64> {
    let environment = record.environment, asked = environment.configuration.now()
    let pending = try await pending(environment, leavingDoubts: false, now: asked)
    guard !pending.isEmpty else { return [] }
    let before = recorder.begin(.search, records: pending.count)
    defer { recorder.resume(before) }
    let verdicts = try await search(pending, environment, now: asked).verdicts
    return Set(verdicts.filter { $0.value.holdsBack }.keys)
  }

  private struct Found {
    var verdicts: [Int64: LostCreateVerdict] = [:]
    var records: [Int64: JSONObject] = [:]

    var doubtful: Set<Int64> {
      Set(verdicts.filter { $0.value == .looked(.inDoubt) || $0.value == .looked(.wait) }.keys)
    }
  }

  private func pending(_ environment: RunEnvironment, leavingDoubts: Bool, now: Int64) async throws -> [PendingCreate] {
    let lost = self
    return try await environment.store.read { snapshot in
      try lost.pending(snapshot, environment.owners, now: now).filter {
        (!leavingDoubts || !$0.upload.inDoubt) && ($0.key == nil || lost.finder != nil)
          && (lost.syncId == nil || $0.key != nil && $0.upload.syncId == lost.syncId)
      }
    }
  }

  private func search(_ pending: [PendingCreate], _ environment: RunEnvironment, now: Int64) async throws -> Found {
    var found = Found()
    found.verdicts = Dictionary(
      uniqueKeysWithValues: pending.compactMap { one in one.verdict.map { (one.upload.entryId, $0) } })
    for one in pending where one.verdict == nil && one.key != nil {
      let keyed: (decision: LostCreateDecision, record: JSONObject?)? =
        try await unlessPlanned { try await findKeyed(one, environment) } ?? (decision: .wait, record: nil)
      found.verdicts[one.upload.entryId] = keyed.map { .looked($0.decision) }
      found.records[one.upload.entryId] = keyed?.record
    }
    let open = pending.filter { $0.verdict == nil && $0.key == nil }
    for type in IdSet(open.map(\.type)).sorted() {
      let same = open.filter { $0.type == type }
      let decided: (decisions: [Int64: LostCreateDecision], records: [Int64: JSONObject]) =
        try await unlessPlanned { try await decide(type, same, environment) }
        ?? (decisions: Dictionary(uniqueKeysWithValues: same.map { ($0.upload.entryId, .wait) }), records: [:])
      found.verdicts.merge(decided.decisions.mapValues(LostCreateVerdict.looked)) { first, _ in first }
      found.records.merge(decided.records) { first, _ in first }
    }
    let rule = ResendRule(
      now: now, clockOffset: environment.clock.offsetMs, longestRequestMs: environment.configuration.lateCreateMs)
    for one in pending where found.verdicts[one.upload.entryId] == .looked(.sendAgain) && !rule.allows(one.upload) {
      found.verdicts[one.upload.entryId] = .looked(.wait)
    }
    return found
  }

  /// - Returns: nil if the search was only noted for a plan.
  private func unlessPlanned<T>(_ search: () async throws -> T) async throws -> T? {
    do { return try await search() } catch  where error.isPlanned { return nil }
  }

  // MARK: What is open

  /// Returns the creates without an answer that no live run is sending.
  private func pending(
    _ snapshot: StoreSnapshot, _ owners: UploadOwners, now: Int64
  ) throws -> [PendingCreate] {
    let uploads = try snapshot.unsettledCreates(in: soupName).filter { try !owners.isLive($0, now: now, in: snapshot) }
    guard !uploads.isEmpty else { return [] }
    let stored = try snapshot.storedEntries(uploads.map(\.entryId), in: soupName)
    let entries = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
    return try uploads.compactMap { upload in
      let entry = entries[upload.entryId]
      let object = try entry?.object() ?? [:], isAsSent = entry?.version == upload.version
      if let sent = SentCreate(upload) { return PendingCreate(upload, sent, object, isAsSent: isAsSent) }
      return older.map { PendingCreate(upload, older: $0, object, isAsSent: isAsSent) }
    }
  }

  // MARK: Looking

  private func decide(
    _ type: String, _ pending: [PendingCreate], _ environment: RunEnvironment
  ) async throws -> (decisions: [Int64: LostCreateDecision], records: [Int64: JSONObject]) {
    let search = LostCreateSearch(soup: soupName, type: type, pending: pending)
    guard let candidates = try await search.candidates(environment) else {
      return (Dictionary(uniqueKeysWithValues: pending.map { ($0.upload.entryId, .inDoubt) }), [:])
    }
    let times = LostCreateTimes(environment)
    let lost = pending.map {
      LostCreate(entryId: $0.upload.entryId, sent: $0.fields, times: times.window($0.upload))
    }
    let decisions = LostCreateMatcher.decide(lost, candidates)
    let found = Dictionary(candidates.map { ($0.id, $0.fields) }) { first, _ in first }
    let sent = Dictionary(uniqueKeysWithValues: pending.map { ($0.upload.entryId, $0.fields ?? [:]) })
    let records = decisions.reduce(into: [Int64: JSONObject]()) { records, one in
      // The search asks for the fields of all creates.
      guard case .adopt(let id) = one.value, let record = found[id] else { return }
      records[one.key] = record.filtered { key, _ in sent[one.key]?[key] != nil }
    }
    return (decisions, records)
  }

  private func findKeyed(
    _ one: PendingCreate, _ environment: RunEnvironment
  ) async throws -> (decision: LostCreateDecision, record: JSONObject?)? {
    guard let finder, let key = one.key else { return nil }
    let asSent = one.upload.entryText.flatMap { try? JSONValue(parsing: $0) }?.objectValue
    let lost = LostKeyedCreate(key: key, sent: one.sent, entry: asSent ?? one.entry)
    switch try await finder.target.find(lost, in: finder.context) {
    case .sendAgain(let isSafe): return (isSafe ? .repeatWithKey : .sendAgain, nil)
    case .inDoubt: return (.inDoubt, nil)
    case .found(let id, let isCertain, let record):
      if isCertain { return (.adopt(id: id), record) }
      let soup = soupName, idField = one.lookup.fields.id, own = one.upload.entryId
      let isKnownHere = try await environment.store.read { snapshot in
        let arrivals = try snapshot.arrivals(in: soup)
        return try snapshot.entryIds(in: soup, where: idField, equals: .text(id)).contains { $0 != own && !arrivals.contains($0) }
      }
      return isKnownHere ? (.inDoubt, nil) : (.adopt(id: id), record)
    }
  }

  // MARK: Writing

  private func write(
    _ verdicts: [Int64: LostCreateVerdict], _ records: [Int64: JSONObject], _ pending: [PendingCreate], _ asked: Int64,
    _ record: RunRecord
  ) async throws {
    let soup = soupName, isCounted = isCounted
    let made = RunStep(kind: .lookup, soup: soup, rows: pending.count)
    try await record.save(.synced, noting: made) { transaction, state in
      for one in pending {
        // Another process may have settled it, and sent it again, during the search.
        guard try transaction.unsettledUpload(of: one.upload.entryId, in: soup) == one.upload else { continue }
        switch verdicts[one.upload.entryId] {
        case .named(let id): try transaction.adopt(one, id: id, record: [:], in: soup)
        case .looked(.adopt(let id)):
          let isDone = try transaction.adopt(one, id: id, record: records[one.upload.entryId] ?? [:], in: soup)
          // An entry that was edited since is sent by this run and counted then.
          if isCounted, isDone { state.counts.succeeded += 1 }
        case .looked(.inDoubt):
          try LostCreates.mark(one.upload, in: soup, transaction)
          try transaction.noteInDoubt([one.upload.entryId], in: soup)
          state.counts.inDoubt += 1
        case .looked(.wait):
          let until = one.upload.resendAt ?? asked + one.lookup.waitMs
          try transaction.keepWaiting([one.upload.entryId], in: soup, until: until)
          try transaction.noteInDoubt([one.upload.entryId], in: soup)
          state.counts.inDoubt += 1
          state.inDoubtUntil = max(state.inDoubtUntil, until)
        case .looked(.sendAgain), .looked(.repeatWithKey):
          try LostCreates.release(one.upload, hasKey: one.key != nil, in: soup, transaction)
        case .closed, nil: try transaction.endAttempts([one.upload.entryId], in: soup)
        }
      }
      try transaction.forgetArrivals(in: soup)
    }
  }

  /// Allows an upload to be sent again, with its key if it has one.
  private static func release(
    _ upload: UploadRecord, hasKey: Bool, in soup: String, _ transaction: StoreTransaction
  ) throws {
    guard hasKey else { return try transaction.endAttempts([upload.entryId], in: soup) }
    var free = upload
    free.state = .repeatable
    try transaction.journal([free], in: soup)
  }

  private static func mark(_ upload: UploadRecord, in soup: String, _ transaction: StoreTransaction) throws {
    let wasAsSent = try transaction.entry(upload.entryId, in: soup)?.version == upload.version
    let message =
      "the answer to the creation was lost, and records on the server do not show whether it took place; "
      + "give the entry the record's Id, or remove the entry"
    let error: JSONValue = ["errorCode": "IN_DOUBT", "statusCode": "IN_DOUBT", "message": .string(message), "fields": []]
    _ = try transaction.patch(upload.entryId, in: soup, setting: [LocalField.lastError: .string(error.text)])
    var marked = upload
    marked.state = .inDoubt
    // Setting the error does not count as an edit of the sent version.
    if wasAsSent, let entry = try transaction.entry(upload.entryId, in: soup) { marked.version = entry.version }
    try transaction.journal([marked], in: soup)
  }
}

/// The outcome for a create without an answer.
enum LostCreateVerdict: Sendable, Equatable {
  /// The script has decided: the entry is no longer marked as created, or was removed.
  case closed
  /// The script has set the record's id in the entry.
  case named(String)
  case looked(LostCreateDecision)
}

extension LostCreateVerdict {
  /// Whether the entry is not sent as it is.
  fileprivate var holdsBack: Bool {
    switch self {
    case .closed, .looked(.sendAgain), .looked(.repeatWithKey): false
    case .named, .looked: true
    }
  }
}

/// A create without an answer, with its current entry.
struct PendingCreate: Sendable {
  let upload: UploadRecord
  let lookup: SentCreate.Lookup
  let type: String
  /// The fields that were sent; nil if unknown.
  let fields: JSONObject?
  /// The fields to compare; a set that covers all creates of the target.
  let fieldNames: [String]
  /// The entry's id when it was sent; nil if unknown.
  let localId: String?
  /// nil if the server must be asked.
  let verdict: LostCreateVerdict?
  /// The key of the create, if its target uses keys.
  private(set) var key: JSONObject?
  private(set) var sent: JSONObject = [:]
  let entry: JSONObject

  init(_ upload: UploadRecord, _ sent: SentCreate, _ entry: JSONObject, isAsSent: Bool) {
    self.upload = upload
    self.entry = entry
    key = sent.key
    self.sent = sent.sent
    lookup = sent.lookup
    type = sent.type
    fields = sent.fields
    fieldNames = sent.fields.keys
    localId = sent.id
    let id = sent.lookup.fields.id(of: entry) ?? ""
    let isNamed = !id.isEmpty && id != sent.id && !id.hasPrefix(LocalField.localIdPrefix)
    verdict = PendingCreate.isOpen(entry) ? isNamed ? .named(id) : nil : .closed
  }

  /// - Parameter isAsSent: Whether the entry was not edited since.
  init(_ upload: UploadRecord, older: LostCreates.Older, _ entry: JSONObject, isAsSent: Bool) {
    let type = Projection.value(entry, LocalField.type)?.stringValue ?? "null"
    let names = (older.plan.create ?? []).filter { !$0.contains(".") }
    let known = JSONObject(names.compactMap { name in entry[name].map { (name, $0) } })
    self.upload = upload
    self.entry = entry
    lookup = older.lookup
    self.type = type
    fields = isAsSent ? SentCreate(older.lookup, type: type, id: nil, sent: known).fields : nil
    fieldNames = names
    localId = nil
    verdict = PendingCreate.isOpen(entry) ? nil : .closed
  }

  private static func isOpen(_ entry: JSONObject) -> Bool {
    entry.hasFlag(LocalField.local) && entry.hasFlag(LocalField.created)
  }
}

/// Computes when the record of a create may have been created, by the server's clock.
struct LostCreateTimes: Sendable {
  private let configuration: SyncConfiguration
  private let offset: Int64?

  init(_ environment: RunEnvironment) {
    configuration = environment.configuration
    offset = environment.clock.offsetMs
  }

  /// Returns whether a search with these times may miss what one with the other times finds.
  func isFar(from other: LostCreateTimes) -> Bool {
    abs((offset ?? 0) - (other.offset ?? 0)) > ServerClock.accuracyMs
  }

  func window(_ upload: UploadRecord) -> ClosedRange<Int64> {
    let there = upload.sentAt + (upload.clockOffset ?? offset ?? 0), here = upload.sentAt
    // A date written by a gateway may be wrong as well, so if both clocks are close, the window
    // covers both.
    let isNear = abs(there - here) <= configuration.lateCreateMs
    let first = isNear ? min(there, here) : there, last = isNear ? max(there, here) : there
    return first - configuration.clockSkewMs...last + configuration.clockSkewMs + configuration.lateCreateMs
  }
}
