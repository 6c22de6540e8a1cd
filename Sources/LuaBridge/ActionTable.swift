import JSON

/// Every service and action a script can call, and what each accepts.
enum Action: Sendable {
  case smartStore(SmartStoreAction)
  case keyValue(KeyValueAction)
  case mobileSync(MobileSyncAction)
  case network(NetworkAction)
  case oauth(OAuthAction)
  case account(AccountAction)
  case sdkInfo(SDKInfoAction)
  /// The script's answer to a request of ``ScriptCalls``: between the two halves of the bridge, no part of its contract.
  case answer
  /// Of a service that the host may know; the bridge does not.
  case other(service: String, action: String)

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
    case "com.salesforce.sdkinfo": found = SDKInfoAction(rawValue: action).map(Action.sdkInfo)
    case "tureen.script": found = action == "answer" ? .answer : nil
    case _ where service.hasPrefix("com.salesforce."): throw .bridge(.unknownService, "unknown service '\(service)'")
    default: found = .other(service: service, action: action)
    }
    guard let found else { throw .bridge(.unknownAction, "unknown action '\(action)' of service '\(service)'") }
    self = found
  }

  /// True for actions that start long work; an interrupt refuses those.
  var isLong: Bool {
    switch self {
    case .mobileSync(let action): action.isLong
    case .network, .oauth, .account: true
    default: false
    }
  }

  /// The lane of actions that have nothing to do with a store: they do not wait for one.
  var lane: StoreReference? {
    switch self {
    case .network, .oauth, .account: StoreReference(name: "com.salesforce.network", isGlobal: true)
    // A store's job may wait for the answer.
    case .answer: StoreReference(name: "tureen.script", isGlobal: true)
    default: nil
    }
  }

  /// True for the action whose answers come as long as the script wants them, and that nobody waits for.
  var isObserver: Bool { if case .smartStore(.observe) = self { true } else { false } }

  /// True for the actions that run while no other does.
  var isAboutAllStores: Bool { if case .smartStore(let action) = self { action.isAboutAllStores } else { false } }

  var fields: [Shape.Field] {
    switch self {
    case .smartStore(let action): action.fields
    case .keyValue(let action): action.fields
    case .mobileSync(let action): action.fields
    case .network(let action): action.fields
    case .sdkInfo(.registerAppFeature), .sdkInfo(.unregisterAppFeature): [.required("feature", .string)]
    case .account(.logout), .account(.switchToUser): [.optional("userId", .string), .optional("orgId", .string)]
    case .oauth, .account, .sdkInfo, .answer, .other: []
    }
  }

  /// Rules that concern more than one key. - Throws: `invalidArguments`.
  func checkTogether(_ arguments: JSONObject) throws(BridgeError) {
    func has(_ key: String) -> Bool { !(arguments[key]?.isNull ?? true) }
    switch self {
    case .smartStore(.removeFromSoup) where !has("entryIds") && !has("querySpec"):
      throw .bridge(.invalidArguments, "argument 'entryIds' is missing, expected it or 'querySpec'")
    case .smartStore(.observe) where !has("soupName") && !has("querySpec"):
      throw .bridge(.invalidArguments, "argument 'soupName' is missing, expected it or 'querySpec'")
    case .mobileSync(.reSync), .mobileSync(.getSyncStatus), .mobileSync(.deleteSync), .mobileSync(.cancelSync),
      .mobileSync(.cleanResyncGhosts):
      guard has("syncId") || has("syncName") else {
        throw .bridge(.invalidArguments, "Neither syncId nor syncName were specified")
      }
    default: break
    }
  }
}

extension ActionCall {
  /// The config keys every action accepts.
  private static let configFields: [Shape.Field] = [
    .optional("isGlobalStore", .boolean), .optional("storeName", .string),
  ]

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
    let fields = entries == nil ? action.fields : action.fields.filter { $0.name != "entries" }
    var arguments = try Shape.checked(object, Self.configFields + fields, at: "")
    if let stranger = entries?.stranger {
      throw Self.wrong("entries[\(stranger.position + 1)]", Shape.Kind.object.rawValue, kindName: stranger.kindName)
    }
    try action.checkTogether(arguments)
    let store = StoreReference(
      name: arguments["storeName"]?.stringValue ?? StoreReference.defaultName,
      isGlobal: arguments["isGlobalStore"]?.boolValue ?? false)
    arguments["storeName"] = nil
    arguments["isGlobalStore"] = nil
    self.init(store: store, arguments: arguments, rawArguments: text, entriesPlace: entries?.place)
  }
}

