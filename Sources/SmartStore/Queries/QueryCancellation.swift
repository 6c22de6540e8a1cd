import Synchronization

/// The way to give up a query that runs, or waits for its turn: it then ends within milliseconds with `.cancelled`.
///
/// One query each, any thread. A query that has ended is not touched.
public final class QueryCancellation: Sendable {
  private struct State {
    var isCancelled = false
    /// Wakes the query where it waits.
    var wake: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  /// The same again, for the query that asks 20,000 times a second.
  private let flag = Atomic(false), isToEndSoon = Atomic(false)
  /// How often it was asked whether it may go on.
  private let looks = Atomic(0)
  private let isRunning: (@Sendable () -> Void)?

  public convenience init() { self.init(isRunning: nil) }

  /// - Parameter isRunning: Called once, from inside the query's statement, when it is in the middle of its work. For tests.
  package init(isRunning: (@Sendable () -> Void)?) { self.isRunning = isRunning }

  public var isCancelled: Bool { flag.load(ordering: .acquiring) }

  public func cancel() {
    let wake = state.withLock { state in
      state.isCancelled = true
      flag.store(true, ordering: .releasing)
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  /// Gives the query up once it has done more work than most, some half a second of it: for a write whose caller cannot wait.
  public func endSoon() { isToEndSoon.store(true, ordering: .releasing) }

  /// Whether the statement may go on. On the thread that runs it, inside SQLite.
  func allowsStep() -> Bool {
    let looks = looks.add(1, ordering: .relaxed).newValue
    if looks == 1 { isRunning?() }
    if looks > Tuning.looksOfHurriedQuery, isToEndSoon.load(ordering: .acquiring) { cancel() }
    return !isCancelled
  }

  /// - Parameter wake: Called when the query is given up; at once when it was. Must not block.
  func waits(_ wake: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.isCancelled { state.wake = wake }
      return state.isCancelled
    }
    if isLate { wake() }
  }

  func waitsNoLonger() { state.withLock { $0.wake = nil } }
}

extension StoreError {
  static let cancelled = StoreError(.cancelled, "the query was given up before its end")
}
