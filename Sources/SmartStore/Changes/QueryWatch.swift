import Dispatch
import Synchronization

/// Filters changes for the observer of a smart query: passes them on only if they changed the
/// query's result.
///
/// After commits to the query's soups, a reader runs the query and compares a hash of the rows with
/// the previous one. Commits during that time are merged and checked together. A result that is too
/// large, or takes too long, counts as changed.
final class QueryWatch: Sendable {
  private enum Result: Equatable {
    case hash(Int)
    /// The query fails, for example because its soup was removed.
    case failed
    /// The result exceeds the limits, so every change is reported.
    case unknown
  }

  private let spec: QuerySpec
  private let outer: ChangeInbox
  private weak let store: Store?
  private let last = Mutex(Result.unknown)

  /// A serial queue for the whole process, so that observers do not take readers from scripts and
  /// syncs.
  private static let queue = DispatchQueue(label: "tureen.store.observers")

  init(_ spec: QuerySpec, in store: Store, telling outer: ChangeInbox) {
    self.spec = spec
    self.store = store
    self.outer = outer
  }

  /// Returns an inbox for the changes of the query's soups. Add it to the feed, then call
  /// ``begin()``.
  func inbox(_ soupNames: [String]) -> ChangeInbox {
    ChangeInbox(
      soupNames: soupNames, onNews: { inbox in QueryWatch.queue.async { self.look(inbox) } },
      onEnd: { [outer] in outer.close() })
  }

  /// Records the current result. Changes are already being observed, so none is missed.
  func begin() {
    QueryWatch.queue.sync {
      let now = result()
      last.withLock { $0 = now }
    }
  }

  /// Waits until all commits so far have been checked.
  static func settle() { queue.sync {} }

  private func look(_ inbox: ChangeInbox) {
    guard !outer.isEnded else { return }
    // Drain first: the result then includes all of these changes.
    let changes = inbox.drain(), now = result()
    let isNews = last.withLock { last in
      defer { last = now }
      return now != last || now == .unknown
    }
    guard isNews else { return }
    for change in changes { outer.put(change.soupName, change.changes) }
  }

  private func result() -> Result {
    guard let store else { return .failed }
    do {
      return try store.readBlocking { try $0.resultHash(of: spec) }.map { .hash($0) } ?? .unknown
    } catch {
      return .failed
    }
  }
}
