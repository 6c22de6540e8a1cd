import JSON

/// One of the operations `create`, `update` and `delete`.
struct UploadOperation: Sendable, Equatable {
  let method: Method
  let url: URITemplate
  let params: [RecordRead.Parameter]
  let headers: [HeaderField]
  /// nil for a delete without a body.
  let content: Content?
  let constants: BodyTemplate?
  let wrap: String?
  let sendsChangedOnly: Bool
  let nullOnMissing: Bool
  let isForm: Bool
  let contentType: String
  /// The record's location in the response.
  let itemPath: ValuePath?
  let answer: Answer
  /// The location of the new id, from the root of the response.
  let idPath: ValuePath?
  let once: CreateOnce?

  enum Method: String, CaseIterable, Sendable { case post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE" }
  enum Answer: String, CaseIterable, Sendable { case item, partial, id, none }
  private enum Send: String, CaseIterable { case changed, listed }
  private enum BodyFormat: String, CaseIterable { case json, form }

  /// The content of the body.
  enum Content: Sendable, Equatable {
    case fields([Field])
    /// The whole record.
    case everything
    case body(BodyTemplate)
  }

  /// A member of the body.
  struct Field: Sendable, Equatable {
    /// The path of keys in the body.
    let wire: [String]
    let source: Source

    enum Source: Sendable, Equatable {
      case path(ValuePath)
      /// A script's function.
      case function(String)
    }
  }

  private static let keys = [
    "url", "method", "params", "headers", "fields", "body", "constants", "wrap", "send", "merges", "nullOnMissing", "bodyFormat",
    "contentType", "itemPath", "answer", "idPath",
  ]

  /// Nil if the operation is not defined; the server is then read-only for it.
  init?(_ name: String, _ up: TargetReader) throws(RestTargetError) {
    let isCreate = name == "create"
    guard let reader = try up.inside(name, known: UploadOperation.keys + (isCreate ? CreateOnce.keys : [])) else { return nil }
    method = try reader.choice("method") ?? (isCreate ? .post : name == "update" ? .patch : .delete)
    url = try reader.required("url", reader.template("url"))
    params = try RecordRead.parameters(reader)
    headers = try RecordRead.headers(reader)
    content = try UploadOperation.content(reader, isDelete: name == "delete", isPutUpdate: name == "update" && method == .put)
    constants = try reader.object("constants").map { (json) throws(RestTargetError) in
      try BodyTemplate(json, "constants", reader)
    }
    let ownWrap = try reader.nonEmptyText("wrap"), commonWrap = try up.nonEmptyText("wrap")
    wrap = ownWrap ?? commonWrap
    let ownNull = try reader.flag("nullOnMissing"), commonNull = try up.flag("nullOnMissing")
    nullOnMissing = ownNull ?? commonNull ?? false
    let send = try reader.choice("send", of: Send.self)
    sendsChangedOnly = send.map { $0 == .changed } ?? (method == .patch && name == "update")
    isForm = try reader.choice("bodyFormat", of: BodyFormat.self) == .form
    contentType = try reader.nonEmptyText("contentType") ?? (isForm ? "application/x-www-form-urlencoded" : "application/json")
    answer = try reader.choice("answer") ?? .item
    let ownItem = try reader.path("itemPath"), commonItem = try up.path("itemPath")
    itemPath = ownItem ?? commonItem
    idPath = try reader.path("idPath", taking: .header)
    once = isCreate ? try CreateOnce(reader) : nil
  }

  private static func content(
    _ reader: TargetReader, isDelete: Bool, isPutUpdate: Bool
  ) throws(RestTargetError) -> Content? {
    let body = try reader.object("body"), merges = try reader.flag("merges") ?? false
    guard let fields = reader["fields"] else {
      if let body { return .body(try BodyTemplate(body, "body", reader)) }
      if !isDelete { throw reader.refusal("fields", "needs 'fields' or 'body'") }
      return nil
    }
    if body != nil { throw reader.error("body", "cannot be combined with 'fields'") }
    var list: [Field] = []
    switch fields {
    case .string("*"): return .everything
    case .array:
      for name in try reader.texts("fields") ?? [] {
        let path = try reader.path(name, "fields")
        list.append(Field(wire: try wire(name, reader), source: .path(path)))
      }
    case .object:
      for pair in try reader.pairs("fields") ?? [] {
        let isFunction = pair.value.hasPrefix("lua:")
        let source =
          isFunction
          ? Field.Source.function(String(pair.value.dropFirst(4))) : .path(try reader.path(pair.value, "fields", taking: .each))
        list.append(Field(wire: try wire(pair.name, reader), source: source))
      }
    default: throw reader.error("fields", "must be a list of fields, an object of paths, or \"*\"")
    }
    if isPutUpdate, !merges {
      throw reader.error(
        "fields",
        "lists fields for a PUT, which would erase all others; send \"*\", use PATCH, or set 'merges' if the server keeps them")
    }
    return .fields(list)
  }

  /// The field by which a create is found again, unless it is one of the listed fields.
  var unlistedUnique: ValuePath? {
    guard let path = once?.uniqueField, case .fields(let fields)? = content else { return nil }
    return fields.contains { $0.source == .path(path) } ? nil : path
  }

