import JSON
import RestClient

/// How local changes reach the server. It sends; choosing, journalling and writing back belong to the sync.
protocol SyncUpTarget: Sendable {
  /// As stored: normalised.
  var json: JSONObject { get }
  var fields: TargetFields { get }
  /// Creates become upserts by this field, where a record has a value in it.
  var externalIdFieldName: String? { get }
  var createFieldlist: [String]? { get }
  var updateFieldlist: [String]? { get }
  /// Records sent and written back together.
  var maxBatchSize: Int { get }

  /// Splits the uploads of a batch into requests, in the order they are sent.
  func groups(_ uploads: [PlannedUpload]) -> [UploadGroup]

  /// Sends one group.
  /// - Returns: One result for each record of the group, in its order.
  /// - Throws: `RestError` when the request as a whole failed; its `outcome` says whether the server may have acted.
  func send(_ group: UploadGroup, of batch: DirtyBatch, through client: any RestClient) async throws -> [UploadResult]

  /// What the server has of some records.
  /// - Returns: One for each id, in order.
  /// - Throws: `RestError`.
  func remoteRecords(
    type: String, ids: [String], through client: any RestClient
  ) async throws -> [RemoteRecord]
}

/// One record of a batch and what is to be done with it.
struct PlannedUpload: Sendable, Equatable {
  /// Position in the batch.
  let index: Int
  let action: UploadAction
  let type: String
}

/// Records that travel in one request.
struct UploadGroup: Sendable, Equatable {
  let action: UploadAction
  /// Of all records, where the request names it; else of the first.
  let type: String
  /// Positions in the batch.
  let indices: [Int]
}
