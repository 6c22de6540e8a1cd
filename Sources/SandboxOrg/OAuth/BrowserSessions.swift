/// The users signed in at the pages, by browser cookie. In memory. On the org's queue.
struct BrowserSessions {
  private struct Entry {
    let user: String
    /// The path of its site; empty for the org itself.
    let sitePath: String
    /// Seconds since 1970 UTC.
    var lastUsed: Int64
  }
  private var entries: [String: Entry] = [:]

  /// - Returns: The value of the cookie.
  mutating func begin(_ user: String, at sitePath: String, now: Int64) -> String {
    if entries.count >= Tuning.openAuthorizations, let oldest = entries.min(by: { $0.value.lastUsed < $1.value.lastUsed }) {
      entries[oldest.key] = nil
    }
    let id = RandomText.make(43)
    entries[id] = Entry(user: user, sitePath: sitePath, lastUsed: now)
    return id
  }

  /// Returns the user's id if the browser has been used within `lifetime` seconds. The call itself
  /// counts as use.
  mutating func user(_ id: String?, at sitePath: String, now: Int64, lifetime: Int64) -> String? {
    guard let id, let entry = entries[id], entry.sitePath == sitePath, now - entry.lastUsed <= lifetime else { return nil }
    entries[id]?.lastUsed = now
    return entry.user
  }

  mutating func end(_ id: String) { entries[id] = nil }
  mutating func removeAll() { entries.removeAll() }
}
