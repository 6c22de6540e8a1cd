import JSON

/// What a bridge needs from the native core. `Tureen` implements it on real parts; tests use a fake.
///
/// The bridge has already checked an action's arguments when it calls: required keys are there, of the right type.
/// Nothing has a default: a host that stands around another one must pass everything on, and the compiler sees to it.
/// Errors thrown reach the script as its error table; throw a ``BridgeError`` or something ``BridgeErrorConvertible``.
public protocol BridgeHost: AnyObject, Sendable {
  /// Takes the settings a script gave to `tureen.configure`.
  ///
  /// Runs on the Lua thread, so it must be quick. - Throws: for unknown or wrong settings, or when the host is in use.
  func configure(_ options: JSONObject) throws

  /// Runs one action of `com.salesforce.smartstore`. May block.
  ///
  /// Runs on the ordered lane of `call.store`: never two at once for one store, always in the script's order. Actions
  /// that concern all stores (`isAboutAllStores`) run alone, with every lane at rest.
  /// - Returns: The payload of the success callback, as JSON text.
  func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8]

  /// Runs one action of `tureen.keyvalue`, on the same lane as the store's own actions. May block.
  /// - Returns: The payload of the success callback, as JSON text.
  func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8]

  /// Begins to watch what the call's `soupName` or `querySpec` names; returns at once.
  ///
  /// `.changes` says that changes wait, at most once until they have been taken; `.finished` comes when the observer is closed,
  /// `.failed` when its store is. On the store's lane; news come from any thread.
  func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs or starts one action of `com.salesforce.mobilesync`, on the same lane as the store's own actions.
  ///
  /// `syncDown`, `syncUp`, `reSync`, `refresh` and `more` start the sync, report its state with status RUNNING to `onUpdate`, and
  /// return nil without waiting for it; later updates come from any thread. `cleanResyncGhosts` returns nil too and ends
  /// with `.finished`. The others return their payload as JSON text.
  /// What comes after a terminal update is ignored; letting go of `onUpdate` without one fails the call.
  func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]?

  /// Starts the request of a `pgSendRequest` of `com.salesforce.network` and returns; it ends with `.finished` or `.failed`.
  ///
  /// On a lane of its own. The call's `cancellation` breaks it off.
  func network(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// An action of `com.salesforce.oauth`. Answered once through `onUpdate`, from any thread.
  func oauth(_ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// An action of `com.salesforce.sfaccountmanager`. Answered once through `onUpdate`, from any thread.
  func account(_ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// An action of `tureen.accounts`. Answered once through `onUpdate`, from any thread.
  func accounts(_ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// Runs one action of `tureen.asset`. Reads two small files at most.
  /// - Returns: The payload of the success callback, as JSON text.
  func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8]

  /// An action of `tureen.parse`. Answered once through `onUpdate`, from any thread.
  func parse(_ action: ParseAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws

  /// A feature the script uses, a short code; the server sees it in the User-Agent.
  func setFeature(_ name: String, isUsed: Bool)

  /// The payload of `com.salesforce.sdkinfo` `getInfo`: `sdkVersion`, `appName`, `appVersion`, `bootConfig`...
  /// `forcePluginsAvailable` is filled in by the bridge when it is missing.
  func sdkInfo() throws -> JSONObject

  /// The services that are not the model's: what programs and scripts add.
  var plugins: Plugins { get }

  /// Gives the host a way into the script whose bridge this is. Called once, before everything else.
  func attach(_ script: ScriptCalls)

  /// Cancels what still runs and waits for it. Called once, on the Lua thread, after the last action has returned.
  func shutdown()
}

/// News of a call that answers more than once.
public enum CallUpdate: Sendable {
  /// The sync changed: it started, moved or ended.
  case sync(SyncUpdate)
  /// Something happened beside the call. The closure is called on the Lua thread, right before the script's listeners hear of it,
  /// and gives `{event, detail}` as JSON text; `{}` when there is nothing to tell any more.
  case event(@Sendable () -> [UInt8])
  /// Something that is watched has changed. The closure is called on the Lua thread, right before the script hears of it, and
  /// gives the payload as JSON text: so everything that happened until then is in it.
  case changes(@Sendable () -> [UInt8])
  /// The call ended without being a sync; the payload of its success callback, as JSON text.
  case finished([UInt8])
  /// The call failed before or beside a sync. A sync that ends FAILED is `.sync` with an error instead.
  case failed(any Error)
}

/// One change of a running sync.
public struct SyncUpdate: Sendable {
  /// The sync's `_soupEntryId`.
  public let syncId: Int64
  /// True for DONE, STOPPED and FAILED: nothing follows.
  public let isTerminal: Bool
  /// The sync state as JSON text. The bridge adds `isGlobalStore` and `storeName` to the event's detail itself.
  public let state: [UInt8]
  /// Why the sync FAILED; nil otherwise. The bridge adds the state as `sync`.
  public let error: BridgeError?

  public init(syncId: Int64, isTerminal: Bool, state: [UInt8], error: BridgeError? = nil) {
    self.syncId = syncId
    self.isTerminal = isTerminal
    self.state = state
    self.error = error
  }
}

/// Which store a call means.
public struct StoreReference: Sendable, Hashable {
  /// The name of the store a call means when it names none. Source: iOS 13.1, `SFSmartStore`.
  public static let defaultName = "defaultStore"
  public let name: String
  public let isGlobal: Bool

  public init(name: String = StoreReference.defaultName, isGlobal: Bool = false) {
    self.name = name
    self.isGlobal = isGlobal
  }

  // Swift's strings are equal when they look the same, stores are when the bytes of their names are.
  public static func == (a: StoreReference, b: StoreReference) -> Bool {
    a.isGlobal == b.isGlobal && a.name.hasSameBytes(as: b.name)
  }
}
