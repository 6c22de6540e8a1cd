import Database
import Dispatch
import Synchronization

/// The reading connections of a store: opened when first needed, at most a handful, each used by one thread at a time.
final class ReaderPool: Sendable {
  /// Whoever has taken it from the pool owns it, and nobody else.
  private final class Reader: @unchecked Sendable {
    let connection: Connection
    let state: ConnectionState

    init(_ connection: Connection, _ state: ConnectionState) {
      self.connection = connection
      self.state = state
    }

    func close() {
      state.forget()
      connection.close()
    }
  }

  private struct State {
    var idle: [Reader] = []
    var opened = 0
    var isClosed = false
  }

  private let path: String
  private let key: StoreKey?
  private let busyTimeoutMs: Int32
  private let wantedIndexes: WantedIndexes
  /// One for each reader there may be: whoever holds one finds an idle reader, or may open one.
  private let places = DispatchSemaphore(value: Tuning.readers)
  private let state = Mutex(State())

  init(path: String, key: StoreKey?, busyTimeoutMs: Int32, _ wantedIndexes: WantedIndexes) {
    self.wantedIndexes = wantedIndexes
    self.path = path
    self.key = key
    self.busyTimeoutMs = busyTimeoutMs
  }

  /// Runs `body` with a reader; waits while all are in use.
  /// - Parameter number: The reader that is wanted if it is idle: it saw what the caller knows of.
  func with<T>(number: Int?, _ body: (Connection, ConnectionState) throws -> T) throws -> T {
    places.wait()
    defer { places.signal() }
    let reader = try take(number)
    defer { give(reader) }
    do {
      return try body(reader.connection, reader.state)
    } catch {
      reader.state.forget()
      throw error
    }
  }

  private func take(_ number: Int?) throws -> Reader {
    let (idle, opening) = try state.withLock { state throws -> (Reader?, Int) in
      guard !state.isClosed else { throw StoreError(.storeClosed, "the store is closed") }
      if let i = state.idle.firstIndex(where: { $0.state.number == number }) { return (state.idle.remove(at: i), 0) }
      if let last = state.idle.popLast() { return (last, 0) }
      state.opened += 1
      return (nil, state.opened)
    }
    if let idle { return idle }
    let connection = try Connection(path: path, mode: .readWrite, storeKey: key)
    connection.setBusyTimeout(milliseconds: busyTimeoutMs)
    try Schema.configureReader(connection)
    return Reader(connection, ConnectionState(number: opening, wantedIndexes))
  }

  private func give(_ reader: Reader) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.idle.append(reader) }
      return state.isClosed
    }
    if isClosed { reader.close() }
  }

  /// Waits for the readers in use, then closes all.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for _ in 0..<Tuning.readers { places.wait() }
    for _ in 0..<Tuning.readers { places.signal() }
    for reader in idle { reader.close() }
  }
}
