import JSON
import LuaBridge
import Support
import Tureen

/// Runs a statement of the page, and says how the store runs it.
struct SmartSqlConsole {
  let api: InspectorAPI
  let store: StoreReference

  /// - Parameter body: `sql`, `args`, `limit`.
  func answer(_ body: JSONObject) throws -> LoopbackAnswer {
    guard let sql = body["sql"]?.stringValue else { throw APIError(400, "invalidArguments", "'sql' is missing") }
    let limit = min(max(body["limit"]?.integerValue ?? Int64(Limits.rows), 1), Int64(Limits.rows))
    var spec: JSONObject = ["queryType": "smart", "smartSql": .string(sql), "pageSize": .integer(limit)]
    if let arguments = body["args"]?.arrayValue, !arguments.isEmpty { spec["args"] = .array(arguments) }
    let plan = try api.value("smartstore", "getQueryPlan", of: store, ["querySpec": .object(spec)])
    let start = SystemClock.monotonicMilliseconds()
    let page = try api.value(
      "smartstore", "pgRunSmartQuery", of: store, ["querySpec": .object(spec)], limitMs: api.queryMs)
    let ms = SystemClock.monotonicMilliseconds() - start
    let rows = page["currentPageOrderedEntries"]?.arrayValue ?? []
    return .json(
      200,
      [
        "columns": .array(try columns(sql, rows.first?.arrayValue?.count).map { .string($0) }),
        "rows": .array(rows.map { row in .array((row.arrayValue ?? []).map { Clipping.cut($0, Limits.textBytes) }) }),
        "total": page["totalEntries"] ?? 0, "ms": .integer(ms), "plan": plan,
      ])
  }

  /// The names of the columns, as `tureen query` prints them.
  private func columns(_ sql: String, _ count: Int?) throws -> [String] {
    try SelectList(sql).columns(count) { soup in
      let specs = try api.value("smartstore", "pgGetSoupIndexSpecs", of: store, ["soupName": .string(soup)]).arrayValue ?? []
      let paths = specs.filter { $0["type"]?.stringValue != "json1" }.compactMap { $0["path"]?.stringValue }
      return ["_soupEntryId", "_soup", "_soupCreatedDate", "_soupLastModifiedDate"] + paths + ["version", "owner"]
    }
  }
}
