import JSON

/// Serves `/connect/files`: files with their owners, shares and pages.
enum ConnectFiles {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    for root in ["/connect/files", "/connect/communities/:community/files"] {
      table.data("POST", root + "/users/:user", upload)
      table.data("GET", root + "/users/:user") { .json(200, try FileList($0).files(.owned)) }
      table.data("GET", root + "/users/:user/filter/groups") { .json(200, try FileList($0).files(.inGroups)) }
      table.data("GET", root + "/users/:user/filter/sharedwithme") { .json(200, try FileList($0).files(.shared)) }
      table.data("GET", root + "/batch/:files", batch)
      table.data("GET", root + "/:file") { .json(200, try card($0)) }
      table.data("POST", root + "/:file", uploadVersion)
      table.data("DELETE", root + "/:file", delete)
      table.data("GET", root + "/:file/content", content)
      table.data("GET", root + "/:file/rendition", rendition)
      table.data("GET", root + "/:file/file-shares") { call in
        .json(200, try FileList(call).shares(of: try FileCard(call).document(call.parameter("file"))))
      }
    }
  }

  private static func card(_ call: Call) throws -> JSONValue {
    let cards = FileCard(call)
    return try cards.json(try cards.document(call.parameter("file")), version: try version(call))
  }

  /// - Throws: 400 if `versionNumber` is not a number above 0.
  private static func version(_ call: Call) throws(SandboxError) -> Int? {
    guard let text = call.request.parameter("versionNumber") else { return nil }
    guard let number = Int(text), number > 0 else { throw FileList.illegal("versionNumber", text, "a number above 0") }
    return number
  }

  private static func batch(_ call: Call) throws -> ServerReply {
    let ids = FieldList.split(call.parameter("files"))
    guard (1...Tuning.filesPerBatch).contains(ids.count) else {
      throw SandboxError.invalidInput("a request needs 1 to \(Tuning.filesPerBatch) file ids, not \(ids.count)")
    }
    let cards = FileCard(call)
    var hasErrors = false
    let results = try ids.map { id -> JSONValue in
      do throws(SandboxError) {
        return ["statusCode": 200, "result": try cards.found(id)]
      } catch {
        guard error.status == 404 else { throw error }
        hasErrors = true
        return ["statusCode": 404, "result": error.body]
      }
    }
    return .json(200, .object(["hasErrors": .bool(hasErrors), "results": .array(results)]))
  }

  // MARK: Uploads

  private static func upload(_ call: Call) throws -> ServerReply {
    let user = try FileList.user(call)
    guard user == call.userId else {
      throw SandboxError(status: 403, code: "INSUFFICIENT_ACCESS", message: "files can only be uploaded for the signed-in user")
    }
    return try store(try FileForm(call), in: nil, call)
  }

  private static func uploadVersion(_ call: Call) throws -> ServerReply {
    try store(try FileForm(call), in: try FileCard(call).document(call.parameter("file")), call)
  }

  private static func store(_ form: FileForm, in document: String?, _ call: Call) throws -> ServerReply {
    var body: JSONObject = ["PathOnClient": .string(form.path)]
    if let title = form.title { body["Title"] = .string(title) }
    if let description = form.description { body["Description"] = .string(description) }
    if let document { body["ContentDocumentId"] = .string(document) }
    var writer = call.writer
    writer.bytes = ["VersionData": form.file.bytes]
    let cards = FileCard(call)
    let version = try call.org.transaction { [writer] in try writer.create(try call.org.object("ContentVersion"), body) }
    return .json(201, try cards.json(try cards.document(version), version: nil))
  }

  private static func delete(_ call: Call) throws -> ServerReply {
    let id = try FileCard(call).document(call.parameter("file"))
    try call.org.transaction { try call.writer.delete(try call.org.object("ContentDocument"), id: id) }
    return .empty(204)
  }

  // MARK: Bytes

  private static func content(_ call: Call) throws -> ServerReply {
    let cards = FileCard(call)
    return try bytes(try cards.version(of: try cards.document(call.parameter("file")), number: try version(call)), call)
  }

  private static func bytes(_ version: FileCard.Version, _ call: Call) throws -> ServerReply {
    let object = try call.org.object("ContentVersion")
    guard let field = object.field("VersionData") else { throw SandboxError.notFound() }
    let name = version.title + (version.ending.isEmpty ? "" : ".\(version.ending)")
    return try ByteReply(org: call.org).make(
      field, of: version.id, in: object,
      headers: [
        ("Content-Type", version.kind.mediaType),
        ("Content-Disposition", "attachment; filename*=UTF-8''\(URLCoding.escaped(name))"),
      ])
  }

  private static let renditions: Set = ["THUMB120BY90", "THUMB240BY180", "THUMB720BY480", "PDF", "SLIDE", "FLASH"]

  /// The sandbox cannot render pages: a picture is its own thumbnail, and a PDF file its own PDF
  /// rendition.
  private static func rendition(_ call: Call) throws -> ServerReply {
    let text = call.request.parameter("type") ?? "THUMB120BY90"
    let type = text.uppercased()
    guard renditions.contains(type) else {
      throw FileList.illegal("type", text, "one of \(renditions.sorted().joined(separator: ", "))")
    }
    let page = try FileList.number("page", call, standard: 0, 0...Tuning.filePages)
    let cards = FileCard(call)
    let version = try cards.version(of: try cards.document(call.parameter("file")), number: try version(call))
    let isThere = type.hasPrefix("THUMB") ? version.kind.isImage : type == "PDF" && version.kind.type == "PDF"
    guard isThere, page == 0 else {
      throw SandboxError.notFound("The file has no rendition of type \(type) for page \(page)")
    }
    return try bytes(version, call)
  }
}

/// The parts of an upload form.
struct FileForm {
  let file: FormPart
  let title: String?, description: String?

  /// - Throws: ``SandboxError`` 400 without a part `fileData`.
  init(_ call: Call) throws(SandboxError) {
    guard call.hasForm, let file = try call.form().first(where: { $0.name == "fileData" }) else {
      throw SandboxError(
        status: 400, code: "POST_BODY_PARSE_ERROR",
        message: "an upload is a multipart form with the file in the part fileData, and optional parts title and desc")
    }
    self.file = file
    let form = try call.form()
    let json: JSONObject = form.contains(where: \.isJSON) ? try call.jsonObject() : [:]
    func value(_ name: String) -> String? {
      json[name]?.stringValue ?? form.first { $0.name == name && !$0.isJSON }?.text
    }
    title = value("title").flatMap { $0.isEmpty ? nil : $0 }
    description = value("desc").flatMap { $0.isEmpty ? nil : $0 } ?? json["description"]?.stringValue
  }

  /// The sender's file name. If it has no extension, the media type provides one.
  var path: String {
    let name = file.fileName.flatMap { $0.isEmpty ? nil : $0 } ?? title ?? "Untitled"
    guard FileName(name).ending.isEmpty, let ending = FileKind.ending(of: file.contentType) else { return name }
    return "\(name).\(ending)"
  }
}
