import JSON
import SmartStore
import Synchronization

/// Removes soups and registers them again at one request of a sync, as a button that starts afresh does, and then creates entries
/// whose numbers the old soups had. Threads: any.
package final class SoupRemake: Sendable {
  package struct Soup: Sendable {
    let name: String
    let specs: [IndexSpec]
    /// The entries that are created in the new soup.
    let entries: [JSONObject]

    package init(_ name: String, _ specs: [IndexSpec], entries: [JSONObject]) {
      self.name = name
      self.specs = specs
      self.entries = entries.map { $0.replacing(with: ["__local__": true, "__locally_created__": true]) }
    }
  }

  private struct State {
    var requests = 0
    var made: [[Int64: JSONObject]]?
  }

  private let soups: [Soup]
  private let request: Int
  private let state = Mutex(State())

  /// - Parameter request: The number of the request before whose handling this happens, from 1.
  package init(_ soups: [Soup], atRequest request: Int) {
    self.soups = soups
    self.request = request
  }

  /// The new entries by number, in the order of the soups; nil if the sync had fewer requests.
  package var made: [[Int64: JSONObject]]? { state.withLock { $0.made } }

  /// Counts a request.
  package func note(in store: Store) {
    let isDue = state.withLock { state in
      state.requests += 1
      return state.requests == request
    }
    guard isDue else { return }
    let made = soups.map { soup -> [Int64: JSONObject] in
      do {
        try store.removeSoup(soup.name)
        try store.registerSoup(soup.name, indexSpecs: soup.specs)
        let stored = try store.upsert(JSONValue.array(soup.entries.map { .object($0) }).text, into: soup.name)
        return Dictionary(
          stored.compactMap { entry in entry.objectValue.map { ($0["_soupEntryId"]?.integerValue ?? 0, $0) } },
          uniquingKeysWith: { first, _ in first })
      } catch {
        preconditionFailure("the soup \(soup.name) cannot be made anew: \(error)")
      }
    }
    state.withLock { $0.made = made }
  }
}
