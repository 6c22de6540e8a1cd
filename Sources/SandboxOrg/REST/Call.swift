import JSON
import RecordScan

/// One authenticated request on the org's queue.
struct Call {
  /// What answers it: requests inside this one go there too.
  let service: SalesforceService
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
  var origin: String { request.origin }
  /// The same with the path of the site that the request came through.
  var base: String { request.origin + request.mountPath }
  /// Where the org's data is.
  var instanceOrigin: String { org.instance.origin(for: request) }

  func object() throws(SandboxError) -> ObjectSchema { try org.object(parameter("type")) }

  // MARK: Bodies

  /// The body, or the JSON part of a form.
  func json() throws(SandboxError) -> JSONValue { try parsed(try jsonText()) }

  private func jsonText() throws(SandboxError) -> [UInt8] {
    if hasForm {
      guard let part = try form().first(where: \.isJSON) else {
        throw .invalidForm("the form needs a part of the type application/json with the values")
      }
      return Array(part.bytes)
    }
    if let type = request.header("content-type")?.lowercased(), !type.contains("json") {
      throw SandboxError(
        status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message: "Content type \(type) is not supported")
    }
    return request.body
  }

  /// Runs a write whose values come from the body: a value of the wrong type is told with its place in it.
  ///
  /// - Parameter path: Leads to the record in the body.
  func placingErrors<T>(at path: [PathStep] = [], _ write: () throws -> T) throws -> T {
    do {
      return try write()
    } catch let error as SandboxError where error.member != nil {
      throw error.placed(in: try jsonText(), at: path)
    }
  }

  private func parsed(_ text: [UInt8]) throws(SandboxError) -> JSONValue {
    do {
      return try JSONValue(parsing: text)
    } catch {
      let place = error.position(in: text)
      throw .json("\(Self.found(text, error.offset)): \(error.message) at [line:\(place.line), column:\(place.column)]")
    }
  }

  /// What Salesforce's JSON reader calls the place where it gives up.
  private static func found(_ text: [UInt8], _ offset: Int) -> String {
    let rest = text.dropFirst(offset).prefix(4)
    guard let scalar = String(decoding: rest, as: UTF8.self).unicodeScalars.first else { return "Unexpected end-of-input" }
    return "Unexpected character ('\(Character(scalar))' (code \(scalar.value)))"
  }

  // MARK: Forms

  var hasForm: Bool {
    request.form != nil || request.header("content-type")?.lowercased().hasPrefix("multipart/") == true
  }

  /// The parts of a multipart body.
  /// - Throws: ``SandboxError`` 400 for one that cannot be taken apart.
  func form() throws(SandboxError) -> [FormPart] {
    if let form = request.form { return form }
    do {
      return try MultipartReader(request.body, contentType: request.header("content-type") ?? "").parts()
    } catch {
      throw .invalidForm(error.message)
    }
  }

  /// A writer that has the files of the form, if the body is one.
  func formWriter() throws(SandboxError) -> RecordWriter {
    var writer = writer
    guard hasForm else { return writer }
    for part in try form() where !part.isJSON { writer.bytes[part.name] = part.bytes }
    return writer
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
