import MobileSync
import RestClient
import RestCollections
import Salesforce

extension TargetRegistry {
  /// The kinds of servers that a host's syncs know. A new kind is one line here.
  /// - Parameter connections: nil where they are not known yet: targets may then name any.
  static func host(_ connections: RestConnections?) -> TargetRegistry {
    TargetRegistry([SalesforceSyncService(), RestSyncService(connections)])
  }
}
