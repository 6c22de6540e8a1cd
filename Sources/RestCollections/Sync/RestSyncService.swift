import JSON
import MobileSync
import RestClient

/// Provides sync targets of the type `rest`: collections over HTTP, each with a named connection.
package struct RestSyncService: SyncService {
  private let connections: RestConnections?
  private let assets: AssetFolder?

  /// - Parameters:
  ///   - connections: nil to read definitions without knowing the host's connections.
  ///   - assets: The folder of the files that rows refer to; nil disables downloads.
  package init(_ connections: RestConnections?, assets: AssetFolder? = nil) {
    self.connections = connections
    self.assets = assets
  }

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

  // MARK: Look-ups

  /// Fails: the targets read their records themselves, because only they know where these are.
  package func versions(
    type: String, ids: [String], fields: [String], through client: any RestClient
  ) async throws -> [ServerVersion] {
    throw SyncError(.invalidTarget, "rest targets read their records themselves")
  }

  /// Returns nil: records have no type by which they could be searched for.
  /// A key, or a list that the target names, finds a create whose response was lost.
  package func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]? { nil }
}
