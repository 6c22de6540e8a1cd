import Foundation
import JSON
import LuaBridge

/// A host without a store or a server. Store actions answer with their arguments; syncs run through the steps in their target
/// ("RUNNING:50", "DONE").
final class FakeHost: BridgeHost, @unchecked Sendable {
  private struct State {
    var held: [(update: @Sendable (CallUpdate) -> Void, call: ActionCall)] = []
    var running: Set<StoreReference> = []
    var overlaps = 0, shutdowns = 0
    var log: [String] = []
    var notes: [String] = []
  }
  private let lock = NSLock()
  private var state = State()
  /// Signalled when an action that concerns all stores has run, which is after all other actions.
  let atRest = DispatchSemaphore(value: 0)
  let hasShutDown = DispatchSemaphore(value: 0)
  /// Called for the soup "interrupt".
  var onInterrupt: @Sendable () -> Void = {}

  let plugins: Plugins

  /// Creates the host with two services: each action of `echo` answers with its arguments; `note` records its `value`.
  init(isRestricted: Bool = false, warn: @escaping @Sendable (String) -> Void = { _ in }) {
    plugins = Plugins(isRestricted: isRestricted, warn: warn)
    plugins.add("echo", isSafe: true) { _, arguments in .object(arguments) }
    plugins.add("note", isSafe: true) { [weak self] _, arguments in
      self?.note(arguments["value"]?.stringValue ?? "")
      return .object(arguments)
    }
  }

  private func note(_ value: String) { lock.withLock { state.notes.append(value) } }

  var overlaps: Int { lock.withLock { state.overlaps } }
  var shutdowns: Int { lock.withLock { state.shutdowns } }
  var log: [String] { lock.withLock { state.log } }
  /// The values that scripts sent to the service `note`, in order.
  var notes: [String] { lock.withLock { state.notes } }
  var heldUpdates: [@Sendable (CallUpdate) -> Void] { lock.withLock { state.held.map(\.update) } }

  struct Unknown: Error {}

  func configure(_ options: JSONObject) throws {
    if options["home"] == nil, let key = options.keys.first {
      throw BridgeError(domain: "configuration", code: "unknownSetting", message: "unknown setting '\(key)'")
    }
  }

  func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8] {
    lock.withLock { if !state.running.insert(call.store).inserted { state.overlaps += 1 } }
    defer { lock.withLock { _ = state.running.remove(call.store) } }
    defer { if action.concernsAllStores { atRest.signal() } }
    let soup = call.value("soupName")?.stringValue ?? ""
    lock.withLock { state.log.append("\(call.store.name):\(action.rawValue):\(soup)") }
    switch soup {
    case "fail":
      throw BridgeError(
        domain: "store", code: "noSuchSoup", message: "no soup named 'fail'", isRetryable: true,
        details: ["hint": ["x"]])
    case "garbage": return Array("{not json".utf8)
    case "literal": return Array((call.value("querySpec")?["smartSql"]?.stringValue ?? "").utf8)
    case "unknown error": throw Unknown()
    case "interrupt": onInterrupt()
    case "release": take(call.value("paths")?.arrayValue ?? [])
    default: break
    }
    return JSONValue.object(echo(action.rawValue, call)).serialized()
  }

  func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]? {
    let name = call.value("syncName")?.stringValue ?? ""
    switch action {
    case .getSyncStatus where name == "none": return Array("{}".utf8)
    case .getSyncStatus: return syncState("DONE:100", call, action)
    case .deleteSync: return Array(#""OK""#.utf8)
    case .cleanResyncGhosts: onUpdate(.finished(Array("3".utf8)))
    case .verifySync: onUpdate(.finished(JSONValue.object(call.arguments).serialized()))
    default: try start(action, name, call, onUpdate)
    }
    return nil
  }

  private func start(
    _ action: MobileSyncAction, _ name: String, _ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    switch name {
    case "cancellable":
      step("RUNNING:0", call, action, onUpdate)
      call.cancellation?.onCancel { [self] in step("STOPPED:0", call, action, onUpdate) }
      return
    case "held": return lock.withLock { state.held.append((onUpdate, call)) }
    case "unknown": throw BridgeError(domain: "sync", code: "noSuchSync", message: "no sync named 'unknown'")
    case "dropped": return
    case "fails-after-start":
      for change in ["RUNNING:0", "FAILED:50"] { step(change, call, action, onUpdate) }
      return
    default: break
    }
    let steps = call.value("target")?["steps"]?.arrayValue?.compactMap(\.stringValue) ?? ["RUNNING:0", "DONE:100"]
    for text in steps { step(text, call, action, onUpdate) }
  }

  private func take(_ steps: [JSONValue]) {
    guard let held = lock.withLock({ state.held.last }) else { return }
    for text in steps.compactMap(\.stringValue) { step(text, held.call, .syncDown, held.update) }
  }

  private func step(
    _ text: String, _ call: ActionCall, _ action: MobileSyncAction, _ onUpdate: @Sendable (CallUpdate) -> Void
  ) {
    let isFailed = text.hasPrefix("FAILED")
    onUpdate(
      .sync(
        SyncUpdate(
          syncId: 7, isTerminal: !text.hasPrefix("RUNNING"), state: syncState(text, call, action),
          error: isFailed ? BridgeError(domain: "sync", code: "serverError", message: "the server said no") : nil)))
  }

  private func syncState(_ text: String, _ call: ActionCall, _ action: MobileSyncAction) -> [UInt8] {
    let parts = text.split(separator: ":")
    var object: JSONObject = [
      "_soupEntryId": 7, "status": .string(String(parts[0])),
      "progress": .integer(parts.count > 1 ? Int64(parts[1]) ?? 0 : 0), "sent": .object(echo(action.rawValue, call)),
    ]
    if let name = call.value("syncName") { object["name"] = name }
    return JSONValue.object(object).serialized()
  }

  private func echo(_ action: String, _ call: ActionCall) -> JSONObject {
    var arguments = call.arguments
    if action == "pgUpsertSoupEntries" { arguments["entries"] = try? JSONValue(parsing: call.entries()) }
    return [
      "action": .string(action), "arguments": .object(arguments),
      "store": ["name": .string(call.store.name), "isGlobal": .bool(call.store.isGlobal)],
    ]
  }

  func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8] { throw Self.missing("key-value stores") }

  func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    throw Self.missing("observers")
  }

  func network(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    throw Self.missing("network")
  }

  func oauth(_ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    throw Self.missing("sign-in")
  }

  func account(_ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    throw Self.missing("accounts")
  }

  func accounts(_ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    throw Self.missing("accounts")
  }

  func host(_ action: HostAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    throw Self.missing("the doctor")
  }

  func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8] { throw Self.missing("assets") }
  func parse(_ action: ParseAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    throw Self.missing("Parse servers")
  }

  private static func missing(_ what: String) -> BridgeError {
    BridgeError(domain: "bridge", code: "unknownService", message: "this host has no \(what)")
  }

  func setFeature(_ name: String, isUsed: Bool) {}

  func attach(_ script: ScriptCalls) {}

  func sdkInfo() throws -> JSONObject { ["sdkVersion": "14.0.0", "appName": "fake"] }

  func shutdown() {
    lock.withLock { state.shutdowns += 1 }
    hasShutDown.signal()
  }
}
