import JSON
import MobileSync
import RestClient

/// Parse servers as a kind of server: targets of the type `parse`, each with a named connection.
package struct ParseSyncService: SyncService {
  private let connections: RestConnections?

  /// - Parameter connections: nil to read definitions without knowing the host's connections.
  package init(_ connections: RestConnections?) { self.connections = connections }

  package var defaultUpKind: String? { nil }
  package var defaultFields: TargetFields { ParseTarget.fields }

  package var downKinds: [SyncDownKind] {
    [
      SyncDownKind("parse", TargetKeys(ParseTarget.keys + DownRules.keys, label: ParseTarget.label)) {
        [connections] json throws(SyncError) in try ParseSyncDownTarget(json, connections)
      }
    ]
  }

  package var upKinds: [SyncUpKind] { [] }

  // MARK: Questions

  /// Objects are asked for by targets, which know their class and their connection.
  package func versions(
    type: String, ids: [String], fields: [String], through client: any RestClient
  ) async throws -> [ServerVersion] { ids.map { _ in .unknown } }

  package func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]? { nil }

  package func send(
    _ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> UploadResult {
    throw SyncError(.invalidTarget, "\(ParseTarget.label): a custom target has to send by itself here")
  }

  // MARK: Answers

  package func fault(of error: RestError) -> ServerFault? { nil }

  package func limitInfo(_ response: RestResponse) -> String? { nil }
}
