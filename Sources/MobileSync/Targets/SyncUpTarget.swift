import JSON
import RestClient
import SmartStore

/// How local changes reach the server. It sends; choosing, journalling and writing back belong to the sync.
package protocol SyncUpTarget: Sendable {
  var settings: UploadSettings { get }

  /// Whether a create without an answer is looked for on the server before it is sent again.
  var looksForLostCreates: Bool { get }

  /// Whether its answer to an update is all there is to know about a record.
  var answersForItself: Bool { get }

  /// How many entries are compared with the server in one look, where that is more than a batch.
  var comparedAhead: Int { get }

  /// Whether what the server has is best known by the values of its fields, not by what ``remoteRecords`` says.
  var comparesFields: Bool { get }

  /// Whether the server makes an update only while the record is as old as ``UploadContext/date(of:in:)`` says.
  var updatesWithCondition: Bool { get }

  /// Whether creates carry something by which a repeated one is recognised; see ``createKeys(_:of:known:in:)``.
  var keysCreates: Bool { get }

  /// Whether creates go before updates, and deletes go last.
  var sendsCreatesFirst: Bool { get }

  /// Whether an update goes behind everything else of a run, where ``sendsCreatesFirst`` orders it: it changes how the rest is
  /// sent.
  func goesLast(_ i: Int, of batch: DirtyBatch) -> Bool

  /// Where its entries name other ones. Entries are created behind those of their own soup that they name.
  var references: [EntryReference] { get }

  /// Whether entries of other syncs may name its own by local ids: then those are looked for and follow.
  var isNamedByOthers: Bool { get }

  /// Further soups that go with the entries, and are sent behind them.
  var companions: [UploadCompanion] { get }

  /// How many groups of a batch may be on their way at once. Those of one record go one after the other all the same.
  var requestsAtOnce: Int { get }

  /// How many entries are written back together where no create is among them and none is compared before it goes: what is sent
  /// again after the process was killed does no harm then.
  var largestBatch: Int { get }

  /// Whether the entries of a soup go one at a time, as they were made: some of them name others of the same soup.
  func keepsOrder(in soup: String) -> Bool

  /// What identifies creates, as it is written down before they are sent and stays the same until one is answered.
  /// - Parameters:
  ///   - indices: The creates of the batch.
  ///   - known: Keys of creates that were sent before without an answer, by entry id.
  /// - Returns: Keys by entry id.
  /// - Throws: `RestError`, ``SyncError``.
  func createKeys(
    _ indices: [Int], of batch: DirtyBatch, known: [Int64: JSONObject], in context: UploadContext
  ) async throws -> [Int64: JSONObject]

  /// What became of a create with a key whose answer was lost.
  /// - Throws: `RestError`, ``SyncError``.
  func find(_ lost: LostKeyedCreate, in context: UploadContext) async throws -> LostKeyedCreate.Finding

  /// The target as a run uses it: what has to be found out first is found out.
  func prepared(in context: UploadContext) async throws -> any SyncUpTarget

  /// Splits the uploads of a batch into requests, in the order they are sent.
  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup]

  /// The same, for a target that looks at the entries.
  func groups(_ uploads: [PlannedUpload], of batch: DirtyBatch) -> [UploadGroup]

  /// Sends one group.
  /// - Returns: One result for each record of the group, in its order.
  /// - Throws: `RestError` when the request as a whole failed; its `outcome` says whether the server may have acted.
  ///   ``UploadCutShort`` when some records are done with.
  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult]

  /// What the server has of some records, all of one type and with ids of the server's.
  /// - Returns: One for each index, in order.
  /// - Throws: `RestError`.
  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord]

  /// The same with the values of fields.
  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion]
}

extension SyncUpTarget {
  package var fields: TargetFields { settings.fields }
  package var looksForLostCreates: Bool { true }
  package var answersForItself: Bool { false }
  package var comparedAhead: Int { 0 }
  package var comparesFields: Bool { true }
  package var updatesWithCondition: Bool { true }
  package var keysCreates: Bool { false }
  package var sendsCreatesFirst: Bool { false }
  package func goesLast(_ i: Int, of batch: DirtyBatch) -> Bool { false }
  package var references: [EntryReference] { [] }
  package var isNamedByOthers: Bool { false }
  package var companions: [UploadCompanion] { [] }
  package var requestsAtOnce: Int { 1 }
  package var largestBatch: Int { settings.maxBatchSize }

  package func keepsOrder(in soup: String) -> Bool { false }

  package func groups(_ uploads: [PlannedUpload], of batch: DirtyBatch) -> [UploadGroup] { groups(uploads) }

  package func createKeys(
    _ indices: [Int], of batch: DirtyBatch, known: [Int64: JSONObject], in context: UploadContext
  ) async throws -> [Int64: JSONObject] { [:] }

  package func find(_ lost: LostKeyedCreate, in context: UploadContext) async throws -> LostKeyedCreate.Finding { .inDoubt }

  package func prepared(in context: UploadContext) async throws -> any SyncUpTarget { self }

  package func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion] {
    try await context.service.versions(
      type: type, ids: indices.map { batch.serverId($0) ?? "" }, fields: fields, through: context.client)
  }

  package func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord] {
    try await context.remoteRecords(type: type, ids: indices.map { batch.serverId($0) ?? "" }, dateField: fields.modificationDate)
  }
}

/// A place in entries that holds the id of an entry of some soup.
package struct EntryReference: Sendable, Equatable {
  /// Members, with dots between them.
  package let path: String
  /// Where the entries are that it names.
  package let soup: String

  package init(path: String, soup: String) {
    self.path = path
    self.soup = soup
  }
}

