import JSON
import MobileSync
import RestClient
import Synchronization

/// Uploads a soup's changes to a class of a Parse server in batches.
struct ParseSyncUpTarget: SyncUpTarget {
  let settings: UploadSettings
  let target: ParseTarget
  let rules: UpRules
  private let connections: RestConnections?
  /// The state of the current run.
  let memory = UploadMemory()

  /// - Throws: ``SyncError`` `.invalidTarget`, which names the key.
  init(_ json: JSONObject, _ connections: RestConnections?) throws(SyncError) {
    target = try ParseTarget(json)
    rules = try UpRules(json, target)
    try ParseExchange.check(target.connection, connections)
    self.connections = connections
    settings = UploadSettings(
      json: target.json, fields: ParseTarget.fields, create: rules.createFields, update: rules.updateFields,
      maxBatchSize: rules.maxBatchSize, lostCreateWaitMs: rules.lostCreateWaitMs)
  }

  // MARK: Properties for the engine

  var traits: UploadTraits {
    UploadTraits {
      $0.sendsCreatesFirst = true
      $0.keysCreates = rules.clientKeyField != nil || !rules.uniqueBy.isEmpty
      // Parse Server does not support conditional requests.
      $0.updatesWithCondition = false
      $0.isNamedByOthers = true
      $0.comparedAhead = Tuning.stampIds
    }
  }

  var references: [EntryReference] {
    target.pointers.compactMap { rule in rule.soup.map { EntryReference(path: rule.field + ".objectId", soup: $0) } }
  }

  /// The soups of link rows.
  var companions: [UploadCompanion] {
    var soups: [(name: String, rules: [RelationRule])] = []
    for rule in target.ownRelations + target.mirrors.filter({ !target.ownRelations.contains($0) }) {
      guard case .links(let soup) = rule.storage else { continue }
      if let i = soups.firstIndex(where: { $0.name == soup }) {
        soups[i].rules.append(rule)
      } else {
        soups.append((soup, [rule]))
      }
    }
    return soups.map { name, rules in
      UploadCompanion(soup: name, target: LinkUpTarget(target, rules, connections, memory))
    }
  }

  /// A column that an entry has lost is deleted; a relation may be a list of ids in the entry.
  func sendable(_ plan: DirtyBatch.Plan) -> SendableMembers {
    let lists = target.ownRelations.compactMap { rule -> String? in
      if case .ids(let list) = rule.storage { list } else { nil }
    }
    return SendableMembers(fields: (plan.update ?? []) + lists, sendsRemovals: true)
  }

  func prepared(in context: UploadContext) async throws -> any SyncUpTarget {
    memory.soup = context.origin?.soup
    return self
  }

  func exchange(_ context: UploadContext) throws -> ParseExchange {
    var exchange = try ParseExchange(connections, named: target.connection, context.control, pin: memory.pin)
    exchange.intent = context.intent
    return exchange
  }

