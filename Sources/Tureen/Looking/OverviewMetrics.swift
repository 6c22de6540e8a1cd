import JSON

/// An overview as gauges for Prometheus, in its text format, version 0.0.4. Samples have no time stamps.
package struct OverviewMetrics: Sendable {
  private struct Metric {
    let name: String, help: String
    var samples: [(labels: String, value: String)] = []
  }

  private var metrics: [Metric] = []

  /// - Parameter overview: The result of `getOverview`.
  package init(_ overview: JSONValue) {
    let stores = overview["stores"]?.arrayValue ?? []
    addSyncs(stores)
    addSoups(stores)
    add("store_bytes", "Bytes of the store.", stores.compactMap { sample($0, Self.number($0["bytes"])) })
    add("wal_bytes", "Bytes of the store's write-ahead log.", stores.compactMap { sample($0, Self.number($0["walBytes"])) })
    let usage = overview["apiUsage"]
    for (key, name, help) in [
      ("used", "api_calls_used", "API calls of the org in the last 24 hours."),
      ("max", "api_calls_max", "API calls that the org allows."),
    ] {
      add(name, help, Self.number(usage?[key]).map { [("", $0)] } ?? [])
    }
  }

  package var text: String {
    metrics.filter { !$0.samples.isEmpty }.map { metric in
      "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) gauge\n"
        + metric.samples.map { "\(metric.name)\($0.labels) \($0.value)\n" }.joined()
    }.joined()
  }

  private mutating func add(_ name: String, _ help: String, _ samples: [(labels: String, value: String)]) {
    metrics.append(Metric(name: "tureen_" + name, help: help, samples: samples))
  }

  private static func number(_ value: JSONValue?) -> String? { value?.integerValue.map { "\($0)" } }

  private func sample(_ store: JSONValue, _ value: String?) -> (labels: String, value: String)? {
    value.map { (Self.labels(store), $0) }
  }

  // MARK: Labels

  private static func labels(_ store: JSONValue, _ more: [(String, String)] = []) -> String {
    let scope = store["isGlobalStore"]?.boolValue == true ? "global" : "user"
    let all = [("store", store["storeName"]?.stringValue ?? ""), ("scope", scope)] + more
    return "{" + all.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
  }

  /// The value of a label. - Note: Source: Prometheus, "Exposition formats".
  private static func escaped(_ text: String) -> String {
    text.replacingBytes("\\", with: "\\\\").replacingBytes("\"", with: "\\\"").replacingBytes("\n", with: "\\n")
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    let value = max(0, milliseconds), rest = value % 1000
    return "\(value / 1000)." + (rest < 10 ? "00" : rest < 100 ? "0" : "") + "\(rest)"
  }

  // MARK: Syncs

  /// The figures of a sync; those without a name share a series, so that their number does not grow.
  private struct SyncFigures {
    var lastSuccess: Int64?, covered: Int64?, lastRun: Int64?
    var failed: Int64 = 0
    var records: [(outcome: String, count: Int64)] = outcomes.map { ($0, 0) }

    static let outcomes = [
      "fetched", "stored", "merged", "removed", "succeeded", "failed", "skipped", "conflicting", "inDoubt", "flagged",
    ]

    mutating func take(_ sync: JSONValue) {
      func time(_ key: String) -> Int64? { sync[key]?.integerValue.flatMap { $0 > 0 ? $0 : nil } }
      func latest(_ a: Int64?, _ b: Int64?) -> Int64? { [a, b].compactMap { $0 }.max() }
      lastSuccess = latest(lastSuccess, time("lastSuccess"))
      covered = latest(covered, time("coveredTimeStamp"))
      if let start = time("startTime"), let end = time("endTime"), end >= start { lastRun = latest(lastRun, end - start) }
      failed += ["FAILED", "ABANDONED"].contains(sync["status"]?.stringValue) ? 1 : 0
      for i in records.indices { records[i].count += sync[records[i].outcome]?.integerValue ?? 0 }
    }
  }

  private mutating func addSyncs(_ stores: [JSONValue]) {
    var all: [(labels: [(String, String)], store: JSONValue, figures: SyncFigures)] = []
    for store in stores {
      var named: [(String, SyncFigures)] = []
      for sync in store["syncs"]?.arrayValue ?? [] {
        let name = sync["name"]?.stringValue ?? ""
        let i = named.firstIndex { $0.0.hasSameBytes(as: name) } ?? named.endIndex
        if i == named.endIndex { named.append((name, SyncFigures())) }
        named[i].1.take(sync)
      }
      all += named.map { ([("sync", $0.0)], store, $0.1) }
    }
    func times(_ value: (SyncFigures) -> Int64?) -> [(labels: String, value: String)] {
      all.compactMap { one in value(one.figures).map { (Self.labels(one.store, one.labels), Self.seconds($0)) } }
    }
    add("sync_last_success_timestamp_seconds", "When the last run ended that succeeded.", times(\.lastSuccess))
    add(
      "sync_failed", "Whether the last run failed; for syncs without a name, their number.",
      all.map { (Self.labels($0.store, $0.labels), "\($0.figures.failed)") })
    add("sync_covered_timestamp_seconds", "Up to when the server's changes are here.", times(\.covered))
    add("sync_last_run_seconds", "How long the last run took.", times(\.lastRun))
    add(
      "sync_last_run_records", "Records of the last run by outcome.",
      all.flatMap { one in
        one.figures.records.map { (Self.labels(one.store, one.labels + [("outcome", $0.outcome)]), "\($0.count)") }
      })
  }

  // MARK: Soups

  private mutating func addSoups(_ stores: [JSONValue]) {
    let soups = stores.flatMap { store in (store["soups"]?.arrayValue ?? []).map { (store, $0) } }
    func name(_ soup: JSONValue) -> (String, String) { ("soup", soup["soup"]?.stringValue ?? "") }
    add(
      "entries", "Entries of the soup.",
      soups.map { (Self.labels($0.0, [name($0.1)]), Self.number($0.1["entries"]) ?? "0") })
    let states = [
      ("waiting", "waiting"), ("skipped", "skipped"), ("held", "held"), ("conflicts", "conflict"), ("refused", "refused"),
      ("inDoubt", "inDoubt"),
    ]
    add(
      "unsent_entries", "Entries with changes that the server lacks, by state.",
      soups.flatMap { store, soup in
        states.map { key, state in
          (Self.labels(store, [name(soup), ("state", state)]), Self.number(soup[key]) ?? "0")
        }
      })
  }
}
