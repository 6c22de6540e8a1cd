import RestClient
import SmartStore
import Synchronization

/// One manager per store in a process, because a second one would not know what the first is
/// running.
extension SyncManager {
  private struct Entry {
    weak var manager: SyncManager?
  }

  private static let instances = Mutex<[ObjectIdentifier: Entry]>([:])

  /// Returns the manager of a store. It stays the same one while it is referenced and not shut
  /// down.
  ///
  /// - Parameters:
  ///   - store: Holds the soups and the sync states.
  ///   - client: Used if a new manager is created.
  ///   - targets: Used if a new manager is created.
  ///   - configuration: Used if a new manager is created.
  /// - Throws: ``SmartStore/StoreError``.
  /// - Note: A store belongs to one user, so this corresponds to the Mobile SDK's manager for each
  ///   user and store. Blocks while a manager is created.
  public static func instance(
    for store: Store, client: any RestClient, targets: TargetRegistry,
    configuration: SyncConfiguration = SyncConfiguration()
  ) throws -> SyncManager {
    let key = ObjectIdentifier(store)
    if let manager = existing(key) { return manager }
    let made = try SyncManager(store: store, client: client, targets: targets, configuration: configuration)
    return instances.withLock { instances in
      // Another caller was faster.
      if let known = instances[key]?.manager, known.store === store { return known }
      instances[key] = Entry(manager: made)
      return made
    }
  }

  private static func existing(_ key: ObjectIdentifier) -> SyncManager? {
    instances.withLock { instances in
      instances = instances.filter { $0.value.manager != nil }
      return instances[key]?.manager
    }
  }

  /// Makes the next call for this store create a new manager.
  func forgetInstance() {
    let key = ObjectIdentifier(store)
    SyncManager.instances.withLock { instances in
      if instances[key]?.manager === self { instances[key] = nil }
    }
  }
}
