import JSON

/// Serves `/composite/sobjects`: up to 200 rows in one call, each with its own result.
enum CollectionRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("POST", "/composite/sobjects", create)
    table.data("PATCH", "/composite/sobjects", update)
    table.data("DELETE", "/composite/sobjects", delete)
    table.data("GET", "/composite/sobjects/:type", retrieveByParameters)
    table.data("POST", "/composite/sobjects/:type", retrieve)
    table.data("PATCH", "/composite/sobjects/:type/:field", upsert)
  }

  // MARK: Writes

  private static func create(_ call: Call) throws -> ServerReply {
    let (records, allOrNone) = try body(call)
    return try CollectionRun(call: call, allOrNone: allOrNone).run(records) { record in
      .success(try call.writer.create(try type(of: record, call), record))
    }
  }

  private static func update(_ call: Call) throws -> ServerReply {
    let (records, allOrNone) = try body(call)
    var seen: IdSet = []
    return try CollectionRun(call: call, allOrNone: allOrNone).run(records) { record in
      let object = try type(of: record, call)
      let (id, fields) = try identified(record, object)
      guard seen.insert(id).inserted else {
        throw SandboxError(status: 400, code: "DUPLICATE_VALUE", message: "duplicate id in list: \(id)", fields: [])
      }
      try requireLive(id, object, call.reader)
      try call.writer.update(object, id: id, fields)
      return .success(id)
    }
  }

  private static func upsert(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let field = try ExternalKey.field(call.parameter("field"), of: object)
    let (records, allOrNone) = try body(call)
    return try CollectionRun(call: call, allOrNone: allOrNone, isUpsert: true).run(records) { record in
      guard try type(of: record, call).name == object.name else {
        throw SandboxError(
          status: 400, code: "INVALID_TYPE", message: "all records of an upsert must be of type \(object.name)", fields: [])
      }
      return try UpsertItem(writer: call.writer, object: object, field: field).run(record)
    }
  }

  private static func delete(_ call: Call) throws -> ServerReply {
    let ids = FieldList.split(call.request.parameter("ids") ?? "")
    try checkCount(ids.count)
    let allOrNone = call.request.parameter("allOrNone")?.lowercased() == "true"
    return try CollectionRun(call: call, allOrNone: allOrNone).run(ids) { text in
      guard let id = RecordID.normalized(text), let object = call.org.schema.object(ofId: id) else {
        throw SandboxError(status: 400, code: "MALFORMED_ID", message: "malformed id \(text)", fields: ["Id"])
      }
      try requireLive(id, object, call.reader)
      try call.writer.delete(object, id: id)
      return .success(id)
    }
  }

  // MARK: Reads

  private static func retrieveByParameters(_ call: Call) throws -> ServerReply {
    let ids = FieldList.split(call.request.parameter("ids") ?? "")
    return try retrieve(call, ids, FieldList.split(call.request.parameter("fields") ?? ""))
  }

  private static func retrieve(_ call: Call) throws -> ServerReply {
    let body = try call.jsonObject()
    guard let ids = body["ids"]?.arrayValue, let fields = body["fields"]?.arrayValue else {
      throw SandboxError.json("the body needs the arrays 'ids' and 'fields'")
    }
    return try retrieve(call, ids.map { $0.stringValue ?? "" }, fields.compactMap(\.stringValue))
  }

  private static func retrieve(_ call: Call, _ ids: [String], _ fields: [String]) throws -> ServerReply {
    let object = try call.object()
    guard ids.count <= Tuning.collectionRetrieveIds else { throw tooMany(Tuning.collectionRetrieveIds) }
    guard !fields.isEmpty else { throw SandboxError.json("at least one field is needed") }
    let records = try call.reader.records(
      ids.map { RecordID.normalized($0) }, of: object, fields: fields, version: call.version)
    var out: [UInt8] = [UInt8(ascii: "[")]
    for (index, record) in records.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      out.append(contentsOf: record ?? Array("null".utf8))
    }
    out.append(UInt8(ascii: "]"))
    return .json(200, out)
  }

  // MARK: Bodies

  private static func body(_ call: Call) throws -> (records: [JSONObject], allOrNone: Bool) {
    let body = try call.jsonObject()
    guard let values = body["records"]?.arrayValue else {
      throw SandboxError.json("the body needs the array 'records'")
    }
    try checkCount(values.count)
    let records = try values.map { value in
      guard let record = value.objectValue else {
        throw SandboxError.json("Cannot deserialize instance of a record from \(value.kindName)")
      }
      return record
    }
    try checkChunks(records)
    return (records, body["allOrNone"]?.boolValue ?? false)
  }

  /// Limits the number of chunks, which are runs of consecutive records of one type.
  private static func checkChunks(_ records: [JSONObject]) throws(SandboxError) {
    let types = records.map { $0["attributes"]?["type"]?.stringValue?.lowercased() }
    let chunks = 1 + zip(types, types.dropFirst()).count { $0 != $1 }
    guard chunks <= Tuning.collectionChunks else {
      throw SandboxError(
        status: 400, code: "LIMIT_EXCEEDED",
        message: "cannot have more than \(Tuning.collectionChunks) chunks in a single operation; put records of one type together"
      )
    }
  }

  private static func checkCount(_ count: Int) throws(SandboxError) {
    guard count <= Tuning.collectionRecords else { throw tooMany(Tuning.collectionRecords) }
    guard count > 0 else {
      throw SandboxError(status: 400, code: "MISSING_ARGUMENT", message: "at least one record or id is needed")
    }
  }

  private static func tooMany(_ limit: Int) -> SandboxError {
    SandboxError(
      status: 400, code: "EXCEEDED_ID_LIMIT",
      message: "record limit reached. cannot submit more than \(limit) records into this call")
  }

  private static func type(of record: JSONObject, _ call: Call) throws(SandboxError) -> ObjectSchema {
    let name = record["attributes"]?["type"]?.stringValue
    guard let name, let object = call.org.schema.object(name) else { throw .unknownType(name ?? "null") }
    return object
  }

  /// Returns the id of a record, spelled `id` or `Id`, and the other fields.
  static func identified(_ record: JSONObject, _ object: ObjectSchema) throws -> (id: String, fields: JSONObject) {
    var fields = record
    var text: String?
    for key in record.keys where key.lowercased() == "id" {
      text = record[key]?.stringValue
      fields[key] = nil
    }
    guard let text, !text.isEmpty else {
      throw SandboxError(
        status: 400, code: "MISSING_ARGUMENT", message: "Id not specified in an update call", fields: ["Id"])
    }
    guard let id = RecordID.normalized(text), RecordID.prefix(of: id) == object.keyPrefix else {
      throw SandboxError(
        status: 400, code: "MALFORMED_ID", message: "\(object.label) ID: id value of incorrect type: \(text)",
        fields: ["Id"])
    }
    return (id, fields)
  }

  static func requireLive(_ id: String, _ object: ObjectSchema, _ reader: RecordReader) throws {
    switch try reader.presence(of: id, in: object) {
    case .live: break
    case .deleted: throw SandboxError.entityIsDeleted(status: 400)
    case .missing: throw SandboxError.crossReference
    }
  }
}
