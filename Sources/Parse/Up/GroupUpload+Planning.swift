import JSON
import MobileSync
import RestClient
import SmartStore

/// Decides what to send of each entry, and which entries not to send.
extension GroupUpload {
  func plans(_ group: UploadGroup) async throws -> [Plan] {
    let encoder = try encoder(), bases = try await context.bases(of: group.indices.map { batch.entryIds[$0] })
    var plans: [Plan] = [], rows: [RowUpload] = []
    for upload in group.uploads {
      let entryId = batch.entryIds[upload.index], entry = batch.entry(upload.index)
      let row = RowUpload(
        upload: upload, entry: entry, resolved: entry, base: bases[entryId], key: context.createKeys[entryId])
      let plan = try await plan(row, encoder)
      plans.append(plan)
      if case .row(let row) = plan { rows.append(row) }
    }
    try await MirrorQueue(target: target.target, context: context).note(rows)
    return plans
  }

  private func plan(_ given: RowUpload, _ encoder: RecordEncoder) async throws -> Plan {
    var row = given
    row.isCurrent = isCurrent(row)
    if let error = try row.refusedBefore() { return .done(UploadResult(isSuccess: false, error: error, says: [])) }
    do {
      if row.upload.action == .delete {
        row.request = try deletion(row)
        return .row(row)
      }
      if let waiting = try await resolve(&row) { return .done(waiting) }
      if let refused = try await uploadFiles(&row) { return .done(refused) }
      row.request = row.upload.action == .create ? try await creation(&row, encoder) : try await update(&row, encoder)
      return .row(row)
    } catch let known as KnownResult {
      return .done(known.result)
    } catch let problem as ParseProblem {
      return .done(try row.failed(problem.description, at: now, isLasting: true))
    } catch let error as RestError where error.code == .httpStatus && error.status.map({ $0 < 500 && $0 != 429 }) ?? false {
      // The check before a create was refused, so an equal object may exist.
      guard let refusal = ServerRefusal(error) else { throw error }
      return .done(try row.failed(refusal, at: now, isLasting: false))
    }
  }

