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
}
