import JSON
import Synchronization

/// Holds the services that were added to a host: plug-ins in Swift, C and Lua, and the blocking services of `HostSettings`.
/// Thread-safe.
public final class Plugins: Sendable {
  /// Runs one action of a blocking service. Returns nil for an unknown action.
  public typealias BlockingHandler = @Sendable (_ action: String, _ arguments: JSONObject) throws -> JSONValue?

  /// Identifies what executes the calls of a service.
  enum Receiver: Sendable {
    /// A function on the queue of the call's store: one call after the other.
    case blocking(BlockingHandler)
    /// A task for each call.
    case tasks([String: PluginAction])
    /// The thread that polls. It gets calls through the mailbox and answers with ``Bridge/answer(_:_:_:isEncoded:)``.
    case poller(hearsCancel: Bool)
  }

  struct Entry: Sendable {
    let number: Int64
    let service: String
    let receiver: Receiver
    let spec: PluginSpec?
    /// Whether restricted scripts may call it although it is not among the allowed names.
    let isSafe: Bool
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var last: Int64 = 0
  }

  private let state = Mutex(State())
  private let isRestricted: Bool
  /// The services that a restricted script may use.
  let allowed: Set<String>
  /// Logs a warning about a plug-in.
  let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - isRestricted: Whether only allowed services, and those that are marked as safe, can be called.
  ///   - allowed: The names of the services that restricted scripts may call.
  ///   - warn: Logs a warning; called from any thread.
  public init(
    isRestricted: Bool = false, allowed: Set<String> = [], warn: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.isRestricted = isRestricted
    self.allowed = allowed
    self.warn = warn
  }

  /// Adds a service with one blocking function, under any name. It replaces a service of the same name.
  /// - Parameter isSafe: Whether restricted scripts may call it without being allowed to.
  public func add(_ service: String, isSafe: Bool = false, _ handler: @escaping BlockingHandler) {
    state.withLock { state in
      state.last += 1
      state.entries[service] = Entry(
        number: state.last, service: service, receiver: .blocking(handler), spec: nil, isSafe: isSafe)
    }
  }

  /// Adds a plug-in. - Parameter isSafe: Whether restricted scripts may call it without being allowed to.
  /// - Throws: ``BridgeError`` `invalidArguments` if the name is not reverse-DNS, is reserved or is taken, or if the spec names
  ///   an action that the plug-in does not have.
  public func register(_ plugin: some Plugin, isSafe: Bool = false) throws(BridgeError) {
    let actions = plugin.actions
    if let missing = plugin.spec?.actions.first(where: { actions[$0] == nil }) {
      throw .bridge(.invalidArguments, "plug-in '\(plugin.service)': the spec has the action '\(missing)', the plug-in does not")
    }
    try register(plugin.service, .tasks(actions), spec: plugin.spec, isSafe: isSafe)
  }

  /// - Returns: The plug-in's number, for ``unregister(_:)``.
  @discardableResult
  func register(_ service: String, _ receiver: Receiver, spec: PluginSpec?, isSafe: Bool) throws(BridgeError) -> Int64 {
    try PluginName.check(service, "service")
    let number = state.withLock { state -> Int64? in
      guard state.entries[service] == nil else { return nil }
      state.last += 1
      state.entries[service] = Entry(
        number: state.last, service: service, receiver: receiver, spec: spec, isSafe: isSafe)
      return state.last
    }
    guard let number else { throw .bridge(.invalidArguments, "service '\(service)' is registered already") }
    return number
  }

  /// Removes a service. Calls that it has received stay open until it answers them.
  /// - Returns: False if there is no service of that name.
  @discardableResult
  public func unregister(_ service: String) -> Bool {
    state.withLock { $0.entries.removeValue(forKey: service) != nil }
  }

  func unregister(_ number: Int64) -> Bool {
    state.withLock { state in
      guard let service = state.entries.values.first(where: { $0.number == number })?.service else { return false }
      return state.entries.removeValue(forKey: service) != nil
    }
  }

  /// The names of the plug-ins that can be called, sorted.
  var services: [String] {
    state.withLock { state in
      state.entries.values.filter { PluginName.isValid($0.service) && isAvailable($0) }.map(\.service).sorted()
    }
  }

  private func isAvailable(_ entry: Entry) -> Bool { !isRestricted || isAllowed(entry) }

  /// Whether a restricted script may call the service.
  func isAllowed(_ entry: Entry) -> Bool { entry.isSafe || allowed.contains(entry.service) }

  /// Returns the error for a service that is not allowed. If a similar name is, and no service has that name, it is a typo.
  private func refusal(of service: String) -> BridgeError {
    let known = state.withLock { Set($0.entries.keys) }.union(ActionCatalog.services)
    let typo = NearestName.find(service, among: allowed.subtracting(known).sorted())
    let hint = typo.map { ", of which '\($0)' does not exist" } ?? ""
    let error = BridgeError.restricted("service '\(service)'", service: service, allowed: allowed)
    return .bridge(.restricted, error.message + hint)
  }

  /// Returns the service of a call.
  /// - Throws: `unknownService`, `unknownAction`, `restricted`.
  func find(_ service: String, _ action: String) throws(BridgeError) -> Entry {
    guard let entry = state.withLock({ $0.entries[service] }) else {
      let hint = NearestName.find(service, among: ActionCatalog.services + services).map { "; did you mean '\($0)'?" } ?? ""
      throw .bridge(.unknownService, "unknown service '\(service)'\(hint)")
    }
    guard isAvailable(entry) else { throw refusal(of: service) }
    if let known = entry.actions, !known.contains(action) {
      let hint = NearestName.hint(for: action, among: known.sorted())
      throw .bridge(.unknownAction, "unknown action '\(action)' of service '\(service)'\(hint)")
    }
    return entry
  }
}

extension Plugins.Entry {
  /// The names of the service's actions; nil if only the service itself knows them.
  var actions: [String]? {
    if case .tasks(let actions) = receiver { return Array(actions.keys) }
    return spec?.actions
  }

  /// The number of a call's messages that may wait in the mailbox at once: its end and one progress; for the poller also the
  /// call and its cancellation.
  var slots: Int {
    switch receiver {
    case .blocking: Tuning.slotsPerCall
    case .tasks: Tuning.slotsPerPluginCall
    case .poller: Tuning.slotsPerPolledCall
    }
  }

  /// Checks the arguments of a call and returns them as the plug-in gets them.
  /// - Throws: `invalidArguments`, naming the argument.
  func checked(_ action: String, _ text: [UInt8]) throws(BridgeError) -> JSONObject {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: text)
    } catch {
      throw .bridge(.invalidArguments, "the arguments are not JSON: \(error.message) at offset \(error.offset)")
    }
    guard let object = value.objectValue else { throw ActionCall.wrong("args", "an object", value) }
    guard let rules = spec?.rules[action] else { return object }
    return try rules.checked(object)
  }
}
