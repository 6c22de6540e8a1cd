import JSON
import SmartStore

/// Reads the history within one snapshot.
struct HistoryReader {
  let snapshot: StoreSnapshot
  private let now: Int64
  private let actors: [Int64: HistoryActor]
  private let soups: [Int64: String]

  /// Records of a run that are listed.
  private static let mostRecords = 1000

  init(_ snapshot: StoreSnapshot, now: Int64) throws {
    self.snapshot = snapshot
    self.now = now
    actors = Dictionary(
      try snapshot.history(HistoryQuery(.actors)).compactMap { row in HistoryActor(row).map { (row.id, $0) } },
      uniquingKeysWith: { first, _ in first })
    soups = Dictionary(
      try snapshot.soupNames().map { (try snapshot.soupNumber(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
  }

  func actor(_ id: Int64?) -> HistoryActor? { id.flatMap { actors[$0] } }
  func soup(_ number: Int64?) -> String? { number.flatMap { soups[$0] } }

  // MARK: Runs

  func told(_ run: HistoryRun) throws -> ToldRun {
    let isRunning = run.status == HistoryRun.running
    let isHeld = try isRunning && StoreLook.isHeld(snapshot.lease(SyncLeases.name(run.syncId)), now: now)
    return ToldRun(run: run, by: actor(run.actor), isAbandoned: isRunning && !isHeld)
  }

  /// Returns runs, newest first.
  func runs(_ filter: RunFilter) throws -> [ToldRun] {
    var conditions: [String] = [], values: [SQLValue] = []
    if let id = try filter.sync.map(syncId) {
      conditions.append("sync = ?")
      values.append(.integer(id))
    }
    if let since = filter.since {
      conditions.append("startedAt >= ?")
      values.append(.integer(since))
    }
    if let before = filter.before {
      conditions.append("id < ?")
      values.append(.integer(before))
    }
    let limit = min(max(1, filter.limit), RunFilter.mostRuns)
    let query = HistoryQuery(
      .runs, where: conditions.isEmpty ? "1 = 1" : conditions.joined(separator: " AND "), values, newestFirst: true,
      limit: filter.onlyFailed ? .max : limit)
    var found: [ToldRun] = []
    for run in try snapshot.history(query).compactMap(HistoryRun.init) {
      let told = try told(run)
      if filter.onlyFailed, !told.isTroubled { continue }
      found.append(told)
      if found.count == limit { break }
    }
    return found
  }

  private func syncId(_ reference: SyncReference) throws -> Int64 {
    guard try snapshot.soupExists(SyncsSoup.name), let found = try SyncsSoup.find(reference, in: snapshot) else {
      throw SyncError.noSuchSync(reference)
    }
    return found.id
  }

  /// - Returns: nil if the history has no such run.
  func run(_ number: Int64) throws -> ToldRun? {
    let rows = try snapshot.history(HistoryQuery(.runs, where: "id = ?", [.integer(number)]))
    guard let run = rows.first.flatMap(HistoryRun.init) else { return nil }
    var told = try told(run)
    told.detail = try detail(number)
    return told
  }

  private func detail(_ number: Int64) throws -> ToldRun.Detail {
    var detail = ToldRun.Detail()
    // The end is the last one, also of requests that were sent in the same millisecond.
    detail.events = try events(where: "run = ?", [.integer(number)]).map(\.event)
      .sorted { ($0.event.kind == .end ? 1 : 0, $0.event.at) < ($1.event.kind == .end ? 1 : 0, $1.event.at) }
    detail.omitted = detail.events.last { $0.event.kind == .end }?.event.rows ?? 0
    var records = 0
    for row in try snapshot.history(HistoryQuery(.log, where: "run = ?", [.integer(number)])) {
      let cause = row.texts[0] ?? ""
      let i = detail.entries.firstIndex { $0.cause == cause } ?? detail.entries.count
      if i == detail.entries.count { detail.entries.append(ToldRun.Group(cause: cause)) }
      detail.entries[i].count += 1
      guard records < Self.mostRecords else { continue }
      records += 1
      detail.entries[i].records.append(ToldRun.Record(soupName: soup(row.integers[3]) ?? "", row: row))
    }
    return detail
  }

  /// Returns the entries that a run refused, skipped or found in conflict, by the number of their soup.
  /// - Throws: ``SyncError`` `.noSuchRun`.
  func entriesLeft(by run: Int64) throws -> [Int64: Set<Int64>] {
    guard try !snapshot.history(HistoryQuery(.runs, where: "id = ?", [.integer(run)])).isEmpty else {
      throw SyncError.noSuchRun(run)
    }
    let query = HistoryQuery(.log, where: "run = ? AND cause IN ('refused', 'skipped', 'conflict')", [.integer(run)])
    var found: [Int64: Set<Int64>] = [:]
    for row in try snapshot.history(query) {
      if let soup = row.integers[3], let entry = row.integers[4] { found[soup, default: []].insert(entry) }
    }
    return found
  }

  // MARK: Requests

  func events(where condition: String, _ values: [SQLValue]) throws -> [(run: Int64, event: ToldRun.Event)] {
    try snapshot.history(HistoryQuery(.events, where: condition, values)).compactMap { row in
      HistoryEvent(row).map { (row.integers[0] ?? 0, ToldRun.Event(event: $0, soupName: soup($0.soup))) }
    }
  }

  /// Returns the attempts of requests of these runs, oldest first, with the names of their syncs.
  func requests(_ filter: RunFilter, run: Int64?) throws -> [(run: ToldRun, event: ToldRun.Event)] {
    var all = filter
    all.limit = RunFilter.mostRuns
    // A run that ended well may have requests that failed and were sent again.
    all.onlyFailed = false
    let runs = try run.map { number in try self.run(number).map { [$0] } ?? [] } ?? self.runs(all)
    let known = Dictionary(runs.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    guard let oldest = runs.map(\.number).min() else { return [] }
    let events = try events(where: "run >= ? AND kind = 'request'", [.integer(oldest)])
      .filter { !filter.onlyFailed || $0.event.event.status.map { $0 >= 400 } ?? true }
      .compactMap { run, event in known[run].map { ($0, event) } }
      .sorted { $0.1.event.at < $1.1.event.at }
    return events.suffix(filter.limit).map { (run: $0.0, event: $0.1) }
  }
}

extension SyncError {
  static func noSuchRun(_ number: Int64) -> SyncError { SyncError(.noSuchRun, "the history has no run \(number)") }
}

extension ToldRun {
  /// Whether it failed, ended early, or left records to look at.
  var isTroubled: Bool { ["FAILED", "STOPPED", HistoryRun.abandoned].contains(status) || needsALook }
}

extension StoreLook {
  /// How much of its history the program keeps.
  var level: HistoryLevel { store.history.level }

  /// Returns the runs of the store's syncs, newest first.
  /// - Throws: ``SyncError`` `.noSuchSync`.
  public func runs(_ filter: RunFilter = RunFilter()) throws -> [ToldRun] {
    try store.readBlocking { try HistoryReader($0, now: now()).runs(filter) }
  }

  /// Returns one run with its requests, steps and records.
  /// - Throws: ``SyncError`` `.noSuchRun`.
  public func run(_ number: Int64) throws -> ToldRun {
    guard let found = try store.readBlocking({ try HistoryReader($0, now: now()).run(number) }) else {
      throw SyncError.noSuchRun(number)
    }
    return found
  }

  /// Returns the runs as scripts get them.
  public func runsJSON(_ filter: RunFilter = RunFilter()) throws -> JSONObject {
    ["history": .string(level.rawValue), "runs": .array(try runs(filter).map { .object($0.json) })]
  }

  /// Returns one run as scripts get it.
  /// - Throws: ``SyncError`` `.noSuchRun`.
  public func runJSON(_ number: Int64) throws -> JSONObject {
    ["history": .string(level.rawValue), "runs": [.object(try run(number).json)]]
  }

  /// Returns the attempts of requests as scripts get them, oldest first.
  /// - Parameters:
  ///   - filter: The runs whose requests are told, and how many.
  ///   - run: Only those of one run; nil for those of the runs that the filter selects.
  public func requestsJSON(_ filter: RunFilter = RunFilter(), run: Int64? = nil) throws -> JSONObject {
    let found = try store.readBlocking { try HistoryReader($0, now: now()).requests(filter, run: run) }
    let requests = found.map { run, event in
      var json = event.json
      json["run"] = .integer(run.number)
      json["syncName"] = run.run.name.map { .string($0) } ?? .null
      return JSONValue.object(json)
    }
    return ["history": .string(level.rawValue), "requests": .array(requests)]
  }
}

// MARK: - Runs of an entry

extension HistoryReader {
  /// Returns the syncs of runs by number: their names, and what kind of run each is.
  func runs(numbered numbers: Set<Int64>) throws -> [Int64: HistoryRun] {
    guard !numbers.isEmpty else { return [:] }
    let list = numbers.sorted().map(String.init).joined(separator: ", ")
    let rows = try snapshot.history(HistoryQuery(.runs, where: "id IN (\(list))"))
    return Dictionary(rows.compactMap(HistoryRun.init).map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the run of a sync down that was going on when a row was written, or else the first one that ended after that.
  ///
  /// The clocks of machines differ, so the second is a guess.
  func run(of sync: Int64, holding time: Int64) throws -> (run: Int64, isCertain: Bool)? {
    let ofSync = "sync = ? AND kind = 'syncDown'"
    let holding = try snapshot.history(
      HistoryQuery(
        .runs, where: "\(ofSync) AND startedAt <= ? AND (endedAt IS NULL OR endedAt >= ?)",
        [.integer(sync), .integer(time), .integer(time - Self.lastWriteMs)], newestFirst: true, limit: 1))
    if let run = holding.first { return (run.id, true) }
    let later = try snapshot.history(
      HistoryQuery(.runs, where: "\(ofSync) AND endedAt >= ?", [.integer(sync), .integer(time)], limit: 1))
    return later.first.map { ($0.id, false) }
  }

  /// Ms that the last transaction of a run may take after the time that it gives as its end.
  private static let lastWriteMs: Int64 = 60_000

  /// Returns when the last run of each sync ended that succeeded, in ms since 1970 UTC.
  static func successes(_ snapshot: StoreSnapshot) throws -> [Int64: Int64] {
    let rows = try snapshot.history(
      HistoryQuery(.runs, where: "status = 'DONE' AND kind IN ('syncDown', 'syncUp')"))
    return rows.reduce(into: [:]) { found, row in found[row.integers[1] ?? 0] = row.integers[5] }
  }

  /// Returns when the last comparison of each sync with its server began that found no difference, in ms since 1970 UTC.
  static func verifications(_ snapshot: StoreSnapshot) throws -> [Int64: Int64] {
    let rows = try snapshot.history(HistoryQuery(.runs, where: "status = 'DONE' AND kind IN ('verify', 'repair')"))
    return rows.reduce(into: [:]) { found, row in
      guard let run = HistoryRun(row), let state = run.state.flatMap({ try? JSONValue(parsing: $0) }),
        state["verified"]?["equal"] == true
      else { return }
      found[run.syncId] = run.startedAt
    }
  }
}
