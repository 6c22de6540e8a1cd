import Dispatch

/// When a transaction counts as done.
package enum Durability: Sendable {
  /// When it survives a power cut. For local edits, which cannot be fetched again.
  case synced
  /// When other readers see it. After a power cut it may be missing, whole, and is fetched again.
  case pulled
}

/// The database of one store. ``Store`` is its only user: it checks arguments, keeps cursors and
/// moves calls off the cooperative pool; an engine runs the transactions.
///
/// An engine throws ``StoreError``s only; errors of the closures pass through it unchanged.
package protocol StoreEngine: StoreReading {
  /// The database as messages name it: the path of its file.
  var location: String { get }

  /// The history of the store. An engine writes it with each transaction; nothing is kept before
  /// ``StoreHistory/keep(_:of:report:)``.
  var history: StoreHistory { get }

  /// The serial queue that ``write(_:_:)``, ``startObserving(_:)``, ``forgetEndedObservers()`` and
  /// ``databaseSize()`` are called on. The engine may use it as well: observers are notified on it.
  var writerQueue: DispatchQueue { get }

  /// Runs one writing transaction: commits when `body` returns, rolls back when it throws.
  /// - Throws: ``StoreError`` `.storeClosed`; the engine's errors, which are ``StoreError/isRetryable``
  ///   if another process is in the way; errors of `body`.
  func write<T>(_ durability: Durability, _ body: (any StoreTransaction) throws -> T) throws -> T

  /// Replaces the index specs of a soup; see ``Store/alterSoup(_:indexSpecs:reIndexData:)``. Unlike
  /// in a transaction, the change is finished by another process if this one dies in the middle.
  /// Called outside of the writer's queue.
  /// - Parameter afterStep: Called after each step that the engine distinguishes, for tests.
  func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws

  /// Puts what later commits do to the entries of the inbox's soups into the inbox, until it has
  /// ended. Commits of other processes count, sooner or later; ``EntryChanges/noteAll()`` stands for
  /// changes without known ids.
  func startObserving(_ inbox: ChangeInbox) throws

  /// Drops inboxes that have ended.
  func forgetEndedObservers()

  /// Returns the size of the database in bytes.
  func databaseSize() throws -> Int64

  /// Makes an unfinished copy, which ``StoreEngines/openCopy(_:isGlobal:of:)`` has opened, a store
  /// that can be opened by all. Durable when it returns. Called outside of the writer's queue.
  func finishCopy() throws

  /// Waits for the current transaction and reads, and ends observers. Later calls throw
  /// `.storeClosed`. Called outside of the writer's queue.
  func close()
}

/// Opens, lists and removes the stores of one user and the global ones, on one kind of engine. Used
/// by one ``StoreRegistry``, which opens each store once and makes one call at a time, except for
/// ``names(isGlobal:)``.
package protocol StoreEngines: Sendable {
  /// Opens a store; creates it if it is missing.
  func open(_ name: String, isGlobal: Bool) throws -> any StoreEngine

  /// Opens an existing store to look at it. Nothing is created, migrated, recovered, claimed or
  /// checkpointed; an older schema is read as far as it goes.
  /// - Throws: ``StoreError`` `.cannotOpenStore` if it does not exist or may not be read, `.newerSchema`,
  ///   `.unfinishedCopy`; `.keyRequired`, `.wrongKey`, `.notEncrypted`.
  func look(_ name: String, isGlobal: Bool) throws -> any StoreReading

  /// Opens an unfinished copy of a store; creates it if there is no store of this name.
  /// - Parameter source: Names the original, to continue no copy of another one.
  /// - Throws: ``StoreError`` `.storeExists` if the name belongs to a store, or to an unfinished copy of
  ///   another source; `.storeInUse` if another process writes the copy.
  func openCopy(_ name: String, isGlobal: Bool, of source: String) throws -> any StoreEngine

  /// Returns the names of the existing stores, open or not, sorted; without unfinished copies.
  func names(isGlobal: Bool) throws -> [String]

  /// Returns the names of the unfinished copies, sorted. ``remove(_:isGlobal:)`` removes them, too.
  func unfinishedCopies(isGlobal: Bool) throws -> [String]

  /// Removes a store that is not open here. Does nothing if it does not exist.
  /// - Throws: ``StoreError`` `.storeInUse` if it is open elsewhere; nothing is removed then.
  func remove(_ name: String, isGlobal: Bool) throws

  /// Releases what stores share, such as keys. All of them are closed.
  func close()
}
