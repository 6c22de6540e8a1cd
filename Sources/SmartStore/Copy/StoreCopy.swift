import Support

/// Copies a whole store into an unfinished copy, batch by batch, and compares the two in the end.
///
/// The source is read in one snapshot. A copy that was interrupted is continued: batches that are
/// there already are compared, and written again if the source has changed since. Until the end the
/// copy cannot be opened. Blocks.
package struct StoreCopy {
  /// How far a copy is.
  package struct Progress: Sendable, Equatable {
    package enum Phase: String, Sendable { case copying, indexing, comparing }

    package var phase: Phase
    /// The soup; nil for the data that belongs to none.
    package var soup: String?
    /// The entries that the phase has processed, of all soups, and their number.
    package var done: Int64, total: Int64
  }

  /// The rows of a finished copy.
  package struct Summary: Sendable, Equatable {
    package var soups: [CopiedSoup] = []
    /// The rows of all tables, and those of them that an earlier run had copied.
    package var rows: Int64 = 0, found: Int64 = 0

    package var entries: Int64 { soups.map(\.entries).reduce(0, +) }
  }

  private let source: Store, target: Store
  /// Whether the run of a sync that took this lease is still going on.
  private let isRunning: (Lease) throws -> Bool
  /// Called between batches. An error that it throws ends the copy, which can be continued.
  private let report: (Progress) throws -> Void

  package init(
    from source: Store, to target: Store, isRunning: @escaping (Lease) throws -> Bool,
    report: @escaping (Progress) throws -> Void
  ) {
    self.source = source
    self.target = target
    self.isRunning = isRunning
    self.report = report
  }

  /// Runs the copy to its end.
  /// - Throws: ``StoreError`` `.storeInUse` if a sync is running, or if the source was written to meanwhile;
  ///   `.notOnThisEngine`, `.copyDiffers`; errors of `report`. The target stays an unfinished copy then.
  package func run() throws -> Summary {
    var summary = Summary(), view: CursorAnchors.View?
    try source.readBlocking { snapshot in
      view = try snapshot.view()
      let soups = try snapshot.soupsToCopy(), counters = try snapshot.countersToCopy()
      try check(soups, snapshot)
      summary.soups = soups
      try target.writeBlocking(.pulled) { try $0.prepareSoups(soups) }
      let parts = StorePart.all(soups)
      var progress = Progress(phase: .copying, done: 0, total: summary.entries)
      for part in parts { try copy(part, snapshot, &progress, &summary) }
      progress.phase = .indexing
      for soup in soups {
        progress.soup = soup.name
        try report(progress)
        try target.writeBlocking(.pulled) { try $0.indexSoup(soup.name) }
      }
      try target.writeBlocking(.pulled) { try $0.setCounters(counters) }
      progress = Progress(phase: .comparing, done: 0, total: summary.entries)
      try report(progress)
      for part in parts { try compare(part, snapshot, &progress) }
      try compare(soups, counters)
    }
    try source.readBlocking(on: view?.reader) { snapshot in
      guard try snapshot.view() == view else {
        throw StoreError(
          .storeInUse,
          "the store was written to while it was copied; stop the programs that use it and run the command again: it "
            + "compares the copy and writes the differences")
      }
    }
    try target.finishCopy()
    return summary
  }

  // MARK: Checks

  private func check(_ soups: [CopiedSoup], _ snapshot: any StoreSnapshot) throws {
    if source.supportsFullText, !target.supportsFullText,
      let soup = soups.first(where: { $0.specs.contains { $0.type == .fullText } })
    {
      throw StoreError(
        .notOnThisEngine,
        "soup '\(soup.name)' has a full_text index, and the target does not find words in entries; give the index the type "
          + "string with alterSoup first")
    }
    if let lease = try snapshot.leases().first(where: isRunning) {
      throw StoreError(.storeInUse, "a sync of the store is running (\(lease.name)); copy the store when it has ended")
    }
  }

  private func compare(_ soups: [CopiedSoup], _ counters: CopiedCounters) throws {
    let (there, numbers) = try target.readBlocking { (try $0.soupsToCopy(), try $0.countersToCopy()) }
    for soup in soups where !there.contains(soup) {
      throw differs("soup '\(soup.name)'")
    }
    guard there.count == soups.count else { throw differs("the list of soups") }
    guard numbers == counters else { throw differs("the counters of leases and uploads") }
  }

  private func differs(_ what: String) -> StoreError {
    StoreError(
      .copyDiffers,
      "\(what) differs from the source after it was copied; the copy was not finished. Run the command again, or remove the copy "
        + "with `tureen store remove`")
  }

  // MARK: Rows

  private static func key(_ row: [CopiedValue], of part: StorePart) -> [CopiedValue] { Array(row.prefix(part.keyColumns)) }

  /// Calls `body` with each batch of a part of the source and its range, which has no end for the last one.
  private func forEachBatch(
    of part: StorePart, _ snapshot: any StoreSnapshot, _ progress: inout Progress,
    _ body: ([[CopiedValue]], CopiedRange) throws -> Void
  ) throws {
    var range = CopiedRange(), isLast = false
    progress.soup = part.soup
    while !isLast {
      let batch = try snapshot.copiedRows(of: part, in: CopiedRange(after: range.after))
      isLast = batch.isLast
      range.through = isLast ? nil : batch.rows.last.map { Self.key($0, of: part) }
      try body(batch.rows, range)
      range.after = range.through
      if case .entries = part {
        progress.done += Int64(batch.rows.count)
      } else if batch.rows.isEmpty {
        continue
      }
      try report(progress)
    }
  }

  /// Returns the rows of a range of the target; more than `limit` only to tell that there are more.
  private func rows(of part: StorePart, in range: CopiedRange, limit: Int) throws -> [[CopiedValue]] {
    try target.readBlocking { snapshot in
      var rest = range, rows: [[CopiedValue]] = []
      while rows.count <= limit {
        let batch = try snapshot.copiedRows(of: part, in: rest)
        rows += batch.rows
        guard !batch.isLast, let last = batch.rows.last else { break }
        rest.after = Self.key(last, of: part)
      }
      return rows
    }
  }

  private static func isSame(_ a: [CopiedValue], _ b: [CopiedValue]) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
  }

  private func copy(
    _ part: StorePart, _ snapshot: any StoreSnapshot, _ progress: inout Progress, _ summary: inout Summary
  ) throws {
    try forEachBatch(of: part, snapshot, &progress) { rows, range in
      summary.rows += Int64(rows.count)
      let there = try self.rows(of: part, in: range, limit: rows.count)
      if there.count == rows.count, zip(rows, there).allSatisfy({ Self.isSame($0, $1) }) {
        summary.found += Int64(rows.count)
      } else {
        try replace(part, range, with: rows[...])
      }
    }
  }

  /// Writes a batch. If the target refuses a value, finds the row and names it.
  private func replace(_ part: StorePart, _ range: CopiedRange, with rows: ArraySlice<[CopiedValue]>) throws {
    do {
      try target.writeBlocking(.pulled) { try $0.replaceRows(of: part, in: range, with: Array(rows)) }
    } catch let error as StoreError where [.postgres, .invalidEntry].contains(error.code) && !error.isRetryable {
      guard let row = rows.first else { throw error }
      guard rows.count > 1 else {
        throw StoreError(error.code, "\(part.title(of: Self.key(row, of: part))) cannot be copied: \(error.message)")
      }
      let middle = rows.startIndex + rows.count / 2, border = Self.key(rows[middle - 1], of: part)
      try replace(part, CopiedRange(after: range.after, through: border), with: rows[..<middle])
      try replace(part, CopiedRange(after: border, through: range.through), with: rows[middle...])
    }
  }

  private func compare(_ part: StorePart, _ snapshot: any StoreSnapshot, _ progress: inout Progress) throws {
    try forEachBatch(of: part, snapshot, &progress) { rows, range in
      let there = try self.rows(of: part, in: range, limit: rows.count)
      if let i = zip(rows, there).enumerated().first(where: { !Self.isSame($1.0, $1.1) })?.offset ?? extra(rows, there) {
        let row = i < rows.count ? rows[i] : there[i]
        throw differs(part.title(of: Self.key(row, of: part)))
      }
    }
  }

  /// The position of the first row that only one side has, if the others are the same.
  private func extra(_ rows: [[CopiedValue]], _ there: [[CopiedValue]]) -> Int? {
    rows.count == there.count ? nil : min(rows.count, there.count)
  }
}
