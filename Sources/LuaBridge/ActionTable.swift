import JSON

/// An action that a script can call.
enum Action: Sendable {
  case smartStore(SmartStoreAction)
  case keyValue(KeyValueAction)
  case mobileSync(MobileSyncAction)
  case network(NetworkAction)
  case oauth(OAuthAction)
  case account(AccountAction)
  case accounts(AccountsAction)
  case sdkInfo(SDKInfoAction)
  case asset(AssetAction)
  case host(HostAction)
  case parse(ParseAction)
  /// The script's answer to a request of ``ScriptCalls``. Internal to the bridge, not part of its public interface.
  case answer
  /// An action of a service that is not built in: the host's ``Plugins`` may have it.
  case plugin(service: String, action: String)

  /// The native SDK's services, in the order of `forcePluginsAvailable`.
  static let services = [
    "com.salesforce.mobilesync", "com.salesforce.network", "com.salesforce.oauth", "com.salesforce.sdkinfo",
    "com.salesforce.sfaccountmanager", "com.salesforce.smartstore",
  ]

  /// Finds the action by its service's full name and its wire name.
  /// - Throws: `unknownService`, `unknownAction`.
  init(service: String, action: String) throws(BridgeError) {
    let found: Action?
    switch service {
    case "com.salesforce.smartstore": found = SmartStoreAction(rawValue: action).map(Action.smartStore)
    case "com.salesforce.mobilesync": found = MobileSyncAction(rawValue: action).map(Action.mobileSync)
    case "com.salesforce.network": found = NetworkAction(rawValue: action).map(Action.network)
    case "tureen.keyvalue": found = KeyValueAction(rawValue: action).map(Action.keyValue)
    case "com.salesforce.oauth": found = OAuthAction(rawValue: action).map(Action.oauth)
    case "com.salesforce.sfaccountmanager": found = AccountAction(rawValue: action).map(Action.account)
    case "tureen.accounts": found = AccountsAction(rawValue: action).map(Action.accounts)
    case "com.salesforce.sdkinfo": found = SDKInfoAction(rawValue: action).map(Action.sdkInfo)
    case "tureen.asset": found = AssetAction(rawValue: action).map(Action.asset)
    case "tureen.host": found = HostAction(rawValue: action).map(Action.host)
    case "tureen.parse": found = ParseAction(rawValue: action).map(Action.parse)
    case "tureen.script": found = action == "answer" ? .answer : nil
    case _ where service.hasPrefix("com.salesforce."): throw Self.unknown(service)
    default: found = .plugin(service: service, action: action)
    }
    guard let found else {
      let hint = NearestName.hint(for: action, among: ActionCatalog.actions(of: service))
      throw .bridge(.unknownAction, "unknown action '\(action)' of service '\(service)'\(hint)")
    }
    self = found
  }

  private static func unknown(_ service: String) -> BridgeError {
    // These services differ only in the last part of their names.
    let shorts = ActionCatalog.services.map(ActionCatalog.shortName), short = ActionCatalog.shortName(of: service)
    let nearest = NearestName.find(short, among: shorts).flatMap(shorts.firstIndex(of:)).map { ActionCatalog.services[$0] }
    let hint = nearest.map { "; did you mean '\($0)'?" } ?? "; known: \(ActionCatalog.services.joined(separator: ", "))"
    return .bridge(.unknownService, "unknown service '\(service)'\(hint)")
  }

  /// Whether the action starts long work. After an interrupt such actions are refused.
  var isLong: Bool {
    switch self {
    case .mobileSync(let action): action.isLong
    case .network, .oauth, .account, .accounts, .host: true
    case .parse(let action): action != .findInSoup
    default: false
    }
  }

  /// Whether the action runs a query of a store.
  var isQuery: Bool {
    switch self {
    case .smartStore(let action): action.isQuery
    case .parse(let action): action == .findInSoup
    default: false
    }
  }

  /// Whether the action runs a query and changes nothing.
  var onlyReads: Bool {
    switch self {
    case .smartStore(let action): action.isQuery && action.onlyReads
    case .parse: isQuery
    default: false
    }
  }

  var isCancellable: Bool { isLong || isQuery }

  /// The queue of actions that use no store, so that they do not wait for one; nil for actions that use a store.
  var queue: StoreReference? {
    switch self {
    case .network, .oauth, .account, .accounts, .asset, .host: StoreReference(name: "com.salesforce.network", isGlobal: true)
    // `findInSoup` reads a store.
    case .parse(let action) where action != .findInSoup: StoreReference(name: "com.salesforce.network", isGlobal: true)
    default: nil
    }
  }

  /// Whether the action answers until the script closes it. Such a call does not count as pending.
  var isObserver: Bool { if case .smartStore(.observe) = self { true } else { false } }

  /// Whether the action must run while no other action runs.
  var concernsAllStores: Bool {
    switch self {
    case .smartStore(let action): action.concernsAllStores
    // Later actions belong to another user.
    case .account(let action): action == .switchToUser
    default: false
    }
  }

  /// The rules for the action's arguments; a plug-in's action accepts anything here.
  var rules: ArgumentRules {
    switch self {
    case .smartStore(let action): action.rules
    case .keyValue(let action): action.rules
    case .mobileSync(let action): action.rules
    case .network(let action): action.rules
    case .sdkInfo(let action): action.rules
    case .account(let action): action.rules
    case .accounts(let action): action.rules
    case .oauth(let action): action.rules
    case .asset(let action): action.rules
    case .host(let action): action.rules
    case .parse(let action): action.rules
    case .answer, .plugin: Self.anything
    }
  }

  private static let anything = ArgumentRules(isOpen: true)
}

extension ActionCall {
  /// The rules for an upsert's arguments other than its entries, which are not parsed into values.
  private static let upsertRules = SmartStoreAction.upsertSoupEntries.rules.excluding("entries")

  /// Decodes and checks the arguments of an action.
  /// - Throws: `invalidArguments`, naming the key.
  init(_ action: Action, text: [UInt8]) throws(BridgeError) {
    let value: JSONValue, entries: PartlyParsed.List?
    do {
      if case .smartStore(.upsertSoupEntries) = action {
        let parsed = try PartlyParsed(parsing: text, leaving: "entries")
        (value, entries) = (parsed.value, parsed.list)
      } else {
        (value, entries) = (try JSONValue(parsing: text), nil)
      }
    } catch {
      throw .bridge(.invalidArguments, "the arguments are not JSON: \(error.message) at offset \(error.offset)")
    }
    guard let object = value.objectValue else { throw Self.wrong("args", "an object", value) }
    var arguments = try (entries == nil ? action.rules : Self.upsertRules).checked(object)
    if let nonObject = entries?.firstNonObject {
      throw Self.wrong("entries[\(nonObject.position + 1)]", Shape.Kind.object.rawValue, kindName: nonObject.kindName)
    }
    let store = StoreReference(of: arguments)
    arguments["storeName"] = nil
    arguments["isGlobalStore"] = nil
    self.init(store: store, arguments: arguments, rawArguments: text, entriesRange: entries?.range)
  }
}
