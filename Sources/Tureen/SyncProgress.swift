import JSON
import LuaBridge

/// Decides what is shown of running syncs, and when. A value with the clock of its caller, in milliseconds.
///
/// Nothing is shown of a sync that ends within its grace time (`options.graceMs`). After that a bar changes at most five times
/// a second, and an output that cannot be rewritten gets a line every ten seconds. A sync of which anything was shown has a last
/// line; an error always has one.
package struct SyncProgress: Sendable {
  /// What a bar shows.
  package struct Bar: Sendable, Equatable {
    package let title: String
    /// Nil where the total is not known.
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
    /// When the next line is due.
    var nextLine: Int64
    var wasShown = false
  }

  /// By the time they began.
  private var syncs: [Sync] = []
  /// The bar on the screen, and when it got there.
  private var shown: (key: Key, bar: Bar, at: Int64)?

  package static let graceMs: Int64 = 500
  /// Milliseconds between two changes of a bar: five a second.
  package static let barMs: Int64 = 200
  /// Milliseconds between two lines about one sync.
  package static let lineMs: Int64 = 10_000

  package init() {}

  /// Takes the state of a sync.
  /// - Parameter reason: Why it failed; without it the state's own words.
  /// - Returns: A line that is to be printed at once and stays; nil for none.
  package mutating func note(_ state: JSONValue, id: Int64, of store: StoreReference, at now: Int64, reason: String? = nil)
    -> String?
  {
    let key = Key(id, store), at = syncs.firstIndex { $0.key == key }, status = state["status"]?.stringValue
    guard ["DONE", "STOPPED", "FAILED"].contains(status) else {
      let bar = SyncProgress.bar(state)
      if let at {
        syncs[at].bar = bar
      } else {
        let grace = max(0, state["options"]?["graceMs"]?.integerValue ?? SyncProgress.graceMs)
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

  /// What the bar shows now: of the sync that has run longest; nil for no bar.
  package mutating func bar(at now: Int64) -> Bar? {
    guard let at = syncs.firstIndex(where: { now - $0.began >= $0.graceMs }) else { return nil }
    if let shown, shown.key == syncs[at].key, now - shown.at < SyncProgress.barMs { return shown.bar }
    syncs[at].wasShown = true
    if shown?.key != syncs[at].key || shown?.bar != syncs[at].bar { shown = (syncs[at].key, syncs[at].bar, now) }
    return syncs[at].bar
  }

  /// The lines that are due, for an output that is not a terminal.
  package mutating func lines(at now: Int64) -> [String] {
    syncs.indices.compactMap { i in
      guard now >= syncs[i].nextLine else { return nil }
      syncs[i].nextLine = now + SyncProgress.lineMs
      syncs[i].wasShown = true
      return ProgressTexts.line(syncs[i].bar.title, syncs[i].bar.percent, syncs[i].bar.counts)
    }
  }

  /// How messages call the sync of a state.
  package static func title(_ state: JSONValue) -> String {
    ProgressTexts.title(
      name: state["name"]?.stringValue, soup: state["soupName"]?.stringValue ?? "",
      isUp: state["type"]?.stringValue == "syncUp")
  }

  private static func bar(_ state: JSONValue) -> Bar {
    let total = state["totalSize"]?.integerValue ?? -1, percent = state["progress"]?.integerValue ?? 0
    let pages = state["pages"]?.integerValue ?? 0, records = state["fetched"]?.integerValue ?? 0
    let counts: String
    if state["queued"]?.boolValue == true {
      counts = ProgressTexts.queued
    } else if total >= 0 {
      counts = ProgressTexts.count(total * percent / 100, of: total)
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
