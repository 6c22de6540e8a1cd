import Dispatch
import JSON
import SmartStore
import Support
import Synchronization

/// An engine that passes every call on to another one and counts them: each is an exchange with the
/// database if that is on another machine. It has no access to the internals of the store, as an
/// engine in a module of its own.
package final class CountingEngine: StoreEngine {
  private let inner: any StoreEngine
  private let counts: CallCounts

  package init(_ inner: any StoreEngine, _ counts: CallCounts) {
    self.inner = inner
    self.counts = counts
  }

  package var location: String { inner.location }
  package var history: StoreHistory { inner.history }
  package var writerQueue: DispatchQueue { inner.writerQueue }

  package func write<T>(_ durability: Durability, _ body: (any StoreTransaction) throws -> T) throws -> T {
    counts.note("write")
    return try inner.write(durability) { try body(CountingTransaction($0, counts)) }
  }

  package func read<T>(
    on reader: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (any StoreSnapshot) throws -> T
  ) throws -> T {
    counts.note("read")
    return try inner.read(on: reader, for: query, isSmart: isSmart) { try body(CountingSnapshot($0, counts)) }
  }

  package func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws {
    counts.note("alterSoup")
    try inner.alterSoup(name, indexSpecs: indexSpecs, reIndexData: reIndexData, afterStep: afterStep)
  }

  package func startObserving(_ inbox: ChangeInbox) throws {
    counts.note("startObserving")
    try inner.startObserving(inbox)
  }

  package func forgetEndedObservers() { inner.forgetEndedObservers() }
  package func databaseSize() throws -> Int64 { try inner.databaseSize() }
  package var supportsFullText: Bool { inner.supportsFullText }
  package func finishCopy() throws { try inner.finishCopy() }
  package func close() { inner.close() }
}

/// The stores below a folder, opened by counting engines.
package final class CountingEngines: StoreEngines {
  private let inner: any StoreEngines
  private let counts: CallCounts

  package init(folder: String, _ counts: CallCounts) throws {
    inner = try TestEngine.engines(in: folder)
    self.counts = counts
  }

  package func open(_ name: String, isGlobal: Bool) throws -> any StoreEngine {
    CountingEngine(try inner.open(name, isGlobal: isGlobal), counts)
  }

  package func look(_ name: String, isGlobal: Bool) throws -> any StoreReading { try inner.look(name, isGlobal: isGlobal) }

  package func openCopy(_ name: String, isGlobal: Bool, of source: String) throws -> any StoreEngine {
    CountingEngine(try inner.openCopy(name, isGlobal: isGlobal, of: source), counts)
  }

  package func names(isGlobal: Bool) throws -> [String] { try inner.names(isGlobal: isGlobal) }

  package func unfinishedCopies(isGlobal: Bool) throws -> [String] { try inner.unfinishedCopies(isGlobal: isGlobal) }

  package func remove(_ name: String, isGlobal: Bool) throws { try inner.remove(name, isGlobal: isGlobal) }

  package func close() { inner.close() }
}

/// The calls of an engine by name.
package final class CallCounts: Sendable {
  private let calls = Mutex<[String: Int]>([:])

  package init() {}

  func note(_ name: String) { calls.withLock { $0[name, default: 0] += 1 } }

  /// Returns the calls since the last one.
  package func take() -> [String: Int] {
    calls.withLock { calls in
      defer { calls = [:] }
      return calls
    }
  }
}