extension SmartStoreAction {
  private static let soupName = Shape.Field.required("soupName", .string)
  private static let indexes = Shape.Field.required(
    "indexes", .array(.object([.required("path", .string), .required("type", .string)])))
  private static let querySpec = Shape.object([
    .required("queryType", .string), .optional("indexPath", .string), .optional("smartSql", .string),
    .optional("orderPath", .string), .optional("order", .string), .optional("pageSize", .integer),
    .optional("selectPaths", .array(.string)),
  ])

  var fields: [Shape.Field] {
    switch self {
    case .soupExists, .getSoupIndexSpecs, .removeSoup, .clearSoup: [Self.soupName]
    case .registerSoup: [Self.soupName, Self.indexes]
    case .alterSoup: [Self.soupName, Self.indexes, .optional("reIndexData", .boolean)]
    case .reIndexSoup: [Self.soupName, .required("paths", .array(.string))]
    case .upsertSoupEntries:
      [Self.soupName, .required("entries", .array(.anyObject)), .optional("externalIdPath", .string)]
    case .retrieveSoupEntries: [Self.soupName, .required("entryIds", .array(.integer))]
    case .removeFromSoup:
      [Self.soupName, .optional("entryIds", .array(.integer)), .optional("querySpec", Self.querySpec)]
    case .querySoup: [Self.soupName, .required("querySpec", Self.querySpec)]
    case .runSmartQuery: [.required("querySpec", Self.querySpec)]
    case .moveCursorToPageIndex: [.required("cursorId", .any), .required("index", .integer)]
    case .closeCursor: [.required("cursorId", .any)]
    case .observe:
      [.required("observerId", .integer), .optional("soupName", .string), .optional("querySpec", Self.querySpec)]
    case .closeObserver: [.required("observerId", .integer)]
    case .getDatabaseSize, .removeStore: []
    case .getAllStores, .getAllGlobalStores, .removeAllStores, .removeAllGlobalStores: []
    }
  }
}

extension KeyValueAction {
  private static let name = Shape.Field.required("name", .string)
  private static let key = Shape.Field.required("key", .string)

  var fields: [Shape.Field] {
    switch self {
    case .get, .remove, .contains: [Self.name, Self.key]
    case .put: [Self.name, Self.key, .required("value", .string), .optional("isBase64", .boolean)]
    case .count, .clear: [Self.name]
    case .keys: [Self.name, .optional("pattern", .string)]
    case .stores: []
    }
  }
}

extension NetworkAction {
  var fields: [Shape.Field] {
    [
      .required("path", .string), .optional("endPoint", .string), .optional("method", .string),
      .optional("queryParams", .any), .optional("headerParams", .anyObject), .optional("fileParams", .anyObject),
      .optional("returnBinary", .boolean), .optional("doesNotRequireAuthentication", .boolean),
    ]
  }
}

extension MobileSyncAction {
  private static let options = Shape.object([
    .optional("mergeMode", .string), .optional("fieldlist", .array(.string)),
  ])
  private static let upTarget = Shape.object([
    .optional("createFieldlist", .array(.string)), .optional("updateFieldlist", .array(.string)),
  ])

  var fields: [Shape.Field] {
    switch self {
    case .syncDown, .createSyncDown:
      [
        .required("target", .anyObject), .required("soupName", .string), .optional("options", Self.options),
        .optional("syncName", .string),
      ]
    case .syncUp, .createSyncUp:
      [
        .required("target", Self.upTarget), .required("soupName", .string), .required("options", Self.options),
        .optional("syncName", .string),
      ]
    case .reSync, .getSyncStatus, .deleteSync, .cancelSync, .cleanResyncGhosts:
      [.optional("syncId", .integer), .optional("syncName", .string)]
    case .hasSyncWithName: [.required("syncName", .string)]
    case .stop, .isStopping, .isStopped: []
    case .restart: [.optional("restartStopped", .boolean)]
    case .fetchMetadata: [.required("sobjectType", .string), .optional("fetchMode", .string)]
    case .fetchLayout:
      [
        .required("sobjectType", .string), .optional("formFactor", .string), .optional("layoutType", .string),
        .optional("mode", .string), .optional("recordTypeId", .string), .optional("fetchMode", .string),
      ]
    }
  }
}
