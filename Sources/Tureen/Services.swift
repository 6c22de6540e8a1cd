import MobileSync
import Parse
import RestClient
import RestCollections
import Salesforce

extension TargetRegistry {
  /// Returns the targets of all services that a host supports.
  /// - Parameters:
  ///   - connections: The known connections; nil to accept targets with any connection name.
  ///   - assets: The folder for files that rows refer to.
  static func host(_ connections: RestConnections?, assets: AssetFolder? = nil) -> TargetRegistry {
    TargetRegistry([SalesforceSyncService(), RestSyncService(connections, assets: assets), ParseSyncService(connections)])
  }
}
