import JSON

/// A rule of the org's briefcase: records that clients keep offline.
public struct BriefcaseRule: Sendable, Equatable {
  /// API name of the object.
  public var object: String
  /// The SOQL condition after WHERE; nil selects every record.
  public var condition: String?
  /// The SOQL order after ORDER BY.
  public var order: String?
  /// The maximum number of records.
  public var limit: Int
  /// Names of child relationships, such as `Contacts`, whose records are included.
  public var related: [String]

  public init(
    object: String, condition: String? = nil, order: String? = nil, limit: Int = 500, related: [String] = []
  ) {
    self.object = object
    self.condition = condition
    self.order = order
    self.limit = limit
    self.related = related
  }
}

/// Finds the records that the briefcase's rules select. On the org's queue.
struct Briefcase {
  struct Record {
    let object: String, id: String, stamp: String
    /// The number of the rule that selected it; related rules have their own numbers.
    let rule: Int
  }
  /// The result of evaluating all rules. Pages are slices of it, so that changes in between cannot
  /// shift them.
  struct Run {
    var records: [Record] = []
    /// Ids of rules that cannot be evaluated.
    var failedRules: [String] = []
    var ruleCount = 0
  }

  let org: Org
  let userId: String

  /// - Parameter changedAfter: Milliseconds since 1970 UTC; applies to the rules' own records, not
  ///   to related ones.
  func run(changedAfter: Int64?) throws -> Run {
    var run = Run()
    var seen: Set<String> = []
    for rule in org.briefcase {
      let number = run.ruleCount
      run.ruleCount += 1 + rule.related.count
      do {
        try add(rule, number, changedAfter, &seen, &run)
      } catch is SandboxError {
        run.failedRules.append(RecordID.make(prefix: "1rX", sequence: Int64(number + 1)))
      }
    }
    return run
  }

  private func add(
    _ rule: BriefcaseRule, _ number: Int, _ changedAfter: Int64?, _ seen: inout Set<String>, _ run: inout Run
  ) throws {
    var terms = rule.condition.map { ["(\($0))"] } ?? []
    let parents = try rows(rule, terms)
    var changed = parents
    if let changedAfter {
      // Timestamps are whole seconds: later ones exceed the truncated second.
      let seconds = changedAfter >= 0 ? changedAfter / 1000 : -1
      terms.append("SystemModstamp > \(Timestamp.text(max(0, seconds)).dropLast(9))Z")
      changed = try rows(rule, terms)
    }
    for row in changed where seen.insert(row.id).inserted {
      run.records.append(Record(object: row.object, id: row.id, stamp: row.stamp, rule: number))
    }
    for (index, name) in rule.related.enumerated() {
      for row in try related(name, of: rule, parents.map(\.id)) where seen.insert(row.id).inserted {
        run.records.append(Record(object: row.object, id: row.id, stamp: row.stamp, rule: number + 1 + index))
      }
    }
  }

  private typealias Row = (object: String, id: String, stamp: String)

  private func rows(_ rule: BriefcaseRule, _ terms: [String]) throws -> [Row] {
    guard let object = org.schema.object(rule.object) else { throw SandboxError.unknownType(rule.object) }
    let filter = terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
    let order = rule.order.map { " ORDER BY \($0)" } ?? ""
    let limit = min(max(0, rule.limit), Tuning.briefcaseRecords)
    return try query("SELECT Id, SystemModstamp FROM \(object.name)\(filter)\(order) LIMIT \(limit)", object)
  }

  private func related(_ name: String, of rule: BriefcaseRule, _ parents: [String]) throws -> [Row] {
    guard let object = org.schema.object(rule.object), let (child, field) = org.schema.child(name, of: object) else {
      throw SandboxError.notFound("\(rule.object) has no relationship '\(name)'")
    }
    var found: [Row] = []
    for start in stride(from: 0, to: parents.count, by: Tuning.briefcaseParents) {
      let some = parents[start..<min(start + Tuning.briefcaseParents, parents.count)]
      let list = some.map { "'\($0)'" }.joined(separator: ",")
      let left = Tuning.briefcaseRecords - found.count
      let statement = "SELECT Id, SystemModstamp FROM \(child.name) WHERE \(field.name) IN (\(list)) LIMIT \(left)"
      found += try query(statement, child)
    }
    return found
  }

  private func query(_ statement: String, _ object: ObjectSchema) throws -> [Row] {
    let runner = QueryRunner(org: org, version: "v66.0", userId: userId, pageSize: .max / 2)
    let answer = try JSONValue(parsing: try runner.run(statement, includeDeleted: false))
    return (answer["records"]?.arrayValue ?? []).compactMap { record in
      guard let id = record["Id"]?.stringValue, let stamp = record["SystemModstamp"]?.stringValue else { return nil }
      return (object.name, id, stamp)
    }
  }
}

/// Results whose pages are still being fetched.
struct BriefcaseRuns {
  private var runs: [(id: Int, run: Briefcase.Run)] = []
  private var lastId = 0

  /// Maximum number of results kept; the oldest is dropped first.
  private static let capacity = 10

  /// Returns the token for the page that starts at `next`.
  mutating func token(_ run: Briefcase.Run, id: Int?, next: Int) -> String {
    var id = id
    if id == nil {
      lastId += 1
      runs.append((lastId, run))
      if runs.count > Self.capacity { runs.removeFirst() }
      id = lastId
    }
    return "relay-\(id ?? 0)-\(next)"
  }

  func find(_ token: String) -> (id: Int, run: Briefcase.Run, start: Int)? {
    let parts = token.split(separator: "-")
    guard parts.count == 3, parts[0] == "relay", let id = Int(parts[1]), let start = Int(parts[2]),
      let run = runs.first(where: { $0.id == id })?.run, start >= 0, start < run.records.count
    else { return nil }
    return (id, run, start)
  }
}
