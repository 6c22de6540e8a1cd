import JSON
import RestClient

/// A kind of server: the targets it has, and what the engine asks it beside them. A value; any thread.
///
/// A new kind of server is a folder of its own with one of these, and one line where a host is put together.
package protocol SyncService: Sendable {
  /// The kinds of sync down targets, by the `type` of their JSON.
  var downKinds: [SyncDownKind] { get }
  /// The kinds of sync up targets.
  var upKinds: [SyncUpKind] { get }
  /// The kind of a sync up target whose JSON names none; nil where it has to.
  var defaultUpKind: String? { get }
  /// Where a target does not name them.
  var defaultFields: TargetFields { get }

  /// Values of fields of records of one type.
  /// - Returns: One for each id, in order.
  /// - Throws: `RestError`.
  func versions(type: String, ids: [String], fields: [String], through client: any RestClient) async throws -> [ServerVersion]

  /// Records of one type that were created in a period, by the server's clock.
  /// - Returns: nil when they cannot be asked for, or are too many to be looked at.
  /// - Throws: `RestError` when the server does not answer.
  func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]?

  /// Sends one record in a request of its own.
  /// - Throws: `RestError` unless it is about this record.
  func send(_ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext) async throws -> UploadResult

  /// What a refusal says about the question, nil when it says nothing the engine could act on.
  func fault(of error: RestError) -> ServerFault?

  /// What an answer says of the server's limits, as text for people and scripts; nil when it says nothing.
  func limitInfo(_ response: RestResponse) -> String?
}

/// A service whose targets ask and answer for themselves: beside them it says nothing.
extension SyncService {
  package var defaultUpKind: String? { nil }

  package func versions(
    type: String, ids: [String], fields: [String], through client: any RestClient
  ) async throws -> [ServerVersion] { ids.map { _ in .unknown } }

  package func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]? { nil }

  package func send(
    _ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> UploadResult {
    let kind = upKinds.first?.name ?? downKinds.first?.name ?? "custom"
    throw SyncError(.invalidTarget, "\(kind) target: a custom target has to send by itself here")
  }

  package func fault(of error: RestError) -> ServerFault? { nil }

  package func limitInfo(_ response: RestResponse) -> String? { nil }
}

/// What the engine reads out of a server's refusal.
package enum ServerFault: Sendable, Equatable {
  /// There are no records of that type, or they are not for this user.
  case unknownType
  /// A field that was asked for does not exist.
  case unknownField
  /// The server has forgotten where the next page begins: asking from the beginning helps.
  case expiredCursor
}

/// The question for records that were created in a period.
package struct CreatedRecords: Sendable {
  package let type: String
  /// Ms since 1970 UTC, by the server's clock.
  package let period: ClosedRange<Int64>
  /// Fields whose values are wanted.
  package let fields: [String]
  /// More records than these are too many.
  package let limit: Int
}

/// A record that the server says was created.
package struct CreatedRecord: Sendable {
  package let id: String
  /// Ms since 1970 UTC, by the server's clock; nil when it does not say.
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
    case families(any FamilyUpTarget)
  }

  package let name: String
  package let keys: TargetKeys
  /// The class that the mobile SDKs have for it, in the JSON they serialise.
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
