// Made by scripts/dev/spec from bridge-spec/actions and bridge-spec/types.json: change those, then run it.

/// The shapes that several actions share.
private enum Shared {
  static let soupIndexSpec = Shape.object([.required("path", .string), .required("type", .string)])
  static let querySpec = Shape.object([
    .required("queryType", .string),
    .optional("indexPath", .string),
    .optional("matchKey", .any),
    .optional("likeKey", .string),
    .optional("beginKey", .any),
    .optional("endKey", .any),
    .optional("smartSql", .string),
    .optional("args", .any),
    .optional("orderPath", .string),
    .optional("order", .string),
    .optional("pageSize", .integer),
    .optional("selectPaths", .array(.string)),
    .optional("lazy", .boolean),
  ])
  static let entryPatch = Shape.object([
    .optional("entryId", .integer),
    .optional("externalId", .any),
    .optional("ifExists", .boolean),
    .optional("create", .anyObject),
    .optional("ifVersion", .integer),
    .optional("ifClean", .boolean),
    .optional("copy", .anyObject),
    .optional("set", .anyObject),
    .optional("unset", .array(.string)),
    .optional("operations", .anyObject),
    .optional("confirmed", .anyObject),
    .optional("sentVersion", .integer),
    .optional("flags", .anyObject),
  ])
  static let syncOptions = Shape.object([
    .optional("mergeMode", .string),
    .optional("fieldlist", .fieldlist),
    .optional("resolve", .anyObject),
    .optional("resolver", .string),
    .optional("maxPages", .integer),
    .optional("graceMs", .integer),
  ])
  static let syncUpTarget = Shape.object([
    .optional("type", .any),
    .optional("createFieldlist", .fieldlist),
    .optional("updateFieldlist", .fieldlist),
  ])
}

extension SmartStoreAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .getQueryPlan: Rules.getQueryPlan
    case .mergeServerRecords: Rules.mergeServerRecords
    case .patchSoupEntries: Rules.patchSoupEntries
    case .alterSoup: Rules.alterSoup
    case .clearSoup: Rules.clearSoup
    case .closeCursor: Rules.closeCursor
    case .closeObserver: Rules.closeObserver
    case .getAllGlobalStores: Rules.getAllGlobalStores
    case .getAllStores: Rules.getAllStores
    case .getDatabaseSize: Rules.getDatabaseSize
    case .getSoupIndexSpecs: Rules.getSoupIndexSpecs
    case .moveCursorToPageIndex: Rules.moveCursorToPageIndex
    case .observe: Rules.observe
    case .querySoup: Rules.querySoup
    case .reIndexSoup: Rules.reIndexSoup
    case .registerSoup: Rules.registerSoup
    case .removeAllGlobalStores: Rules.removeAllGlobalStores
    case .removeAllStores: Rules.removeAllStores
    case .removeFromSoup: Rules.removeFromSoup
    case .removeSoup: Rules.removeSoup
    case .removeStore: Rules.removeStore
    case .retrieveSoupEntries: Rules.retrieveSoupEntries
    case .runSmartQuery: Rules.runSmartQuery
    case .setupStoreFromDefaultConfig: Rules.setupStoreFromDefaultConfig
    case .soupExists: Rules.soupExists
    case .upsertSoupEntries: Rules.upsertSoupEntries
    }
  }

  private enum Rules {
    static let getQueryPlan = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("querySpec", Shared.querySpec),
    ])
    static let mergeServerRecords = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .required("records", .array(.anyObject)),
      .required("mode", .string),
      .optional("externalIdPath", .string),
      .optional("modificationDateFieldName", .string),
      .optional("partial", .boolean),
      .optional("kept", .array(.string)),
      .optional("onlyKnown", .boolean),
    ])
    static let patchSoupEntries = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .required("patches", .array(Shared.entryPatch)),
      .optional("externalIdPath", .string),
    ])
    static let alterSoup = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .required("soupName", .string),
        .required("indexes", .array(Shared.soupIndexSpec)),
        .optional("reIndexData", .boolean),
      ], ignoring: ["soupSpec"])
    static let clearSoup = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
    ])
    static let closeCursor = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("cursorId", .any),
    ])
    static let closeObserver = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("observerId", .integer),
    ])
    static let getAllGlobalStores = ArgumentRules([])
    static let getAllStores = ArgumentRules([])
    static let getDatabaseSize = ArgumentRules([.optional("isGlobalStore", .boolean), .optional("storeName", .string)])
    static let getSoupIndexSpecs = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
    ])
    static let moveCursorToPageIndex = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("cursorId", .any),
      .required("index", .integer),
      .optional("lazy", .boolean),
    ])
    static let observe = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .required("observerId", .integer),
        .optional("soupName", .string),
        .optional("querySpec", Shared.querySpec),
      ], oneOf: ["soupName", "querySpec"])
    static let querySoup = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .required("querySpec", Shared.querySpec),
    ])
    static let reIndexSoup = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .required("paths", .array(.string)),
    ])
    static let registerSoup = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .required("soupName", .string),
        .required("indexes", .array(Shared.soupIndexSpec)),
      ], ignoring: ["soupSpec"])
    static let removeAllGlobalStores = ArgumentRules([])
    static let removeAllStores = ArgumentRules([])
    static let removeFromSoup = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .required("soupName", .string),
        .optional("entryIds", .array(.integer)),
        .optional("querySpec", Shared.querySpec),
      ], oneOf: ["entryIds", "querySpec"])
    static let removeSoup = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
    ])
    static let removeStore = ArgumentRules([.optional("isGlobalStore", .boolean), .optional("storeName", .string)])
    static let retrieveSoupEntries = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .required("entryIds", .array(.integer)),
    ])
    static let runSmartQuery = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("querySpec", Shared.querySpec),
    ])
    static let setupStoreFromDefaultConfig = ArgumentRules([.optional("isGlobalStore", .boolean)])
    static let soupExists = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
    ])
    static let upsertSoupEntries = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .required("entries", .array(.anyObject)),
      .optional("externalIdPath", .string),
    ])
  }
}

