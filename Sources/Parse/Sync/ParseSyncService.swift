import JSON
import MobileSync
import RestClient

/// Provides sync targets of the type `parse`, each with a named connection to a Parse server.
package struct ParseSyncService: SyncService {
  private let connections: RestConnections?

  /// - Parameter connections: nil to read definitions without knowing the host's connections.
  package init(_ connections: RestConnections?) { self.connections = connections }

  package var defaultFields: TargetFields { ParseTarget.fields }

  package var downKinds: [SyncDownKind] {
    [
      SyncDownKind("parse", TargetKeys(ParseTarget.keys + DownRules.keys, label: ParseTarget.label)) {
        [connections] json throws(SyncError) in try ParseSyncDownTarget(json, connections)
      }
    ]
  }

  package var upKinds: [SyncUpKind] {
    [
      SyncUpKind("parse", TargetKeys(ParseTarget.keys + UpRules.keys, label: ParseTarget.label)) {
        [connections] json throws(SyncError) in .records(try ParseSyncUpTarget(json, connections))
      }
    ]
  }

  // MARK: Look-ups

  /// Fails: the targets read their records themselves, because only they know where these are.
  package func versions(
    type: String, ids: [String], fields: [String], through client: any RestClient
  ) async throws -> [ServerVersion] {
    throw SyncError(.invalidTarget, "parse targets read their records themselves")
  }

  /// Returns nil: records have no type by which they could be searched for.
  /// A key of the client finds a create whose response was lost.
  package func records(_ search: CreatedRecords, through client: any RestClient) async throws -> [CreatedRecord]? { nil }
}
