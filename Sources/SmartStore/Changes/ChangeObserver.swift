import JSON
import Synchronization

/// An observer of the changes of some soups; ends when it is cancelled, let go of, or the store closes.
///
/// Changes wait here, merged, until they are taken: a slow listener costs at most a bounded list of ids for each soup.
public final class ChangeObserver: Sendable {
  /// Hears that changes wait; the closure it is given is ``take()``, for when the observer itself is not at hand yet.
  public typealias News = @Sendable (_ take: @escaping @Sendable () -> [StoreChange]) -> Void

  let inbox: ChangeInbox
  private let onCancel: @Sendable () -> Void

  init(inbox: ChangeInbox, onCancel: @escaping @Sendable () -> Void) {
    self.inbox = inbox
    self.onCancel = onCancel
  }

  deinit { cancel() }

  /// What happened since the last time, one element a soup; empty when nothing did. Any thread.
  public func take() -> [StoreChange] { inbox.take() }

  /// Ends it: nothing is told any more, what waits is dropped. Any thread, also inside `onNews`. Safe twice.
  public func cancel() { if inbox.end() { onCancel() } }
}

/// Where an observer's changes wait.
final class ChangeInbox: Sendable {
  private struct State {
    var waiting: [(soupName: String, changes: EntryChanges)] = []
    var isEnded = false
  }

  /// As the observer named them: texts of the same bytes are the same soup.
  let soupNames: [String]
  private let state = Mutex(State())
  /// Hears that changes wait that were not announced yet. Must be quick.
  private let onNews: @Sendable (ChangeInbox) -> Void
  private let onEnd: @Sendable () -> Void

  init(soupNames: [String], onNews: @escaping @Sendable (ChangeInbox) -> Void, onEnd: @escaping @Sendable () -> Void) {
    self.soupNames = soupNames
    self.onNews = onNews
    self.onEnd = onEnd
  }

  var isEnded: Bool { state.withLock { $0.isEnded } }

  func put(_ soupName: String, _ changes: EntryChanges) {
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
    // An entry that came and went meanwhile leaves nothing to tell.
    drain().compactMap { $0.changes.isEmpty ? nil : $0.changes.change(of: $0.soupName) }
  }

  /// What waits, and waits no more.
  func drain() -> [(soupName: String, changes: EntryChanges)] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

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

  /// The store closes.
  func close() { if end() { onEnd() } }
}