  /// Splits a name at its dots, which denote nested members.
  private static func wire(_ name: String, _ reader: TargetReader) throws(RestTargetError) -> [String] {
    let keys = try reader.path(name, "fields").steps?.compactMap { step -> String? in
      if case .member(let key, _) = step { String(decoding: key, as: UTF8.self) } else { nil }
    }
    guard let keys, !keys.isEmpty else { throw reader.error("fields", "has '\(name)', which does not name a member of the body") }
    return keys
  }
}

/// How to prevent a create from being executed twice.
struct CreateOnce: Sendable, Equatable {
  let idempotencyHeader: String?
  let newId: NewId?
  let uniqueField: ValuePath?
  let prepare: Prepare?
  let lookup: Lookup?

  enum NewId: Sendable, Equatable {
    case uuid
    case function(String)
    case path(ValuePath)
  }

  /// Whether ids are unique to a create, so that an existing record with the id must be ours
  /// even if its content differs.
  var givesOwnIds: Bool { newId == .uuid || prepare?.idPath != nil }

  /// A request before the create whose response contains the create's URL or id.
  struct Prepare: Sendable, Equatable {
    let method: UploadOperation.Method
    let url: URITemplate
    let urlPath: ValuePath?
    let idPath: ValuePath?
  }

  /// A list to search for the created record.
  struct Lookup: Sendable, Equatable {
    let url: URITemplate
    let params: [RecordRead.Parameter]
    let itemsPath: ValuePath?
    let waitMs: Int
  }

  static let keys = ["idempotencyHeader", "newId", "uniqueField", "prepare", "lookup"]

  /// Nil if a repeated create cannot be recognized.
  init?(_ reader: TargetReader) throws(RestTargetError) {
    let header = try reader.text("idempotencyHeader")
    if let header, !HeaderField.isToken(header) { throw reader.error("idempotencyHeader", "is not a valid header name") }
    idempotencyHeader = header
    newId = try CreateOnce.newId(reader)
    uniqueField = try reader.path("uniqueField")
    prepare = try reader.inside("prepare", known: ["method", "url", "urlPath", "idPath"]).map {
      (reader) throws(RestTargetError) in
      try Prepare(reader)
    }
    lookup = try reader.inside("lookup", known: ["url", "params", "itemsPath", "waitMs"]).map {
      (reader) throws(RestTargetError) in
      try Lookup(reader)
    }
    guard CreateOnce.keys.contains(where: reader.has) else { return nil }
  }

  private static func newId(_ reader: TargetReader) throws(RestTargetError) -> NewId? {
    guard let text = try reader.nonEmptyText("newId") else { return nil }
    if text == "uuid" { return .uuid }
    if text.hasPrefix("lua:") { return .function(String(text.dropFirst(4))) }
    return .path(try reader.path(text, "newId"))
  }
}

extension CreateOnce.Prepare {
  fileprivate init(_ reader: TargetReader) throws(RestTargetError) {
    method = try reader.choice("method") ?? .post
    url = try reader.required("url", reader.template("url"))
    urlPath = try reader.path("urlPath", taking: .header)
    idPath = try reader.path("idPath", taking: .header)
    if urlPath == nil, idPath == nil { throw reader.refusal("urlPath", "needs 'urlPath' or 'idPath'") }
  }
}

extension CreateOnce.Lookup {
  fileprivate init(_ reader: TargetReader) throws(RestTargetError) {
    url = try reader.required("url", reader.template("url"))
    params = try RecordRead.parameters(reader)
    itemsPath = try reader.path("itemsPath")
    waitMs = try reader.count("waitMs") ?? 2000
  }
}

/// A JSON object whose texts are templates.
struct BodyTemplate: Sendable, Equatable {
  private let json: JSONObject

  init(_ json: JSONObject, _ key: String, _ reader: TargetReader) throws(RestTargetError) {
    self.json = json
    try BodyTemplate.check(.object(json), key, reader)
  }

  private static func check(_ value: JSONValue, _ key: String, _ reader: TargetReader) throws(RestTargetError) {
    switch value {
    case .string(let text): _ = try reader.template(text, key, for: .text)
    case .array(let elements): for element in elements { try check(element, key, reader) }
    case .object(let object): for (_, member) in object { try check(member, key, reader) }
    default: break
    }
  }

  /// Returns the JSON with all templates expanded.
  ///
  /// - Throws: `URITemplate.Problem` for the first name without a value.
  func expanded(_ values: TemplateValues) throws(URITemplate.Problem) -> JSONObject {
    try BodyTemplate.expanded(.object(json), values).objectValue ?? [:]
  }

  private static func expanded(_ value: JSONValue, _ values: TemplateValues) throws(URITemplate.Problem) -> JSONValue {
    switch value {
    case .string(let text): return .string(try URITemplate(text, for: .text).expanded { values[$0] })
    case .array(let elements):
      var list: [JSONValue] = []
      for element in elements { list.append(try expanded(element, values)) }
      return .array(list)
    case .object(let object):
      var members = JSONObject()
      for (key, member) in object { members[key] = try expanded(member, values) }
      return .object(members)
    default: return value
    }
  }
}
