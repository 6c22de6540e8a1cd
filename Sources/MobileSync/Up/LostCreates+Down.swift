import JSON
import RestClient
import SmartStore

extension LostCreates {
  /// Settles the creates without an answer before a sync down fills their soups. Otherwise their
  /// records would be added as separate entries.
  ///
  /// Creates that are already in doubt stay so, until a sync up searches again or a sync down
  /// brings the record.
  /// - Returns: Whether a create is still without an answer, so that its record may be added as a
  ///   separate entry.
  static func resolve(beforeFilling soups: [String], _ record: RunRecord) async throws -> Bool {
    for soup in soups {
      _ = try await LostCreates(soupName: soup).resolve(record, leavingDoubts: true)
      for lost in try await keyed(in: soup, record) { try await lost.resolveIfReachable(record) }
    }
    return try await record.environment.store.read { snapshot in
      try soups.contains { try !snapshot.unsettledCreates(in: $0).isEmpty }
    }
  }

  /// Returns the searches for creates with keys: only the targets that sent them can ask for those.
  private static func keyed(in soup: String, _ record: RunRecord) async throws -> [LostCreates] {
    let environment = record.environment, targets = environment.targets
    let senders = try await environment.store.read { snapshot in
      let uploads = try snapshot.unsettledCreates(in: soup).filter { SentCreate($0)?.key != nil && $0.state != .inDoubt }
      return try Set(uploads.map(\.syncId)).sorted().compactMap { try SyncsSoup.find(.id($0), in: snapshot) }
    }
    return senders.compactMap { sender in
      guard let main = try? targets.up(sender.target) else { return nil }
      let uploads = [UploadCompanion(soup: sender.soupName, target: main)] + main.companions
      guard let target = uploads.first(where: { $0.soup == soup })?.target else { return nil }
      var context = UploadContext(
        client: environment.client, service: targets.service(of: .syncUp, sender.target), control: environment.control,
        configuration: environment.configuration, mergeMode: sender.options.mergeMode)
      context.origin = UploadContext.Origin(store: environment.store, soup: soup, syncId: sender.id)
      var lost = LostCreates(soupName: soup)
      lost.finder = (target, context)
      lost.syncId = sender.id
      return lost
    }
  }

  /// Leaves the creates to their sync up if it cannot ask now: a sync down may go elsewhere.
  private func resolveIfReachable(_ record: RunRecord) async throws {
    guard let finder else { return }
    var lost = self
    do {
      lost.finder = (try await finder.target.prepared(in: finder.context), finder.context)
      _ = try await lost.resolve(record, leavingDoubts: true)
    } catch let error as RestError {
      try record.environment.control.check()
      record.environment.configuration.logger.notice(
        "creates without an answer cannot be looked up before this sync down; their sync up will",
        metadata: ["soup": "\(soupName)", "error": "\(error.message)"])
    }
  }

  /// Matches the entries that a sync down has added with the creates that may have created their
  /// records.
  static func resolve(afterFilling soups: [String], _ record: RunRecord) async throws {
    let hasArrivals = try await record.environment.store.read { snapshot in
      try soups.contains { try !snapshot.arrivals(in: $0).isEmpty }
    }
    guard hasArrivals else { return }
    // They are counted again.
    try await record.save(.pulled) { _, state in
      state.counts.inDoubt = 0
      state.inDoubtUntil = 0
    }
    for soup in soups { _ = try await LostCreates(soupName: soup).resolve(record) }
  }

  /// Returns the searches for both soups, parents first, because children refer to them.
  static func all(
    of families: any ParentChildrenUploadTarget, _ plans: ParentChildrenBatchPlans, _ lookups: ParentChildrenLookups
  ) -> [LostCreates] {
    [
      LostCreates(
        soupName: families.info.parent.soup, older: Older(lookup: lookups.parents, plan: plans.parents), isCounted: true),
      LostCreates(soupName: families.info.children.soup, older: Older(lookup: lookups.children, plan: plans.children)),
    ]
  }
}

/// Records of a page that a create without an answer may have created, and that have no entry yet.
struct PossibleArrivals: Sendable {
  private let ids: [String]
  private let mapping: SoupMapping

  /// Call before the page is stored, in the same transaction.
  init(
    on page: ScannedPage, _ mapping: SoupMapping, skipping: Set<Int>, in snapshot: StoreSnapshot
  ) throws {
    self.mapping = mapping
    let pending = try snapshot.unsettledCreates(in: mapping.soup).compactMap { SentCreate($0)?.fields }
    guard !pending.isEmpty else {
      ids = []
      return
    }
    let possible = try (0..<page.count).filter { !skipping.contains($0) }.compactMap { i -> String? in
      let record = try page.object(record: i)
      return pending.contains { LostCreateMatcher.mayHaveMade($0, record) } ? page.id(record: i) : nil
    }
    let found =
      try possible.isEmpty
      ? []
      : snapshot.entryIds(
        in: mapping.soup, where: mapping.fields.id, equalsEach: possible.map { .text($0) })
    ids = zip(possible, found).compactMap { $1.isEmpty ? $0 : nil }
  }

  /// Records their entries. Call after the page is stored.
  func note(in transaction: StoreTransaction) throws {
    guard !ids.isEmpty else { return }
    let entries = try transaction.entryIds(
      in: mapping.soup, where: mapping.fields.id, equalsEach: ids.map { .text($0) })
    try transaction.noteArrivals(entries.flatMap(\.self), in: mapping.soup)
  }
}
