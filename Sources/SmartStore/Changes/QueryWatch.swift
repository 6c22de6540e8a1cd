import Database
import Dispatch
import Synchronization

/// Stands between the change feed and the observer of a smart query: lets changes through when they changed its result.
///
/// Commits to the query's soups come in; a reader then runs the query and compares a hash of its rows with the last one. What
/// is committed meanwhile is merged and looked at once. A result too large or too long in the making counts as changed.
final class QueryWatch: Sendable {
  private enum Result: Equatable {
    case hash(Int)
    /// The query fails, for example because its soup is gone.
    case failed
    /// Beyond the limits: nothing is known, so everything is told.
    case unknown
  }

  private let spec: QuerySpec
  private let outer: ChangeInbox
  private weak let store: Store?
  private let last = Mutex(Result.unknown)

  /// One at a time in a process: observers do not take the readers from scripts and syncs.
  private static let queue = DispatchQueue(label: "tureen.store.observers")

  init(_ spec: QuerySpec, in store: Store, telling outer: ChangeInbox) {
    self.spec = spec
    self.store = store
    self.outer = outer
  }

  /// An inbox for the changes of the query's soups. Add it to the feed, then call ``begin()``.
  func inbox(_ soupNames: [String]) -> ChangeInbox {
    ChangeInbox(
      soupNames: soupNames, onNews: { inbox in QueryWatch.queue.async { self.look(inbox) } },
      onEnd: { [outer] in outer.close() })
  }

  /// Takes note of the result as it is, when changes are watched already: none falls in between.
  func begin() {
    QueryWatch.queue.sync {
      let now = result()
      last.withLock { $0 = now }
    }
  }

  /// Waits until everything that was committed so far has been looked at.
  static func settle() { queue.sync {} }

  private func look(_ inbox: ChangeInbox) {
    guard !outer.isEnded else { return }
    // Taken first: what is read then holds them all.
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
      return try store.readBlocking { snapshot in
        try snapshot.connection.limited(toSteps: Tuning.watchedSteps) {
          try snapshot.hash(of: spec).map { .hash($0) } ?? .unknown
        } ?? .unknown
      }
    } catch {
      return .failed
    }
  }
}

extension StoreSnapshot {
  /// A number that stands for all rows of a smart query; nil when they are too many.
  func hash(of spec: QuerySpec) throws -> Int? {
    let statement = try smartStatement(spec, limit: Tuning.watchedRows + 1, offset: 0)
    defer { statement.reset() }
    var hasher = Hasher(), rows = 0, bytes = 0
    while try statement.step() {
      rows += 1
      for i in 0..<statement.columnCount { bytes += statement.hash(i, into: &hasher) }
      if rows > Tuning.watchedRows || bytes > Tuning.watchedBytes { return nil }
    }
    hasher.combine(rows)
    return hasher.finalize()
  }
}

extension Statement {
  /// - Returns: The value's size in bytes.
  fileprivate func hash(_ column: Int32, into hasher: inout Hasher) -> Int {
    let type = type(column)
    hasher.combine(type)
    switch type {
    case .null: break
    case .integer: hasher.combine(int64(column))
    case .real: hasher.combine(double(column))
    case .text, .blob:
      let text = bytes(column)
      hasher.combine(text.count)
      hasher.combine(bytes: text)
      return text.count
    }
    return 8
  }
}
