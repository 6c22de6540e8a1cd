import JSON
import Support

/// A consistent view of a store, inside a transaction. Valid only in the closure that receives it.
///
/// Together with ``StoreTransaction`` and ``StoreEngine`` this is the seam between what uses a store
/// and the database that keeps it. An engine answers each call as a whole, so that one on another
/// machine needs one exchange for it: calls take all the ids they are about, or a whole page.
///
/// - Throws: Every call about a soup throws ``StoreError`` `.noSuchSoup` if it does not exist.
package protocol StoreSnapshot: CopiedStore {
  /// Runs statements that `query` can cancel.
  /// - Throws: ``StoreError`` `.cancelled` if it did.
  func run<T>(for query: QueryCancellation, _ body: () throws -> T) throws -> T

  // MARK: Soups

  func soupExists(_ name: String) throws -> Bool

  func indexSpecs(of name: String) throws -> [IndexSpec]

  /// Returns the number of a soup. A soup that was removed and registered again has another one.
  func soupNumber(of name: String) throws -> Int64

  /// Returns the names of all soups, sorted.
  func soupNames() throws -> [String]

  /// Returns whether a soup is in a bulk load, with its indexes deferred.
  func isBulkLoading(soup name: String) throws -> Bool

  /// Returns whether entries can be found by a path without scanning the whole soup.
  func hasLookupIndex(_ path: String, in name: String) throws -> Bool

  // MARK: Entries

  /// Returns the entries with these ids, in the order of the ids; skips missing ids.
  func storedEntries(_ ids: [Int64], in soup: String) throws -> [StoredEntry]

  /// Returns the versions of entries by id, without reading their texts; missing ids are left out.
  func versions(of ids: [Int64], in soup: String) throws -> [Int64: Int64]

  /// Returns entries in the order of the ids as one JSON array; skips missing ids.
  func entries(_ ids: [Int64], in soup: String) throws -> EntryBatch

  /// Returns entries in the order of the ids as a JSON array; skips missing ids. Damaged entries
  /// become strings.
  func page(of ids: [Int64], in soup: String) throws -> [UInt8]

  /// Returns, for each of the values, the ids of the entries that have it at `path` (indexed or
  /// not), ascending.
  func entryIds(in soup: String, where path: String, equalsEach values: [SQLValue]) throws -> [[Int64]]

  /// Returns the ids of the entries without a value at `path` (indexed or not), ascending.
  func entryIds(in soup: String, without path: String) throws -> [Int64]

  /// Returns the ids of the entries with local changes, ascending.
  func dirtyEntryIds(in soup: String) throws -> [Int64]

  /// Returns the values at `path` as text, in entry order.
  /// - Parameters:
  ///   - owner: Includes only entries that this sync brought; nil for all.
  ///   - dirty: Includes only entries with (true) or without (false) local changes; nil for both.
  func externalIds(in soup: String, path: String, ownedBy owner: Int64?, dirty: Bool?) throws -> [String]

  /// Returns the number of entries whose id does not start with `localPrefix`.
  func serverIdCount(in name: String, path: String, localPrefix: String) throws -> Int

  /// Returns the ids after `last` in ascending order, without those that start with `localPrefix`.
  /// - Parameter stampPath: A field to read as well; nil for none.
  func serverIds(
    in name: String, path: String, stampPath: String?, localPrefix: String, after last: String?, limit: Int
  ) throws -> [(id: String, stamp: String?)]

  /// Returns the entries without local changes that have a value at one path and an id at another,
  /// ascending. Their texts are not read.
  /// - Parameters:
  ///   - idPath: Entries without text at this path are skipped.
  ///   - candidates: The entries to examine; nil for the whole soup.
  func cleanEntries(
    in name: String, where path: String, equals value: SQLValue, idPath: String, among candidates: [Int64]?
  ) throws -> [OwnedEntry]

  /// Returns what a comparison with a server needs of entries, ascending by entry for a walk, and in the order of the ids
  /// for single ones, of which missing ones are left out. Their texts are not read.
  /// - Parameters:
  ///   - idPath: The path of the records' ids.
  ///   - stampPath: The path of the records' modification dates.
  func recordRows(_ selection: RecordRow.Selection, in name: String, idPath: String, stampPath: String) throws -> [RecordRow]

  /// Returns the syncs, other than `owner`, that brought an entry, ascending.
  func otherOwners(of id: Int64, than owner: Int64, in name: String) throws -> [Int64]

  /// Returns the entries without local changes whose only owner is the sync up that created their
  /// records, ascending.
  func ownedByMakers(in name: String) throws -> [Int64]

  /// Returns the last known server versions of those entries that were edited while they were
  /// clean, by id.
  func bases(of ids: [Int64], in soup: String) throws -> [Int64: [UInt8]]

  /// Compares records of a page with the stored entries byte by byte, without parsing them.
  /// - Parameters:
  ///   - records: The positions of the records.
  ///   - idPath: The path that finds an entry.
  ///   - overlay: The members that the sync sets on every record; see ``PageStorage``.
  /// - Returns: Whether each record is stored unchanged, in the order of `records`. False also if
  ///   bytes cannot decide; see ``StoredText``.
  func areStored(
    _ records: [Int], on page: ScannedPage, in name: String, by idPath: String, overlay: JSONObject
  ) throws -> [Bool]

  // MARK: Queries

  /// Reads one page of a query.
  /// - Parameters:
  ///   - head: Text before the page's array.
  ///   - asRecords: Leaves entries unchecked; their reader checks them.
  ///   - anchors: Known positions in the result, for a cursor; nil for a single page.
  /// - Throws: ``StoreError`` `.invalidSmartSql`, `.invalidQuerySpec`, `.notReadOnly`, `.queryLimit`.
  func page(
    _ index: Int, of spec: QuerySpec, soup name: String?, head: String, asRecords: Bool, anchors: inout CursorAnchors?
  ) throws -> QueryPage

  /// Returns an identifier of the data that this snapshot sees; it stays the same until the next
  /// commit.
  func view() throws -> CursorAnchors.View

  /// Returns the total number of rows of a query.
  func count(_ spec: QuerySpec, soup name: String?) throws -> Int

  /// Returns the entry ids that the first `limit` rows of a query select. Smart SQL must select the
  /// column `id`.
  func entryIds(_ spec: QuerySpec, soup name: String, limit: Int) throws -> [Int64]

  /// Returns how a smart query would be run, without running it.
  func queryPlan(of spec: QuerySpec) throws -> SmartQueryPlan

  /// Reads a page of a smart query with the names of its columns.
  func namedRows(_ spec: QuerySpec, pageIndex: Int) throws -> NamedRows

  /// Returns the soups that smart SQL refers to.
  func soupNames(inSmartSql text: String) throws -> [String]

  /// Returns a hash of all rows of a smart query, to detect changes; nil if the result is too large,
  /// or takes too long.
  func resultHash(of spec: QuerySpec) throws -> Int?

  // MARK: Conflicts

  /// Returns the conflicts of a soup, by entry id.
  func conflicts(in soup: String) throws -> [ConflictRecord]

  /// Returns the conflicts of these entries, in the order of the ids.
  func conflicts(of ids: [Int64], in soup: String) throws -> [ConflictRecord]

  /// Returns the soups that have conflicts, sorted by name.
  func soupsInConflict() throws -> [String]

  // MARK: Uploads

  /// Returns the uploads in flight and those without a known outcome, by entry id.
  func unsettledUploads(in soup: String) throws -> [UploadRecord]

  /// Returns the creates in flight and those that must be looked up on the server, by entry id; see
  /// ``UploadRecord/isUnknownCreate``.
  func unsettledCreates(in soup: String) throws -> [UploadRecord]

  /// Returns the uploads of these entries that are in flight or have no known outcome, in the order
  /// of the ids.
  func unsettledUploads(of entryIds: [Int64], in soup: String) throws -> [UploadRecord]

  /// Returns the entries that a sync down added while creates of their soup had no answer.
  func arrivals(in soup: String) throws -> Set<Int64>

  /// Returns the id that the server assigned to a locally created record; nil if it has none yet.
  func assignedId(for localId: String, in soup: String) throws -> String?

  // MARK: Echoes

  // Entries as an upload left them. A page that was requested before the upload may show the record
  // in its old state.

  /// Returns the entries that were uploaded and not changed since, by external id. The next version
  /// that the server sends of them may be just the upload.
  func echoes(in name: String, idPath: String) throws -> IdMap<Int64>

  /// Returns a counter that every written-back upload increments, in any soup and process.
  func uploadSequence() throws -> Int64

  /// Returns the entries whose uploads were written back after `mark`, by external id, including
  /// those that were edited since and those whose deletion was uploaded.
  /// - Parameter mark: An earlier value of ``uploadSequence()``.
  func uploads(in name: String, idPath: String, since mark: Int64) throws -> IdMap<Int64>

  /// Returns the server's versions after the last upload of entries. They are known while an entry stays
  /// as uploaded, and while it has local edits made after that.
  func uploaded(of entryIds: [Int64], in name: String) throws -> [Int64: UploadedRecord]

  // MARK: Syncs

  func lease(_ name: String) throws -> Lease?

  /// Returns the data that a sync keeps about the pages of a list: JSON texts by page name.
  func syncPages(of sync: Int64) throws -> IdMap<String>

  // MARK: History

  /// Returns rows of the history, oldest first unless the query says otherwise; none from a store of an older version.
  func history(_ query: HistoryQuery) throws -> [HistoryRow]

  /// Returns the store's id, which no copy of it has; nil from a store of an older version.
  func storeId() throws -> String?

  // MARK: Key-value stores

  /// Returns the value of a key; nil if there is none.
  func keyValue(_ key: String, in store: String) throws -> [UInt8]?

  func hasKeyValue(_ key: String, in store: String) throws -> Bool

  func keyValueCount(in store: String) throws -> Int

  /// Returns the keys in byte order.
  /// - Parameter pattern: Returns only matching keys; `*` matches any text, every other character
  ///   itself. Nil for all keys.
  func keyValueKeys(in store: String, matching pattern: String?) throws -> [String]

  /// Returns the names of the key-value stores that hold a value, sorted.
  func keyValueStoreNames() throws -> [String]
}

