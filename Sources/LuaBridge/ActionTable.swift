import JSON

/// Every service and action a script can call, and what each accepts.
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
  case parse(ParseAction)
  /// The script's answer to a request of ``ScriptCalls``: between the two halves of the bridge, no part of its contract.
  case answer
  /// Of a service that the host's ``Plugins`` may know; the bridge does not.
  case plugin(service: String, action: String)

  /// The services, in the order `forcePluginsAvailable` lists them.
  static let services = [
    "com.salesforce.mobilesync", "com.salesforce.network", "com.salesforce.oauth", "com.salesforce.sdkinfo",
    "com.salesforce.sfaccountmanager", "com.salesforce.smartstore",
  ]

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
    // All but the last word is the same for each of them.
    let shorts = ActionCatalog.services.map(ActionCatalog.shortName), short = ActionCatalog.shortName(of: service)
    let nearest = NearestName.find(short, among: shorts).flatMap(shorts.firstIndex(of:)).map { ActionCatalog.services[$0] }
    let hint = nearest.map { "; did you mean '\($0)'?" } ?? "; known: \(ActionCatalog.services.joined(separator: ", "))"
    return .bridge(.unknownService, "unknown service '\(service)'\(hint)")
  }

  /// True for actions that start long work; an interrupt refuses those.
  var isLong: Bool {
    switch self {
    case .mobileSync(let action): action.isLong
    case .network, .oauth, .account, .accounts: true
    case .parse(let action): action != .findInSoup
    default: false
    }
  }

  /// True for actions that run a query of a store.
  var isQuery: Bool { if case .smartStore(let action) = self { action.isQuery } else { false } }

  /// True for those that do nothing else.
  var onlyReads: Bool { if case .smartStore(let action) = self { action.isQuery && action.onlyReads } else { false } }

  var canBeGivenUp: Bool { isLong || isQuery }

  /// The lane of actions that have nothing to do with a store: they do not wait for one.
  var lane: StoreReference? {
    switch self {
    case .network, .oauth, .account, .accounts, .asset: StoreReference(name: "com.salesforce.network", isGlobal: true)
    // The other one reads a store.
    case .parse(let action) where action != .findInSoup: StoreReference(name: "com.salesforce.network", isGlobal: true)
    default: nil
    }
  }

  /// True for the action that answers until the script closes it; it does not count as pending.
  var isObserver: Bool { if case .smartStore(.observe) = self { true } else { false } }

  /// True for the actions that run while no other does.
  var isAboutAllStores: Bool {
    switch self {
    case .smartStore(let action): action.isAboutAllStores
    // What comes after it is another user's.
    case .account(let action): action == .switchToUser
    default: false
    }
  }

  /// What it takes; anything at all for an action that the bridge does not know.
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
    case .parse(let action): action.rules
    case .answer, .plugin: Self.anything
    }
  }

  private static let anything = ArgumentRules(isOpen: true)
}

extension ActionCall {
  /// What an upsert takes beside its entries, which are never built.
  private static let upsertRules = SmartStoreAction.upsertSoupEntries.rules.passing(over: "entries")

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
    if let stranger = entries?.stranger {
      throw Self.wrong("entries[\(stranger.position + 1)]", Shape.Kind.object.rawValue, kindName: stranger.kindName)
    }
    let store = StoreReference(
      name: arguments["storeName"]?.stringValue ?? StoreReference.defaultName,
      isGlobal: arguments["isGlobalStore"]?.boolValue ?? false)
    arguments["storeName"] = nil
    arguments["isGlobalStore"] = nil
    self.init(store: store, arguments: arguments, rawArguments: text, entriesPlace: entries?.place)
  }
}
