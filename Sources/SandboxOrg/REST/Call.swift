import JSON
import RecordScan

/// One authenticated request. On the org's queue.
struct Call {
  /// The service, which also answers subrequests.
  let service: SalesforceService
  let org: Org
  let request: ServerRequest
  /// The values of the route's placeholders.
  let parameters: [String: String]
  /// `v66.0`, as requested.
  let version: String
  /// The id of the signed-in user; empty on public routes.
  let userId: String

  func parameter(_ name: String) -> String { parameters[name] ?? "" }
  var writer: RecordWriter { RecordWriter(org: org, userId: userId) }
  var reader: RecordReader { RecordReader(org: org) }
  var dataRoot: String { "/services/data/\(version)" }

  /// `http://127.0.0.1:<port>` as the client addresses it.
  var origin: String { request.origin }
  /// The origin with the path of the site that the request came through.
  var base: String { request.origin + request.mountPath }
  /// The origin of the instance that serves the org's data.
  var instanceOrigin: String { org.instance.origin(for: request) }

  func object() throws(SandboxError) -> ObjectSchema { try org.object(parameter("type")) }

  // MARK: Bodies

  /// Parses the body, or the JSON part of a form.
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

  /// Runs a write whose values come from the body, and adds the position of a value with the wrong
  /// type to its error.
  ///
  /// - Parameter path: The path to the record in the body.
  func addingErrorPositions<T>(at path: [PathStep] = [], _ write: () throws -> T) throws -> T {
    do {
      return try write()
    } catch let error as SandboxError where error.member != nil {
      throw error.addingPosition(in: try jsonText(), at: path)
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

  /// Describes the unexpected input as Salesforce's JSON reader does.
  private static func found(_ text: [UInt8], _ offset: Int) -> String {
    let rest = text.dropFirst(offset).prefix(4)
    guard let scalar = String(decoding: rest, as: UTF8.self).unicodeScalars.first else { return "Unexpected end-of-input" }
    return "Unexpected character ('\(Character(scalar))' (code \(scalar.value)))"
  }

  // MARK: Forms

  var hasForm: Bool {
    request.form != nil || request.header("content-type")?.lowercased().hasPrefix("multipart/") == true
  }

  /// Parses a multipart body into its parts.
  ///
  /// - Throws: ``SandboxError`` 400 if it is malformed.
  func form() throws(SandboxError) -> [FormPart] {
    if let form = request.form { return form }
    do {
      return try MultipartReader(request.body, contentType: request.header("content-type") ?? "").parts()
    } catch {
      throw .invalidForm(error.message)
    }
  }

  /// Returns a writer that has the form's files, if the body is a form.
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

  /// Returns the id in the URL of a read.
  ///
  /// - Throws: 404 unless it is a live row of the object.
  func liveId(reading object: ObjectSchema) throws -> String {
    guard let id = RecordID.normalized(parameter("id")) else {
      throw SandboxError.notFound(
        "Provided external ID field does not exist or is not accessible: \(parameter("id"))")
    }
    guard RecordID.prefix(of: id) == object.keyPrefix else { throw SandboxError.notFound() }
    return try live(id, object)
  }

  /// Like `liveId(reading:)`, but for a write an id of another object is a bad request.
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

/// Builds `{"id":…,"success":true,"errors":[]}` and its variants.
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
