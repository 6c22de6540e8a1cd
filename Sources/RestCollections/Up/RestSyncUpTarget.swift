import JSON
import MobileSync
import RestClient
import Synchronization

/// Uploads a soup's changes to a collection over HTTP, with one request per record.
///
/// - Note: Source: the reference of link-paged and generic JSON REST collections, section 10.4.
struct RestSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings
  let target: RestTarget
  let up: UploadRules
  private let connections: RestConnections?
  /// The number of writes that the connection allows in parallel.
  private let requestsAtOnce: Int
  private let largestBatch: Int
  /// The state of the current run.
  let memory = UploadMemory()

  /// The results of this many rounds of parallel requests are stored in one transaction.
  private static let batchesTogether = 8

  /// - Throws: ``SyncError`` `.invalidTarget`, which names the key.
  init(_ json: JSONObject, _ connections: RestConnections?) throws(SyncError) {
    let down = try RestSyncDownTarget(json, connections)
    target = down.target
    guard let up = down.target.up else {
      throw SyncError(.invalidTarget, "rest target: 'up' is missing; it says how records are created, updated and deleted")
        .at(.key("up"))
    }
    self.up = up
    self.connections = connections
    let connection = connections?.settings(of: up.connection ?? target.connection)
    requestsAtOnce = connection?.maxParallel.writes ?? 1
    // If writes are paced, store each result at once.
    let isPaced = max(up.pauseMs, connection?.pauseMs ?? 0) > 0
    largestBatch = requestsAtOnce * (isPaced ? 1 : RestSyncUpTarget.batchesTogether)
    settings = UploadSettings(
      json: down.target.json, fields: down.fields,
      create: RestSyncUpTarget.members(up.create), update: RestSyncUpTarget.members(up.update),
      maxBatchSize: requestsAtOnce,
      lostCreateWaitMs: up.create?.once?.lookup.map { Int64($0.waitMs) })
  }

  /// The top-level members that an operation sends; empty if it sends all.
  private static func members(_ operation: UploadOperation?) -> [String] {
    guard case .fields(let fields)? = operation?.content else { return [] }
    var names: [String] = []
    for field in fields {
      guard case .path(let path) = field.source, let name = path.firstMember, !names.contains(name) else { continue }
      names.append(name)
    }
    if let name = operation?.unlistedUnique?.firstMember, !names.contains(name) { names.append(name) }
    return names
  }

  // MARK: Properties for the engine

  func sendable(_ plan: DirtyBatch.Plan) -> SendableMembers {
    up.update?.sendable ?? SendableMembers(paths: nil, sendsRemovals: true)
  }

  /// A batch of creates is limited to the requests in flight, and its results are stored before the
  /// next batch. If the process is killed, no more creates than that remain uncertain.
  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.map { UploadGroup(uploads: [$0]) } }

  var traits: UploadTraits {
    UploadTraits {
      $0.sendsCreatesFirst = true
      // If the record was not read before, the response to an update decides.
      $0.answersForItself = true
      $0.keysCreates = up.create?.once != nil
      $0.comparesFields = readsBeforeSending
      $0.requestsAtOnce = requestsAtOnce
      $0.largestBatch = largestBatch
    }
  }

  var references: [EntryReference] {
    up.dependencies.compactMap { dependency in
      dependency.path.memberNames.map { EntryReference(path: $0.joined(separator: "."), soup: dependency.soup) }
    }
  }

  func keepsOrder(in soup: String) -> Bool { up.dependencies.contains { $0.soup == soup } }

  /// Whether to read records before sending them. A tag in the entry makes this unnecessary.
  private var readsBeforeSending: Bool {
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
    let exchange = RecordExchange(target, up, try connection(), context)
    let bases = try await context.bases(of: group.indices.map { batch.entryIds[$0] })
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

  /// Replaces local ids of parents in the entry by the ids that the server assigned.
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
        var waiting = UploadResult(isSuccess: false, error: .object(error), says: [])
        waiting.waitsForReference = true
        return .waits(waiting)
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
    guard up.hasRead, readsBeforeSending else { return indices.map { _ in .unchanged } }
    let versions = try await remoteVersions(type: type, indices, fields: [], of: batch, in: context)
    return versions.map { version in
      switch version {
      case .deleted: .deleted
      // The reason is reported when the record's turn to be sent comes.
      case .unknown: .unchanged
      case .record(let record):
        fields.stamp(of: record).map { .modified($0) } ?? .unchanged
      }
    }
  }

  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion] {
    guard let read = up.read else { return indices.map { _ in .unknown } }
    let exchange = RecordExchange(target, up, try connection(), context)
    let bases = try await context.bases(of: indices.map { batch.entryIds[$0] })
    let rows = indices.map { UploadRow(batch.entry($0), base: bases[batch.entryIds[$0]], key: nil, target) }
    return try await withThrowingTaskGroup(of: (Int, ServerVersion?).self) { tasks in
      var versions = [ServerVersion](repeating: .unknown, count: rows.count), next = 0, isPlanned = false
      func begin() {
        let n = next, row = rows[n]
        next += 1
        tasks.addTask { (n, try await version(of: row, read, exchange)) }
      }
      while next < min(rows.count, requestsAtOnce) { begin() }
      while let (n, version) = try await tasks.next() {
        if let version { versions[n] = version } else { isPlanned = true }
        if next < rows.count { begin() }
      }
      // Each record has its own request; all of them were noted.
      if isPlanned { throw UploadNotSent(RequestPlanned()) }
      return versions
    }
  }

  func wholeRecords(
    _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [Int: JSONObject] {
    indices.reduce(into: [:]) { whole, i in whole[i] = batch.serverId(i).flatMap(memory.whole) }
  }

  /// - Returns: nil if the request was only noted for a plan.
  private func version(of row: UploadRow, _ read: RecordRead, _ exchange: RecordExchange) async throws -> ServerVersion? {
    let id = row.serverId ?? ""
    do {
      switch try await exchange.read(read, row) {
      case .gone:
        memory.note(gone: id)
        return .deleted
      case .found(let found):
        memory.note(tag: found.tag, of: id)
        let record = try await exchange.computed(found.members)
        memory.note(whole: record, added: added(record, row), of: id)
        return .record(compared(record, row))
      case .refused(let error):
        memory.note(unreadable: "the record could not be read before the change: \(error.message)", id)
      }
    } catch let error as RecordExchange.MissingValue {
      memory.note(unreadable: "the record could not be read before the change: \(error.message)", id)
    } catch  where error.isPlanned {
      memory.note(tag: nil, of: id)
      return nil
    }
    return .unknown
  }

  /// Returns the members to compare. These are the members sent and, if the record's date (or its
  /// tag, without a date) differs from the entry's, also the others that the entry has. A record
  /// read on its own may have members that the list does not show.
  private func compared(_ record: JSONObject, _ row: UploadRow) -> JSONObject {
    let marks = [target.items.idField, target.items.dateField].compactMap { $0?.firstMember }
    let sent = IdSet((settings.updateFieldlist ?? []) + marks + fields.others), isSame = hasMarks(of: record, row)
    let isListed = !(settings.updateFieldlist ?? []).isEmpty
    return record.filtered { key, _ in
      sent.contains(key) || (!isSame || !isListed) && (row.entry[key] != nil || row.base?[key] != nil)
    }
  }
}

