import Dispatch

/// The engine of a ``Store`` that only looks: it reads like any other, and refuses everything else.
final class LookOnlyEngine: StoreEngine {
  private let reading: any StoreReading
  private let name: String
  let writerQueue: DispatchQueue
  let history = StoreHistory()

  init(_ reading: any StoreReading, name: String) {
    self.reading = reading
    self.name = name
    writerQueue = DispatchQueue(label: "tureen.store.look.\(name)")
  }

  var location: String { reading.location }
  var supportsFullText: Bool { reading.supportsFullText }

  func read<T>(
    on reader: Int?, for query: QueryCancellation?, isSmart: Bool, _ body: (any StoreSnapshot) throws -> T
  ) throws -> T { try reading.read(on: reader, for: query, isSmart: isSmart, body) }

  func sizes() throws -> StoreSizes { try reading.sizes() }
  func mark() throws -> StoreMark { try reading.mark() }
  func databaseSize() throws -> Int64 { try reading.sizes().bytes }
  func close() { reading.close() }
  func forgetEndedObservers() {}

  func write<T>(_ durability: Durability, _ body: (any StoreTransaction) throws -> T) throws -> T { throw refusal }
  func alterSoup(
    _ name: String, indexSpecs: [IndexSpec], reIndexData: Bool, afterStep: (AlterStep) throws -> Void
  ) throws { throw refusal }
  func startObserving(_ inbox: ChangeInbox) throws { throw refusal }
  func finishCopy() throws { throw refusal }

  private var refusal: StoreError {
    StoreError(.notReadOnly, "store '\(name)' is open for looking; nothing can be written to it")
  }
}

extension Store {
  /// Opens a store to look at it; see ``StoreEngines/look(_:isGlobal:)``. Everything that would write throws
  /// ``StoreError`` `.notReadOnly`.
  package convenience init(looking reading: any StoreReading, name: String, isGlobal: Bool, cursorIds: CursorIds = CursorIds()) {
    self.init(name: name, isGlobal: isGlobal, engine: LookOnlyEngine(reading, name: name), cursorIds: cursorIds)
  }

  /// Returns the sizes of the data without a checkpoint.
  package func sizes() throws -> StoreSizes {
    try checkNotOnWriterQueue()
    return try engine.sizes()
  }

  /// Returns a value that is another one after each commit of any process.
  package func mark() throws -> StoreMark {
    try checkNotOnWriterQueue()
    return try engine.mark()
  }
}
