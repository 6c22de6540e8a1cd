/// The statements of the history's tables, for every engine: they add the place of the tables and the values.
package struct HistoryStatements: Sendable {
  /// Returns the table as the engine's statements name it.
  private let place: @Sendable (HistoryTable) -> String

  package init(_ place: @escaping @Sendable (HistoryTable) -> String) { self.place = place }

  /// A statement for the rows of one table.
  package struct Insert: Sendable {
    package let table: HistoryTable
    package let rows: [HistoryRow]
  }

  /// Returns the rows to insert, in their order.
  package func inserts(_ rows: HistoryRows) -> [Insert] {
    var inserts: [Insert] = []
    if !rows.isActorKnown { inserts.append(Insert(table: .actors, rows: [rows.actor.row])) }
    if !rows.begun.isEmpty { inserts.append(Insert(table: .runs, rows: rows.begun)) }
    if !rows.events.isEmpty { inserts.append(Insert(table: .events, rows: rows.events)) }
    if !rows.log.isEmpty { inserts.append(Insert(table: .log, rows: rows.log)) }
    return inserts
  }

  /// What follows the values of an insertion.
  package static func suffix(_ table: HistoryTable) -> String { table == .actors ? " ON CONFLICT (id) DO NOTHING" : "" }

  /// The end of a run, with the placeholders `status`, `endedAt`, `state` and `id`.
  package func end(_ status: String, _ endedAt: String, _ state: String, _ id: String) -> String {
    "UPDATE \(place(.runs)) SET status = \(status), endedAt = \(endedAt), state = \(state) WHERE id = \(id)"
  }

  /// The ends of a transaction.
  package func ends(_ rows: HistoryRows) -> [HistoryRun] { rows.ends }

  /// A statement with integers for its `?`s.
  package struct Step: Sendable {
    package let sql: String
    package var values: [Int64] = []

    /// The text with the values in it.
    package var text: String {
      var text = "", values = values[...]
      for part in sql.split(separator: "?", omittingEmptySubsequences: false) {
        text += part
        if let value = values.popFirst() { text += "\(value)" }
      }
      return text
    }
  }

  /// Returns the statements about dead runs, removed values and pruning.
  package func rest(_ rows: HistoryRows) -> [Step] {
    var steps = rows.abandoned.map { sync in
      let own = rows.begun.compactMap { $0.integers[0] }.map { " AND id <> \($0)" }.joined()
      return Step(
        sql: "UPDATE \(place(.runs)) SET status = '\(HistoryRun.abandoned)', endedAt = ? "
          + "WHERE sync = ? AND status = '\(HistoryRun.running)'\(own)", values: [rows.now, sync])
    }
    for (soup, entries) in rows.forgotten {
      let ids = entries.map(String.init).joined(separator: ", ")
      steps.append(
        Step(
          sql: "UPDATE \(place(.log)) SET before = NULL, sent = NULL WHERE soup = ? AND entry IN (\(ids)) "
            + "AND (before IS NOT NULL OR sent IS NOT NULL)", values: [soup]))
    }
    if let run = rows.ends.last?.number {
      let oldest = run - HistoryLimits.runsWithEvents
      steps.append(Step(sql: events, values: [oldest, oldest]))
      // A scan of all runs, so not after each.
      if run % HistoryLimits.runsBetweenPrunings == 0 {
        steps.append(
          Step(
            sql: runs,
            values: [
              run - HistoryLimits.runs + HistoryLimits.runsBetweenPrunings, rows.now - HistoryLimits.runAgeMs,
              run - HistoryLimits.leastRuns,
            ]))
      }
    }
    if rows.prunesLog || !rows.ends.isEmpty { steps.append(Step(sql: logRows)) }
    if rows.checksBytes { steps.append(Step(sql: logBytes)) }
    return steps
  }

  // MARK: Pruning

  private var runs: String {
    let table = place(.runs)
    return """
      DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table)
        WHERE (id <= ? OR startedAt < ?) AND id <= ? AND status <> '\(HistoryRun.running)'
        AND id NOT IN (SELECT max(id) FROM \(table) WHERE name IS NOT NULL AND status IN ('DONE', 'FAILED')
          GROUP BY name, status)
        ORDER BY id LIMIT \(HistoryLimits.atOnce))
      """
  }

  /// The first row decides whether there is anything to remove.
  private var events: String {
    let table = place(.events)
    let isOld = "(run <= ? OR id <= (SELECT max(id) FROM \(table)) - \(HistoryLimits.events))"
    return """
      DELETE FROM \(table) WHERE id IN (SELECT id FROM (SELECT id, run FROM \(table) ORDER BY id
        LIMIT coalesce((SELECT CASE WHEN \(isOld) THEN \(HistoryLimits.atOnce) ELSE 0 END FROM (
          SELECT id, run FROM \(table) ORDER BY id LIMIT 1) AS oldest), 0)) AS head
        WHERE \(isOld))
      """
  }

  private var logRows: String {
    let table = place(.log)
    return """
      DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table)
        WHERE id <= (SELECT max(id) FROM \(table)) - \(HistoryLimits.logRows) ORDER BY id LIMIT \(HistoryLimits.atOnce))
      """
  }

  private var logBytes: String {
    let table = place(.log)
    return """
      DELETE FROM \(table) WHERE id IN (SELECT id FROM \(table) WHERE id <= (SELECT max(id) FROM (
          SELECT id, sum(coalesce(length(before), 0) + coalesce(length(sent), 0) + \(HistoryLimits.rowBytes))
            OVER (ORDER BY id DESC) AS total FROM \(table)) AS sizes WHERE total > \(HistoryLimits.logBytes))
        ORDER BY id LIMIT \(HistoryLimits.atOnce))
      """
  }
}
