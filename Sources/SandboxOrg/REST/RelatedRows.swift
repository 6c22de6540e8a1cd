import Database
import JSON

/// Serves `/sobjects/<type>/<id>/<name>`: the parent or children of a relationship, or the bytes of
/// a field.
struct RelatedRows {
  private let call: Call
  private let object: ObjectSchema
  private let id: String
  private let name: String

  /// nil if the segment after the type is not an id of that type: it then names an external id
  /// field.
  init?(_ call: Call) throws {
    let object = try call.object()
    guard object.field(call.parameter("field")) == nil, let id = RecordID.normalized(call.parameter("field")),
      RecordID.prefix(of: id) == object.keyPrefix
    else { return nil }
    self.call = call
    self.object = object
    self.id = id
    name = call.parameter("value")
  }

  func read() throws -> ServerReply {
    try requireLive()
    if let field = object.field(name), field.type == .base64 { return try bytes(field) }
    if let field = object.relationship(name) {
      let (parent, parentId) = try self.parent(field)
      return try RowRoutes.record(parentId, parent, call)
    }
    guard let (child, field) = call.org.schema.child(name, of: object) else { throw SandboxError.notFound() }
    let asked = FieldList.split(call.request.parameter("fields") ?? "")
    let fields = asked.isEmpty ? child.fields.map(\.name) : asked
    let runner = QueryRunner(
      org: call.org, version: call.version, userId: call.userId, pageSize: Tuning.maximumPageSize)
    let statement = "SELECT \(fields.joined(separator: ", ")) FROM \(child.name) WHERE \(field.name) = '\(id)'"
    return .json(200, try runner.run(statement, includeDeleted: false))
  }

  /// Updates the parent that a reference points to.
  func update() throws -> ServerReply {
    let body = try call.jsonObject()
    try call.org.transaction {
      let (parent, parentId) = try parentToWrite()
      try RowRoutes.preconditions(parentId, parent, call).requireForWrite()
      try call.writer.update(parent, id: parentId, body)
    }
    return .empty(204)
  }

  func delete() throws -> ServerReply {
    try call.org.transaction {
      let (parent, parentId) = try parentToWrite()
      try call.writer.delete(parent, id: parentId)
    }
    return .empty(204)
  }

  private func parentToWrite() throws -> (ObjectSchema, String) {
    try requireLive()
    guard let field = object.relationship(name) else { throw SandboxError.notFound() }
    return try parent(field)
  }

  private func requireLive() throws {
    switch try call.reader.presence(of: id, in: object) {
    case .live: return
    case .deleted: throw SandboxError.entityIsDeleted(status: 404)
    case .missing: throw SandboxError.notFound()
    }
  }

  /// - Throws: 404 if the reference is empty or its row no longer exists.
  private func parent(_ field: FieldSchema) throws -> (ObjectSchema, String) {
    let value = try call.org.connection.firstValue(
      "SELECT \"\(field.name)\" FROM \(object.table) WHERE Id = ?", [.text(id)])
    guard case .text(let parentId)? = value, let parent = call.org.schema.object(ofId: parentId),
      try call.reader.presence(of: parentId, in: parent) == .live
    else { throw SandboxError.notFound() }
    return (parent, parentId)
  }

  private func bytes(_ field: FieldSchema) throws -> ServerReply {
    var type = "application/octet-stream"
    if let name = field.mediaTypeField,
      case .text(let known)? = try call.org.connection.firstValue(
        "SELECT \"\(name)\" FROM \(object.table) WHERE Id = ?", [.text(id)]),
      known.utf8.allSatisfy({ $0 >= UInt8(ascii: " ") && $0 < 0x7F })
    {
      type = known
    }
    return try ByteReply(org: call.org).make(field, of: id, in: object, headers: [("Content-Type", type)])
  }
}
