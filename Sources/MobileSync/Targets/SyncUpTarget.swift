import JSON
import RestClient
import SmartStore

/// Sends local changes to the server. The sync selects the records, journals them and writes the
/// results back.
package protocol SyncUpTarget: Sendable {
  var settings: UploadSettings { get }

  /// What the engine must know of the target before it sends.
  var traits: UploadTraits { get }

  /// Returns whether an update is sent after everything else of a run, if ``UploadTraits/sendsCreatesFirst``
  /// orders it, because it changes how the rest is sent.
  func goesLast(_ i: Int, of batch: DirtyBatch) -> Bool

  /// The references of its entries to other entries. Within a soup, an entry is created after those
  /// that it refers to.
  var references: [EntryReference] { get }

  /// Additional soups whose entries are sent after those of the sync's soup.
  var companions: [UploadCompanion] { get }

  /// Returns what an update can send of an entry.
  func sendable(_ plan: DirtyBatch.Plan) -> SendableMembers

  /// Returns whether the entries of a soup are sent one at a time, in the order of their creation,
  /// because some refer to others of the same soup.
  func keepsOrder(in soup: String) -> Bool

  /// Returns the keys of creates. They are journaled before the creates are sent, and stay the same
  /// until an answer arrives.
  /// - Parameters:
  ///   - indices: The creates of the batch.
  ///   - known: The keys of creates that were sent earlier without an answer, by entry id.
  /// - Returns: Keys by entry id.
  /// - Throws: `RestError`, ``SyncError``.
  func createKeys(
    _ indices: [Int], of batch: DirtyBatch, known: [Int64: JSONObject], in context: UploadContext
  ) async throws -> [Int64: JSONObject]

  /// Finds out what became of a create with a key whose answer was lost.
  /// - Throws: `RestError`, ``SyncError``.
  func find(_ lost: LostKeyedCreate, in context: UploadContext) async throws -> LostKeyedCreate.Finding

  /// Returns the target prepared for a run, after any necessary requests.
  func prepared(in context: UploadContext) async throws -> any SyncUpTarget

  /// Splits the uploads of a batch into requests, in the order in which they are sent.
  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup]

  /// Splits the uploads of a batch into requests, for a target that examines the entries.
  func groups(_ uploads: [PlannedUpload], of batch: DirtyBatch) -> [UploadGroup]

  /// Sends one group.
  /// - Returns: One result for each record of the group, in order.
  /// - Throws: `RestError` if the whole request failed; its `outcome` says whether the server may
  ///   have acted. ``UploadCutShort`` if some records have a result.
  func send(_ group: UploadGroup, of batch: DirtyBatch, in context: UploadContext) async throws -> [UploadResult]

  /// Returns the state on the server of some records, all of one type and with server ids.
  /// - Returns: One for each index, in order.
  /// - Throws: `RestError`.
  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord]

  /// Returns the whole records of those that ``remoteVersions(type:_:fields:of:in:)`` returned last,
  /// by position, if it returned only parts of them.
  /// - Throws: `RestError`.
  func wholeRecords(_ indices: [Int], of batch: DirtyBatch, in context: UploadContext) async throws -> [Int: JSONObject]

  /// Returns the server's versions of some records, with the values of fields.
  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion]
}

extension SyncUpTarget {
  package var fields: TargetFields { settings.fields }
  package var traits: UploadTraits { UploadTraits() }
  package func goesLast(_ i: Int, of batch: DirtyBatch) -> Bool { false }
  package var references: [EntryReference] { [] }
  package var companions: [UploadCompanion] { [] }

  package func sendable(_ plan: DirtyBatch.Plan) -> SendableMembers { SendableMembers(fields: plan.update ?? []) }

  package func keepsOrder(in soup: String) -> Bool { false }

  package func groups(_ uploads: [PlannedUpload], of batch: DirtyBatch) -> [UploadGroup] { groups(uploads) }

  package func createKeys(
    _ indices: [Int], of batch: DirtyBatch, known: [Int64: JSONObject], in context: UploadContext
  ) async throws -> [Int64: JSONObject] { [:] }

  package func find(_ lost: LostKeyedCreate, in context: UploadContext) async throws -> LostKeyedCreate.Finding { .inDoubt }

