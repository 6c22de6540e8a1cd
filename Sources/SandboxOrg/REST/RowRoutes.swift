import Database
import JSON

/// Serves `/sobjects/<type>`: single rows.
enum RowRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("POST", "/sobjects/:type", create)
    table.data("GET", "/sobjects/:type/:id", retrieve)
    table.data("PATCH", "/sobjects/:type/:id", update)
    table.data("DELETE", "/sobjects/:type/:id", delete)
    // The insert form of an upsert by Id.
    table.data("POST", "/sobjects/:type/:field", createById)
    // An external id field with its value, or an id with a relationship.
    table.data("GET", "/sobjects/:type/:field/:value") { call in
      try RelatedRows(call)?.read() ?? retrieveByField(call)
    }
    table.data("PATCH", "/sobjects/:type/:field/:value") { call in
      try RelatedRows(call)?.update() ?? upsert(call)
    }
    table.data("DELETE", "/sobjects/:type/:field/:value") { call in
      try RelatedRows(call)?.delete() ?? deleteByField(call)
    }
  }

  // MARK: By id

  private static func create(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let body = try call.jsonObject()
    let writer = try call.formWriter()
    let id = try call.addingErrorPositions { try call.org.transaction { try writer.create(object, body) } }
    return created(id, object, call, WriteResult.success(id))
  }

  private static func created(_ id: String, _ object: ObjectSchema, _ call: Call, _ body: JSONValue) -> ServerReply {
    .json(201, body, headers: [("Location", "\(call.dataRoot)/sobjects/\(object.name)/\(id)")])
  }

  private static func retrieve(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    return try record(try call.liveId(reading: object), object, call)
  }

  /// Sends a live row with the requested fields, or 304 if the client's copy is current.
  static func record(_ id: String, _ object: ObjectSchema, _ call: Call) throws -> ServerReply {
    let conditions = try preconditions(id, object, call)
    if let reply = try conditions.shortReply() { return reply }
    guard let body = try call.reader.records([id], of: object, fields: requestedFields(call), version: call.version)[0] else {
      throw SandboxError.notFound()
    }
    if call.request.header("sforce-mru")?.lowercased().contains("updatemru=false") != true {
      call.org.recentlyUsed.touch(id, of: object, by: call.userId)
    }
    return .json(200, body, headers: conditions.headers)
  }

  /// Returns the fields of the parameter `fields` and the id, which an org always adds; empty for all
  /// fields.
  private static func requestedFields(_ call: Call) -> [String] {
    let named = FieldList.split(call.request.parameter("fields") ?? "")
    return named.isEmpty || named.contains { $0.lowercased() == "id" } ? named : named + ["Id"]
  }

  static func update(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let body = try call.jsonObject()
    let writer = try call.formWriter()
    try call.addingErrorPositions {
      try call.org.transaction {
        let id = try call.liveId(writing: object)
        try preconditions(id, object, call).requireForWrite()
        try writer.update(object, id: id, body)
      }
    }
    return .empty(204)
  }

  /// Ignores conditional headers, as a real org does.
  private static func delete(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    try call.org.transaction { try call.writer.delete(object, id: try call.liveId(writing: object)) }
    return .empty(204)
  }

  private static func createById(_ call: Call) throws -> ServerReply {
    guard call.parameter("field").lowercased() == "id" else {
      let message = "HTTP Method 'POST' not allowed. Allowed are DELETE,GET,HEAD,PATCH"
      throw SandboxError(status: 405, code: "METHOD_NOT_ALLOWED", message: message)
    }
    return try create(call)
  }

  /// Returns the values to which conditional headers are compared.
  static func preconditions(_ id: String, _ object: ObjectSchema, _ call: Call) throws -> Preconditions {
    let stamp = try call.org.connection.firstValue(
      "SELECT LastModifiedDate FROM \(object.table) WHERE Id = ?", [.text(id)])
    var seconds: Int64 = 0
    if case .text(let text)? = stamp { seconds = (Timestamp.milliseconds(parsing: text) ?? 0) / 1000 }
    var tag: String?
    if object.traits.contains(.entityTag) {
      // The version in the record's URL must not affect the tag.
      tag = try call.reader.records([id], of: object, fields: [], version: "v66.0")[0].map(EntityTag.of)
    }
    return Preconditions(request: call.request, lastModified: seconds, entityTag: tag)
  }

  // MARK: By external id

  private static func retrieveByField(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    switch try ExternalKey(call, object).match() {
    case .none: throw SandboxError.notFound()
    case .one(let id): return try record(id, object, call)
    case .several(let ids): return choices(ids, object, call)
    }
  }

  private static func upsert(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let key = try ExternalKey(call, object)
    let body = try call.jsonObject()
    try key.refuse(in: body)
    let writer = try call.formWriter()
    return try call.addingErrorPositions { try call.org.transaction { try upsert(object, by: key, body, writer, call) } }
  }

  private static func upsert(
    _ object: ObjectSchema, by key: ExternalKey, _ body: JSONObject, _ writer: RecordWriter, _ call: Call
  ) throws -> ServerReply {
    switch try key.match() {
    case .several(let ids): return choices(ids, object, call)
    case .one(let id):
      try preconditions(id, object, call).requireForWrite()
      try writer.update(object, id: id, body)
      return key.answersUpdates ? .json(200, WriteResult.success(id, created: false)) : .empty(204)
    case .none:
      guard call.request.parameter("updateOnly")?.lowercased() != "true", key.field.type != .id else {
        throw SandboxError.notFound()
      }
      var values = body
      values[key.field.name] = .string(key.value)
      let id = try writer.create(object, values)
      return created(id, object, call, WriteResult.success(id, created: true))
    }
  }

  private static func deleteByField(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    return try call.org.transaction {
      switch try ExternalKey(call, object).match() {
      case .none: throw SandboxError.notFound()
      case .several(let ids): return choices(ids, object, call)
      case .one(let id):
        try call.writer.delete(object, id: id)
        return .empty(204)
      }
    }
  }

  private static func choices(_ ids: [String], _ object: ObjectSchema, _ call: Call) -> ServerReply {
    .json(300, .array(ids.map { .string("\(call.dataRoot)/sobjects/\(object.name)/\($0)") }))
  }
}
