import JSON
import MobileSync
import RestClient

/// Collections over HTTP as a kind of server: targets of the type `rest`, each with a named connection.
package struct RestSyncService: SyncService {
  private let connections: RestConnections?
  private let assets: AssetFolder?

  /// - Parameters:
  ///   - connections: nil to read definitions without knowing the host's connections.
  ///   - assets: Where files that rows name are kept; nil fetches none.
  package init(_ connections: RestConnections?, assets: AssetFolder? = nil) {
    self.connections = connections
    self.assets = assets
  }

  package var defaultUpKind: String? { nil }
  package var defaultFields: TargetFields { TargetFields(id: "id", modificationDate: RestSyncDownTarget.noDate) }

  package var upKinds: [SyncUpKind] {
    [
      SyncUpKind("rest", TargetKeys(RestTarget.keys)) { [connections] json throws(SyncError) in
        .records(try RestSyncUpTarget(json, connections))
      }
    ]
  }

  package var downKinds: [SyncDownKind] {
    [
      SyncDownKind("rest", TargetKeys(RestTarget.keys)) { [connections, assets] json throws(SyncError) in
        try RestSyncDownTarget(json, connections, assets)
      }
    ]
  }

  // MARK: Questions

  /// A collection is read as a list: single records are asked for by their target alone.
  package func versions(
    type: String, ids: [String], fields: [String], through client: any RestClient
  ) async throws -> [ServerVersion] { ids.map { _ in .unknown } }

  package func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]? { nil }

  package func send(
    _ upload: PlannedUpload, of batch: DirtyBatch, in context: UploadContext
  ) async throws -> UploadResult {
    throw SyncError(.invalidTarget, "rest target: a custom target has to send by itself here")
  }

  // MARK: Answers

  /// Cursors that died are the walk's own affair.
  package func fault(of error: RestError) -> ServerFault? { nil }

  package func limitInfo(_ response: RestResponse) -> String? { nil }
}