extension StoreSnapshot {
  package func entry(_ id: Int64, in soup: String) throws -> StoredEntry? { try storedEntries([id], in: soup).first }

  /// Returns the ids of the entries whose value at `path` (indexed or not) equals `value`,
  /// ascending.
  package func entryIds(in soup: String, where path: String, equals value: SQLValue) throws -> [Int64] {
    try entryIds(in: soup, where: path, equalsEach: [value])[0]
  }

  /// Returns the last known server version of an entry that was edited while it was clean; else
  /// nil.
  package func base(of id: Int64, in soup: String) throws -> [UInt8]? { try bases(of: [id], in: soup)[id] }

  package func conflict(of id: Int64, in soup: String) throws -> ConflictRecord? {
    try conflicts(of: [id], in: soup).first
  }

  /// Returns the upload of an entry that is in flight or has no known outcome.
  package func unsettledUpload(of entryId: Int64, in soup: String) throws -> UploadRecord? {
    try unsettledUploads(of: [entryId], in: soup).first
  }

  /// Returns entries in the order of the ids; skips missing ids.
  package func entries(_ ids: some Sequence<Int64>, in soup: String) throws -> EntryBatch {
    let ids: [Int64] = Array(ids)
    return try entries(ids, in: soup)
  }

  /// Returns the time stamps that the server gave entries with their last upload, where known, in
  /// ms since 1970 UTC.
  package func ownStamps(of entryIds: some Sequence<Int64>, in name: String) throws -> [Int64: Int64] {
    let ids: [Int64] = Array(entryIds)
    return try uploaded(of: ids, in: name).compactMapValues(\.stamp)
  }

