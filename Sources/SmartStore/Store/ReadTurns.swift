import Dispatch
import Synchronization

/// The turns of reads on the reading connections of a store: a limited number at once, in order of
/// arrival. It also keeps the idle connections.
///
/// Smart queries, which may run without end, have a smaller limit, so that other reads get a turn.
package final class ReadTurns<Reader: Sendable>: Sendable {
  /// A read that waits for its turn.
  private final class Waiter: Sendable {
    let isSmart: Bool
    let turn = DispatchSemaphore(value: 0)

    init(isSmart: Bool) { self.isSmart = isSmart }
  }

  private struct State {
    let most: Int, mostSmart: Int
    var idle: [Reader] = []
    /// The number of reads that have a turn, and of smart queries among them.
    var taken = 0, takenBySmart = 0
    /// In order of arrival.
    var waiters: [Waiter] = []
    /// Queries that run or wait.
    var queries: [ObjectIdentifier: QueryCancellation] = [:]
    var isClosed = false
    /// Calls of `close` that wait until no read has a turn.
    var closers: [DispatchSemaphore] = []

    func mayStart(isSmart: Bool) -> Bool { taken < most && (!isSmart || takenBySmart < mostSmart) }

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

  private let state: Mutex<State>
  private let patienceMs: Int

  /// - Parameters:
  ///   - most: The number of reads at once.
  ///   - mostSmart: The number of smart queries among them.
  ///   - patienceMs: How long closing waits for reads that do not end although they are cancelled.
  package init(most: Int, mostSmart: Int, patienceMs: Int? = nil) {
    self.patienceMs = patienceMs ?? Tuning.closePatienceMs
    state = Mutex(State(most: most, mostSmart: mostSmart))
  }

  /// Runs `body` in a turn; waits for it.
  /// - Parameter query: Cancels the wait as well. Closing cancels the query.
  /// - Throws: ``StoreError`` `.storeClosed`, `.cancelled`; errors of `body`.
  package func with<T>(_ query: QueryCancellation?, isSmart: Bool, _ body: () throws -> T) throws -> T {
    try begin(query, isSmart: isSmart)
    defer { end(query, isSmart: isSmart) }
    return try body()
  }

  /// - Throws: ``StoreError`` `.storeClosed`.
  package func throwIfClosed() throws {
    if state.withLock({ $0.isClosed }) { throw StoreError.closed }
  }

  /// Whether no read has a turn.
  var isAtRest: Bool { state.withLock { $0.taken == 0 } }

  private func begin(_ query: QueryCancellation?, isSmart: Bool) throws {
    let waiter = try state.withLock { state throws -> Waiter? in
      guard !state.isClosed else { throw StoreError.closed }
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
    query?.beginWaiting { [self] in giveUp(waiter) }
    waiter.turn.wait()
    query?.endWaiting()
    guard let query, query.isCancelled else { return }
    end(query, isSmart: isSmart)
    try throwIfClosed()
    throw StoreError.cancelled
  }

  /// Ends the wait of a cancelled read as if its turn had come; it then returns the turn.
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

  // MARK: Idle readers

  /// Takes the idle reader that is preferred, else the one that was used last.
  /// - Returns: nil if none is idle.
  /// - Throws: ``StoreError`` `.storeClosed`.
  package func takeIdle(preferring isPreferred: (Reader) -> Bool = { _ in false }) throws -> Reader? {
    try state.withLock { state throws -> Reader? in
      guard !state.isClosed else { throw StoreError.closed }
      if let i = state.idle.firstIndex(where: isPreferred) { return state.idle.remove(at: i) }
      return state.idle.popLast()
    }
  }

  /// Keeps a reader that is no longer used.
  /// - Returns: False after closing; the caller then closes the reader.
  package func keep(_ reader: Reader) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.idle.append(reader) }
      return !state.isClosed
    }
  }

  /// Cancels queries and waits for the running reads. Waiting and later ones fail with
  /// `.storeClosed`. Queries that do not end in time close their readers themselves.
  /// - Returns: The idle readers, which the caller closes.
  package func close() -> [Reader] {
    let done = DispatchSemaphore(value: 0)
    let (idle, queries) = state.withLock { state -> ([Reader], [QueryCancellation]) in
      state.isClosed = true
      if state.taken == 0 { done.signal() } else { state.closers.append(done) }
      defer { state.idle = [] }
      return (state.idle, Array(state.queries.values))
    }
    for query in queries { query.cancel() }
    // A read without a query ends by itself; only a query can be somewhere in a database where nothing interrupts it.
    while done.wait(timeout: .now() + .milliseconds(patienceMs)) == .timedOut {
      guard state.withLock({ $0.taken > $0.queries.count }) else { break }
    }
    return idle
  }
}
