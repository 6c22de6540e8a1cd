import JSON

/// A writing transaction. Every change of a store happens in one; it commits when the closure that
/// receives it returns, and leaves nothing behind when the closure throws.
package protocol StoreTransaction: StoreSnapshot, StoreToFill {
  /// What the transaction adds to the history; nil if the store keeps none.
  var history: HistoryRows? { get }

  // MARK: Soups

  /// Creates a soup. An existing soup stays unchanged, even if its specs differ.
  /// - Throws: ``StoreError`` `.invalidSoupName`, `.invalidIndexSpec`.
  func registerSoup(_ name: String, _ specs: [IndexSpec]) throws

  /// Rebuilds a soup with other index specs; see ``Store/alterSoup(_:indexSpecs:reIndexData:)``.
  /// Readers never see an intermediate state.
  func alterSoup(_ name: String, indexSpecs specs: [IndexSpec], reIndexData: Bool) throws

  /// Fills index columns from the entries; see ``Store/reIndexSoup(_:paths:)``.
  func reIndexSoup(_ name: String, paths: [String]) throws

  /// Creates an index for looking up entries by a path, unless there is one. Altering or
  /// bulk-loading the soup drops it.
  func indexLookups(by path: String, in name: String) throws

  /// Drops a soup with all its data. Does nothing if it does not exist.
  func removeSoup(_ name: String) throws

  /// Removes every entry; the soup, its specs and its id sequence stay.
  func clearSoup(_ name: String) throws

  // MARK: Entries

  /// Inserts or updates entries; see ``Store/upsert(_:into:externalIdPath:)``.
  /// - Returns: The entries as stored, as the text of a JSON array.
  func upsert(_ entries: [UInt8], into soup: String, externalIdPath: String) throws -> [UInt8]

  /// Writes one entry: adds it if `id` is nil, else replaces the entry with that id.
  /// - Parameter entry: JSON text of an object.
  /// - Returns: Its `_soupEntryId`; nil if there is no entry to replace.
  func save(_ entry: [UInt8], as id: Int64?, in soup: String) throws -> Int64?

  /// Removes entries and all data about them; ignores unknown ids.
  func remove(_ ids: [Int64], from soup: String) throws

  // MARK: Records of a server

  /// Stores the records of a page by their external id: replaces existing entries and creates
  /// missing ones.
  ///
  /// A large first load into an empty soup may be a bulk load: its indexes are deferred until
  /// ``finishBulkLoad(soup:)``. Until then queries scan the table and full-text searches find
  /// nothing. Any other writer finishes the bulk load first, and if this process queries the soup by
  /// a path, the next page does.
  ///
  /// - Parameter kept: Called with the position of each record whose entry is kept because of its
  ///   local changes, and the entry id.
  /// - Throws: ``StoreError`` `.pathNotIndexed`, `.missingExternalId`; nothing of the page is written
  ///   then.
  func storeRecords(
    _ page: ScannedPage, in name: String, _ storage: PageStorage, kept: (Int, Int64) -> Void
  ) throws -> StoreOutcome

  /// Ends a bulk load by building its indexes; does nothing if there is none. If the server's pages
  /// shifted during the load and a record arrived twice, the later row stays.
  func finishBulkLoad(soup name: String) throws

  /// Builds one deferred index of a bulk load in this process, while the load waits for its next
  /// page. From then on, the load maintains that index.
  /// - Parameter least: Does nothing if fewer indexes are missing.
  /// - Returns: Whether an index was built.
  func buildIndexAhead(soup name: String, whileMissing least: Int) throws -> Bool

  /// Records that a sync brought an entry: as its owner if it has none, else as an additional
  /// owner.
  func join(_ id: Int64, in name: String, owner: Int64) throws

  /// Removes a duplicate entry. The syncs that brought it become owners of the remaining one.
  func absorb(_ other: Int64, into id: Int64, in name: String) throws

  /// Records the sync up that created an entry's record, unless a sync down owns the entry. It is
  /// the owner until a sync down brings the record; otherwise nothing would detect that the server
  /// has deleted it.
  func noteMaker(_ syncId: Int64, of id: Int64, in name: String) throws

  // MARK: Conflicts

  /// Stores a conflict. An entry has at most one, the latest; it is removed when the entry becomes
  /// clean or is removed.
  func noteConflict(_ conflict: ConflictRecord, in soup: String) throws

  func forgetConflict(of id: Int64, in soup: String) throws

  /// Sets the last known server version of an entry with local changes; see
  /// ``StoreSnapshot/base(of:in:)``.
  /// - Parameter text: JSON text of the entry without those changes.
  func setBase(of id: Int64, in soup: String, to text: [UInt8]) throws

  /// Removes the last known server version of an entry.
  func forgetBase(of id: Int64, in soup: String) throws

  // MARK: Uploads

  /// Claims entries for sending if their rows have not changed since they were read and no other
  /// run is sending them, and writes the attempts.
  ///
  /// - Parameter isLive: Returns whether the run that wrote an upload is still going on. An update
  ///   or delete of an ended run can be claimed at once: sending it twice does no harm. The new
  ///   attempt keeps what an earlier update sent; see ``UploadRecord/following(_:)``.
  /// - Returns: One outcome for each upload, in order.
  func claim(
    _ uploads: [UploadRecord], in soup: String, isLive: (UploadRecord) throws -> Bool
  ) throws -> [ClaimOutcome]

  /// Writes attempts. An entry has at most one, the latest.
  func journal(_ uploads: [UploadRecord], in soup: String) throws

  /// Removes uploads whose outcome is known.
  /// - Parameter run: Removes only uploads of this run; nil for any.
  func endAttempts(_ entryIds: [Int64], in soup: String, sentBy run: (syncId: Int64, fence: Int64)?) throws

  /// Sets the time before which creates with lost answers are not sent again.
  /// - Parameter time: Ms since 1970 UTC by this machine's clock.
  func keepWaiting(_ entryIds: [Int64], in soup: String, until time: Int64) throws

  /// Removes the updates of ended runs whose entries have no local changes any more: a sync down
  /// brought what the server has.
  func forgetEndedUpdates(in name: String, isLive: (UploadRecord) throws -> Bool) throws

  /// Records entries that a sync down added while creates of the soup had no answer: each may be
  /// the record of such a create.
  func noteArrivals(_ entryIds: [Int64], in soup: String) throws

  /// Removes the recorded arrivals of a soup if none of its creates is without an answer.
  func forgetArrivals(in soup: String) throws

  /// Stores the id that the server assigned to a locally created record, for entries of other soups
  /// that refer to it by its local id.
  /// - Parameter now: Ms since 1970 UTC.
  func noteAssignedId(_ id: String, for localId: String, in soup: String, now: Int64) throws

  /// Removes ids that arrived before a time, because nothing waits for them any more.
  /// - Parameter time: Ms since 1970 UTC.
  func forgetAssignedIds(before time: Int64) throws

  // MARK: Echoes

  /// Records that the server has these entries in their current state; for entries with local
  /// changes, only that they were uploaded. This keeps the values that their attempts sent, so call
  /// it before these are removed.
  func expectEchoes(_ entryIds: [Int64], in name: String) throws

  /// Stores the time stamp that the server gave an entry with its upload.
  /// - Parameter stamp: Ms since 1970 UTC.
  func noteOwnStamp(_ stamp: Int64, of id: Int64, in name: String) throws

  /// Removes an entry whose deletion was uploaded and records the deletion, because a page that was
  /// requested earlier may still contain the record. Records nothing for an entry that no sync has
  /// brought or created on the server.
  /// - Parameter externalId: The external id of the entry.
  func removeUploaded(_ id: Int64, externalId: String?, from name: String) throws

  /// Removes the echoes of entries that were written or removed since. The time stamps of locally
  /// edited entries stay.
  func forgetStaleEchoes(in name: String) throws

  // MARK: Syncs

  /// Acquires a lease that is free, released or expired, or whose owner `takeover` considers gone.
  /// - Parameters:
  ///   - now: Ms since 1970 UTC by this machine's clock. An engine with a clock that all owners
  ///     share uses that one.
  ///   - duration: In ms.
  /// - Returns: Nil if another owner holds it.
  func acquireLease(
    _ name: String, owner: String, now: Int64, duration: Int64, takeover: (Lease) -> Bool
  ) throws -> Lease?

  /// Extends a lease.
  /// - Throws: ``StoreError`` `.leaseLost` if it no longer belongs to this owner.
  func renewLease(_ lease: Lease, now: Int64, duration: Int64) throws -> Lease

  /// Releases a lease; does nothing if it was already lost. The fence stays for the next owner.
  func releaseLease(_ lease: Lease) throws

  /// Checks that the lease still belongs to this owner. An expired lease without a new owner still
  /// does.
  /// - Throws: ``StoreError`` `.leaseLost`.
  func verify(_ lease: Lease) throws

  /// Stores what a sync keeps about a page of a list, such as a validator. It is stored apart from
  /// the sync state, which would otherwise grow with every page.
  /// - Parameters:
  ///   - page: The name that the target gives the page.
  ///   - value: JSON text.
  func keepSyncPage(_ page: String, _ value: [UInt8], of sync: Int64) throws

  func forgetSyncPage(_ page: String, of sync: Int64) throws

  func forgetSyncPages(of sync: Int64) throws

  // MARK: Key-value stores

  /// Sets the value of a key, replacing any earlier value.
  func setKeyValue(_ key: String, to value: [UInt8], in store: String) throws

  /// Removes a key and its value.
  /// - Returns: Whether the key existed.
  func removeKeyValue(_ key: String, from store: String) throws -> Bool

  func clearKeyValues(in store: String) throws
}