extension RestSyncUpTarget {
  /// Returns whether the record has the date, or without dates the tag, of the entry.
  private func hasMarks(of record: JSONObject, _ row: UploadRow) -> Bool {
    let known = JSONValue.object(row.base ?? row.entry), tag = up.tag.path.headerName == nil ? up.tag.path : nil
    guard let path = target.items.dateField ?? tag else { return true }
    return path.value(in: known).map { $0 == path.value(in: .object(record)) } ?? false
  }

  /// Returns the members that another client has added. A request with the whole item would remove them.
  private func added(_ record: JSONObject, _ row: UploadRow) -> JSONObject {
    guard let base = row.base, !hasMarks(of: record, row) else { return [:] }
    return record.filtered { key, _ in row.entry[key] == nil && base[key] == nil }
  }
}

/// What one run knows about the records it uploads. Threads: any.
final class UploadMemory: Sendable {
  private struct State {
    var tags: IdMap<String> = [:]
    /// Records that were read in this run, with or without a tag.
    var seen: IdSet = []
    var unreadable: IdMap<String> = [:]
    var gone: IdSet = []
    /// The records as they were read last.
    var whole: IdMap<JSONObject> = [:]
    /// Members that other clients have added to these records.
    var added: IdMap<JSONObject> = [:]
    /// The conditions of refused writes.
    var refused: IdMap<String> = [:]
    var hasTags: Bool?
    var recreated = 0
  }

  private let state = Mutex(State())

  /// - Parameter tag: nil if the record has none.
  func note(tag: String?, of id: String) {
    state.withLock {
      $0.tags[id] = tag
      $0.seen.insert(id)
      $0.unreadable[id] = nil
      $0.gone.remove(id)
    }
  }

  /// Discards outdated knowledge about a record.
  func forget(_ id: String) {
    state.withLock {
      $0.tags[id] = nil
      $0.seen.remove(id)
    }
  }

  /// Keeps the last records that were read: those of the batch that is compared.
  func note(whole record: JSONObject, added: JSONObject, of id: String) {
    state.withLock { state in
      if state.whole.count >= UploadMemory.mostWhole { (state.whole, state.added) = ([:], [:]) }
      state.whole[id] = record
      state.added[id] = added.isEmpty ? nil : added
    }
  }

  private static let mostWhole = 500

  func whole(_ id: String) -> JSONObject? { state.withLock { $0.whole[id] } }
  func added(to id: String) -> JSONObject { state.withLock { $0.added[id] } ?? [:] }

  func wasSeen(_ id: String) -> Bool { state.withLock { $0.seen.contains(id) } }

  /// Records that the server does not have a record.
  func note(gone id: String) { _ = state.withLock { $0.gone.insert(id) } }

  func isGone(_ id: String) -> Bool { state.withLock { $0.gone.contains(id) } }

  func tag(of id: String) -> String? { state.withLock { $0.tags[id] } }

  /// Records why a record could not be read.
  func note(unreadable reason: String, _ id: String) { state.withLock { $0.unreadable[id] = reason } }

  func whyUnreadable(_ id: String) -> String? { state.withLock { $0.unreadable[id] } }

  /// Records that the server reported a conflict for a write.
  ///
  /// - Parameter condition: The headers of the write's condition; empty without one.
  /// - Returns: The condition of an earlier refused write of the record, although the engine has
  ///   found no conflict since; nil if there was none.
  func noteConflict(_ id: String, _ condition: String) -> String? {
    state.withLock { state in
      defer { state.refused[id] = condition }
      return state.refused[id]
    }
  }

  /// Whether records may have tags: the first one that was read decides.
  var mayHaveTags: Bool { state.withLock { $0.hasTags ?? true } }

  func note(hasTags: Bool) { state.withLock { $0.hasTags = $0.hasTags ?? hasTags } }

  /// Counts a record that must be created again.
  ///
  /// - Returns: The count so far.
  func countRecreated() -> Int {
    state.withLock {
      $0.recreated += 1
      return $0.recreated
    }
  }
}