  /// Returns the entries of a whole soup without local changes that have a value at one path and an
  /// id at another, ascending.
  package func cleanEntries(
    in name: String, where path: String, equals value: SQLValue, idPath: String
  ) throws -> [OwnedEntry] {
    try cleanEntries(in: name, where: path, equals: value, idPath: idPath, among: nil)
  }

  /// Reads one page of a query.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.invalidQuerySpec`, `.notReadOnly`, `.queryLimit`.
  package func query(_ spec: QuerySpec, soup name: String?, pageIndex: Int) throws -> QueryPage {
    var anchors: CursorAnchors?
    return try page(pageIndex, of: spec, soup: name, head: "", asRecords: false, anchors: &anchors)
  }

  /// Compiles a plan of the fields that a sync needs from each record: the soup's index specs, the
  /// id, and additional paths of the caller.
  /// - Parameter ownedKeys: First-level members that the caller will set or remove; the store's own
  ///   are added.
  package func pagePlan(
    soup name: String, idPath: String, extraPaths: [String] = [], ownedKeys: [String]
  ) throws -> PagePlan {
    PagePlan(
      soup: name, specs: try indexSpecs(of: name), idPath: idPath, extraPaths: extraPaths,
      ownedKeys: ownedKeys + [SoupField.entryId, SoupField.lastModified])
  }
}
