import SmartStore

/// What the history says about unsent changes.
struct UnsentStories {
  fileprivate struct Story {
    /// When the first change was made since the entry was as the server had it, and who made the last one.
    var since: Int64?
    var actor: Int64?
    /// The last outcome of an upload, how often it came in a row, and when it came last.
    var outcome = ""
    var count = 0
    var at: Int64?
  }

  /// By soup and entry.
  private var stories: [String: [Int64: Story]] = [:]
  private let actors: [Int64: HistoryActor]

  /// - Parameter soupName: Only entries of this soup; nil for all.
  init(_ snapshot: StoreSnapshot, soup soupName: String?) throws {
    let names = try soupName.map { [$0] } ?? snapshot.soupNames()
    let soups = Dictionary(
      try names.map { (try snapshot.soupNumber(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
    var query = HistoryQuery(.log)
    query.readsValues = false
    if soupName != nil, let number = soups.keys.first { (query.condition, query.values) = ("soup = ?", [.integer(number)]) }
    actors = Dictionary(
      try snapshot.history(HistoryQuery(.actors)).compactMap { row in HistoryActor(row).map { (row.id, $0) } },
      uniquingKeysWith: { first, _ in first })
    for row in try snapshot.history(query) {
      guard let id = row.integers[4], let soup = row.integers[3].flatMap({ soups[$0] }) else { continue }
      stories[soup, default: [:]][id, default: Story()].add(row)
    }
  }

  func complete(_ entry: inout DirtyEntry) {
    guard let story = stories[entry.soupName]?[entry.entryId] else { return }
    entry.since = story.since
    entry.by = story.actor.flatMap { actors[$0] }
    let wanted: String? =
      switch entry.state {
      case .refused: "refused"
      case .skipped: "skipped"
      case .conflict: "conflict"
      case .inDoubt: "inDoubt"
      case .waiting, .held: nil
      }
    guard story.outcome == wanted else { return }
    entry.runs = story.count
    entry.lastTry = entry.lastTry ?? story.at
  }
}

extension UnsentStories.Story {
  fileprivate mutating func add(_ row: HistoryRow) {
    switch row.texts[0] {
    case "created", "updated", "deleted":
      guard row.integers[1] == nil else { return }
      since = since ?? row.integers[0]
      actor = row.integers[2]
    case "uploaded", "adopted", "settled", "discarded":
      self = UnsentStories.Story()
    case let cause?:
      count = cause == outcome ? count + 1 : 1
      outcome = cause
      at = row.integers[0]
    case nil: break
    }
  }
}