/// A soup whose entries are sent behind those of a sync's own soup.
package struct UploadCompanion: Sendable {
  package let soup: String
  package let target: any SyncUpTarget

  package init(soup: String, target: any SyncUpTarget) {
    self.soup = soup
    self.target = target
  }
}

/// What a target sends with.
package struct UploadContext: Sendable {
  package let client: any RestClient
  package let service: any SyncService
  package let control: RunControl
  package let configuration: SyncConfiguration
  package var mergeMode: MergeMode
  /// The modification dates that the server showed when it was last looked at, by record id; ms. They may be newer than those of
  /// the entries: an upload from here moves them, and no answer to it says where.
  package var datesSeen: [String: Int64] = [:]

  /// What was changed here of entries that were compared with the server, by entry id.
  package var changesSeen: [Int64: LocalChanges] = [:]

  /// What identifies the creates of the batch, by entry id.
  package var createKeys: [Int64: JSONObject] = [:]

  /// Where the entries are; nil for a target that has more than one soup.
  package var place: Place?

  package struct Place: Sendable {
    package let store: Store
    package let soup: String
    /// Whose entries are sent.
    package let syncId: Int64
  }

  /// The entries as they were when they last equalled the server, by entry id; what never did is missing.
  package func bases(of entryIds: [Int64]) async throws -> [Int64: JSONObject] {
    guard let place else { return [:] }
    return try await place.store.read { snapshot in
      try entryIds.reduce(into: [:]) { bases, id in
        bases[id] = try snapshot.base(of: id, in: place.soup).flatMap { try JSONValue(parsing: $0).objectValue }
      }
    }
  }

  /// The id that a record of another soup got from its server; nil while it has none.
  package func assignedId(for localId: String, in soup: String) async throws -> String? {
    try await place?.store.read { try $0.soupExists(soup) ? $0.assignedId(for: localId, in: soup) : nil }
  }

  /// Calls a function of a script and waits for it.
  /// - Throws: ``SyncError`` `.customTarget`.
  package func call(
    implementation: String, _ function: CustomTargetCall.Function, _ arguments: JSONObject
  ) async throws -> JSONObject {
    try await CustomTargetCaller(implementation: implementation, target: [:]).object(function, arguments, control, configuration)
  }

  /// When the server changed records last, as its service tells.
  package func remoteRecords(type: String, ids: [String], dateField: String) async throws -> [RemoteRecord] {
    let versions = try await service.versions(type: type, ids: ids, fields: [dateField], through: client)
    return versions.map { version in
      if version == .deleted { return .deleted }
      let stamp = version.record?[dateField]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
      return stamp.map { .modified($0) } ?? .unknown
    }
  }

  /// The fields of an update that are sent: those changed here, so that nothing is put back that others change at this
  /// very moment. nil for all on the list: they are sent where nothing is compared, and where it is not known which were changed.
  package func fields(of i: Int, in batch: DirtyBatch) -> Set<String>? {
    guard mergeMode != .overwrite, let changes = changesSeen[batch.entryIds[i]], changes.version == batch.versions[i] else {
      return nil
    }
    return changes.fields
  }

  /// The date that an update is based on: the server refuses it when the record is newer. nil when anything may be overwritten.
  package func date(of i: Int, in batch: DirtyBatch) -> Int64? {
    guard mergeMode != .overwrite else { return nil }
    return batch.serverId(i).flatMap { datesSeen[$0] } ?? batch.stamp(i)
  }
}

/// What an entry says in other words than what it was made from.
package struct LocalChanges: Sendable, Equatable {
  /// Of the row that was compared.
  package let version: Int64
  /// First-level members; never empty.
  package let fields: Set<String>
}

/// A create whose answer was lost, with what identifies it.
package struct LostKeyedCreate: Sendable {
  /// As it was written down before the create was sent.
  package let key: JSONObject
  /// The members that were sent.
  package let sent: JSONObject
  /// The entry as it stands now.
  package let entry: JSONObject

  package enum Finding: Sendable, Equatable {
    /// - Parameter isCertain: The key belongs to this create alone; another entry with the id is a second copy of it.
    case found(id: String, isCertain: Bool)
    /// - Parameter isSafe: With the same key it makes nothing twice, whatever became of the first one.
    case sendAgain(isSafe: Bool)
    case inDoubt
  }
}

/// One record of a batch and what is to be done with it.
package struct PlannedUpload: Sendable, Equatable {
  /// Position in the batch.
  package let index: Int
  package let action: UploadAction
  package let type: String
}

/// Records that travel in one request; never empty.
package struct UploadGroup: Sendable, Equatable {
  package let uploads: [PlannedUpload]

  package init(uploads: [PlannedUpload]) { self.uploads = uploads }

  /// Positions in the batch.
  package var indices: [Int] { uploads.map(\.index) }
}

/// Asks what the server has of records, type by type: a type that the server does not know concerns its own records only.
package enum RemoteLookup {
  package enum Found: Sendable, Equatable {
    case record(RemoteRecord)
    case refused(UploadResult)
  }

  /// - Parameter indices: Records with an id of the server's.
  /// - Throws: `RestError`.
  package static func find(
    _ indices: [Int], of batch: DirtyBatch, _ target: any SyncUpTarget, in context: UploadContext
  ) async throws -> [Int: Found] {
    var found: [Int: Found] = [:]
    for type in Set(indices.map(batch.type)).sorted() {
      let asked = indices.filter { batch.type($0) == type }
      do {
        let remote = try await target.remoteRecords(type: type, asked, of: batch, in: context)
        for (i, record) in zip(asked, remote) { found[i] = .record(record) }
      } catch let error as RestError where error.status == 404 || context.service.fault(of: error) == .unknownType {
        let result = UploadResult.failure(error.serverCode ?? "NOT_FOUND", error.message)
        for i in asked { found[i] = .refused(result) }
      }
    }
    return found
  }
}
