import JSON

/// `/sobjects/<type>`: rows one at a time.
enum RowRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("POST", "/sobjects/:type", create)
    table.data("GET", "/sobjects/:type/:id", retrieve)
    table.data("PATCH", "/sobjects/:type/:id", update)
    table.data("DELETE", "/sobjects/:type/:id", delete)
    // The insert form of an upsert by Id.
    table.data("POST", "/sobjects/:type/:field", createById)
    table.data("GET", "/sobjects/:type/:field/:value", retrieveByField)
    table.data("PATCH", "/sobjects/:type/:field/:value", upsert)
    table.data("DELETE", "/sobjects/:type/:field/:value", deleteByField)
  }

  // MARK: By id

  private static func create(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let body = try call.jsonObject()
    let id = try call.org.transaction { try call.writer.create(object, body) }
    return created(id, object, call, WriteResult.success(id))
  }

  private static func created(_ id: String, _ object: ObjectSchema, _ call: Call, _ body: JSONValue) -> ServerReply {
    .json(201, body, headers: [("Location", "\(call.dataRoot)/sobjects/\(object.name)/\(id)")])
  }

  private static func retrieve(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    return try record(try call.liveId(reading: object), object, call)
  }

  private static func record(_ id: String, _ object: ObjectSchema, _ call: Call) throws -> ServerReply {
    let fields = FieldList.split(call.request.parameter("fields") ?? "")
    guard let body = try call.reader.records([id], of: object, fields: fields, version: call.version)[0] else {
      throw SandboxError.notFound()
    }
    call.org.recentlyUsed.touch(id, of: object.name)
    return .json(200, body)
  }

  private static func update(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let body = try call.jsonObject()
    try call.org.transaction {
      try call.writer.update(object, id: try call.liveId(writing: object), body)
    }
    return .empty(204)
  }

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
    var body = try call.jsonObject()
    try key.refuse(in: body)
    return try call.org.transaction {
      switch try key.match() {
      case .several(let ids): return choices(ids, object, call)
      case .one(let id):
        try call.writer.update(object, id: id, body)
        return key.answersUpdates ? .json(200, WriteResult.success(id, created: false)) : .empty(204)
      case .none:
        guard call.request.parameter("updateOnly")?.lowercased() != "true", key.field.type != .id else {
          throw SandboxError.notFound()
        }
        body[key.field.name] = .string(key.value)
        let id = try call.writer.create(object, body)
        return created(id, object, call, WriteResult.success(id, created: true))
      }
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