/// See ``CountingEngine``.
package class CountingSnapshot: StoreSnapshot {
  private let inner: any StoreSnapshot
  private let counts: CallCounts

  init(_ inner: any StoreSnapshot, _ counts: CallCounts) {
    self.inner = inner
    self.counts = counts
  }

  fileprivate func counted<T>(_ name: String, _ body: () throws -> T) rethrows -> T {
    counts.note(name)
    return try body()
  }

  package func run<T>(for query: QueryCancellation, _ body: () throws -> T) throws -> T {
    try counted("run") { try inner.run(for: query, body) }
  }
  package func soupExists(_ name: String) throws -> Bool { try counted("soupExists") { try inner.soupExists(name) } }
  package func indexSpecs(of name: String) throws -> [IndexSpec] {
    try counted("indexSpecs") { try inner.indexSpecs(of: name) }
  }
  package func soupNames() throws -> [String] { try counted("soupNames") { try inner.soupNames() } }
  package func soupNumber(of name: String) throws -> Int64 { try counted("soupNumber") { try inner.soupNumber(of: name) } }
  package func isBulkLoading(soup name: String) throws -> Bool {
    try counted("isBulkLoading") { try inner.isBulkLoading(soup: name) }
  }
  package func hasLookupIndex(_ path: String, in name: String) throws -> Bool {
    try counted("hasLookupIndex") { try inner.hasLookupIndex(path, in: name) }
  }
  package func storedEntries(_ ids: [Int64], in soup: String) throws -> [StoredEntry] {
    try counted("storedEntries") { try inner.storedEntries(ids, in: soup) }
  }
  package func versions(of ids: [Int64], in soup: String) throws -> [Int64: Int64] {
    try counted("versions") { try inner.versions(of: ids, in: soup) }
  }
  package func entries(_ ids: [Int64], in soup: String) throws -> EntryBatch {
    try counted("entries") { try inner.entries(ids, in: soup) }
  }
  package func page(of ids: [Int64], in soup: String) throws -> [UInt8] {
    try counted("page") { try inner.page(of: ids, in: soup) }
  }
  package func entryIds(in soup: String, where path: String, equalsEach values: [SQLValue]) throws -> [[Int64]] {
    try counted("entryIds") { try inner.entryIds(in: soup, where: path, equalsEach: values) }
  }
  package func entryIds(in soup: String, without path: String) throws -> [Int64] {
    try counted("entryIds") { try inner.entryIds(in: soup, without: path) }
  }
  package func dirtyEntryIds(in soup: String) throws -> [Int64] {
    try counted("dirtyEntryIds") { try inner.dirtyEntryIds(in: soup) }
  }
  package func externalIds(in soup: String, path: String, ownedBy owner: Int64?, dirty: Bool?) throws -> [String] {
    try counted("externalIds") { try inner.externalIds(in: soup, path: path, ownedBy: owner, dirty: dirty) }
  }
  package func serverIdCount(in name: String, path: String, localPrefix: String) throws -> Int {
    try counted("serverIdCount") { try inner.serverIdCount(in: name, path: path, localPrefix: localPrefix) }
  }
  package func serverIds(in name: String, path: String, stampPath: String?, localPrefix: String, after last: String?, limit: Int)
    throws -> [(id: String, stamp: String?)]
  {
    try counted("serverIds") {
      try inner.serverIds(in: name, path: path, stampPath: stampPath, localPrefix: localPrefix, after: last, limit: limit)
    }
  }
  package func cleanEntries(
    in name: String, where path: String, equals value: SQLValue, idPath: String, among candidates: [Int64]?
  ) throws -> [OwnedEntry] {
    try counted("cleanEntries") {
      try inner.cleanEntries(in: name, where: path, equals: value, idPath: idPath, among: candidates)
    }
  }
  package func recordRows(
    _ selection: RecordRow.Selection, in name: String, idPath: String, stampPath: String
  ) throws -> [RecordRow] {
    try counted("recordRows") { try inner.recordRows(selection, in: name, idPath: idPath, stampPath: stampPath) }
  }
  package func otherOwners(of id: Int64, than owner: Int64, in name: String) throws -> [Int64] {
    try counted("otherOwners") { try inner.otherOwners(of: id, than: owner, in: name) }
  }
  package func ownedByMakers(in name: String) throws -> [Int64] {
    try counted("ownedByMakers") { try inner.ownedByMakers(in: name) }
  }
  package func bases(of ids: [Int64], in soup: String) throws -> [Int64: [UInt8]] {
    try counted("bases") { try inner.bases(of: ids, in: soup) }
  }
  package func areStored(_ records: [Int], on page: ScannedPage, in name: String, by idPath: String, overlay: JSONObject) throws
    -> [Bool]
  {
    try counted("areStored") { try inner.areStored(records, on: page, in: name, by: idPath, overlay: overlay) }
  }
  package func page(
    _ index: Int, of spec: QuerySpec, soup name: String?, head: String, asRecords: Bool, anchors: inout CursorAnchors?
  ) throws -> QueryPage {
    try counted("page") { try inner.page(index, of: spec, soup: name, head: head, asRecords: asRecords, anchors: &anchors) }
  }
  package func view() throws -> CursorAnchors.View { try counted("view") { try inner.view() } }
  package func count(_ spec: QuerySpec, soup name: String?) throws -> Int {
    try counted("count") { try inner.count(spec, soup: name) }
  }
  package func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64] {
    try counted("entryIds") { try inner.entryIds(spec, soup: name, limit: limit) }
  }
  package func queryPlan(of spec: QuerySpec) throws -> SmartQueryPlan {
    try counted("queryPlan") { try inner.queryPlan(of: spec) }
  }
  package func namedRows(_ spec: QuerySpec, pageIndex: Int) throws -> NamedRows {
    try counted("namedRows") { try inner.namedRows(spec, pageIndex: pageIndex) }
  }
  package func soupNames(inSmartSql text: String) throws -> [String] {
    try counted("soupNames") { try inner.soupNames(inSmartSql: text) }
  }
  package func resultHash(of spec: QuerySpec) throws -> Int? { try counted("resultHash") { try inner.resultHash(of: spec) } }
  package func conflicts(in soup: String) throws -> [ConflictRecord] {
    try counted("conflicts") { try inner.conflicts(in: soup) }
  }
  package func conflicts(of ids: [Int64], in soup: String) throws -> [ConflictRecord] {
    try counted("conflicts") { try inner.conflicts(of: ids, in: soup) }
  }
  package func soupsInConflict() throws -> [String] { try counted("soupsInConflict") { try inner.soupsInConflict() } }
  package func unsettledUploads(in soup: String) throws -> [UploadRecord] {
    try counted("unsettledUploads") { try inner.unsettledUploads(in: soup) }
  }
  package func unsettledCreates(in soup: String) throws -> [UploadRecord] {
    try counted("unsettledCreates") { try inner.unsettledCreates(in: soup) }
  }
  package func unsettledUploads(of entryIds: [Int64], in soup: String) throws -> [UploadRecord] {
    try counted("unsettledUploads") { try inner.unsettledUploads(of: entryIds, in: soup) }
  }
  package func arrivals(in soup: String) throws -> Set<Int64> { try counted("arrivals") { try inner.arrivals(in: soup) } }
  package func assignedId(for localId: String, in soup: String) throws -> String? {
    try counted("assignedId") { try inner.assignedId(for: localId, in: soup) }
  }
  package func echoes(in name: String, idPath: String) throws -> IdMap<Int64> {
    try counted("echoes") { try inner.echoes(in: name, idPath: idPath) }
  }
  package func uploadSequence() throws -> Int64 { try counted("uploadSequence") { try inner.uploadSequence() } }
  package func uploads(in name: String, idPath: String, since mark: Int64) throws -> IdMap<Int64> {
    try counted("uploads") { try inner.uploads(in: name, idPath: idPath, since: mark) }
  }
  package func uploaded(of entryIds: [Int64], in name: String) throws -> [Int64: UploadedRecord] {
    try counted("uploaded") { try inner.uploaded(of: entryIds, in: name) }
  }
  package func lease(_ name: String) throws -> Lease? { try counted("lease") { try inner.lease(name) } }
  package func syncPages(of sync: Int64) throws -> IdMap<String> {
    try counted("syncPages") { try inner.syncPages(of: sync) }
  }
  package func history(_ query: HistoryQuery) throws -> [HistoryRow] {
    try counted("history") { try inner.history(query) }
  }
  package func storeId() throws -> String? { try counted("storeId") { try inner.storeId() } }
  package func keyValue(_ key: String, in store: String) throws -> [UInt8]? {
    try counted("keyValue") { try inner.keyValue(key, in: store) }
  }
  package func hasKeyValue(_ key: String, in store: String) throws -> Bool {
    try counted("hasKeyValue") { try inner.hasKeyValue(key, in: store) }
  }
  package func keyValueCount(in store: String) throws -> Int {
    try counted("keyValueCount") { try inner.keyValueCount(in: store) }
  }
  package func keyValueKeys(in store: String, matching pattern: String?) throws -> [String] {
    try counted("keyValueKeys") { try inner.keyValueKeys(in: store, matching: pattern) }
  }
  package func keyValueStoreNames() throws -> [String] {
    try counted("keyValueStoreNames") { try inner.keyValueStoreNames() }
  }
  package func soupsToCopy() throws -> [CopiedSoup] { try counted("soupsToCopy") { try inner.soupsToCopy() } }
  package func leases() throws -> [Lease] { try counted("leases") { try inner.leases() } }
  package func countersToCopy() throws -> CopiedCounters { try counted("countersToCopy") { try inner.countersToCopy() } }
  package func copiedRows(of part: StorePart, in range: CopiedRange) throws -> CopiedRows {
    try counted("copiedRows") { try inner.copiedRows(of: part, in: range) }
  }
}

