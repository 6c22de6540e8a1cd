import JSON

/// One authenticated request on the org's queue.
struct Call {
  let org: Org
  let request: ServerRequest
  /// What the route's placeholders stand for.
  let parameters: [String: String]
  /// `v66.0`, as requested.
  let version: String
  /// Id of the signed-in user; empty on public routes.
  let userId: String

  func parameter(_ name: String) -> String { parameters[name] ?? "" }
  var writer: RecordWriter { RecordWriter(org: org, userId: userId) }
  var reader: RecordReader { RecordReader(org: org) }
  var dataRoot: String { "/services/data/\(version)" }

  /// `http://127.0.0.1:<port>` as the client knows it.
  var origin: String { "http://\(request.header("host") ?? org.configuration.host)" }

  func object() throws(SandboxError) -> ObjectSchema { try org.object(parameter("type")) }

  // MARK: Bodies

  func json() throws(SandboxError) -> JSONValue {
    if let type = request.header("content-type")?.lowercased(), !type.contains("json") {
      throw SandboxError(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message: "Content type \(type) is not supported")
    }
    do {
      return try JSONValue(parsing: request.body)
    } catch {
      let place = error.position(in: request.body)
      throw .json("\(error.message) at [line:\(place.line), column:\(place.column)]")
    }
  }

  func jsonObject() throws(SandboxError) -> JSONObject {
    let value = try json()
    guard let object = value.objectValue else {
      throw .json("Cannot deserialize instance of object from \(value.kindName) at [line:1, column:1]")
    }
    return object
  }

  // MARK: Ids

  /// What a read of an id in a URL finds.
  /// - Throws: 404 for everything that is no live row of the object.
  func liveId(reading object: ObjectSchema) throws -> String {
    guard let id = RecordID.normalized(parameter("id")) else {
      throw SandboxError.notFound(
        "Provided external ID field does not exist or is not accessible: \(parameter("id"))")
    }
    guard RecordID.prefix(of: id) == object.keyPrefix else { throw SandboxError.notFound() }
    return try live(id, object)
  }

  /// As `liveId(reading:)`; an id of another object is a bad request for a write.
  func liveId(writing object: ObjectSchema) throws -> String {
    if let id = RecordID.normalized(parameter("id")), RecordID.prefix(of: id) != object.keyPrefix {
      throw SandboxError(
        status: 400, code: "MALFORMED_ID",
        message: "\(object.label) ID: id value of incorrect type: \(parameter("id"))", fields: ["Id"])
    }
    return try liveId(reading: object)
  }

  private func live(_ id: String, _ object: ObjectSchema) throws -> String {
    switch try reader.presence(of: id, in: object) {
    case .live: return id
    case .deleted: throw SandboxError.entityIsDeleted(status: 404)
    case .missing: throw SandboxError.notFound()
    }
  }
}

/// `{"id":…,"success":true,"errors":[]}` and its relations.
enum WriteResult {
  static func success(_ id: String, created: Bool? = nil) -> JSONValue {
    var object: JSONObject = ["id": .string(id), "success": true, "errors": []]
    if let created { object["created"] = .bool(created) }
    return .object(object)
  }

  static func failure(_ error: SandboxError, created: Bool? = nil) -> JSONValue {
    var object: JSONObject = ["success": false, "errors": error.itemErrors]
    if let created { object["created"] = .bool(created) }
    return .object(object)
  }
}
