import JSON
import MobileSync
import RestClient
import Synchronization

/// A collection over HTTP as the destination of a soup's changes: one request a record.
///
/// - Note: Source: the reference of link-paged and generic JSON REST collections, section 10.4.
struct RestSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings
  let target: RestTarget
  let up: UploadRules
  private let connections: RestConnections?
  /// Of this run.
  let memory = UploadMemory()

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject, _ connections: RestConnections?) throws(SyncError) {
    let down = try RestSyncDownTarget(json, connections)
    target = down.target
    guard let up = down.target.up else {
      throw SyncError(.invalidTarget, "rest target: 'up' is missing; it says how records are created, updated and deleted")
        .at(.key("up"))
    }
    self.up = up
    self.connections = connections
    if let name = up.connection {
      do {
        try connections.check(name, label: "rest target, up")
      } catch {
        throw error.at(.key("up"))
      }
    }
    let tag = up.tag.path.steps.flatMap { _ in up.tag.path.firstMember }
    settings = UploadSettings(
      json: down.target.json,
      fields: TargetFields(id: down.fields.id, modificationDate: down.fields.modificationDate, others: tag.map { [$0] } ?? []),
      create: RestSyncUpTarget.members(up.create), update: RestSyncUpTarget.members(up.update), maxBatchSize: 1,
      lostCreateWaitMs: up.create?.once?.lookup.map { Int64($0.waitMs) })
  }

  /// The first-level members that an operation sends; none where it sends them all.
  private static func members(_ operation: UploadOperation?) -> [String] {
    guard case .fields(let fields)? = operation?.content else { return [] }
    var names: [String] = []
    for field in fields {
      guard case .path(let path) = field.source, let name = path.firstMember, !names.contains(name) else { continue }
      names.append(name)
    }
    return names
  }

  // MARK: Answers to the engine

  /// What was sent is written back before the next record goes: a process that is killed leaves one create open at most.
  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.map { UploadGroup(uploads: [$0]) } }

  var sendsCreatesFirst: Bool { true }
  /// Without a look before, the answer to an update decides.
  var answersForItself: Bool { true }
  var keysCreates: Bool { up.create?.once != nil }

  /// Records are looked at before they are sent; a tag that stands in the entry makes that needless.
  var comparesFields: Bool {
    switch up.precondition {
    case .check: true
    case .ifMatch, .ifUnmodifiedSince: up.tag.path.headerName != nil && up.hasRead
    case .none: false
    }
  }

  func connection() throws -> RestConnection {
    try connections.connection(named: up.connection ?? target.connection, label: "rest target, up")
  }

  // MARK: Sending

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    let exchange = RecordExchange(target, up, try connection(), context), bases = try await context.bases(of: batch.entryIds)
    var results: [UploadResult] = []
    for upload in group.uploads {
      let entryId = batch.entryIds[upload.index]
      let entry: JSONObject
      switch try await withParents(batch.entry(upload.index), upload.action, context) {
      case .sent(let found): entry = found
      case .waits(let result):
        results.append(result)
        continue
      }
      let row = UploadRow(
        entry, base: bases[entryId], key: context.createKeys[entryId], isCreate: upload.action == .create,
        target)
      var result = try await RecordUpload(exchange: exchange, memory: memory, row: row).send(upload.action)
      result.keepsLocalId = upload.action == .create
      if result.isSuccess, upload.action != .delete { addParents(of: entry, to: &result) }
      results.append(result)
    }
    return results
  }

  // MARK: Parents

  private enum Parents {
    case sent(JSONObject)
    /// A parent has no id yet.
    case waits(UploadResult)
  }

  /// The entry with the ids that the server gave to records it names.
  private func withParents(_ given: JSONObject, _ action: UploadAction, _ context: UploadContext) async throws -> Parents {
    var entry = given
    guard action != .delete else { return .sent(entry) }
    for dependency in up.dependencies {
      guard let local = dependency.path.value(in: .object(entry))?.stringValue, local.hasPrefix(LocalField.localIdPrefix)
      else { continue }
      guard let id = try await context.assignedId(for: local, in: dependency.soup) else {
        let message =
          "'\(dependency.path.text)' names '\(local)' of the soup '\(dependency.soup)', which has not been created yet"
        let error = RefusalDetails.failure(message, code: "WAITS_FOR_PARENT", at: context.configuration.now())
        return .waits(UploadResult(isSuccess: false, error: .object(error), says: []))
      }
      entry.set(.string(id), at: dependency.path.memberNames ?? [])
    }
    return .sent(entry)
  }

  private func addParents(of entry: JSONObject, to result: inout UploadResult) {
    for dependency in up.dependencies {
      guard let name = dependency.path.firstMember, result.record?[name] == nil, let value = entry[name] else { continue }
      var record = result.record ?? [:]
      record[name] = value
      result.record = record
    }
  }

  // MARK: Comparing

  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord] {
    guard up.hasRead, comparesFields else { return indices.map { _ in .unchanged } }
    let versions = try await remoteVersions(type: type, indices, fields: [], of: batch, in: context)
    return versions.map { version in
      switch version {
      case .deleted: .deleted
      case .unknown: .unknown
      case .record(let record):
        record[fields.modificationDate]?.stringValue.flatMap { TimeStamp.milliseconds($0) }.map { .modified($0) } ?? .unchanged
      }
    }
  }

  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion] {
    guard let read = up.read else { return indices.map { _ in .unknown } }
    let exchange = RecordExchange(target, up, try connection(), context)
    let bases = try await context.bases(of: indices.map { batch.entryIds[$0] })
    var versions: [ServerVersion] = []
    for i in indices {
      let row = UploadRow(batch.entry(i), base: bases[batch.entryIds[i]], key: nil, target)
      switch try await exchange.read(read, row) {
      case .gone: versions.append(.deleted)
      case .refused: versions.append(.unknown)
      case .found(let found):
        if let id = row.serverId { memory.note(tag: found.tag, of: id) }
        versions.append(.record(compared(found.members, row)))
      }
    }
    return versions
  }

  /// What is compared of a record: what is sent, and once its date, or without one its tag, is another than the entry's also what
  /// the entry was made from. A record that is read alone may have members that the list does not show.
  private func compared(_ record: JSONObject, _ row: UploadRow) -> JSONObject {
    let sent = Set((settings.updateFieldlist ?? []) + [fields.id, fields.modificationDate] + fields.others)
    let known = row.base ?? row.entry
    let mark = target.items.dateField == nil ? fields.others.first : fields.modificationDate
    let isSame = mark.map { known[$0] != nil && known[$0] == record[$0] } ?? true
    let isListed = !(settings.updateFieldlist ?? []).isEmpty
    return record.filtered { key, _ in
      sent.contains(key) || (!isSame || !isListed) && (row.entry[key] != nil || row.base?[key] != nil)
    }
  }
}

/// What one run knows of the records that it sends. Any thread.
final class UploadMemory: Sendable {
  private let state = Mutex<(tags: [String: String], recreated: Int)>(([:], 0))

  /// - Parameter tag: nil when the record has none.
  func note(tag: String?, of id: String) { state.withLock { $0.tags[id] = tag } }

  func tag(of id: String) -> String? { state.withLock { $0.tags[id] } }

  /// Counts a record that has to be made anew.
  /// - Returns: How many there are by now.
  func countRecreated() -> Int {
    state.withLock {
      $0.recreated += 1
      return $0.recreated
    }
  }
}
