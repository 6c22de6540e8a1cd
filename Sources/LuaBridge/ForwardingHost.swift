import JSON

/// A host that hands calls on to another one. Those that it does not implement itself go there unchanged.
public protocol ForwardingHost: BridgeHost {
  var wrapped: any BridgeHost { get }
}

extension ForwardingHost {
  public func configure(_ options: JSONObject) throws { try wrapped.configure(options) }

  public func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8] {
    try wrapped.smartStore(action, call)
  }

  public func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8] { try wrapped.keyValue(action, call) }

  public func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try wrapped.observe(call, onUpdate: onUpdate)
  }

  public func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]? {
    try wrapped.mobileSync(action, call, onUpdate: onUpdate)
  }

  public func network(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try wrapped.network(call, onUpdate: onUpdate)
  }

  public func oauth(_ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try wrapped.oauth(action, call, onUpdate: onUpdate)
  }

  public func account(_ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try wrapped.account(action, call, onUpdate: onUpdate)
  }

  public func accounts(
    _ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    try wrapped.accounts(action, call, onUpdate: onUpdate)
  }

  public func host(
    _ action: HostAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws { try wrapped.host(action, call, onUpdate: onUpdate) }

  public func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8] { try wrapped.asset(action, call) }

  public func parse(_ action: ParseAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try wrapped.parse(action, call, onUpdate: onUpdate)
  }

  public func setFeature(_ name: String, isUsed: Bool) { wrapped.setFeature(name, isUsed: isUsed) }

  public func sdkInfo() throws -> JSONObject { try wrapped.sdkInfo() }

  public var plugins: Plugins { wrapped.plugins }

  public func attach(_ script: ScriptCalls) { wrapped.attach(script) }

  public func shutdown() { wrapped.shutdown() }
}