extension StoreTransaction {
  /// Adds an entry.
  /// - Returns: Its `_soupEntryId`.
  package func create(_ entry: JSONObject, in soup: String) throws -> Int64 {
    try save(entry.serialized(), as: nil, in: soup) ?? 0
  }

  /// Replaces a whole entry.
  /// - Returns: False if the row does not exist.
  package func replace(_ id: Int64, with entry: JSONObject, in soup: String) throws -> Bool {
    try save(entry.serialized(), as: id, in: soup) != nil
  }

  /// Sets and removes first-level members of an entry; the rest of its text stays unchanged, byte
  /// for byte.
  /// - Returns: False if the row does not exist.
  package func patch(
    _ id: Int64, in soup: String, setting members: JSONObject, removing keys: [String] = []
  ) throws -> Bool {
    guard let entry = try entry(id, in: soup) else { return false }
    let text = try EntryText.rewrite(entry.text, dropping: IdSet(members.keys + keys), adding: members)
    return try save(text, as: id, in: soup) != nil
  }

  /// Removes entries and all data about them; ignores unknown ids.
  package func remove(_ ids: some Sequence<Int64>, from soup: String) throws {
    let ids: [Int64] = Array(ids)
    try remove(ids, from: soup)
  }

  /// Stores the records of a page by their external id.
  package func storeRecords(_ page: ScannedPage, in name: String, _ storage: PageStorage) throws -> StoreOutcome {
    try storeRecords(page, in: name, storage) { _, _ in }
  }

  /// Removes uploads whose outcome is known, whichever run sent them.
  package func endAttempts(_ entryIds: some Sequence<Int64>, in soup: String) throws {
    let ids: [Int64] = Array(entryIds)
    try endAttempts(ids, in: soup, sentBy: nil)
  }

  /// See ``keepWaiting(_:in:until:)``.
  package func keepWaiting(_ entryIds: some Sequence<Int64>, in soup: String, until time: Int64) throws {
    let ids: [Int64] = Array(entryIds)
    try keepWaiting(ids, in: soup, until: time)
  }

  /// See ``noteArrivals(_:in:)``.
  package func noteArrivals(_ entryIds: some Sequence<Int64>, in soup: String) throws {
    let ids: [Int64] = Array(entryIds)
    try noteArrivals(ids, in: soup)
  }
}
