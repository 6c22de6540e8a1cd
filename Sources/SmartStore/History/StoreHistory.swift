import Support
import Synchronization

/// The history of an open store: how much is kept, and whose writes they are. Any thread.
package final class StoreHistory: Sendable {
  private struct State {
    var level = HistoryLevel.off
    var actor = HistoryActor(.host)
    /// Whether the row of the actor is written.
    var isActorKnown = false
    var hasFailed = false
    var report: @Sendable (String) -> Void = { _ in }
    /// Rows of the log that were written since the last pruning, and their approximate bytes.
    var rows = 0, bytes = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var level: HistoryLevel { state.withLock { $0.level } }

  /// The program whose writes these are.
  package var actor: HistoryActor { state.withLock { $0.actor } }

  /// - Parameter report: Called once with the first failure of a write, which fails nothing else.
  package func keep(_ level: HistoryLevel, of actor: HistoryActor, report: @escaping @Sendable (String) -> Void) {
    state.withLock { state in
      (state.level, state.actor, state.report) = (level, actor, report)
      state.isActorKnown = false
    }
  }

  /// Lets go of the program's function, which may refer to the store.
  func close() { state.withLock { ($0.level, $0.report) = (.off, { _ in }) } }

  /// Returns what a transaction adds to the history; nil if none is kept.
  /// - Parameter lastRun: Returns the number of the last run, within the transaction.
  package func begin(_ lastRun: @escaping () throws -> Int64) -> HistoryRows? {
    let (level, actor, isKnown, rows, bytes) = state.withLock { ($0.level, $0.actor, $0.isActorKnown, $0.rows, $0.bytes) }
    guard level != .off else { return nil }
    return HistoryRows(level: level, actor: actor, isActorKnown: isKnown, pruning: (rows, bytes), lastRun)
  }

  /// Call after the commit.
  package func committed(_ rows: HistoryRows) {
    let isWritten = rows.failure == nil && !rows.isEmpty, actor = rows.actor, since = rows.sincePruning
    state.withLock { state in
      if isWritten, actor == state.actor { state.isActorKnown = true }
      (state.rows, state.bytes) = since
    }
    if let failure = rows.failure { failed(failure) }
  }

  /// Reports a failure unless an earlier one was reported.
  package func failed(_ text: String) {
    let report = state.withLock { state -> (@Sendable (String) -> Void)? in
      guard !state.hasFailed else { return nil }
      state.hasFailed = true
      return state.report
    }
    report?(text)
  }
}

extension Store {
  /// See ``StoreHistory``.
  package var history: StoreHistory { engine.history }

  /// Keeps a history of this store from now on.
  /// - Parameters:
  ///   - level: How much is kept.
  ///   - actor: The program that writes through this object.
  ///   - report: Called with the first failure to write the history. The writes themselves go on.
  public func keepHistory(
    _ level: HistoryLevel, of actor: HistoryActor, report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    history.keep(level, of: actor, report: report)
  }
}
