import JSON

/// The actions of `com.salesforce.smartstore`. Raw values are the wire names.
public enum SmartStoreAction: String, CaseIterable, Sendable {
  case registerSoup = "pgRegisterSoup"
  case soupExists = "pgSoupExists"
  case getSoupIndexSpecs = "pgGetSoupIndexSpecs"
  case alterSoup = "pgAlterSoup"
  case reIndexSoup = "pgReIndexSoup"
  case removeSoup = "pgRemoveSoup"
  case clearSoup = "pgClearSoup"
  case upsertSoupEntries = "pgUpsertSoupEntries"
  case retrieveSoupEntries = "pgRetrieveSoupEntries"
  case removeFromSoup = "pgRemoveFromSoup"
  case querySoup = "pgQuerySoup"
  case runSmartQuery = "pgRunSmartQuery"
  case moveCursorToPageIndex = "pgMoveCursorToPageIndex"
  case closeCursor = "pgCloseCursor"
  case observe = "pgObserve"
  case closeObserver = "pgCloseObserver"
  case getDatabaseSize = "pgGetDatabaseSize"
  case removeStore = "pgRemoveStore"
  case getAllStores = "pgGetAllStores"
  case getAllGlobalStores = "pgGetAllGlobalStores"
  case removeAllStores = "pgRemoveAllStores"
  case setupStoreFromDefaultConfig = "pgSetupStoreFromDefaultConfig"
  case removeAllGlobalStores = "pgRemoveAllGlobalStores"

  /// True for the four actions that take no store and concern every one.
  public var isAboutAllStores: Bool {
    switch self {
    case .getAllStores, .getAllGlobalStores, .removeAllStores, .removeAllGlobalStores: true
    default: false
    }
  }
}

extension SmartStoreAction {
  /// True for the actions that run a query: it may take any time, so it can be given up.
  public var isQuery: Bool {
    switch self {
    case .querySoup, .runSmartQuery, .moveCursorToPageIndex, .observe, .removeFromSoup: true
    default: false
    }
  }

  /// True for those that only read. Without the script their answers are not needed.
  var onlyReads: Bool { self != .removeFromSoup }
}

/// The actions of `tureen.keyvalue`. Raw values are the wire names.
public enum KeyValueAction: String, CaseIterable, Sendable {
  case get = "kvGet"
  case put = "kvPut"
  case remove = "kvRemove"
  case contains = "kvContains"
  case count = "kvCount"
  case clear = "kvClear"
  case keys = "kvKeys"
  case stores = "kvStores"
}

/// The actions of `com.salesforce.mobilesync`. Raw values are the wire names.
public enum MobileSyncAction: String, CaseIterable, Sendable {
  case syncDown, syncUp, reSync, refresh, more, getSyncStatus, deleteSync, cleanResyncGhosts
  case createSyncDown, createSyncUp, hasSyncWithName, cancelSync
  case stop, restart, isStopping, isStopped
  case fetchMetadata, fetchLayout
  case getConflicts, resolveConflict
  case setupSyncsFromDefaultConfig

  /// True for the actions that start long work and answer more than once, or late.
  public var isLong: Bool {
    switch self {
    case .syncDown, .syncUp, .reSync, .refresh, .more, .cleanResyncGhosts, .restart, .fetchMetadata, .fetchLayout: true
    default: false
    }
  }
}

/// The actions of `com.salesforce.oauth`. Raw values are the wire names.
public enum OAuthAction: String, CaseIterable, Sendable {
  case getAuthCredentials, authenticate, logoutCurrentUser, getAppHomeUrl
}

/// The actions of `com.salesforce.sfaccountmanager`. Raw values are the wire names.
public enum AccountAction: String, CaseIterable, Sendable {
  case getUsers, getCurrentUser, logout, switchToUser
}

/// The actions of `tureen.accounts`, beside the model's own. Raw values are the wire names.
public enum AccountsAction: String, CaseIterable, Sendable {
  case getOrgs, getIdentity, getUsage, startLogin, finishLogin, cancelLogin
}