extension MobileSyncAction {
  /// What the action takes.
  var rules: ArgumentRules {
    switch self {
    case .applyPlan: Rules.applyPlan
    case .cancelSync: Rules.cancelSync
    case .cleanResyncGhosts: Rules.cleanResyncGhosts
    case .createSyncDown: Rules.createSyncDown
    case .createSyncUp: Rules.createSyncUp
    case .deleteSync: Rules.deleteSync
    case .discardChanges: Rules.discardChanges
    case .ensureSync: Rules.ensureSync
    case .explainEntry: Rules.explainEntry
    case .fetchLayout: Rules.fetchLayout
    case .fetchMetadata: Rules.fetchMetadata
    case .getConflicts: Rules.getConflicts
    case .getDirtyEntries: Rules.getDirtyEntries
    case .getOverview: Rules.getOverview
    case .getRuns: Rules.getRuns
    case .getSyncStatus: Rules.getSyncStatus
    case .hasSyncWithName: Rules.hasSyncWithName
    case .isStopped: Rules.isStopped
    case .isStopping: Rules.isStopping
    case .more: Rules.more
    case .planSync: Rules.planSync
    case .reSync: Rules.reSync
    case .refresh: Rules.refresh
    case .resolveConflict: Rules.resolveConflict
    case .restart: Rules.restart
    case .setupSyncsFromDefaultConfig: Rules.setupSyncsFromDefaultConfig
    case .stop: Rules.stop
    case .syncDown: Rules.syncDown
    case .syncUp: Rules.syncUp
    case .verifySync: Rules.verifySync
    }
  }

