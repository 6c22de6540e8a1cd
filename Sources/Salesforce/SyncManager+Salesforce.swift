import MobileSync
import RestClient
import SmartStore

/// Sync managers that support only Salesforce.
extension SyncManager {
  /// - Throws: `StoreError`.
  public convenience init(
    store: Store, client: any RestClient, configuration: SyncConfiguration = SyncConfiguration()
  ) throws {
    try self.init(store: store, client: client, targets: .salesforce, configuration: configuration)
  }

  /// Returns the manager of a store. It is the same object as long as it is referenced and not shut down.
  /// - Throws: `StoreError`.
  public static func instance(
    for store: Store, client: any RestClient, configuration: SyncConfiguration = SyncConfiguration()
  ) throws -> SyncManager {
    try instance(for: store, client: client, targets: .salesforce, configuration: configuration)
  }
}
