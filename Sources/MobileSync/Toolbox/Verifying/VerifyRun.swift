import JSON
import RestClient
import SmartStore

/// One comparison of the soups of a sync down with its server. It reads only.
///
/// Servers and stores order ids differently, so pages are looked up by id, and the entries that they name are marked: the others
/// are those that the server did not send. A difference counts after a second read.
struct VerifyRun: Sendable {
  let store: Store
  let client: any RestClient
  let control: RunControl
  let configuration: SyncConfiguration
  let targets: TargetRegistry
  let state: SyncState
  let target: any SyncDownTarget
  let level: VerifyLevel

  var service: any SyncService { targets.service(of: .syncDown, state.target) }
  var mappings: [SoupMapping] { target.mappings(state.soupName) }

  /// Suspects that are read a second time; more of them are counted after the first.
  static let mostSuspects = 10_000
  /// Suspects that are asked for by their ids where that is possible.
  static let readSingly = 200
  /// Entries that are read in one step.
  static let rowsAtOnce = 1000

  // MARK: The comparison

  /// - Throws: ``SyncError``, `RestError`, `StoreError`: then nothing is known.
  func perform() async throws -> VerifyResult {
    if let why = target.whyNotComparable { throw SyncError(.notSupported, "sync \(shownName) cannot be verified: \(why)") }
    if level == .count, let result = try await counted() { return result }
    var walk = VerifyWalk(mappings.count)
    walk.mappings = target.comparedMappings(level, of: mappings)
    try await forEachPage(nil, level) { page in
      for (i, part) in page.parts.enumerated() {
        guard let part else { continue }
        walk.add(try await compare(part, i), mapping: i)
      }
    }
    let suspects = try await confirmed(walk.suspects)
    return try await survey(walk, suspects)
  }

  private var shownName: String { state.name.map { "'\($0)'" } ?? "\(state.id)" }

  /// Compares numbers alone. If they differ, only the ids tell what that means: a sync up may have made records that the target
  /// does not ask for.
  /// - Returns: nil if the ids have to be compared.
  private func counted() async throws -> VerifyResult? {
    let context = try await context(), target = target
    guard let server = try await control.value(of: Task { try await target.serverCount(in: context) }) else { return nil }
    var result = VerifyResult(state, level)
    for (mapping, number) in zip(mappings, server) {
      var owned = 0, made = 0
      let makers = Set(try await store.read { try $0.ownedByMakers(in: mapping.soup) })
      try await forEachRow(of: mapping) { rows in
        owned += rows.count { $0.owner == state.id }
        made += rows.count { $0.owner == nil && makers.contains($0.entryId) }
        result.count(.dirty, rows.count { $0.isDirty && ($0.owner == nil || $0.owner == state.id) })
      }
      guard number == owned + made else { return nil }
      result.local += number
      result.server += number
    }
    return result
  }

  private func compare(_ part: ScannedPage, _ mapping: Int, only wanted: IdSet? = nil) async throws -> PageComparison.Found {
    let comparison = comparison(mapping)
    return try await store.read { try comparison.compare(part, only: wanted, in: $0) }
  }

  func comparison(_ mapping: Int) -> PageComparison {
    PageComparison(state: state, mapping: mappings[mapping], level: level, isWhole: target.sendsWholeRecords)
  }

  // MARK: Pages and rows

  /// Calls `body` with each page of what the server would send.
  /// - Parameter ids: Only these records; nil for all.
  /// - Returns: False if the target cannot be asked for single records.
  @discardableResult
  func forEachPage(
    _ ids: [String]?, _ level: VerifyLevel, _ body: (SyncDownPage) async throws -> Void
  ) async throws -> Bool {
    let context = try await context(), target = target
    let first = Task { try await target.inventory(of: ids, level, in: context) }
    guard var page = try await control.value(of: first) else { return ids == nil }
    while true {
      try control.check()
      try await body(page)
      guard let next = page.next, let following = try await control.value(of: Task { try await next() }) else { return true }
      page = following
    }
  }

  /// Calls `body` with all entries of a soup, in steps.
  func forEachRow(of mapping: SoupMapping, _ body: ([RecordRow]) async throws -> Void) async throws {
    var last = Int64.min
    while true {
      try control.check()
      let from = last
      let rows = try await store.read {
        try $0.recordRows(
          .after(from, limit: Self.rowsAtOnce), in: mapping.soup, idPath: mapping.fields.id,
          stampPath: mapping.fields.modificationDate)
      }
      guard let end = rows.last else { return }
      try await body(rows)
      last = end.entryId
    }
  }

  /// A context in which nothing is known of earlier runs.
  func context() async throws -> FetchContext {
    var context = try await FetchContext(
      client: client, store: store, control: control, configuration: configuration, mappings: mappings)
    (context.syncId, context.soup) = (state.id, state.soupName)
    context.mode = .refresh
    context.isForced = true
    context.service = service
    return context
  }

  // MARK: The second read

  /// Returns the suspects that a second read shows again, and those whose record was changed between both.
  private func confirmed(_ suspects: [VerifyWalk.Suspects]) async throws -> [VerifyWalk.Suspects] {
    let ids = suspects.map { IdSet($0.first.keys) }
    guard ids.contains(where: { !$0.isEmpty }) else { return suspects }
    var found = suspects
    for i in found.indices { found[i].first = [:] }
    func read(_ page: SyncDownPage) async throws {
      for (i, part) in page.parts.enumerated() {
        guard let part, i < ids.count, !ids[i].isEmpty else { continue }
        for suspect in try await compare(part, i, only: ids[i]).suspects {
          let isSame = suspects[i].first[suspect.recordId]?.hash == suspect.hash
          if isSame { found[i].first[suspect.recordId] = suspect } else { found[i].moving.insert(suspect.recordId) }
        }
      }
    }
    let single = ids[0].sorted(), isSmall = single.count <= Self.readSingly && ids.dropFirst().allSatisfy(\.isEmpty)
    if isSmall, try await forEachPage(single, level, read) { return found }
    try await forEachPage(nil, level, read)
    return found
  }
}

/// What the pages of a comparison showed.
struct VerifyWalk: Sendable {
  /// Of one mapping.
  struct Suspects: Sendable {
    var first: IdMap<PageComparison.Suspect> = [:]
    /// More of them than are read again.
    var more: [PageComparison.Suspect] = []
    var moving = IdSet()
    /// All that the soup lacks, as the first read found them.
    var missing = 0
  }

  /// The number of mappings that are compared.
  var mappings = 0
  var suspects: [Suspects]
  private(set) var seen: [EntryBitmap]
  private(set) var seenCount: [Int]
  private(set) var copies: [[(entryId: Int64, recordId: String)]]
  private(set) var compared = 0

  init(_ count: Int) {
    suspects = Array(repeating: Suspects(), count: count)
    seen = Array(repeating: EntryBitmap(), count: count)
    seenCount = Array(repeating: 0, count: count)
    copies = Array(repeating: [], count: count)
  }

  mutating func add(_ found: PageComparison.Found, mapping i: Int) {
    // Pages may repeat records.
    let new = found.firsts.count { seen[i].insert($0) }
    seenCount[i] += new
    compared += found.isCompared ? new : 0
    copies[i] += found.copies.filter { seen[i].insert($0.entryId) }
    for suspect in found.suspects where suspects[i].first[suspect.recordId] == nil {
      if suspect.entryId == nil { suspects[i].missing += 1 }
      if suspects[i].first.count < VerifyRun.mostSuspects {
        suspects[i].first[suspect.recordId] = suspect
      } else {
        suspects[i].more.append(suspect)
      }
    }
  }
}
