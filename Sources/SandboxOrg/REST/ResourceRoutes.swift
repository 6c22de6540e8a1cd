import JSON

/// Versions, the resource list, limits, describe: what a client reads before it works with records.
enum ResourceRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("GET", "/services/data") { _ in .json(200, versions) }
    table.data("GET", "", resources)
    table.data("GET", "/limits", limits)
    table.data("GET", "/limits/recordCount", recordCount)
    table.data("GET", "/recent", recent)
    table.data("GET", "/sobjects", describeGlobal)
    table.data("GET", "/sobjects/:type", basicInfo)
    table.data("GET", "/sobjects/:type/describe") { call in
      .json(200, Describe(call: call).object(try call.object()))
    }
  }

  private static let versions: JSONValue = .array(
    Tuning.apiVersions.map { number in
      // Three releases a year; Winter '15 was v32.
      let season = ["Winter", "Spring", "Summer"][(number - 32 + 3) % 3]
      let year = 15 + (number - 32 - (number < 32 ? 2 : 0)) / 3
      return .object([
        "label": .string("\(season) '\(year)"), "url": .string("/services/data/v\(number).0"),
        "version": .string("\(number).0"),
      ])
    })

  private static func resources(_ call: Call) -> ServerReply {
    var list = JSONObject()
    for name in ["sobjects", "query", "queryAll", "limits", "composite", "recent"] {
      list[name] = .string("\(call.dataRoot)/\(name)")
    }
    list["identity"] = .string("\(call.origin)/id/\(call.org.organizationId)/\(call.userId)")
    return .json(200, .object(list))
  }

  private static func limits(_ call: Call) -> ServerReply {
    let remaining = max(0, Tuning.dailyCalls - call.org.callCount)
    return .json(
      200,
      .object([
        "DailyApiRequests": .object(["Max": .integer(Int64(Tuning.dailyCalls)), "Remaining": .integer(Int64(remaining))]),
        "DataStorageMB": ["Max": 5, "Remaining": 5], "FileStorageMB": ["Max": 20, "Remaining": 20],
      ]))
  }

  private static func recordCount(_ call: Call) throws -> ServerReply {
    let wanted = FieldList.split(call.request.parameter("sObjects") ?? "")
    let objects = wanted.isEmpty ? call.org.schema.objects : wanted.compactMap { call.org.schema.object($0) }
    let counts = try objects.compactMap { object -> JSONValue? in
      let count = try call.org.connection.firstValue("SELECT count(*) FROM \(object.table) WHERE IsDeleted = 0")
      guard case .integer(let number)? = count, number > 0 else { return nil }
      return .object(["count": .integer(number), "name": .string(object.name)])
    }
    return .json(200, .object(["sObjects": .array(counts)]))
  }

  // MARK: Objects

  private static func describeGlobal(_ call: Call) -> ServerReply {
    let describe = Describe(call: call)
    let entries = call.org.schema.objects.map { JSONValue.object(describe.entry($0)) }
    return .json(200, .object(["encoding": "UTF-8", "maxBatchSize": 200, "sobjects": .array(entries)]))
  }

  private static func basicInfo(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let entry = JSONValue.object(Describe(call: call).entry(object)).serialized()
    var out = Array("{\"objectDescribe\":".utf8) + entry + Array(",\"recentItems\":[".utf8)
    append(try recentRecords(object, call), to: &out)
    out.append(contentsOf: "]}".utf8)
    return .json(200, out)
  }

  private static func recent(_ call: Call) throws -> ServerReply {
    let limit = call.request.parameter("limit").flatMap { Int($0) } ?? Tuning.recentItems
    var records: [[UInt8]] = []
    for object in call.org.schema.objects { records += try recentRecords(object, call) }
    var out: [UInt8] = [0x5B]
    append(Array(records.prefix(max(0, limit))), to: &out)
    out.append(0x5D)
    return .json(200, out)
  }

  private static func recentRecords(_ object: ObjectSchema, _ call: Call) throws -> [[UInt8]] {
    let fields = ["Id"] + (object.nameField.map { [$0.name] } ?? [])
    let ids = call.org.recentlyUsed.list(object.name)
    return try call.reader.records(ids, of: object, fields: fields, version: call.version).compactMap { $0 }
  }

  private static func append(_ records: [[UInt8]], to out: inout [UInt8]) {
    for (index, record) in records.enumerated() {
      if index > 0 { out.append(0x2C) }
      out.append(contentsOf: record)
    }
  }
}
