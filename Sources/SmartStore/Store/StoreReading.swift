/// The reading half of a ``StoreEngine``: all that a program needs that looks into a store. Nothing of it
/// writes to the store, waits for a writer, or keeps others from removing or rekeying the store.
package protocol StoreReading: AnyObject, Sendable {
  /// See ``StoreEngine/location``.
  var location: String { get }

  /// Runs `body` on one snapshot. Any thread may call it, also while others write: reads see the
  /// last commit and never part of another one.
  /// - Parameters:
  ///   - reader: The preferred reader, if it is idle: the one of ``CursorAnchors/View``, where the
  ///     caller's anchors are valid.
  ///   - query: Cancels the read and a wait for a reader; without one, the read runs to its end.
  ///     Closing the engine cancels it as well.
  ///   - isSmart: Whether it runs smart SQL, which may take arbitrarily long: such reads always
  ///     leave a reader to others.
  func read<T>(
    on reader: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (any StoreSnapshot) throws -> T
  ) throws -> T

  /// Whether `match` queries find words; without it, the index type `full_text` works as `string`.
  var supportsFullText: Bool { get }

  /// Returns the sizes as they are, without a checkpoint.
  func sizes() throws -> StoreSizes

  /// Returns a value that is another one after each commit of any process. It costs little, and holds up no other process.
  /// - Throws: As ``read(on:for:isSmart:_:)``.
  func mark() throws -> StoreMark

  /// Waits for the current reads. Later ones throw `.storeClosed`.
  func close()
}

/// The sizes of a store's data in bytes.
package struct StoreSizes: Sendable, Equatable {
  package let bytes: Int64
  /// The size of SQLite's write-ahead log, 0 if there is none; nil for another engine.
  package let walBytes: Int64?

  package init(bytes: Int64, walBytes: Int64? = nil) {
    self.bytes = bytes
    self.walBytes = walBytes
  }
}

/// Tells commits apart; see ``StoreReading/mark()``.
package struct StoreMark: Sendable, Equatable {
  private let numbers: [Int64]

  package init(_ numbers: [Int64]) { self.numbers = numbers }
}

extension StoreReading {
  package func mark() throws -> StoreMark {
    StoreMark([try read(on: nil, for: nil, isSmart: false) { try $0.view().version }])
  }
}

extension StoreEngine {
  package func sizes() throws -> StoreSizes { StoreSizes(bytes: try writerQueue.sync { try databaseSize() }) }
}
