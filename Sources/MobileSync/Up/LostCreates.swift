import JSON
import RestClient
import SmartStore

/// Settles the creates whose answer was lost, before anything is sent: it looks for them on the server.
struct LostCreates {
  let fields: TargetFields
  let plan: DirtyBatch.Plan
  let soupName: String
  /// Entries that point to these by their ids, local ones too.
  var references: SoupReference?

  /// Records looked at for one type. More than that in the minutes around an upload, and the creates stay in doubt.
  private static let recordsLookedAt = 10_000

  /// - Returns: Entries whose creation stays in doubt, or may still appear: they are not to be sent.
  func resolve(_ record: inout RunRecord) async throws -> Set<Int64> {
    let soup = soupName, plan = plan
    let (journal, batch) = try await record.environment.store.read { snapshot in
      let journal = try snapshot.unsettledUploads(in: soup).filter { $0.operation == .create }
      return (journal, try DirtyBatch(snapshot.entries(journal.map(\.entryId), in: soup), plan: plan))
    }
    guard !journal.isEmpty else { return [] }
    // Whoever took the flag away has decided.
    let open = (0..<batch.count).filter { batch.flags($0).isLocal && batch.flags($0).isCreated }
    var decisions: [Int64: LostCreateDecision] = [:]
    for type in Set(open.map(batch.type)).sorted() {
      let indices = open.filter { batch.type($0) == type }
      decisions.merge(try await decide(type, indices, batch, journal, record.environment)) { first, _ in first }
    }
    let appeared = record.environment.configuration.now() - record.environment.configuration.lostCreateWaitMs
    for upload in journal where decisions[upload.entryId] == .sendAgain && upload.sentAt > appeared {
      decisions[upload.entryId] = .wait
    }
    try await write(decisions, journal, &record)
    return Set(decisions.filter { $0.value == .inDoubt || $0.value == .wait }.keys)
  }

  // MARK: Looking

  private func decide(
    _ type: String, _ indices: [Int], _ batch: DirtyBatch, _ journal: [UploadRecord], _ environment: RunEnvironment
  ) async throws -> [Int64: LostCreateDecision] {
    let entries = Dictionary(uniqueKeysWithValues: journal.map { ($0.entryId, $0) })
    let comparable = (plan.create ?? []).filter { !$0.contains(".") }
    let sent = indices.map { (index: Int) -> LostCreate in
      let id = batch.entryIds[index]
      let isAsSent = entries[id]?.version == batch.versions[index]
      return LostCreate(entryId: id, sent: isAsSent ? fields(batch.entry(index), comparable) : nil)
    }
    let times = indices.compactMap { entries[batch.entryIds[$0]]?.sentAt }
    guard let first = times.min(), let last = times.max() else { return [:] }
    let asked = comparable.filter { name in sent.contains { $0.sent?[name] != nil || $0.sent == nil } }
    let candidates = try await candidates(type, asked, from: first, to: last, batch, environment)
    guard let candidates else { return Dictionary(uniqueKeysWithValues: sent.map { ($0.entryId, .inDoubt) }) }
    return LostCreateMatcher.decide(sent, candidates)
  }

  /// What a record was sent with, as far as it can be compared: no nested objects.
  private func fields(_ entry: JSONObject, _ names: [String]) -> JSONObject {
    var fields = JSONObject()
    for name in names {
      guard let value = entry[name], value.objectValue == nil, value.arrayValue == nil else { continue }
      fields[name] = value
    }
    return fields
  }

  /// Records created around the time of the upload.
  /// - Returns: nil when they cannot be looked at, or are too many.
  private func candidates(
    _ type: String, _ names: [String], from first: Int64, to last: Int64, _ batch: DirtyBatch,
    _ environment: RunEnvironment
  ) async throws -> [CreateCandidate]? {
    let configuration = environment.configuration
    let from = TimeStamp.text(first - configuration.clockSkewMs)
    let until = TimeStamp.text(last + configuration.clockSkewMs + configuration.lateCreateMs)
    let list = (["Id"] + names.filter { $0 != "Id" }).joined(separator: ",")
    let soql = "select \(list) from \(type) where CreatedDate >= \(from) and CreatedDate <= \(until)"
    var request: RestRequest? = environment.client.requests.query(soql: soql)
    var found: [JSONObject] = []
    while let next = request, found.count < LostCreates.recordsLookedAt {
      guard let page = try await page(next, environment) else { return nil }
      found += page.records
      request = page.next.map { environment.client.requests.queryMore($0) }
    }
    guard request == nil else { return nil }
    return try await marked(found, environment)
  }

  private func page(
    _ request: RestRequest, _ environment: RunEnvironment
  ) async throws -> (records: [JSONObject], next: String?)? {
    let response: RestResponse
    do {
      response = try await environment.client.send(request)
    } catch let error as RestError where error.status == 400 {
      // A field that cannot be queried: then there is no way to find out.
      environment.configuration.logger.warning("looking for lost creates: \(error.message)")
      return nil
    }
    let json = try response.json()
    guard let records = json["records"]?.arrayValue else {
      throw response.invalidBody("the answer to a query has no 'records'")
    }
    return (records.compactMap(\.objectValue), json["nextRecordsUrl"]?.stringValue)
  }

