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
  case patchSoupEntries, mergeServerRecords
  case retrieveSoupEntries = "pgRetrieveSoupEntries"
  case removeFromSoup = "pgRemoveFromSoup"
  case querySoup = "pgQuerySoup"
  case runSmartQuery = "pgRunSmartQuery"
  case moveCursorToPageIndex = "pgMoveCursorToPageIndex"
  case closeCursor = "pgCloseCursor"
  case getQueryPlan
  case observe = "pgObserve"
  case closeObserver = "pgCloseObserver"
  case getDatabaseSize = "pgGetDatabaseSize"
  case removeStore = "pgRemoveStore"
  case getAllStores = "pgGetAllStores"
  case getAllGlobalStores = "pgGetAllGlobalStores"
  case removeAllStores = "pgRemoveAllStores"
  case setupStoreFromDefaultConfig = "pgSetupStoreFromDefaultConfig"
  case removeAllGlobalStores = "pgRemoveAllGlobalStores"

  /// Whether the action takes no store and concerns all of them.
  public var concernsAllStores: Bool {
    switch self {
    case .getAllStores, .getAllGlobalStores, .removeAllStores, .removeAllGlobalStores: true
    default: false
    }
  }
}

extension SmartStoreAction {
  /// Whether the action runs a query. A query may take arbitrarily long, so it can be cancelled.
  public var isQuery: Bool {
    switch self {
    case .querySoup, .runSmartQuery, .moveCursorToPageIndex, .observe, .removeFromSoup: true
    default: false
    }
  }

  /// Whether the action only reads. If the script ends, the answer is not needed.
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
  case getOverview, getDirtyEntries, discardChanges, ensureSync, getRuns, explainEntry, verifySync, planSync, applyPlan
  case setupSyncsFromDefaultConfig

  /// Whether the action starts long work, which answers late or more than once.
  public var isLong: Bool {
    switch self {
    case .syncDown, .syncUp, .reSync, .ensureSync, .refresh, .more, .cleanResyncGhosts, .verifySync, .restart, .fetchMetadata,
      .fetchLayout, .explainEntry, .planSync, .applyPlan:
      true
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

/// The actions of `tureen.accounts`, which the native SDK does not have. Raw values are the wire names.
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

/// The actions of `tureen.host`. Raw values are the wire names.
public enum HostAction: String, CaseIterable, Sendable {
  case doctor
}

/// The actions of `tureen.parse`. Raw values are the wire names.
public enum ParseAction: String, CaseIterable, Sendable {
  case find, findInSoup, fetch, save, delete, signUp, logIn, logOut, currentUser
}

/// The actions of `com.salesforce.network`. Raw values are the wire names.
public enum NetworkAction: String, CaseIterable, Sendable {
  case sendRequest = "pgSendRequest"
}

/// One call of an action: its store and its checked arguments.
public struct ActionCall: Sendable {
  public let store: StoreReference
  /// The arguments, without `isGlobalStore` and `storeName`, and without the entries of an upsert: see ``entries()``. An empty
  /// `{}` where a list is expected has become `[]`.
  public let arguments: JSONObject
  /// The text of the complete arguments object as the script sent it, for handlers that pass record text through.
  public let rawArguments: [UInt8]
  /// Reports the cancellation of the call; nil for calls that are too short to be cancelled.
  public internal(set) var cancellation: Cancellation?
  /// Whether the script reads the entries of the answer field by field. The answer's page then ends with `entryLengths`, the
  /// number of bytes of each entry, so that the entries need not be parsed.
  public internal(set) var wantsRecords = false

  /// The position of an upsert's entries in `rawArguments`.
  private let entriesRange: Range<Int>?

  public init(store: StoreReference, arguments: JSONObject, rawArguments: [UInt8], entriesRange: Range<Int>? = nil) {
    self.store = store
    self.arguments = arguments
    self.rawArguments = rawArguments
    self.entriesRange = entriesRange
  }

  /// Returns the text of the required list `entries` as the script sent it. It is checked to be a list of objects, but not
  /// parsed into values.
  /// - Throws: `invalidArguments`.
  public func entries() throws(BridgeError) -> [UInt8] {
    if let entriesRange { return Array(rawArguments[entriesRange]) }
    return JSONValue.array(try array("entries")).serialized()
  }

  /// Returns an argument; nil if it is absent or null.
  public func value(_ key: String) -> JSONValue? {
    guard let value = arguments[key], !value.isNull else { return nil }
    return value
  }

  /// Returns a required string. - Throws: `invalidArguments`, naming the key.
  public func string(_ key: String) throws(BridgeError) -> String {
    guard let text = value(key)?.stringValue else { throw Self.wrong(key, "a string", arguments[key]) }
    return text
  }

  /// Returns a required integer; a number such as `10.0` counts as one. - Throws: `invalidArguments`, naming the key.
  public func integer(_ key: String) throws(BridgeError) -> Int64 {
    guard let integer = value(key)?.integerValue else { throw Self.wrong(key, "an integer", arguments[key]) }
    return integer
  }

  /// Returns a required list. - Throws: `invalidArguments`, naming the key.
  public func array(_ key: String) throws(BridgeError) -> [JSONValue] {
    guard let array = value(key)?.arrayValue else { throw Self.wrong(key, "an array", arguments[key]) }
    return array
  }

  /// Returns a required object. - Throws: `invalidArguments`, naming the key.
  public func object(_ key: String) throws(BridgeError) -> JSONObject {
    guard let object = value(key)?.objectValue else { throw Self.wrong(key, "an object", arguments[key]) }
    return object
  }

  /// Returns the error for an argument that is missing or of the wrong type.
  static func wrong(_ path: String, _ expected: String, _ given: JSONValue?) -> BridgeError {
    guard let given else { return .bridge(.invalidArguments, "argument '\(path)' is missing, expected \(expected)") }
    return wrong(path, expected, kindName: given.kindName)
  }

  static func wrong(_ path: String, _ expected: String, kindName: String) -> BridgeError {
    .bridge(.invalidArguments, "argument '\(path)' must be \(expected), got \(kindName)")
  }
}