  private enum Rules {
    static let applyPlan = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("plan", .anyObject),
      .optional("allOrNothing", .boolean),
    ])
    static let cancelSync = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
      ], oneOf: ["syncId", "syncName"])
    static let cleanResyncGhosts = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
        .optional("force", .boolean),
        .optional("maxRequests", .integer),
      ], oneOf: ["syncId", "syncName"])
    static let createSyncDown = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("target", .anyObject),
      .required("soupName", .string),
      .optional("options", Shared.syncOptions),
      .optional("syncName", .string),
    ])
    static let createSyncUp = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("target", Shared.syncUpTarget),
      .required("soupName", .string),
      .required("options", Shared.syncOptions),
      .optional("syncName", .string),
    ])
    static let deleteSync = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
      ], oneOf: ["syncId", "syncName"])
    static let discardChanges = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .required("entryIds", .array(.integer)),
      .optional("fields", .array(.string)),
      .optional("created", .boolean),
    ])
    static let ensureSync = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("syncName", .string),
      .required("syncType", .string),
      .required("soupName", .string),
      .optional("target", .anyObject),
      .optional("options", Shared.syncOptions),
    ])
    static let explainEntry = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("soupName", .string),
      .optional("entryId", .integer),
      .optional("recordId", .string),
      .optional("server", .boolean),
    ])
    static let fetchLayout = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("sobjectType", .string),
      .optional("formFactor", .string),
      .optional("layoutType", .string),
      .optional("mode", .string),
      .optional("recordTypeId", .string),
      .optional("fetchMode", .string),
    ])
    static let fetchMetadata = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("sobjectType", .string),
      .optional("fetchMode", .string),
    ])
    static let getConflicts = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .optional("soupName", .string),
      .optional("entryId", .integer),
      .optional("syncId", .integer),
      .optional("syncName", .string),
      .optional("run", .integer),
    ])
    static let getDirtyEntries = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .optional("soupName", .string),
      .optional("state", .string),
      .optional("run", .integer),
      .optional("withValues", .boolean),
    ])
    static let getOverview = ArgumentRules([.optional("isGlobalStore", .boolean), .optional("storeName", .string)])
    static let getRuns = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .optional("syncName", .string),
      .optional("syncId", .integer),
      .optional("since", .integer),
      .optional("failed", .boolean),
      .optional("run", .integer),
      .optional("requests", .boolean),
      .optional("before", .integer),
      .optional("limit", .integer),
    ])
    static let getSyncStatus = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
      ], oneOf: ["syncId", "syncName"])
    static let hasSyncWithName = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("syncName", .string),
    ])
    static let isStopped = ArgumentRules([.optional("isGlobalStore", .boolean), .optional("storeName", .string)])
    static let isStopping = ArgumentRules([.optional("isGlobalStore", .boolean), .optional("storeName", .string)])
    static let more = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
      ], oneOf: ["syncId", "syncName"])
    static let planSync = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
        .optional("server", .boolean),
        .optional("maxRequests", .integer),
      ], oneOf: ["syncId", "syncName"])
    static let reSync = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
        .optional("maxRequests", .integer),
      ], oneOf: ["syncId", "syncName"])
    static let refresh = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
      ], oneOf: ["syncId", "syncName"])
    static let resolveConflict = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .required("soupName", .string),
        .required("entryId", .integer),
        .optional("resolution", .string),
        .optional("record", .anyObject),
      ], oneOf: ["resolution", "record"])
    static let restart = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .optional("restartStopped", .boolean),
    ])
    static let setupSyncsFromDefaultConfig = ArgumentRules([.optional("isGlobalStore", .boolean)])
    static let stop = ArgumentRules([.optional("isGlobalStore", .boolean), .optional("storeName", .string)])
    static let syncDown = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("target", .anyObject),
      .required("soupName", .string),
      .optional("options", Shared.syncOptions),
      .optional("syncName", .string),
    ])
    static let syncUp = ArgumentRules([
      .optional("isGlobalStore", .boolean),
      .optional("storeName", .string),
      .required("target", Shared.syncUpTarget),
      .required("soupName", .string),
      .required("options", Shared.syncOptions),
      .optional("syncName", .string),
    ])
    static let verifySync = ArgumentRules(
      [
        .optional("isGlobalStore", .boolean),
        .optional("storeName", .string),
        .optional("syncId", .integer),
        .optional("syncName", .string),
        .optional("level", .string),
        .optional("repair", .boolean),
        .optional("max", .integer),
      ], oneOf: ["syncId", "syncName"])
  }
}
