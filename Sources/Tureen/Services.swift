import MobileSync
import Salesforce

extension TargetRegistry {
  /// The kinds of servers that a host's syncs know. A new kind is one line here.
  static let host = TargetRegistry([SalesforceSyncService()])
}