  // MARK: Sending

  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup] { uploads.isEmpty ? [] : [UploadGroup(uploads: uploads)] }

  /// Splits uploads so that an entry that refers to another new one is in a later batch, because
  /// the server runs all items of a batch at once.
  func groups(_ uploads: [PlannedUpload], of batch: DirtyBatch) -> [UploadGroup] {
    var groups: [UploadGroup] = [], open: [PlannedUpload] = [], made = IdSet()
    func close() {
      if !open.isEmpty { groups.append(UploadGroup(uploads: open)) }
      open = []
      made = []
    }
    for upload in uploads {
      let names = IdSet(LocalPointers.find(in: batch.entry(upload.index), target).map(\.pointer.objectId))
      // A new password ends the session of all other items in the batch.
      let isAlone = changesPassword(upload.index, of: batch)
      if open.count >= rules.maxBatchSize || !names.isDisjoint(with: made) || isAlone { close() }
      open.append(upload)
      if isAlone { close() }
      if upload.action == .create, let id = batch.recordId(upload.index) { made.insert(id) }
    }
    close()
    return groups
  }

  func goesLast(_ i: Int, of batch: DirtyBatch) -> Bool { changesPassword(i, of: batch) }

  private func changesPassword(_ i: Int, of batch: DirtyBatch) -> Bool {
    target.className == "_User" && batch.action(i) == .update && batch.plan.update?.contains("password") == true
      && batch.entry(i)["password"] != nil
  }

  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult] {
    try memory.check()
    return try await GroupUpload(target: self, exchange: try exchange(context), context: context, batch: batch).send(group)
  }

  // MARK: Comparing

  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord] {
    let versions = try await remoteVersions(type: type, indices, fields: [fields.modificationDate], of: batch, in: context)
    return versions.map { version in
      switch version {
      case .deleted: .deleted
      case .unknown: .unknown
      case .record(let record):
        record[fields.modificationDate]?.stringValue.flatMap { TimeStamp.milliseconds($0) }.map { .modified($0) } ?? .unknown
      }
    }
  }

  func wholeRecords(
    _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [Int: JSONObject] {
    let ids = IdSet(indices.compactMap(batch.serverId)).sorted()
    let found = try await exchange(context).objects(ids, in: target.className, keys: nil, chunk: Tuning.stampIds)
    return indices.reduce(into: [:]) { whole, i in
      whole[i] = batch.serverId(i).flatMap { found[$0] }.map(ParseSyncUpTarget.stored)
    }
  }

  /// Returns an object as a soup stores it.
  static func stored(_ object: JSONObject) -> JSONObject {
    object.filtered { key, value in !PageEditor.isRelationMarker(value) && key != "sessionToken" }
  }

  /// Objects that are missing from the response are deleted or hidden; the server does not say
  /// which.
  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion] {
    let ids = indices.map { batch.serverId($0) ?? "" }
    let columns = fields.filter { ParseNames.isPath($0) && !$0.contains(".") }
    let found = try await exchange(context).objects(
      IdSet(ids).subtracting([""]).sorted(), in: target.className, keys: columns, chunk: Tuning.stampIds)
    return ids.map { id in
      found[id].map { .record(ParseSyncUpTarget.stored($0)) } ?? .deleted
    }
  }
}

/// What one run knows about its uploads. Threads: any.
final class UploadMemory: Sendable {
  private struct State {
    var assigned: IdMap<String> = [:]
    var failed = IdSet()
    var uniqueValues = IdSet()
    var batchSize = Tuning.batchOperations
    var end: (any Error)?
    var soup: String?
  }

  private let state: Mutex<State> = Mutex(State())
  let pin = SessionPin()

  /// - Throws: An earlier error that concerns all further records.
  func check() throws { if let end = state.withLock({ $0.end }) { throw end } }

  /// Stops the run: nothing further is sent.
  func end(_ error: any Error) { state.withLock { $0.end = $0.end ?? error } }

  func note(_ id: String, for localId: String) { state.withLock { $0.assigned[localId] = id } }
  func assignedId(for localId: String) -> String? { state.withLock { $0.assigned[localId] } }

  func noteFailure(of localId: String) { state.withLock { _ = $0.failed.insert(localId) } }
  func hasFailed(_ localId: String) -> Bool { state.withLock { $0.failed.contains(localId) } }

  /// - Returns: False if another record of the run has these values.
  func claim(_ values: String) -> Bool { state.withLock { $0.uniqueValues.insert(values).inserted } }

  /// The soup of the sync.
  var soup: String? {
    get { state.withLock { $0.soup } }
    set { state.withLock { $0.soup = newValue } }
  }

  var batchSize: Int { state.withLock { $0.batchSize } }
  func lowerBatchSize(to size: Int) { state.withLock { $0.batchSize = max(1, min($0.batchSize, size)) } }
}