  package func prepared(in context: UploadContext) async throws -> any SyncUpTarget { self }

  package func wholeRecords(
    _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [Int: JSONObject] { [:] }

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

/// What the engine must know of a target before it sends; see ``SyncUpTarget/traits``.
package struct UploadTraits: Sendable, Equatable {
  /// Whether a create without an answer is looked up on the server before it is sent again.
  package var looksForLostCreates = true
  /// Whether the target's answers to updates are the only source of information about a record.
  package var answersForItself = false
  /// Whether to compare the values of fields instead of using ``SyncUpTarget/remoteRecords(type:_:of:in:)``.
  package var comparesFields = true
  /// The number of entries that are compared with the server at once, if that is more than a batch.
  package var comparedAhead = 0
  /// Whether the server applies an update only if the record is not newer than ``UploadContext/date(of:in:)``.
  package var updatesWithCondition = true
  /// Whether creates carry a key by which the server recognizes a repetition; see
  /// ``SyncUpTarget/createKeys(_:of:known:in:)``.
  package var keysCreates = false
  /// Whether creates are sent before updates, and deletes last.
  package var sendsCreatesFirst = false
  /// Whether entries of other syncs may refer to the target's entries by local ids; they are then found and updated.
  package var isNamedByOthers = false
  /// The number of groups of a batch that may be in flight at once. Groups with the same record are still sent one after the
  /// other.
  package var requestsAtOnce = 1
  /// The number of entries that are written back together if there is no create among them and none is compared beforehand;
  /// nil for the size of a batch. Sending them again after a crash does no harm.
  package var largestBatch: Int?

  package init() {}

  /// Creates the usual traits with some changes.
  package init(_ change: (inout UploadTraits) -> Void) { change(&self) }
}

/// A field of entries that holds the id of an entry of some soup.
package struct EntryReference: Sendable, Equatable {
  /// The members on the path, separated by dots.
  package let path: String
  /// The soup of the entries that it refers to.
  package let soup: String

  package init(path: String, soup: String) {
    self.path = path
    self.soup = soup
  }
}

/// An additional soup whose entries are sent after those of a sync's own soup.
package struct UploadCompanion: Sendable {
  package let soup: String
  package let target: any SyncUpTarget

  package init(soup: String, target: any SyncUpTarget) {
    self.soup = soup
    self.target = target
  }
}

/// What a target may use while it sends.
package struct UploadContext: Sendable {
  package let client: any RestClient
  package let service: any SyncService
  package let control: RunControl
  package let configuration: SyncConfiguration
  package var mergeMode: MergeMode
  /// Whether the uploads are sent or only planned.
  package var intent = UploadIntent.send
  /// The modification dates that the server showed last, by record id, in ms. They may be newer
  /// than those of the entries: our own uploads change them, and the answers do not say to what.
  package var datesSeen: IdMap<Int64> = [:]

  /// The local changes of entries that were compared with the server, by entry id.
  package var changesSeen: [Int64: LocalChanges] = [:]

  /// The keys of the creates of the batch, by entry id.
  package var createKeys: [Int64: JSONObject] = [:]

  /// The source of the entries; nil for a target with more than one soup.
  package var origin: Origin?

  package struct Origin: Sendable {
    package let store: Store
    package let soup: String
    /// The sync whose entries are sent.
    package let syncId: Int64
  }

  /// Returns the bases of entries, by entry id: the entries when they last equalled the server's
  /// records. Entries without a base are missing.
  package func bases(of entryIds: [Int64]) async throws -> [Int64: JSONObject] {
    guard let origin else { return [:] }
    return try await origin.store.read { try $0.baseObjects(of: entryIds, in: origin.soup) }
  }

  /// Returns the id that the server assigned to a record of another soup; nil if it has none yet.
  ///
  /// In a plan, something that stands for the id of a record that the plan creates.
  package func assignedId(for localId: String, in soup: String) async throws -> String? {
    if let planned = intent.recorder?.assignedId(for: localId) { return planned }
    return try await origin?.store.read { try $0.soupExists(soup) ? $0.assignedId(for: localId, in: soup) : nil }
  }

  /// Calls a function of a script and waits for it.
  /// - Throws: ``SyncError`` `.customTarget`.
  package func call(
    implementation: String, _ function: CustomTargetCall.Function, _ arguments: JSONObject
  ) async throws -> JSONObject {
    if let recorder = intent.recorder {
      recorder.note(unknown: "what the function '\(implementation)' of a script computes")
      throw UploadNotSent(RequestPlanned())
    }
    return try await CustomTargetCaller(implementation: implementation, target: [:])
      .object(function, arguments, control, configuration)
  }

  /// Returns when the server last changed some records, using the service.
  package func remoteRecords(type: String, ids: [String], dateField: String) async throws -> [RemoteRecord] {
    let versions = try await service.versions(type: type, ids: ids, fields: [dateField], through: client)
    return versions.map { version in
      if version == .deleted { return .deleted }
      let stamp = version.record?[dateField]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
      return stamp.map { .modified($0) } ?? .unknown
    }
  }

  /// Returns the fields of an update to send: only those changed locally, so that concurrent
  /// changes by others are not overwritten. Returns nil to send all fields of the list, if nothing
  /// was compared or the changes are not known.
  package func fields(of i: Int, in batch: DirtyBatch) -> IdSet? {
    guard mergeMode != .overwrite, let changes = changesSeen[batch.entryIds[i]], changes.version == batch.versions[i] else {
      return nil
    }
    return changes.fields
  }

  /// Returns the date that an update is based on: the server refuses the update if the record is
  /// newer. Returns nil if anything may be overwritten.
  package func date(of i: Int, in batch: DirtyBatch) -> Int64? {
    guard mergeMode != .overwrite else { return nil }
    return batch.serverId(i).flatMap { datesSeen[$0] } ?? batch.stamp(i)
  }
}

/// The local changes of an entry relative to its base.
package struct LocalChanges: Sendable, Equatable {
  /// The version of the compared row.
  package let version: Int64
  /// First-level members; never empty.
  package let fields: IdSet
}

/// A create with a key whose answer was lost.
package struct LostKeyedCreate: Sendable {
  /// The key that was journaled before the create was sent.
  package let key: JSONObject
  /// The members that were sent.
  package let sent: JSONObject
  /// The entry as it was sent; the current one if an older build sent it.
  package let entry: JSONObject

  package enum Finding: Sendable, Equatable {
    /// - Parameter isCertain: Whether the key belongs to this create only, so that another entry
    ///   with the id is a duplicate.
    /// - Parameter record: Members of the record, as far as the answer has them.
    case found(id: String, isCertain: Bool, record: JSONObject = [:])
    /// - Parameter isSafe: Whether sending with the same key never creates a duplicate.
    case sendAgain(isSafe: Bool)
    case inDoubt
  }
}

/// One record of a batch and its action.
package struct PlannedUpload: Sendable, Equatable {
  /// The position in the batch.
  package let index: Int
  package let action: UploadAction
  package let type: String
}

/// Records that are sent in one request; never empty.
package struct UploadGroup: Sendable, Equatable {
  package let uploads: [PlannedUpload]

  package init(uploads: [PlannedUpload]) { self.uploads = uploads }

  /// The positions in the batch.
  package var indices: [Int] { uploads.map(\.index) }
}

/// Looks up the state of records on the server, type by type: an unknown type affects only its own
/// records.
package enum RemoteLookup {
  package enum Found: Sendable, Equatable {
    case record(RemoteRecord)
    case refused(UploadResult)
  }

  /// - Parameter indices: Records with a server id.
  /// - Throws: `RestError`.
  package static func find(
    _ indices: [Int], of batch: DirtyBatch, _ target: any SyncUpTarget, in context: UploadContext
  ) async throws -> [Int: Found] {
    var found: [Int: Found] = [:]
    for type in IdSet(indices.map(batch.type)).sorted() {
      let asked = indices.filter { batch.type($0) == type }
      do {
        let remote = try await target.remoteRecords(type: type, asked, of: batch, in: context)
        for (i, record) in zip(asked, remote) { found[i] = .record(record) }
      } catch let error as RestError where error.status == 404 || context.service.fault(of: error) == .unknownType {
        let result = UploadResult.failure(error.serverCode ?? "NOT_FOUND", error.message)
        for i in asked { found[i] = .refused(result) }
      } catch  where error.isPlanned {
        for i in asked { found[i] = .record(.unchanged) }
      }
    }
    return found
  }
}
