import JSON
import LuaBridge

/// Decides what the progress display of running syncs shows, and when. A plain value; the caller passes the time in milliseconds.
///
/// A sync that ends within its grace time (`options.graceMs`) is not shown. After that, a bar changes at most five times a
/// second, and an output that is not a terminal gets a line every ten seconds. A sync that was shown also gets a final line; a
/// failed sync always does.
package struct SyncProgress: Sendable {
  /// The content of a progress bar.
  package struct Bar: Sendable, Equatable {
    package let title: String
    /// nil if the total is not known.
    package let percent: Int64?
    package let counts: String
  }

  private struct Key: Sendable, Hashable {
    let store: String
    let isGlobal: Bool
    let id: Int64

    init(_ id: Int64, _ store: StoreReference) {
      self.id = id
      self.store = store.name
      isGlobal = store.isGlobal
    }
  }

  private struct Sync: Sendable {
    let key: Key
    let began: Int64
    var bar: Bar
    var graceMs: Int64
    /// The time at which the next line is due.
    var nextLine: Int64
    var wasShown = false
  }

  /// The running syncs, sorted by start.
  private var syncs: [Sync] = []
  /// The bar on the screen, and when it was drawn.
  private var shown: (key: Key, bar: Bar, at: Int64)?

  package static let graceMs: Int64 = 500
  /// The minimum milliseconds between two changes of a bar.
  package static let barMs: Int64 = 200
  /// The milliseconds between two lines about a sync.
  package static let lineMs: Int64 = 10_000

  package init() {}

  /// Takes a new state of a sync.
  /// - Parameter reason: Why it failed; nil for the error in the state.
  /// - Returns: A permanent line to print at once; nil for none.
  package mutating func note(_ state: JSONValue, id: Int64, of store: StoreReference, at now: Int64, reason: String? = nil)
    -> String?
  {
    let key = Key(id, store), at = syncs.firstIndex { $0.key == key }, status = state["status"]?.stringValue
    guard ["DONE", "STOPPED", "FAILED"].contains(status) else {
      let bar = SyncProgress.bar(state)
      if let at {
        syncs[at].bar = bar
      } else {
        let grace = max(0, state["options"]?["graceMs"]?.boundedInteger ?? SyncProgress.graceMs)
        syncs.append(
          Sync(key: key, began: now, bar: bar, graceMs: grace, nextLine: now + max(grace, SyncProgress.lineMs)))
      }
      return nil
    }
    let known = at.map { syncs.remove(at: $0) }
    if shown?.key == key { shown = nil }
    if status == "FAILED" {
      return ProgressTexts.failed(SyncProgress.title(state), reason ?? state["error"]?.stringValue ?? "")
    }
    guard let known, known.wasShown else { return nil }
    return SyncProgress.end(status, state, milliseconds: now - known.began)
  }

  /// Returns the current bar, which shows the sync that has run longest; nil for none.
  package mutating func bar(at now: Int64) -> Bar? {
    guard let at = syncs.firstIndex(where: { now - $0.began >= $0.graceMs }) else { return nil }
    if let shown, shown.key == syncs[at].key, now - shown.at < SyncProgress.barMs { return shown.bar }
    syncs[at].wasShown = true
    if shown?.key != syncs[at].key || shown?.bar != syncs[at].bar { shown = (syncs[at].key, syncs[at].bar, now) }
    return syncs[at].bar
  }

  /// Returns the lines that are due, for an output that is not a terminal.
  package mutating func lines(at now: Int64) -> [String] {
    syncs.indices.compactMap { i in
      guard now >= syncs[i].nextLine else { return nil }
      syncs[i].nextLine = now + SyncProgress.lineMs
      syncs[i].wasShown = true
      return ProgressTexts.line(syncs[i].bar.title, syncs[i].bar.percent, syncs[i].bar.counts)
    }
  }

  /// Returns the name of a sync for messages.
  package static func title(_ state: JSONValue) -> String {
    ProgressTexts.title(
      name: state["name"]?.stringValue, soup: state["soupName"]?.stringValue ?? "",
      isUp: state["type"]?.stringValue == "syncUp")
  }

  private static func bar(_ state: JSONValue) -> Bar {
    let total = state["totalSize"]?.integerValue ?? -1, percent = min(max(state["progress"]?.integerValue ?? 0, 0), 100)
    let pages = state["pages"]?.integerValue ?? 0, records = state["fetched"]?.integerValue ?? 0
    let counts: String
    if state["queued"]?.boolValue == true {
      counts = ProgressTexts.queued
    } else if total >= 0 {
      counts = ProgressTexts.count(total > 1 << 50 ? total / 100 * percent : total * percent / 100, of: total)
    } else {
      counts = pages > 0 ? ProgressTexts.soFar(pages: pages, records: records) : ProgressTexts.asking
    }
    return Bar(title: title(state), percent: total >= 0 ? percent : nil, counts: counts)
  }

  private static func end(_ status: String?, _ state: JSONValue, milliseconds: Int64) -> String {
    let title = title(state)
    let isUp = state["type"]?.stringValue == "syncUp", pages = state["pages"]?.integerValue ?? 0
    let records = state[isUp ? "succeeded" : "fetched"]?.integerValue ?? 0
    return status == "DONE"
      ? ProgressTexts.done(title, records: records, pages: pages, milliseconds: milliseconds)
      : ProgressTexts.stopped(title, records: records, pages: pages, hasMore: state["hasMore"]?.boolValue == true)
  }
}
