import MobileSync
import Parse
import RestClient
import RestCollections
import Salesforce

extension TargetRegistry {
  /// The kinds of servers that a host's syncs know. A new kind is one line here.
  /// - Parameters:
  ///   - connections: nil where they are not known yet: targets may then name any.
  ///   - assets: Where files that rows name are kept.
  static func host(_ connections: RestConnections?, assets: AssetFolder? = nil) -> TargetRegistry {
    TargetRegistry([SalesforceSyncService(), RestSyncService(connections, assets: assets), ParseSyncService(connections)])
  }
}
