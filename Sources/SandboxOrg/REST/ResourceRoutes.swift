import JSON

/// Serves versions, counts and describe: what a client reads before it works with records.
enum ResourceRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("GET", "/services/data") { _ in .json(200, versions) }
    table.data("GET", "/limits/recordCount", recordCount)
    table.data("GET", "/recent", recent)
    table.data("GET", "/sobjects", describeGlobal)
    table.data("GET", "/sobjects/:type", basicInfo)
    table.data("GET", "/sobjects/:type/describe") { call in
      try described(Describe(call: call).object(try call.object()), call)
    }
  }

  private static let versions: JSONValue = .array(
    Tuning.apiVersions.map { number in
      // There are three releases a year; Winter '15 was v32.
      let season = ["Winter", "Spring", "Summer"][(number - 32 + 3) % 3]
      let year = 15 + (number - 32 - (number < 32 ? 2 : 0)) / 3
      return .object([
        "label": .string("\(season) '\(year)"), "url": .string("/services/data/v\(number).0"),
        "version": .string("\(number).0"),
      ])
    })

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

  private static func describeGlobal(_ call: Call) throws -> ServerReply {
    let describe = Describe(call: call)
    let entries = call.org.schema.objects.map { JSONValue.object(describe.entry($0)) }
    return try described(["encoding": "UTF-8", "maxBatchSize": 200, "sobjects": .array(entries)], call)
  }

  /// Sends a description, which is as old as the schema; 304 if the client's copy is current.
  private static func described(_ description: JSONObject, _ call: Call) throws -> ServerReply {
    let body = description.serialized()
    let conditions = Preconditions(
      request: call.request, lastModified: call.org.schemaChanged, entityTag: EntityTag.of(body))
    return try conditions.shortReply() ?? .json(200, body, headers: conditions.headers)
  }

  private static func basicInfo(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let entry = JSONValue.object(Describe(call: call).entry(object)).serialized()
    var out = Array("{\"objectDescribe\":".utf8) + entry + Array(",\"recentItems\":[".utf8)
    append(try recentRecords(object, call.org.recentlyUsed.ids(object.name, of: call.userId), call), to: &out)
    out.append(contentsOf: "]}".utf8)
    return .json(200, out)
  }

  /// Answers with recent rows of all objects, newest first.
  private static func recent(_ call: Call) throws -> ServerReply {
    let limit = call.request.parameter("limit").flatMap { Int($0) } ?? Tuning.recentItems
    var records: [[UInt8]] = []
    for item in call.org.recentlyUsed.all(of: call.userId) where records.count < min(max(0, limit), Tuning.recentItems) {
      guard let object = call.org.schema.object(item.object) else { continue }
      records += try recentRecords(object, [item.id], call)
    }
    var out: [UInt8] = [UInt8(ascii: "[")]
    append(records, to: &out)
    out.append(UInt8(ascii: "]"))
    return .json(200, out)
  }

  private static func recentRecords(_ object: ObjectSchema, _ ids: [String], _ call: Call) throws -> [[UInt8]] {
    let fields = ["Id"] + (object.nameField.map { [$0.name] } ?? [])
    return try call.reader.records(ids, of: object, fields: fields, version: call.version).compactMap { $0 }
  }

  private static func append(_ records: [[UInt8]], to out: inout [UInt8]) {
    for (index, record) in records.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      out.append(contentsOf: record)
    }
  }
}
