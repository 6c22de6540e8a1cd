import JSON
import Synchronization

/// Observes the changes of some soups. Ends when it is cancelled or released, or when the store
/// closes.
///
/// Changes wait here, merged, until they are taken. A slow listener costs at most a bounded list of
/// ids for each soup.
public final class ChangeObserver: Sendable {
  /// Called when changes wait. `take` does the same as ``take()``, for use before the observer
  /// itself is available.
  public typealias News = @Sendable (_ take: @escaping @Sendable () -> [StoreChange]) -> Void

  let inbox: ChangeInbox
  private let onCancel: @Sendable () -> Void

  init(inbox: ChangeInbox, onCancel: @escaping @Sendable () -> Void) {
    self.inbox = inbox
    self.onCancel = onCancel
  }

  deinit { cancel() }

  /// Returns the changes since the last call, one element for each changed soup. Any thread.
  public func take() -> [StoreChange] { inbox.take() }

  /// Ends the observer and drops waiting changes. May be called on any thread, also inside
  /// `onNews`; a second call has no effect.
  public func cancel() { if inbox.end() { onCancel() } }
}

/// Holds the changes of one observer until they are taken.
package final class ChangeInbox: Sendable {
  private struct State {
    var waiting: [(soupName: String, changes: EntryChanges)] = []
    var isEnded = false
  }

  /// The names given by the observer. Two names are equal if their bytes are.
  package let soupNames: [String]
  private let state = Mutex(State())
  /// Called when changes wait that were not announced yet. Must return quickly.
  private let onNews: @Sendable (ChangeInbox) -> Void
  private let onEnd: @Sendable () -> Void

  init(soupNames: [String], onNews: @escaping @Sendable (ChangeInbox) -> Void, onEnd: @escaping @Sendable () -> Void) {
    self.soupNames = soupNames
    self.onNews = onNews
    self.onEnd = onEnd
  }

  package var isEnded: Bool { state.withLock { $0.isEnded } }

  package func put(_ soupName: String, _ changes: EntryChanges) {
    let isNews = state.withLock { state in
      guard !state.isEnded, !changes.isEmpty else { return false }
      if let i = state.waiting.firstIndex(where: { $0.soupName.hasSameBytes(as: soupName) }) {
        state.waiting[i].changes.add(changes)
        return false
      }
      state.waiting.append((soupName, changes))
      return state.waiting.count == 1
    }
    if isNews { onNews(self) }
  }

  func take() -> [StoreChange] {
    // An entry that was created and removed meanwhile leaves nothing to report.
    drain().compactMap { $0.changes.isEmpty ? nil : $0.changes.change(of: $0.soupName) }
  }

  /// Returns and removes the waiting changes.
  func drain() -> [(soupName: String, changes: EntryChanges)] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Ends the inbox.
  /// - Returns: True the first time.
  func end() -> Bool {
    state.withLock { state in
      defer {
        state.isEnded = true
        state.waiting = []
      }
      return !state.isEnded
    }
  }

  /// Ends the inbox because the store closes.
  package func close() { if end() { onEnd() } }
}
