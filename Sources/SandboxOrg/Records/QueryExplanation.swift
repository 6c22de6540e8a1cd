import Database
import JSON

/// Explains how a statement would run, in the format of Salesforce's query plans. On the org's
/// queue.
struct QueryExplanation {
  let runner: QueryRunner

  func explain(_ statement: String, includeDeleted: Bool) throws -> JSONValue {
    let plan = try runner.compile(statement, includeDeleted: includeDeleted)
    let all = try number("SELECT count(*) FROM \(plan.object.table)", [])
    let rows = try number("SELECT count(*) FROM (\(plan.sql))", plan.bindings)
    let index = try index(of: plan)
    // A scan reads every row; an index reads the matching rows and a little more.
    let share = all == 0 ? 0 : Double(rows) / Double(all)
    let step: JSONObject = [
      "cardinality": .integer(rows), "fields": .array(index.map { [.string($0)] } ?? []),
      "leadingOperationType": index == nil ? "TableScan" : "Index", "notes": [],
      "relativeCost": .number(index == nil ? 1 + share : share), "sobjectCardinality": .integer(all),
      "sobjectType": .string(plan.object.name),
    ]
    return ["plans": [.object(step)], "sourceQuery": .string(statement)]
  }

  private func number(_ sql: String, _ bindings: [SQLValue]) throws -> Int64 {
    let statement = try QueryRunner.prepared(sql, bindings, on: runner.org)
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Returns the field whose index finds the rows; nil for a full scan. Indexes are named
  /// `Object_Field`.
  private func index(of plan: QueryPlan) throws -> String? {
    let statement = try QueryRunner.prepared("EXPLAIN QUERY PLAN " + plan.sql, plan.bindings, on: runner.org)
    while try statement.step() {
      let words = statement.string(3).split(separator: " ")
      guard words.first == "SEARCH", let place = words.firstIndex(of: "INDEX"), place + 1 < words.count else { continue }
      let name = words[place + 1], prefix = plan.object.name + "_"
      if name.hasPrefix(prefix), let field = plan.object.field(name.dropFirst(prefix.count)) { return field.name }
    }
    return nil
  }
}
