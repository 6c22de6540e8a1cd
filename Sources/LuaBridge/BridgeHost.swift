import JSON

/// The native core as the bridge uses it. The module `Tureen` implements it; tests use a fake.
///
/// The bridge checks an action's arguments before it calls a host: required keys are present and have the right type.
/// No requirement has a default, so that the compiler checks that a host that wraps another one forwards everything.
/// A thrown error becomes the script's error table; throw a ``BridgeError`` or a ``BridgeErrorConvertible``.
public protocol BridgeHost: AnyObject, Sendable {
  /// Applies the settings that a script passed to `tureen.configure`.
  ///
  /// Runs on the Lua thread, so it must be quick. - Throws: If settings are unknown or wrong, or the host is already in use.
  func configure(_ options: JSONObject) throws

  /// Runs one action of `com.salesforce.smartstore`. May block.
  ///
  /// Runs on the queue of `call.store`: one action at a time for one store, in the script's order. Actions that concern all
  /// stores (`concernsAllStores`) run exclusively, while all queues are empty.
  /// - Returns: The payload of the success callback, as JSON text.
  func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8]

  /// Runs one action of `tureen.keyvalue`, on the same queue as the store's own actions. May block.
  /// - Returns: The payload of the success callback, as JSON text.
  func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8]

  /// Starts to observe the call's `soupName` or `querySpec` and returns at once.
  ///
  /// `.changes` reports that there are changes, at most once until they have been taken. `.finished` is sent when the observer
  /// is closed, `.failed` when its store is closed. Runs on the store's queue; updates may come from any thread.
  func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs or starts one action of `com.salesforce.mobilesync`, on the same queue as the store's own actions.
  ///
  /// `syncDown`, `syncUp`, `reSync`, `refresh` and `more` start the sync, report its state with status RUNNING to `onUpdate`, and
  /// return nil without waiting for it; later updates may come from any thread. `cleanResyncGhosts` and `verifySync` also
  /// return nil and end with `.finished`. The other actions return their payload as JSON text.
  /// Updates after a terminal one are ignored. If `onUpdate` is released without a terminal update, the call fails.
  func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]?

  /// Starts the request of a `pgSendRequest` of `com.salesforce.network` and returns. The request ends with `.finished` or
  /// `.failed`.
  ///
  /// Runs on a queue of its own. The call's `cancellation` aborts the request.
  func network(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs one action of `com.salesforce.oauth`. It is answered once through `onUpdate`, from any thread.
  func oauth(_ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs one action of `com.salesforce.sfaccountmanager`. It is answered once through `onUpdate`, from any thread.
  func account(_ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs one action of `tureen.accounts`. It is answered once through `onUpdate`, from any thread.
  func accounts(_ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs one action of `tureen.host`. It is answered once through `onUpdate`, from any thread.
  func host(_ action: HostAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs one action of `tureen.asset`. It reads at most two small files.
  /// - Returns: The payload of the success callback, as JSON text.
  func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8]

  /// Runs one action of `tureen.parse`. It is answered once through `onUpdate`, from any thread.
  func parse(_ action: ParseAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Records whether the script uses a feature. `name` is a short code, which is sent in the User-Agent.
  func setFeature(_ name: String, isUsed: Bool)

  /// Returns the payload of `getInfo` of `com.salesforce.sdkinfo`: `sdkVersion`, `appName`, `appVersion`, `bootConfig`... The
  /// bridge adds `forcePluginsAvailable` if it is missing.
  func sdkInfo() throws -> JSONObject

  /// The services that programs and scripts add.
  var plugins: Plugins { get }

  /// Gives the host access to the bridge's script. Called once, before any other function.
  func attach(_ script: ScriptCalls)

  /// Cancels running work and waits for its end. Called once, on the Lua thread, after the last action has returned.
  func shutdown()
}

/// An update of a call that answers asynchronously.
public enum CallUpdate: Sendable {
  /// The sync started, progressed or ended.
  case sync(SyncUpdate)
  /// An event for the script's listeners. The closure is called on the Lua thread immediately before the listeners and returns
  /// `{event, detail}` as JSON text; `{}` if the event is obsolete.
  case event(@Sendable () -> [UInt8])
  /// An observed soup or query has changed. The closure is called on the Lua thread immediately before the script's callback and
  /// returns the payload as JSON text, so the payload includes all changes until then.
  case changes(@Sendable () -> [UInt8])
  /// The call, which is not a sync, succeeded. The value is the payload of its success callback as JSON text.
  case finished([UInt8])
  /// The call failed. A sync that ends FAILED is reported as `.sync` with an error instead.
  case failed(any Error)
}

/// One change of a running sync.
public struct SyncUpdate: Sendable {
  /// The sync's `_soupEntryId`.
  public let syncId: Int64
  /// Whether the state is DONE, STOPPED or FAILED, so that no update follows.
  public let isTerminal: Bool
  /// The sync state as JSON text. The bridge adds `isGlobalStore` and `storeName` to the event's detail.
  public let state: [UInt8]
  /// The error of a sync that FAILED; nil for other states. The bridge adds the state as `sync`.
  public let error: BridgeError?

  public init(syncId: Int64, isTerminal: Bool, state: [UInt8], error: BridgeError? = nil) {
    self.syncId = syncId
    self.isTerminal = isTerminal
    self.state = state
    self.error = error
  }
}

/// Identifies a store by its name and its kind: user or global.
public struct StoreReference: Sendable, Hashable {
  /// The store's name for calls that name no store. Source: iOS 13.1, `SFSmartStore`.
  public static let defaultName = "defaultStore"
  public let name: String
  public let isGlobal: Bool

  public init(name: String = StoreReference.defaultName, isGlobal: Bool = false) {
    self.name = name
    self.isGlobal = isGlobal
  }

  /// The store that an action's arguments name, otherwise the default store.
  public init(of arguments: JSONObject) {
    self.init(
      name: arguments["storeName"]?.stringValue ?? StoreReference.defaultName,
      isGlobal: arguments["isGlobalStore"]?.boolValue ?? false)
  }

  // Compares bytes: Swift's `==` also treats different byte sequences as equal if they are canonically equivalent.
  public static func == (a: StoreReference, b: StoreReference) -> Bool {
    a.isGlobal == b.isGlobal && a.name.hasSameBytes(as: b.name)
  }
}
