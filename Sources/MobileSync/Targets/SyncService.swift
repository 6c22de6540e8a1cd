import JSON
import RestClient

/// A kind of server: its targets, and what the engine asks it besides them. A value; any thread.
///
/// To add a kind of server, add a folder with one of these, and one line where a host is assembled.
package protocol SyncService: Sendable {
  /// The kinds of sync down targets, by the `type` of their JSON.
  var downKinds: [SyncDownKind] { get }
  /// The kinds of sync up targets.
  var upKinds: [SyncUpKind] { get }
  /// The kind of a sync up target whose JSON has no type; nil if the type is required.
  var defaultUpKind: String? { get }
  /// The field names for targets that give none.
  var defaultFields: TargetFields { get }

  /// Reads fields of records of one type. The targets of a service without types read their records themselves; see
  /// ``SyncUpTarget/remoteVersions(type:_:fields:of:in:)``.
  /// - Returns: One version for each id, in order.
  /// - Throws: `RestError`.
  func versions(type: String, ids: [String], fields: [String], through client: any RestClient) async throws -> [ServerVersion]

  /// Finds records of one type that were created in a period, by the server's clock.
  /// - Returns: nil if the server cannot be asked, or if there are too many.
  /// - Throws: `RestError` if the server does not answer.
  func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]?

  /// Sends one record in a request of its own.
  /// - Throws: `RestError` unless the error is about this record.
  func send(_ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext) async throws -> UploadResult

  /// Returns the form in which the server writes an id of ``defaultFields``; the id itself if it has one form.
  func canonicalId(_ id: String) -> String

  /// Returns the members of records that hold other records in place of a value, as far as the target of a sync down names them.
  func parentMembers(of target: JSONObject) -> [String]

  /// Returns what a refusal says about the request; nil if the engine cannot act on it.
  func fault(of error: RestError) -> ServerFault?

  /// Returns what an answer says about the server's limits, as text for users and scripts; nil if
  /// it says nothing.
  func limitInfo(_ response: RestResponse) -> String?
}

/// Defaults for a service whose targets need nothing else of it.
extension SyncService {
  package var defaultUpKind: String? { nil }

  package func send(
    _ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> UploadResult {
    let kind = upKinds.first?.name ?? downKinds.first?.name ?? "custom"
    throw SyncError(.invalidTarget, "\(kind) target: a custom target must implement this upload itself")
  }

  package func canonicalId(_ id: String) -> String { id }

  package func parentMembers(of target: JSONObject) -> [String] { [] }

  package func fault(of error: RestError) -> ServerFault? { nil }

  package func limitInfo(_ response: RestResponse) -> String? { nil }
}

/// What a server's refusal means to the engine.
package enum ServerFault: Sendable, Equatable {
  /// The type does not exist, or this user cannot access it.
  case unknownType
  /// A requested field does not exist.
  case unknownField
  /// The server has lost the query cursor; repeating the query helps.
  case expiredCursor
}

/// A query for records that were created in a period.
package struct CreatedRecords: Sendable {
  package let type: String
  /// Ms since 1970 UTC, by the server's clock.
  package let period: ClosedRange<Int64>
  /// The fields to return.
  package let fields: [String]
  /// The largest number of records to return.
  package let limit: Int
}

/// A record that was created on the server.
package struct CreatedRecord: Sendable {
  package let id: String
  /// In ms since 1970 UTC, by the server's clock; nil if unknown.
  package let createdAt: Int64?
  package let fields: JSONObject

  package init(id: String, createdAt: Int64?, fields: JSONObject) {
    self.id = id
    self.createdAt = createdAt
    self.fields = fields
  }
}

/// One kind of sync down target.
package struct SyncDownKind: Sendable {
  package let name: String
  package let keys: TargetKeys
  package let make: @Sendable (JSONObject) throws(SyncError) -> any SyncDownTarget

  package init(_ name: String, _ keys: TargetKeys, make: @escaping @Sendable (JSONObject) throws(SyncError) -> any SyncDownTarget)
  {
    self.name = name
    self.keys = keys
    self.make = make
  }
}

/// One kind of sync up target.
package struct SyncUpKind: Sendable {
  /// What a target of the kind uploads.
  package enum Made: Sendable {
    /// The records of one soup.
    case records(any SyncUpTarget)
    /// Parents together with their children.
    case families(any ParentChildrenUploadTarget)
  }

  package let name: String
  package let keys: TargetKeys
  /// The class name that the Mobile SDKs write into the target's JSON.
  package let modelClass: String?
  package let make: @Sendable (JSONObject) throws(SyncError) -> Made

  package init(
    _ name: String, _ keys: TargetKeys, modelClass: String? = nil,
    make: @escaping @Sendable (JSONObject) throws(SyncError) -> Made
  ) {
    self.name = name
    self.keys = keys
    self.modelClass = modelClass
    self.make = make
  }
}