  private func marked(_ records: [JSONObject], _ environment: RunEnvironment) async throws -> [CreateCandidate] {
    let soup = soupName, idField = fields.id
    return try await environment.store.read { snapshot in
      try records.compactMap { record in
        guard let id = record["Id"]?.stringValue else { return nil }
        let known = try snapshot.entryIds(in: soup, where: idField, equals: .text(id))
        return CreateCandidate(id: id, fields: record, isKnownHere: !known.isEmpty)
      }
    }
  }

  // MARK: Writing

  private func write(
    _ decisions: [Int64: LostCreateDecision], _ journal: [UploadRecord], _ record: inout RunRecord
  ) async throws {
    let soup = soupName, idField = fields.id, references = references
    try await record.save(.synced) { transaction, state in
      for upload in journal {
        switch decisions[upload.entryId] {
        case .adopt(let id):
          let sent = SentRecord(entryId: upload.entryId, version: upload.version, action: .create)
          let before = try transaction.entry(upload.entryId, in: soup)?.object()[idField]?.stringValue
          try transaction.writeBack(
            sent, .succeeded, UploadResult(isSuccess: true, id: id), in: soup, idField: idField, madeBy: upload.syncId)
          try transaction.settle([upload.entryId], in: soup)
          if let references, let before { try transaction.redirect(references, from: before, to: id) }
        case .inDoubt:
          try LostCreates.mark(upload, in: soup, transaction)
          state.counts.inDoubt += 1
        case .wait: state.counts.inDoubt += 1
        case .sendAgain, nil:
          try transaction.settle([upload.entryId], in: soup)
        }
      }
    }
  }

  private static func mark(_ upload: UploadRecord, in soup: String, _ transaction: StoreTransaction) throws {
    let wasAsSent = try transaction.entry(upload.entryId, in: soup)?.version == upload.version
    let message =
      "the answer to the creation was lost, and records on the server do not show whether it took place; "
      + "give the entry the record's Id, or remove the entry"
    let error: JSONValue = ["errorCode": "IN_DOUBT", "statusCode": "IN_DOUBT", "message": .string(message), "fields": []]
    _ = try transaction.patch(upload.entryId, in: soup, setting: [LocalField.lastError: .string(error.text)])
    var marked = upload
    marked.inDoubt = true
    // The mark itself is no edit of what was sent.
    if wasAsSent, let entry = try transaction.entry(upload.entryId, in: soup) { marked.version = entry.version }
    try transaction.journal([marked], in: soup)
  }
}

/// Entries of a soup that name other records in a field.
struct SoupReference: Sendable {
  let soup: String
  let field: String
}

extension StoreTransaction {
  /// Lets everything that points to a record point to its new id. That is no edit: what was sent of an entry stays what was sent.
  func redirect(_ references: SoupReference, from old: String, to new: String) throws {
    guard old != new else { return }
    let ids = try entryIds(in: references.soup, where: references.field, equals: .text(old))
    guard !ids.isEmpty else { return }
    let journal = try unsettledUploads(in: references.soup)
    for id in ids {
      let before = try entry(id, in: references.soup)?.version
      _ = try patch(id, in: references.soup, setting: [references.field: .string(new)])
      guard var upload = journal.first(where: { $0.entryId == id }), upload.version == before,
        let version = try entry(id, in: references.soup)?.version
      else { continue }
      upload.version = version
      try self.journal([upload], in: references.soup)
    }
  }

  /// Writes what an answer means for its row.
  /// - Parameters:
  ///   - syncId: The sync up that makes records which a sync down will bring; nil for others.
  ///   - updated: Entries whose updates travelled with it.
  ///   - sentFields: What the server has of it now, where the answer is a good one; nil when that is not known.
  func writeBack(
    _ sent: SentRecord, _ outcome: UploadOutcome, _ result: UploadResult, in soup: String, idField: String,
    madeBy syncId: Int64?, updated: Set<Int64> = [], sentFields: (() -> JSONObject)? = nil
  ) throws {
    let entry = try entry(sent.entryId, in: soup)
    let change = WriteBack.change(
      for: sent, outcome, result, current: try entry?.object(), isUnchanged: entry?.version == sent.version,
      idField: idField)
    switch change {
    case .none: break
    case .remove: try remove([sent.entryId], from: soup)
    case .patch(let members, let keys): _ = try patch(sent.entryId, in: soup, setting: members, removing: keys)
    }
    if outcome == .succeeded, let sentFields, let entry, entry.version != sent.version {
      try raiseBase(of: sent, in: soup, by: sentFields(), result.id.map { [idField: .string($0)] } ?? [:])
    }
    guard outcome == .succeeded, sent.action == .create || sent.action == .upsert else { return }
    if let syncId { try noteMaker(syncId, of: sent.entryId, in: soup) }
    if let id = result.id {
      try takeIn(doublesOf: sent.entryId, recordId: id, in: soup, idField: idField, updated: updated)
    }
  }

  /// An entry that was edited during its upload stays dirty; what was sent is what the server last had of it.
  private func raiseBase(of sent: SentRecord, in soup: String, by fields: JSONObject, _ id: JSONObject) throws {
    guard [.create, .update, .upsert].contains(sent.action),
      let entry = try entry(sent.entryId, in: soup)?.object(), entry[LocalField.local]?.boolValue == true
    else { return }
    let old = try base(of: sent.entryId, in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
    let next = RecordMerge.base(RecordMerge.base(old, after: fields), after: id)
    try setBase(of: sent.entryId, in: soup, to: next.serialized())
  }
}