/// See ``CountingEngine``.
package final class CountingTransaction: CountingSnapshot, StoreTransaction {
  private let transaction: any StoreTransaction

  init(_ transaction: any StoreTransaction, _ counts: CallCounts) {
    self.transaction = transaction
    super.init(transaction, counts)
  }

  package var history: HistoryRows? { transaction.history }
  package func registerSoup(_ name: String, _ specs: [IndexSpec]) throws {
    try counted("registerSoup") { try transaction.registerSoup(name, specs) }
  }
  package func alterSoup(_ name: String, indexSpecs specs: [IndexSpec], reIndexData: Bool) throws {
    try counted("alterSoup") { try transaction.alterSoup(name, indexSpecs: specs, reIndexData: reIndexData) }
  }
  package func reIndexSoup(_ name: String, paths: [String]) throws {
    try counted("reIndexSoup") { try transaction.reIndexSoup(name, paths: paths) }
  }
  package func indexLookups(by path: String, in name: String) throws {
    try counted("indexLookups") { try transaction.indexLookups(by: path, in: name) }
  }
  package func removeSoup(_ name: String) throws { try counted("removeSoup") { try transaction.removeSoup(name) } }
  package func clearSoup(_ name: String) throws { try counted("clearSoup") { try transaction.clearSoup(name) } }
  package func upsert(_ entries: [UInt8], into soup: String, externalIdPath: String) throws -> [UInt8] {
    try counted("upsert") { try transaction.upsert(entries, into: soup, externalIdPath: externalIdPath) }
  }
  package func save(_ entry: [UInt8], as id: Int64?, in soup: String) throws -> Int64? {
    try counted("save") { try transaction.save(entry, as: id, in: soup) }
  }
  package func remove(_ ids: [Int64], from soup: String) throws {
    try counted("remove") { try transaction.remove(ids, from: soup) }
  }
  package func storeRecords(_ page: ScannedPage, in name: String, _ storage: PageStorage, kept: (Int, Int64) -> Void) throws
    -> StoreOutcome
  {
    try counted("storeRecords") { try transaction.storeRecords(page, in: name, storage, kept: kept) }
  }
  package func finishBulkLoad(soup name: String) throws {
    try counted("finishBulkLoad") { try transaction.finishBulkLoad(soup: name) }
  }
  package func buildIndexAhead(soup name: String, whileMissing least: Int) throws -> Bool {
    try counted("buildIndexAhead") { try transaction.buildIndexAhead(soup: name, whileMissing: least) }
  }
  package func join(_ id: Int64, in name: String, owner: Int64) throws {
    try counted("join") { try transaction.join(id, in: name, owner: owner) }
  }
  package func absorb(_ other: Int64, into id: Int64, in name: String) throws {
    try counted("absorb") { try transaction.absorb(other, into: id, in: name) }
  }
  package func noteMaker(_ syncId: Int64, of id: Int64, in name: String) throws {
    try counted("noteMaker") { try transaction.noteMaker(syncId, of: id, in: name) }
  }
  package func noteConflict(_ conflict: ConflictRecord, in soup: String) throws {
    try counted("noteConflict") { try transaction.noteConflict(conflict, in: soup) }
  }
  package func forgetConflict(of id: Int64, in soup: String) throws {
    try counted("forgetConflict") { try transaction.forgetConflict(of: id, in: soup) }
  }
  package func setBase(of id: Int64, in soup: String, to text: [UInt8]) throws {
    try counted("setBase") { try transaction.setBase(of: id, in: soup, to: text) }
  }
  package func forgetBase(of id: Int64, in soup: String) throws {
    try counted("forgetBase") { try transaction.forgetBase(of: id, in: soup) }
  }
  package func claim(_ uploads: [UploadRecord], in soup: String, isLive: (UploadRecord) throws -> Bool) throws -> [ClaimOutcome] {
    try counted("claim") { try transaction.claim(uploads, in: soup, isLive: isLive) }
  }
  package func journal(_ uploads: [UploadRecord], in soup: String) throws {
    try counted("journal") { try transaction.journal(uploads, in: soup) }
  }
  package func forgetEndedUpdates(in name: String, isLive: (UploadRecord) throws -> Bool) throws {
    try counted("forgetEndedUpdates") { try transaction.forgetEndedUpdates(in: name, isLive: isLive) }
  }
  package func endAttempts(_ entryIds: [Int64], in soup: String, sentBy run: (syncId: Int64, fence: Int64)?) throws {
    try counted("endAttempts") { try transaction.endAttempts(entryIds, in: soup, sentBy: run) }
  }
  package func keepWaiting(_ entryIds: [Int64], in soup: String, until time: Int64) throws {
    try counted("keepWaiting") { try transaction.keepWaiting(entryIds, in: soup, until: time) }
  }
  package func noteArrivals(_ entryIds: [Int64], in soup: String) throws {
    try counted("noteArrivals") { try transaction.noteArrivals(entryIds, in: soup) }
  }
  package func forgetArrivals(in soup: String) throws {
    try counted("forgetArrivals") { try transaction.forgetArrivals(in: soup) }
  }
  package func noteAssignedId(_ id: String, for localId: String, in soup: String, now: Int64) throws {
    try counted("noteAssignedId") { try transaction.noteAssignedId(id, for: localId, in: soup, now: now) }
  }
  package func forgetAssignedIds(before time: Int64) throws {
    try counted("forgetAssignedIds") { try transaction.forgetAssignedIds(before: time) }
  }
  package func expectEchoes(_ entryIds: [Int64], in name: String) throws {
    try counted("expectEchoes") { try transaction.expectEchoes(entryIds, in: name) }
  }
  package func noteOwnStamp(_ stamp: Int64, of id: Int64, in name: String) throws {
    try counted("noteOwnStamp") { try transaction.noteOwnStamp(stamp, of: id, in: name) }
  }
  package func removeUploaded(_ id: Int64, externalId: String?, from name: String) throws {
    try counted("removeUploaded") { try transaction.removeUploaded(id, externalId: externalId, from: name) }
  }
  package func forgetStaleEchoes(in name: String) throws {
    try counted("forgetStaleEchoes") { try transaction.forgetStaleEchoes(in: name) }
  }
  package func acquireLease(_ name: String, owner: String, now: Int64, duration: Int64, takeover: (Lease) -> Bool) throws
    -> Lease?
  {
    try counted("acquireLease") {
      try transaction.acquireLease(name, owner: owner, now: now, duration: duration, takeover: takeover)
    }
  }
  package func renewLease(_ lease: Lease, now: Int64, duration: Int64) throws -> Lease {
    try counted("renewLease") { try transaction.renewLease(lease, now: now, duration: duration) }
  }
  package func releaseLease(_ lease: Lease) throws { try counted("releaseLease") { try transaction.releaseLease(lease) } }
  package func verify(_ lease: Lease) throws { try counted("verify") { try transaction.verify(lease) } }
  package func keepSyncPage(_ page: String, _ value: [UInt8], of sync: Int64) throws {
    try counted("keepSyncPage") { try transaction.keepSyncPage(page, value, of: sync) }
  }
  package func forgetSyncPage(_ page: String, of sync: Int64) throws {
    try counted("forgetSyncPage") { try transaction.forgetSyncPage(page, of: sync) }
  }
  package func forgetSyncPages(of sync: Int64) throws {
    try counted("forgetSyncPages") { try transaction.forgetSyncPages(of: sync) }
  }
  package func setKeyValue(_ key: String, to value: [UInt8], in store: String) throws {
    try counted("setKeyValue") { try transaction.setKeyValue(key, to: value, in: store) }
  }
  package func removeKeyValue(_ key: String, from store: String) throws -> Bool {
    try counted("removeKeyValue") { try transaction.removeKeyValue(key, from: store) }
  }
  package func clearKeyValues(in store: String) throws {
    try counted("clearKeyValues") { try transaction.clearKeyValues(in: store) }
  }
  package func prepareSoups(_ soups: [CopiedSoup]) throws {
    try counted("prepareSoups") { try transaction.prepareSoups(soups) }
  }
  package func replaceRows(of part: StorePart, in range: CopiedRange, with rows: [[CopiedValue]]) throws {
    try counted("replaceRows") { try transaction.replaceRows(of: part, in: range, with: rows) }
  }
  package func indexSoup(_ name: String) throws { try counted("indexSoup") { try transaction.indexSoup(name) } }
  package func setCounters(_ counters: CopiedCounters) throws {
    try counted("setCounters") { try transaction.setCounters(counters) }
  }
}