  /// An update of an object that was not compared, or that the server shows with another date than the entry has, may
  /// leave columns behind that other clients have changed.
  private func isCurrent(_ row: RowUpload) -> Bool {
    guard row.upload.action == .update, let id = batch.serverId(row.upload.index) else { return true }
    let date = row.entry["updatedAt"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
    return date != nil && context.mergeMode != .overwrite && context.datesSeen[id] == date
  }

  private func deletion(_ row: RowUpload) throws(ParseProblem) -> ObjectRequest {
    let id = batch.serverId(row.upload.index) ?? ""
    guard let field = target.target.deletedField else { return try .delete(className, id) }
    return try .update(className, id, [field: true])
  }

  /// Replaces local ids by assigned ones.
  ///
  /// - Returns: Why the entry must wait; nil if it can be sent.
  private func resolve(_ row: inout RowUpload) async throws -> UploadResult? {
    let sent = IdSet((row.upload.action == .create ? batch.plan.create : batch.plan.update) ?? [])
    var ids: IdMap<String> = [:]
    for found in LocalPointers.find(in: row.entry, target.target) where sent.contains(found.field) {
      let local = found.pointer.objectId
      if let id = try await knownId(local, found.soup) {
        ids[local] = id
      } else if row.upload.action == .create, try await isCircle(found, row) {
        row.resolved[found.field] = nil
        row.leftOut.insert(found.field)
        row.isPartial = true
      } else if try await isLost(found) {
        row.resolved[found.field] = row.resolved[found.field].flatMap { LocalPointers.removing(local, from: $0) }
      } else {
        var waiting = try row.failed("waiting for \(found.pointer.className)/\(local)", at: now)
        waiting.waitsForReference = true
        return waiting
      }
    }
    if !ids.isEmpty { for (key, value) in row.resolved { row.resolved[key] = LocalPointers.resolved(value, ids) } }
    return nil
  }

  /// Whether the entry referred to was removed before it was sent, so that there will never be an object.
  private func isLost(_ found: LocalPointers.Found) async throws -> Bool {
    let own = found.pointer.className == className ? context.origin?.soup : nil
    guard let soup = found.soup ?? own, let origin = context.origin else { return false }
    return try await origin.store.read { try LocalPointers.isLost(found.pointer.objectId, in: soup, $0) }
  }

  /// Uploads files before the objects that refer to them.
  ///
  /// - Returns: Why the entry cannot be sent.
  private func uploadFiles(_ row: inout RowUpload) async throws -> UploadResult? {
    let sent = (row.upload.action == .create ? batch.plan.create : batch.plan.update) ?? []
    let uploads = FileUploads(exchange: exchange, context: context, entryId: batch.entryIds[row.upload.index])
    do {
      for field in sent {
        guard let value = row.resolved[field], PendingFile.isIn(value) else { continue }
        row.resolved[field] = try await uploads.uploaded(value)
      }
      return nil
    } catch let error as RestError where error.code == .httpStatus {
      guard let refusal = ServerRefusal(error), refusal.flagsFile else { throw error }
      return try row.failed(refusal, at: now, isLasting: true)
    }
  }

  private func knownId(_ local: String, _ soup: String?) async throws -> String? {
    if let id = memory.assignedId(for: local) { return id }
    guard let soup = soup ?? context.origin?.soup else { return nil }
    return try await context.assignedId(for: local, in: soup)
  }

  /// Whether the entry referred to waits for this one, or is created later in this run. One of them
  /// is then created first, and its pointer follows in an update.
  private func isCircle(_ found: LocalPointers.Found, _ row: RowUpload) async throws -> Bool {
    let local = found.pointer.objectId
    guard !memory.hasFailed(local), let origin = context.origin, let own = row.localId else { return false }
    if local == own { return true }
    let soup = found.soup ?? origin.soup
    let named = try await origin.store.read { snapshot -> JSONObject? in
      guard try snapshot.soupExists(soup) else { return nil }
      return try snapshot.entryIds(in: soup, where: "objectId", equals: .text(local)).first
        .flatMap { try snapshot.entry($0, in: soup)?.object() }
    }
    guard let named, named.hasFlag(LocalField.created), !named.hasFlag(LocalField.deleted) else { return false }
    if soup == origin.soup { return true }
    return named.contains { _, value in value.names(own) }
  }

  private func creation(_ row: inout RowUpload, _ encoder: RecordEncoder) async throws -> ObjectRequest? {
    if let field = row.key?["field"]?.stringValue, let value = row.key?["value"] { row.resolved[field] = value }
    let write = try encoder.create(row.resolved)
    // Relation changes follow the create: an error in them, after the insert, would look like a
    // failed create.
    if try await !relations(of: &row, base: nil).isEmpty { row.isPartial = true }
    switch try await UniqueCheck(target: target, exchange: exchange).look(row) {
    case .free: return try .create(className, write.body)
    case .taken(let id?) where target.rules.onDuplicate == .adopt:
      row.adopted = id
      return try adoption(id, write.body)
    case .taken: throw try duplicate(row)
    }
  }

  /// Makes the update of an adopted object. The object keeps its client key, because its creator
  /// may still search for it, and its ACL unless `ACL` is in the field list.
  ///
  /// - Returns: nil if there is nothing to send.
  func adoption(_ id: String, _ body: JSONObject) throws(ParseProblem) -> ObjectRequest? {
    var body = body
    if let field = target.rules.clientKeyField { body[field] = nil }
    if batch.plan.create?.contains("ACL") != true { body["ACL"] = nil }
    return body.isEmpty ? nil : try .update(className, id, body)
  }

  private func duplicate(_ row: RowUpload) throws -> KnownResult {
    let fields = target.rules.uniqueBy.map { $0.map { "'\($0)'" }.joined(separator: " and ") }.joined(separator: ", or ")
    return KnownResult(
      result: try row.failed(
        "class \(className) has an object with the same \(fields) already; change it, or set 'onDuplicate'",
        code: ServerCode.duplicateValue.rawValue, at: now))
  }

  private func update(_ row: inout RowUpload, _ encoder: RecordEncoder) async throws -> ObjectRequest? {
    var body = try encoder.update(row.resolved, from: row.base)?.body ?? [:]
    for (field, operation) in try await relations(of: &row, base: row.base) { body[field] = operation }
    guard !body.isEmpty else { return nil }
    return try .update(className, batch.serverId(row.upload.index) ?? "", body)
  }

  /// Returns the operations for relations that are stored as lists of ids.
  private func relations(of row: inout RowUpload, base: JSONObject?) async throws -> JSONObject {
    var operations = JSONObject()
    for rule in target.target.ownRelations {
      guard case .ids(let list) = rule.storage, let now = row.resolved[list]?.arrayValue else { continue }
      var ids: [String] = []
      for id in now.compactMap(\.stringValue) {
        guard id.hasPrefix(LocalField.localIdPrefix) else {
          ids.append(id)
          continue
        }
        ids.append(try await knownId(id, rule.soup) ?? id)
      }
      row.resolved[list] = .array(ids.sorted().map { .string($0) })
      let before = IdSet((base?[list]?.arrayValue ?? []).compactMap(\.stringValue))
      let change = RelationChange(field: rule.field, className: rule.className, from: before, to: IdSet(ids))
      if let operation = change.operation { operations[rule.field] = operation }
    }
    return operations
  }

  private func encoder() throws -> RecordEncoder {
    let rules = target.rules
    return try ParseTarget.checked("createFieldlist") { [batch, className] () throws(ParseProblem) in
      let list = { (fields: [String]?) in (fields ?? []).filter { $0 != "objectId" } }
      return try RecordEncoder(
        className: className, createFields: list(batch.plan.create), updateFields: list(batch.plan.update),
        clientKeyField: rules.clientKeyField)
    }
  }
}

extension JSONValue {
  /// Whether the value contains a pointer to an object.
  fileprivate func names(_ id: String) -> Bool {
    switch self {
    case .array(let items): items.contains { $0.names(id) }
    case .object(let members): members["objectId"]?.stringValue == id || members.contains { $0.value.names(id) }
    default: false
    }
  }
}
