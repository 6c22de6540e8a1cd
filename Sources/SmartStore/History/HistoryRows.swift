import JSON
import Support

/// What one transaction adds to the history. The engine writes it before the commit, as far as it can: a failure changes
/// nothing else in the transaction.
package final class HistoryRows {
  package let level: HistoryLevel
  package let actor: HistoryActor
  private let actorId: Int64
  let isActorKnown: Bool
  /// The run that the transaction belongs to; nil for a program's own writes.
  package var run: Int64?
  /// Ms since 1970 UTC, for the rows that have no time of their own.
  package var now = SystemClock.millisecondsSince1970()
  /// Why nothing could be written.
  package var failure: String?

  private(set) var log: [HistoryRow] = []
  private(set) var events: [HistoryRow] = []
  private(set) var begun: [HistoryRow] = []
  private(set) var ends: [HistoryRun] = []
  /// The syncs whose running rows belong to processes that have died.
  private(set) var abandoned: [Int64] = []
  private(set) var forgotten: [(soup: Int64, entries: [Int64])] = []
  /// The entries of ``noteUpdate(_:version:fields:recordId:soup:)``.
  package private(set) var updates = 0
  private var pruning: (rows: Int, bytes: Int)
  private let lastRun: () throws -> Int64

  init(
    level: HistoryLevel, actor: HistoryActor, isActorKnown: Bool, pruning: (rows: Int, bytes: Int),
    _ lastRun: @escaping () throws -> Int64
  ) {
    (self.level, self.actor, self.isActorKnown, self.pruning, self.lastRun) = (level, actor, isActorKnown, pruning, lastRun)
    actorId = actor.id
  }

  package var isEmpty: Bool {
    log.isEmpty && events.isEmpty && begun.isEmpty && ends.isEmpty && abandoned.isEmpty && forgotten.isEmpty
  }

  /// The number of the last run that begins here.
  package var lastBegun: Int64? { begun.last?.integers[0] }

  // MARK: Adding

  /// Adds the row of a run that begins, and belongs to it from now on.
  /// - Returns: Its number; nil if the history cannot be read.
  package func begin(_ run: HistoryRun) -> Int64? {
    do {
      var run = run
      run.number = try lastRun() + Int64(begun.count) + 1
      run.actor = actorId
      begun.append(run.row)
      self.run = run.number
      return run.number
    } catch {
      failure = "\(error)"
      return nil
    }
  }

  /// Adds the end of a run: its ``HistoryRun/number``, status, `endedAt` and state count.
  package func end(_ run: HistoryRun) { ends.append(run) }

  /// Closes the rows of a sync whose process has died.
  package func abandon(sync: Int64) { abandoned.append(sync) }

  package func add(_ event: HistoryEvent) { if let run { events.append(event.row(of: run)) } }

  package func note(_ change: EntryChange, soup: Int64) {
    let hasValues = level == .all
    func text(_ bytes: [UInt8]?) -> String? { hasValues ? bytes.map { String(decoding: $0, as: UTF8.self) } : nil }
    let row = HistoryRow(
      integers: [now, run, actorId, soup, change.entryId, change.version],
      texts: [
        change.cause.rawValue, reason(change), change.fields.map(HistoryText.names), change.recordId, text(change.before),
        text(change.sent),
      ])
    log.append(row)
  }

  /// A server's text may quote values.
  private func reason(_ change: EntryChange) -> String? {
    guard let reason = change.reason else { return nil }
    return change.cause != .refused || level == .all ? HistoryText.cut(reason) : HistoryText.code(of: reason)
  }

  /// Adds that a sync down has replaced a record.
  package func noteUpdate(_ entryId: Int64, version: Int64, fields: [String], recordId: String?, soup: Int64) {
    updates += 1
    note(EntryChange(.updated, entryId, version: version, fields: fields, recordId: recordId), soup: soup)
  }

  package func forget(_ entryIds: [Int64], soup: Int64) { forgotten.append((soup, entryIds)) }

  // MARK: Pruning

  /// Whether the log is to be pruned though no run ends: scripts write it, too.
  var prunesLog: Bool { pruning.rows + log.count >= HistoryLimits.atOnce }

  /// Whether the size of the log's values is to be checked.
  var checksBytes: Bool {
    ends.contains { $0.number % HistoryLimits.runsBetweenPrunings == 0 } || pruning.bytes + bytes >= HistoryLimits.checkedBytes
  }

  private var bytes: Int { log.reduce(0) { $0 + ($1.texts[4]?.utf8.count ?? 0) + ($1.texts[5]?.utf8.count ?? 0) } }

  /// The rows and bytes of the log since the last pruning, after this transaction.
  var sincePruning: (rows: Int, bytes: Int) {
    (prunesLog || !ends.isEmpty ? 0 : pruning.rows + log.count, checksBytes ? 0 : pruning.bytes + bytes)
  }
}

/// Texts of the history.
package enum HistoryText {
  /// Bytes of a server's text: it may be a page.
  static let longest = 300

  /// Cuts a text at ``longest`` bytes.
  package static func cut(_ text: String) -> String {
    guard text.utf8.count > longest else { return text }
    var end = text.utf8.index(text.utf8.startIndex, offsetBy: longest - 3)
    while end > text.startIndex, String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + "…"
  }

  /// Returns the code with which a reason begins, such as `FIELD_INTEGRITY`; nil if it has none.
  static func code(of reason: String) -> String? {
    let word = reason.prefix { $0 != ":" && $0 != " " }
    guard word.utf8.count <= 80,
      word.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || (65...90).contains($0) || (48...57).contains($0) })
    else { return nil }
    return word.isEmpty ? nil : String(word)
  }

  /// The text of a list of names: a JSON array.
  static func names(_ names: [String]) -> String {
    var text: [UInt8] = [UInt8(ascii: "[")]
    for (i, name) in names.enumerated() {
      if i > 0 { text.append(UInt8(ascii: ",")) }
      JSONText.appendQuoted(name, to: &text)
    }
    text.append(UInt8(ascii: "]"))
    return String(decoding: text, as: UTF8.self)
  }

  package static func list(_ text: String?) -> [String]? {
    text.flatMap { try? JSONValue(parsing: Array($0.utf8)) }?.arrayValue?.compactMap(\.stringValue)
  }
}

/// How much of the history a store keeps.
enum HistoryLimits {
  /// Runs, which are pruned once in a while, and their age in ms. The last ``leastRuns`` stay in any case, and so do the last
  /// DONE and FAILED of each named sync.
  static let runs: Int64 = 500, runsBetweenPrunings: Int64 = 16, leastRuns: Int64 = 10, runAgeMs: Int64 = 90 * 86_400_000
  /// The newest runs that keep their events, and the number of these.
  static let runsWithEvents: Int64 = 100, events: Int64 = 20_000
  /// Rows of the log, and bytes of their values with what a row takes.
  static let logRows: Int64 = 50_000, logBytes = 32 << 20, rowBytes = 150
  /// Rows of a table that one transaction removes.
  static let atOnce = 500
  /// Bytes of values that are written between two checks of ``logBytes``.
  static let checkedBytes = 1 << 20
}
