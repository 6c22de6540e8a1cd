import JSON
import RestClient

/// How local changes reach the server. It sends; choosing, journalling and writing back belong to the sync.
protocol SyncUpTarget: Sendable {
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

  /// The target as a run uses it: what has to be found out first is found out.
  func prepared(in context: UploadContext) async throws -> any SyncUpTarget

  /// Splits the uploads of a batch into requests, in the order they are sent.
  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup]

  /// Sends one group.
  /// - Returns: One result for each record of the group, in its order.
  /// - Throws: `RestError` when the request as a whole failed; its `outcome` says whether the server may have acted.
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
  var fields: TargetFields { settings.fields }
  var looksForLostCreates: Bool { true }
  var answersForItself: Bool { false }
  var comparedAhead: Int { 0 }
  var comparesFields: Bool { true }
  var updatesWithCondition: Bool { true }
  func prepared(in context: UploadContext) async throws -> any SyncUpTarget { self }

  func remoteVersions(
    type: String, _ indices: [Int], fields: [String], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [ServerVersion] {
    try await ServerVersions.retrieve(
      type: type, ids: indices.map { batch.serverId($0) ?? "" }, fields: fields, through: context.client)
  }

  /// One request for up to 2,000 records.
  func remoteRecords(
    type: String, _ indices: [Int], of batch: DirtyBatch, in context: UploadContext
  ) async throws -> [RemoteRecord] {
    let ids = indices.map { batch.serverId($0) ?? "" }
    var found: [RemoteRecord] = []
    for start in stride(from: 0, to: ids.count, by: CollectionSyncUpTarget.largestRetrieve) {
      let slice = Array(ids[start..<min(start + CollectionSyncUpTarget.largestRetrieve, ids.count)])
      let response = try await context.client.send(
        context.client.requests.collectionRetrieve(type: type, ids: slice, fields: [fields.modificationDate]))
      guard let items = try response.json().arrayValue, items.count == slice.count else {
        throw response.invalidBody("expected one element for each of \(slice.count) ids")
      }
      found += items.map { item in
        if item.isNull { return .deleted }
        let stamp = item[fields.modificationDate]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
        return stamp.map { .modified($0) } ?? .unknown
      }
    }
    return found
  }
}

/// What a target sends with.
struct UploadContext: Sendable {
  let client: any RestClient
  let control: RunControl
  let configuration: SyncConfiguration
  var mergeMode: MergeMode
  /// The modification dates that the server showed when it was last looked at, by record id; ms. They may be newer than those of
  /// the entries: an upload from here moves them, and no answer to it says where.
  var datesSeen: [String: Int64] = [:]

  /// What was changed here of entries that were compared with the server, by entry id.
  var changesSeen: [Int64: LocalChanges] = [:]

  /// The fields of an update that are sent: those changed here, so that nothing is put back which somebody else changes at this
  /// very moment. nil for all on the list: they are sent where nothing is compared, and where it is not known which were changed.
  func fields(of i: Int, in batch: DirtyBatch) -> Set<String>? {
    guard mergeMode != .overwrite, let changes = changesSeen[batch.entryIds[i]], changes.version == batch.versions[i] else {
      return nil
    }
    return changes.fields
  }

  /// The date that an update is based on: the server refuses it when the record is newer. nil when anything may be overwritten.
  func date(of i: Int, in batch: DirtyBatch) -> Int64? {
    guard mergeMode != .overwrite else { return nil }
    return batch.serverId(i).flatMap { datesSeen[$0] } ?? batch.stamp(i)
  }
}

/// What an entry says in other words than what it was made from.
struct LocalChanges: Sendable, Equatable {
  /// Of the row that was compared.
  let version: Int64
  /// First-level members; never empty.
  let fields: Set<String>
}

/// One record of a batch and what is to be done with it.
struct PlannedUpload: Sendable, Equatable {
  /// Position in the batch.
  let index: Int
  let action: UploadAction
  let type: String
}

/// Records that travel in one request; never empty.
struct UploadGroup: Sendable, Equatable {
  let uploads: [PlannedUpload]

  /// Positions in the batch.
  var indices: [Int] { uploads.map(\.index) }
}

/// Asks what the server has of records, type by type: a type that the server does not know concerns its own records only.
enum RemoteLookup {
  enum Found: Sendable, Equatable {
    case record(RemoteRecord)
    case refused(UploadResult)
  }

  /// - Parameter indices: Records with an id of the server's.
  /// - Throws: `RestError`.
  static func find(
    _ indices: [Int], of batch: DirtyBatch, _ target: any SyncUpTarget, in context: UploadContext
  ) async throws -> [Int: Found] {
    var found: [Int: Found] = [:]
    for type in Set(indices.map(batch.type)).sorted() {
      let asked = indices.filter { batch.type($0) == type }
      do {
        let remote = try await target.remoteRecords(type: type, asked, of: batch, in: context)
        for (i, record) in zip(asked, remote) { found[i] = .record(record) }
      } catch let error as RestError where error.status == 404 || error.serverCode == "INVALID_TYPE" {
        let result = UploadResult.failure(error.serverCode ?? "NOT_FOUND", error.message)
        for i in asked { found[i] = .refused(result) }
      }
    }
    return found
  }
}
