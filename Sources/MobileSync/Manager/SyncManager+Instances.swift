import RestClient
import SmartStore
import Synchronization

/// One manager for each store in a process: a second one would not know what the first is running.
extension SyncManager {
  private struct Entry {
    weak var manager: SyncManager?
  }

  private static let instances = Mutex<[ObjectIdentifier: Entry]>([:])

  /// The manager of a store: the same one as long as it is referenced and not shut down.
  ///
  /// - Parameters:
  ///   - store: Holds the soups and the sync states.
  ///   - client: Used when the manager is made now.
  ///   - targets: Likewise.
  ///   - configuration: Likewise.
  /// - Throws: ``SmartStore/StoreError``.
  /// - Note: A store belongs to one user, so this is the model's one manager for each user and store. Blocks while one is made.
  public static func instance(
    for store: Store, client: any RestClient, targets: TargetRegistry,
    configuration: SyncConfiguration = SyncConfiguration()
  ) throws -> SyncManager {
    let key = ObjectIdentifier(store)
    if let manager = existing(key) { return manager }
    let made = try SyncManager(store: store, client: client, targets: targets, configuration: configuration)
    return instances.withLock { instances in
      // Another caller was quicker.
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

  /// The next call for its store makes a new one.
  func forgetInstance() {
    let key = ObjectIdentifier(store)
    SyncManager.instances.withLock { instances in
      if instances[key]?.manager === self { instances[key] = nil }
    }
  }
}
