import MobileSync
import RestClient
import SmartStore

/// Managers of syncs with Salesforce alone.
extension SyncManager {
  /// - Throws: `StoreError`.
  public convenience init(
    store: Store, client: any RestClient, configuration: SyncConfiguration = SyncConfiguration()
  ) throws {
    try self.init(store: store, client: client, targets: .salesforce, configuration: configuration)
  }

  /// The manager of a store: the same one as long as it is referenced and not shut down.
  /// - Throws: `StoreError`.
  public static func instance(
    for store: Store, client: any RestClient, configuration: SyncConfiguration = SyncConfiguration()
  ) throws -> SyncManager {
    try instance(for: store, client: client, targets: .salesforce, configuration: configuration)
  }
}
