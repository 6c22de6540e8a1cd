import Database
import Dispatch
import Synchronization

/// The reading connections of a store: opened when first needed, at most a handful, each used by one thread at a time.
///
/// Smart queries, which may run for ever, leave one of them to everything else.
final class ReaderPool: Sendable {
  /// A connection taken from the pool has one owner.
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

  /// A read that waits until a reader is free.
  private final class Waiter: Sendable {
    let isSmart: Bool
    let turn = DispatchSemaphore(value: 0)

    init(isSmart: Bool) { self.isSmart = isSmart }
  }

  private struct State {
    var idle: [Reader] = []
    /// Readers there are, and those that are taken: in all, and by smart queries.
    var opened = 0, taken = 0, takenBySmart = 0
    /// In the order they came.
    var waiters: [Waiter] = []
    /// Queries that run or wait.
    var queries: [ObjectIdentifier: QueryCancellation] = [:]
    var isClosed = false
    /// Calls of `close` that wait until no reader is taken.
    var closers: [DispatchSemaphore] = []

    func mayStart(isSmart: Bool) -> Bool {
      taken < Tuning.readers && (!isSmart || takenBySmart < Tuning.smartReaders)
    }

    mutating func start(isSmart: Bool) {
      taken += 1
      if isSmart { takenBySmart += 1 }
    }

    mutating func end(isSmart: Bool) {
      taken -= 1
      if isSmart { takenBySmart -= 1 }
      while let i = waiters.firstIndex(where: { mayStart(isSmart: $0.isSmart) }) {
        let next = waiters.remove(at: i)
        start(isSmart: next.isSmart)
        next.turn.signal()
      }
      guard taken == 0 else { return }
      for closer in closers { closer.signal() }
      closers.removeAll()
    }
  }

  private let path: String
  private let key: StoreKey?
  private let busyTimeoutMs: Int32
  private let wantedIndexes: WantedIndexes
  private let state = Mutex(State())

  init(path: String, key: StoreKey?, busyTimeoutMs: Int32, _ wantedIndexes: WantedIndexes) {
    self.wantedIndexes = wantedIndexes
    self.path = path
    self.key = key
    self.busyTimeoutMs = busyTimeoutMs
  }

  /// Runs `body` with a reader; waits while all are in use.
  /// - Parameters:
  ///   - number: The reader that is wanted if it is idle: it saw what the caller knows of.
  ///   - query: Ends the wait, too; cancelled when the pool closes.
  /// - Throws: ``StoreError`` `.storeClosed`, `.cancelled`; what `body` throws.
  func with<T>(
    number: Int?, query: QueryCancellation?, isSmart: Bool, _ body: (Connection, ConnectionState) throws -> T
  ) throws -> T {
    try begin(query, isSmart: isSmart)
    defer { end(query, isSmart: isSmart) }
    let reader = try take(number)
    defer { give(reader) }
    do {
      return try body(reader.connection, reader.state)
    } catch {
      reader.state.forget()
      if let query, query.isCancelled { try throwIfClosed() }
      throw error
    }
  }

  private func throwIfClosed() throws {
    if state.withLock({ $0.isClosed }) { throw ReaderPool.closed }
  }

  private static let closed = StoreError(.storeClosed, "the store is closed")

  // MARK: Turns

  private func begin(_ query: QueryCancellation?, isSmart: Bool) throws {
    let waiter = try state.withLock { state throws -> Waiter? in
      guard !state.isClosed else { throw ReaderPool.closed }
      if let query { state.queries[ObjectIdentifier(query)] = query }
      if state.mayStart(isSmart: isSmart) {
        state.start(isSmart: isSmart)
        return nil
      }
      let waiter = Waiter(isSmart: isSmart)
      state.waiters.append(waiter)
      return waiter
    }
    guard let waiter else { return }
    query?.waits { [self] in giveUp(waiter) }
    waiter.turn.wait()
    query?.waitsNoLonger()
    guard let query, query.isCancelled else { return }
    end(query, isSmart: isSmart)
    try throwIfClosed()
    throw StoreError.cancelled
  }

  /// Lets a read go that waits, as if its turn had come: it gives the turn back.
  private func giveUp(_ waiter: Waiter) {
    state.withLock { state in
      guard let i = state.waiters.firstIndex(where: { $0 === waiter }) else { return }
      state.waiters.remove(at: i)
      state.start(isSmart: waiter.isSmart)
      waiter.turn.signal()
    }
  }

  private func end(_ query: QueryCancellation?, isSmart: Bool) {
    state.withLock { state in
      if let query { state.queries[ObjectIdentifier(query)] = nil }
      state.end(isSmart: isSmart)
    }
  }

  // MARK: Readers

  private func take(_ number: Int?) throws -> Reader {
    let (idle, opening) = try state.withLock { state throws -> (Reader?, Int) in
      guard !state.isClosed else { throw ReaderPool.closed }
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

  /// Ends queries, waits for the readers in use, then closes all. Reads that wait find the pool closed.
  func close() {
    let done = DispatchSemaphore(value: 0)
    let (idle, queries) = state.withLock { state in
      state.isClosed = true
      if state.taken == 0 { done.signal() } else { state.closers.append(done) }
      defer { state.idle = [] }
      return (state.idle, Array(state.queries.values))
    }
    for query in queries { query.cancel() }
    done.wait()
    for reader in idle { reader.close() }
  }
}
