import JSON
import SmartStore

extension LostCreates {
  /// Settles, before a sync down fills soups, what syncs up have sent to the server from there without an answer: the records
  /// would come as entries of their own otherwise, beside those that they were made from.
  ///
  /// What is in doubt already stays so: a sync up looks again, or a sync down that brings the record.
  /// - Returns: Whether a create is left that has no answer yet: its record may come as an entry of its own.
  static func settle(beforeFilling soups: [String], _ record: RunRecord) async throws -> Bool {
    for soup in soups { _ = try await LostCreates(soupName: soup).resolve(record, leavingDoubts: true) }
    return try await record.environment.store.read { snapshot in
      try soups.contains { try !snapshot.unsettledCreates(in: $0).isEmpty }
    }
  }

  /// Brings together the entries that a sync down has added and the creates that may have made their records.
  static func settle(afterFilling soups: [String], _ record: RunRecord) async throws {
    let hasArrivals = try await record.environment.store.read { snapshot in
      try soups.contains { try !snapshot.arrivals(in: $0).isEmpty }
    }
    guard hasArrivals else { return }
    // They are counted anew.
    try await record.save(.pulled) { _, state in
      state.counts.inDoubt = 0
      state.inDoubtUntil = 0
    }
    for soup in soups { _ = try await LostCreates(soupName: soup).resolve(record) }
  }

  /// Parents first: their children point to them.
  static func all(
    of families: any FamilyUpTarget, _ plans: FamilyPlans, _ places: FamilyPlaces
  ) -> [LostCreates] {
    [
      LostCreates(soupName: families.info.parent.soup, older: Older(place: places.parents, plan: plans.parents)),
      LostCreates(soupName: families.info.children.soup, older: Older(place: places.children, plan: plans.children)),
    ]
  }
}

/// Records of a page that may be what a create without an answer has made, and that the soup does not hold yet.
struct PossibleArrivals: Sendable {
  private let ids: [String]
  private let place: RecordPlace

  /// Call before the page is stored, in the same transaction.
  init(
    on page: ScannedPage, _ place: RecordPlace, skipping: Set<Int>, in snapshot: StoreSnapshot
  ) throws {
    self.place = place
    let pending = try snapshot.unsettledCreates(in: place.soup).compactMap { SentCreate($0)?.fields }
    guard !pending.isEmpty else {
      ids = []
      return
    }
    ids = try (0..<page.count).filter { !skipping.contains($0) }.compactMap { i in
      let record = try page.object(record: i)
      guard let id = page.id(record: i), pending.contains(where: { LostCreateMatcher.mayHaveMade($0, record) }),
        try snapshot.entryIds(in: place.soup, where: place.fields.id, equals: .text(id)).isEmpty
      else { return nil }
      return id
    }
  }

  /// Notes them, once they are stored.
  func note(in transaction: StoreTransaction) throws {
    for id in ids {
      let entries = try transaction.entryIds(in: place.soup, where: place.fields.id, equals: .text(id))
      try transaction.noteArrivals(entries, in: place.soup)
    }
  }
}
