/// Serves `/query`, `/queryAll` and their locators.
enum QueryRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    for name in ["query", "queryAll"] {
      table.data("GET", "/\(name)") { try query($0, includeDeleted: name == "queryAll") }
      table.data("GET", "/\(name)/:locator") { call in .json(200, try runner(call).next(call.parameter("locator"))) }
    }
  }

  private static func query(_ call: Call, includeDeleted: Bool) throws -> ServerReply {
    if let statement = call.request.parameter("explain") {
      return .json(200, try QueryExplanation(runner: runner(call)).explain(statement, includeDeleted: includeDeleted))
    }
    guard let statement = call.request.parameter("q") else {
      throw SandboxError(status: 400, code: "MALFORMED_QUERY", message: "A query string has to be specified")
    }
    return .json(200, try runner(call).run(statement, includeDeleted: includeDeleted))
  }

  private static func runner(_ call: Call) -> QueryRunner {
    QueryRunner(org: call.org, version: call.version, userId: call.userId, pageSize: pageSize(call))
  }

  /// Returns the `batchSize` of `Sforce-Query-Options`, clamped to 200...2,000; a smaller
  /// configured page size takes precedence.
  private static func pageSize(_ call: Call) -> Int {
    let configured = min(max(1, call.org.configuration.pageSize), Tuning.maximumPageSize)
    let options = call.request.header("sforce-query-options") ?? ""
    for option in options.split(separator: ",") {
      let pair = option.split(separator: "=").map { $0.filter { !$0.isWhitespace }.lowercased() }
      guard pair.count == 2, pair[0] == "batchsize", let size = Int(pair[1]) else { continue }
      return min(configured, min(max(size, Tuning.minimumPageSize), Tuning.maximumPageSize))
    }
    return configured
  }
}
