/// A run of a sync: a row of ``HistoryTable/runs``.
package struct HistoryRun: Sendable, Equatable {
  package enum Kind: String, Sendable { case syncDown, syncUp, ghosts, verify, repair }

  package var number: Int64 = 0
  package var syncId: Int64
  package var name: String?
  package var kind: Kind
  /// `RUNNING`, as it ended, or ``abandoned``.
  package var status: String
  package var pid: Int64?
  /// The ``HistoryActor/id``.
  package var actor: Int64 = 0
  /// The attempt of a job: its id and fence.
  package var job: String?
  /// In ms since 1970 UTC.
  package var startedAt: Int64
  package var endedAt: Int64?
  /// JSON text with counts, error, limits and warnings; nil before the end.
  package var state: String?
  package var plan: String?

  package static let running = "RUNNING", abandoned = "ABANDONED"

  package init(_ syncId: Int64, name: String?, _ kind: Kind, pid: Int64?, job: String?, startedAt: Int64) {
    (self.syncId, self.name, self.kind, self.pid, self.job, self.startedAt) = (syncId, name, kind, pid, job, startedAt)
    status = HistoryRun.running
  }

  package init?(_ row: HistoryRow) {
    guard let kind = row.texts[1].flatMap(Kind.init(rawValue:)) else { return nil }
    self.init(
      row.integers[1] ?? 0, name: row.texts[0], kind, pid: row.integers[2], job: row.texts[3], startedAt: row.integers[4] ?? 0)
    number = row.id
    actor = row.integers[3] ?? 0
    endedAt = row.integers[5]
    status = row.texts[2] ?? ""
    (state, plan) = (row.texts[4], row.texts[5])
  }

  var row: HistoryRow {
    HistoryRow(
      integers: [number, syncId, pid, actor, startedAt, endedAt], texts: [name, kind.rawValue, status, job, state, plan])
  }
}

/// A step of a run, or an attempt of a request: a row of ``HistoryTable/events``.
package struct HistoryEvent: Sendable, Equatable {
  package enum Kind: String, Sendable { case request, page, upload, ghosts, lookup, end }

  package var kind: Kind
  /// In ms since 1970 UTC: when a request was sent, or a step was written.
  package var at: Int64
  package var soup: Int64?
  /// Records of a step; of the end, the requests that were counted and not kept.
  package var rows: Int64?
  package var bytes: Int64?
  package var server: String?
  package var method: String?
  /// Without a query.
  package var path: String?
  package var status: Int64?
  package var attempt: Int64?
  package var ms: Int64?
  package var error: String?

  package init(_ kind: Kind, at: Int64, soup: Int64? = nil, rows: Int64? = nil) {
    (self.kind, self.at, self.soup, self.rows) = (kind, at, soup, rows)
  }

  package init?(_ row: HistoryRow) {
    guard let kind = row.texts[0].flatMap(Kind.init(rawValue:)) else { return nil }
    self.init(kind, at: row.integers[1] ?? 0, soup: row.integers[2], rows: row.integers[3])
    (bytes, status, attempt, ms) = (row.integers[4], row.integers[5], row.integers[6], row.integers[7])
    (server, method, path, error) = (row.texts[1], row.texts[2], row.texts[3], row.texts[4])
  }

  func row(of run: Int64) -> HistoryRow {
    HistoryRow(
      integers: [run, at, soup, rows, bytes, status, attempt, ms], texts: [kind.rawValue, server, method, path, error])
  }
}