/// The actions of `com.salesforce.sdkinfo`. Raw values are the wire names.
public enum SDKInfoAction: String, CaseIterable, Sendable {
  case getInfo, registerAppFeature, unregisterAppFeature
}

/// The actions of `tureen.asset`. Raw values are the wire names.
public enum AssetAction: String, CaseIterable, Sendable {
  case path
}

/// The actions of `tureen.parse`. Raw values are the wire names.
public enum ParseAction: String, CaseIterable, Sendable {
  case find, findInSoup, fetch, save, delete, signUp, logIn, logOut, currentUser
}

/// The actions of `com.salesforce.network`. Raw values are the wire names.
public enum NetworkAction: String, CaseIterable, Sendable {
  case sendRequest = "pgSendRequest"
}

/// One use of an action: the store it means and its checked arguments.
public struct ActionCall: Sendable {
  public let store: StoreReference
  /// The arguments, without `isGlobalStore` and `storeName`. An empty `{}` where a list belongs has become `[]`. Entries to be
  /// stored are not among them: see ``entries()``.
  public let arguments: JSONObject
  /// The whole arguments object as the script sent it, for handlers that pass record text through.
  public let rawArguments: [UInt8]
  /// Says when the script gives the call up; nil for calls that are too short for it.
  public internal(set) var cancellation: Cancellation?
  /// The script reads the entries of the answer field by field: they need not be looked into, and a page of them ends with
  /// `entryLengths`, the bytes of each.
  public internal(set) var wantsRecords = false

  /// Where the entries to be stored stand in `rawArguments`.
  private let entriesPlace: Range<Int>?

  public init(store: StoreReference, arguments: JSONObject, rawArguments: [UInt8], entriesPlace: Range<Int>? = nil) {
    self.store = store
    self.arguments = arguments
    self.rawArguments = rawArguments
    self.entriesPlace = entriesPlace
  }

  /// The text of the required list `entries`, as the script sent it: checked to be a list of objects, never built.
  /// - Throws: `invalidArguments`.
  public func entries() throws(BridgeError) -> [UInt8] {
    if let entriesPlace { return Array(rawArguments[entriesPlace]) }
    return JSONValue.array(try array("entries")).serialized()
  }

  /// An argument, or nil when it is absent or null.
  public func value(_ key: String) -> JSONValue? {
    guard let value = arguments[key], !value.isNull else { return nil }
    return value
  }

  /// A required text. - Throws: `invalidArguments`, naming the key.
  public func string(_ key: String) throws(BridgeError) -> String {
    guard let text = value(key)?.stringValue else { throw Self.wrong(key, "a string", arguments[key]) }
    return text
  }

  /// A required integer; a number such as `10.0` counts as one. - Throws: `invalidArguments`, naming the key.
  public func integer(_ key: String) throws(BridgeError) -> Int64 {
    guard let integer = value(key)?.integerValue else { throw Self.wrong(key, "an integer", arguments[key]) }
    return integer
  }

  /// A required list. - Throws: `invalidArguments`, naming the key.
  public func array(_ key: String) throws(BridgeError) -> [JSONValue] {
    guard let array = value(key)?.arrayValue else { throw Self.wrong(key, "an array", arguments[key]) }
    return array
  }

  /// A required object. - Throws: `invalidArguments`, naming the key.
  public func object(_ key: String) throws(BridgeError) -> JSONObject {
    guard let object = value(key)?.objectValue else { throw Self.wrong(key, "an object", arguments[key]) }
    return object
  }

  /// The error for an argument that is missing or of the wrong type.
  static func wrong(_ path: String, _ expected: String, _ given: JSONValue?) -> BridgeError {
    guard let given else { return .bridge(.invalidArguments, "argument '\(path)' is missing, expected \(expected)") }
    return wrong(path, expected, kindName: given.kindName)
  }

  static func wrong(_ path: String, _ expected: String, kindName: String) -> BridgeError {
    .bridge(.invalidArguments, "argument '\(path)' must be \(expected), got \(kindName)")
  }
}
