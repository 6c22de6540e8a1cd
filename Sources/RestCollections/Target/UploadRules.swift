import JSON

/// The uploads of a target: read and checked here, so that a wrong key is known before anything is sent.
struct UploadRules: Sendable, Equatable {
  let json: JSONObject
  let create: UploadOperation?
  let update: UploadOperation?
  let delete: UploadOperation?
  /// The GET of one record.
  let read: RecordRead?
  var hasRead: Bool { read != nil }

  private enum Precondition: String, CaseIterable { case ifMatch, ifUnmodifiedSince, check, none }

  private static let keys = [
    "create", "update", "delete", "read", "connection", "itemPath", "wrap", "nullOnMissing", "precondition", "tag", "weakTags",
    "maxRecreate", "pauseMs", "dependsOn",
  ]

  /// nil when the target has no `up`.
  init?(_ target: TargetReader) throws(RestTargetError) {
    guard let reader = try target.inside("up", known: UploadRules.keys) else { return nil }
    json = reader.json
    create = try UploadOperation("create", reader)
    update = try UploadOperation("update", reader)
    delete = try UploadOperation("delete", reader)
    read = try RecordRead(reader)
    if reader.has("connection") { _ = try RestTarget.connectionName("connection", reader) }
    _ = try reader.path("itemPath")
    _ = try reader.nonEmptyText("wrap")
    _ = try reader.flag("nullOnMissing")
    let precondition = try reader.choice("precondition", of: Precondition.self)
    if precondition == .check, read == nil { throw reader.error("precondition", "cannot be 'check' without 'read'") }
    try UploadRules.checkTag(reader)
    _ = try reader.flag("weakTags")
    _ = try reader.count("maxRecreate")
    _ = try reader.count("pauseMs")
    for pair in try reader.pairs("dependsOn") ?? [] { _ = try reader.path(pair.name, "dependsOn") }
  }

  private static func checkTag(_ reader: TargetReader) throws(RestTargetError) {
    guard let tag = try reader.inside("tag", known: ["path", "template", "header"]) else { return }
    _ = try tag.path("path", taking: .header)
    if let template = try tag.template("template", for: .text), template.names != ["tag"] {
      throw tag.error("template", "must hold '{tag}' once and nothing else in braces")
    }
    if let name = try tag.text("header"), !HeaderField.isToken(name) { throw tag.error("header", "is not the name of a header") }
  }
}

/// One of `create`, `update` and `delete`.
struct UploadOperation: Sendable, Equatable {
  let method: Method
  let url: URITemplate

  enum Method: String, CaseIterable, Sendable { case post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE" }
  private enum Send: String, CaseIterable { case changed, listed }
  private enum BodyFormat: String, CaseIterable { case json, form }
  private enum Answer: String, CaseIterable { case item, partial, id, none }

  private static let keys = [
    "url", "method", "params", "headers", "fields", "body", "constants", "wrap", "send", "merges", "nullOnMissing", "bodyFormat",
    "contentType", "itemPath", "answer", "idPath",
  ]
  private static let createKeys = ["idempotencyHeader", "newId", "uniqueField", "prepare", "lookup"]

  /// nil when there is none: the server is read-only for it.
  init?(_ name: String, _ up: TargetReader) throws(RestTargetError) {
    let isCreate = name == "create"
    guard let reader = try up.inside(name, known: UploadOperation.keys + (isCreate ? UploadOperation.createKeys : [])) else {
      return nil
    }
    method = try reader.choice("method") ?? (isCreate ? .post : name == "update" ? .patch : .delete)
    url = try reader.required("url", reader.template("url"))
    try UploadOperation.checkTexts(reader)
    try UploadOperation.checkFields(reader, isDelete: name == "delete", isPutUpdate: name == "update" && method == .put)
    _ = try reader.object("constants")
    for key in ["wrap", "contentType"] { _ = try reader.nonEmptyText(key) }
    for key in ["merges", "nullOnMissing"] { _ = try reader.flag(key) }
    _ = try reader.choice("send", of: Send.self)
    _ = try reader.choice("bodyFormat", of: BodyFormat.self)
    _ = try reader.choice("answer", of: Answer.self)
    _ = try reader.path("itemPath")
    _ = try reader.path("idPath", taking: .header)
    if isCreate { try UploadOperation.checkCreate(reader) }
  }

  /// Templates in the values of parameters and headers.
  static func checkTexts(_ reader: TargetReader) throws(RestTargetError) {
    for pair in try reader.pairs("params") ?? [] { _ = try reader.template(pair.value, "params", for: .text) }
    for field in try HeaderField.read("headers", reader) {
      if case .text(let text) = field.value { _ = try reader.template(text, "headers", for: .text) }
    }
  }

  private static func checkFields(_ reader: TargetReader, isDelete: Bool, isPutUpdate: Bool) throws(RestTargetError) {
    let hasBody = try reader.object("body") != nil
    guard let fields = reader["fields"] else {
      if !hasBody, !isDelete { throw reader.refusal("fields", "needs 'fields' or 'body'") }
      return
    }
    if hasBody { throw reader.error("body", "cannot stand beside 'fields'") }
    switch fields {
    case .string("*"): return
    case .array: _ = try reader.texts("fields")
    case .object:
      for pair in try reader.pairs("fields") ?? [] where !pair.value.hasPrefix("lua:") {
        _ = try reader.path(pair.value, "fields", taking: .each)
      }
    default: throw reader.error("fields", "must be a list of fields, an object of paths, or \"*\"")
    }
    if isPutUpdate, try reader.flag("merges") != true {
      throw reader.error(
        "fields",
        "lists fields for a PUT, which would erase all others; send \"*\", use PATCH, or set 'merges' when the server keeps them")
    }
  }

  private static func checkCreate(_ reader: TargetReader) throws(RestTargetError) {
    if let name = try reader.text("idempotencyHeader"), !HeaderField.isToken(name) {
      throw reader.error("idempotencyHeader", "is not the name of a header")
    }
    if let id = try reader.nonEmptyText("newId"), id != "uuid", !id.hasPrefix("lua:") { _ = try reader.path(id, "newId") }
    _ = try reader.path("uniqueField")
    if let prepare = try reader.inside("prepare", known: ["method", "url", "urlPath", "idPath"]) {
      _ = try prepare.choice("method", of: Method.self)
      _ = try prepare.required("url", prepare.template("url"))
      let paths = [try prepare.path("urlPath", taking: .header), try prepare.path("idPath", taking: .header)]
      if paths.compactMap({ $0 }).isEmpty { throw prepare.refusal("urlPath", "needs 'urlPath' or 'idPath'") }
    }
    if let lookup = try reader.inside("lookup", known: ["url", "params", "itemsPath", "waitMs"]) {
      _ = try lookup.required("url", lookup.template("url"))
      try checkTexts(lookup)
      _ = try lookup.path("itemsPath")
      _ = try lookup.count("waitMs")
    }
  }
}
