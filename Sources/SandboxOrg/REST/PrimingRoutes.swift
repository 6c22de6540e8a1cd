import JSON

/// Serves `/connect/briefcase/priming-records`: ids of the records that a client should keep
/// offline.
enum PrimingRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "/connect/briefcase/priming-records", records)
  }

  private static func records(_ call: Call) throws -> ServerReply {
    let number = Int(call.version.dropFirst().dropLast(2)) ?? 0
    guard number >= 54 else { throw SandboxError.notFound() }
    let token = call.request.parameter("relayToken").flatMap { $0.isEmpty ? nil : $0 }
    let since = call.request.parameter("changedAfterTimestamp").flatMap { $0.isEmpty ? nil : $0 }
    guard token == nil || since == nil else {
      throw refused("relayToken and changedAfterTimestamp cannot be given together")
    }
    if let token { return try page(token, call) }
    guard since == nil || number >= 55 else { throw SandboxError.notFound() }
    let run = try Briefcase(org: call.org, userId: call.userId).run(changedAfter: try since.map(moment))
    return reply(run, from: 0, id: nil, call)
  }

  /// Reads a timestamp. A plus sign that was not encoded arrives as a blank.
  private static func moment(_ text: String) throws(SandboxError) -> Int64 {
    let plain = String(text.map { $0 == " " ? "+" : $0 })
    guard let value = Timestamp.milliseconds(parsing: plain) else {
      throw refused("changedAfterTimestamp is not a date and time: \(text)")
    }
    return value
  }

  private static func page(_ token: String, _ call: Call) throws -> ServerReply {
    guard let (id, run, start) = call.org.briefcaseRuns.find(token) else {
      throw refused("relayToken is unknown or too old; start again without one")
    }
    return reply(run, from: start, id: id, call)
  }

  private static func refused(_ message: String) -> SandboxError {
    SandboxError(status: 400, code: "ILLEGAL_QUERY_PARAMETER_VALUE", message: message)
  }

  private static func reply(_ run: Briefcase.Run, from start: Int, id: Int?, _ call: Call) -> ServerReply {
    let size = min(max(1, call.org.configuration.pageSize), Tuning.maximumPageSize)
    let end = min(start + size, run.records.count)
    let page = run.records[start..<end]
    var byObject: [String: [JSONValue]] = [:]
    var order: [String] = []
    for record in page {
      if byObject[record.object] == nil { order.append(record.object) }
      byObject[record.object, default: []].append(
        .object(["id": .string(record.id), "systemModstamp": .string(zulu(record.stamp))]))
    }
    let records = order.map { name -> (String, JSONValue) in
      (name, .object([Describe.masterRecordType: .array(byObject[name] ?? [])]))
    }
    let isDone = end >= run.records.count
    let token = isDone ? nil : call.org.briefcaseRuns.token(run, id: id, next: end)
    let served = Set(page.map(\.rule)).count
    return .json(
      200,
      .object([
        "primingRecords": .object(JSONObject(records)), "relayToken": token.map { .string($0) } ?? .null,
        "ruleErrors": .array(run.failedRules.map { .object(["ruleId": .string($0)]) }),
        "stats": .object([
          "recordCountServed": .integer(Int64(page.count)), "recordCountTotal": .integer(Int64(run.records.count)),
          "ruleCountServed": .integer(Int64(served)), "ruleCountTotal": .integer(Int64(run.ruleCount)),
        ]),
      ]))
  }

  /// Returns a timestamp that ends in `Z`, the format of Connect resources.
  private static func zulu(_ stamp: String) -> String { stamp.dropLast(5) + "Z" }
}
