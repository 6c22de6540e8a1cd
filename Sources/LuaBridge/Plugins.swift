import JSON
import Synchronization

/// The services of a host that are not Tureen's own, by name: plug-ins in Swift, C and Lua, and the blocking services of
/// `HostSettings`. Any thread.
public final class Plugins: Sendable {
  /// Runs one action of a blocking service; nil for an action that it does not know.
  public typealias BlockingHandler = @Sendable (_ action: String, _ arguments: JSONObject) throws -> JSONValue?

  /// What carries out the calls of a service.
  enum Receiver: Sendable {
    /// A function, on the lane of the call's store: one call after the other.
    case blocking(BlockingHandler)
    /// A task for each call.
    case tasks([String: PluginAction])
    /// The thread that polls, which gets calls through the mailbox and answers by ``Bridge/answer(_:_:_:)``.
    case poller(hearsCancel: Bool)
  }

  struct Entry: Sendable {
    let number: Int64
    let service: String
    let receiver: Receiver
    let spec: PluginSpec?
    /// Whether restricted scripts may call it.
    let isSafe: Bool
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var last: Int64 = 0
  }

  private let state = Mutex(State())
  private let isRestricted: Bool
  /// Tells the people who run the host what a plug-in did wrong.
  let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - isRestricted: Whether calls reach only the services that are marked as safe.
  ///   - warn: Logs a warning, from any thread.
  public init(isRestricted: Bool = false, warn: @escaping @Sendable (String) -> Void = { _ in }) {
    self.isRestricted = isRestricted
    self.warn = warn
  }

  /// Adds a service that is one blocking function, under any name. It takes the place of an earlier one.
  public func add(_ service: String, isSafe: Bool, _ handler: @escaping BlockingHandler) {
    state.withLock { state in
      state.last += 1
      state.entries[service] = Entry(
        number: state.last, service: service, receiver: .blocking(handler), spec: nil, isSafe: isSafe)
    }
  }

  /// Adds a plug-in. - Parameter isSafe: Whether restricted scripts may call it.
  /// - Throws: ``BridgeError`` `invalidArguments`: the name is not reverse-DNS, reserved or taken, or the spec names an action
  ///   that the plug-in lacks.
  public func register(_ plugin: some Plugin, isSafe: Bool = false) throws(BridgeError) {
    let actions = plugin.actions
    if let missing = plugin.spec?.actions.first(where: { actions[$0] == nil }) {
      throw .bridge(.invalidArguments, "plug-in '\(plugin.service)': the spec has the action '\(missing)', the plug-in does not")
    }
    try register(plugin.service, .tasks(actions), spec: plugin.spec, isSafe: isSafe)
  }

  /// - Returns: The number that ``unregister(_:)`` takes.
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

  /// Removes a service. Calls that it has got stay open until it answers them.
  /// - Returns: False when there is none of that name.
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

  /// The names of the plug-ins that callers can reach, sorted.
  var services: [String] {
    state.withLock { state in
      state.entries.values.filter { PluginName.isValid($0.service) && ($0.isSafe || !isRestricted) }.map(\.service).sorted()
    }
  }

  /// The service that a call means.
  /// - Throws: `unknownService`, `unknownAction`, `restricted`.
  func find(_ service: String, _ action: String) throws(BridgeError) -> Entry {
    guard let entry = state.withLock({ $0.entries[service] }) else {
      let hint = NearestName.find(service, among: ActionCatalog.services + services).map { "; did you mean '\($0)'?" } ?? ""
      throw .bridge(.unknownService, "unknown service '\(service)'\(hint)")
    }
    guard entry.isSafe || !isRestricted else {
      throw .bridge(.restricted, "service '\(service)' is not available to a restricted script (--restricted)")
    }
    if let known = entry.actions, !known.contains(action) {
      let hint = NearestName.hint(for: action, among: known.sorted())
      throw .bridge(.unknownAction, "unknown action '\(action)' of service '\(service)'\(hint)")
    }
    return entry
  }
}

extension Plugins.Entry {
  /// The names of its actions; nil where only the service itself knows them.
  var actions: [String]? {
    if case .tasks(let actions) = receiver { return Array(actions.keys) }
    return spec?.actions
  }

  /// What a call may have waiting in the mailbox at once: its end and one progress; for the poller also the call and its
  /// cancellation.
  var places: Int {
    switch receiver {
    case .blocking: Tuning.placesOfCall
    case .tasks: Tuning.placesOfPluginCall
    case .poller: Tuning.placesOfPolledCall
    }
  }

  /// The arguments of a call as the plug-in gets them.
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
