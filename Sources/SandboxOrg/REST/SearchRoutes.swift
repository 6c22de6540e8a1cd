import JSON

/// Serves `/search` and its subresources.
enum SearchRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "/search") { call in
      guard let statement = call.request.parameter("q") else { throw noTerm }
      return .json(200, try runner(call).run(statement))
    }
    table.data("GET", "/parameterizedSearch") { call in .json(200, try parameterized(fromQuery(call), call)) }
    table.data("POST", "/parameterizedSearch") { call in .json(200, try parameterized(try call.jsonObject(), call)) }
    table.data("GET", "/search/scopeOrder", scopeOrder)
    table.data("GET", "/search/layout", layout)
  }

  private static func runner(_ call: Call) -> SearchRunner {
    SearchRunner(org: call.org, version: call.version, userId: call.userId)
  }

  private static let noTerm = SandboxError(
    status: 400, code: "MALFORMED_SEARCH", message: "No search term found. The search term must be enclosed in braces.")

  // MARK: Searches made of parameters

  /// Converts the parameters of a GET to the body of a POST:
  /// `sobject=Account&Account.fields=Id,Name&Account.limit=10`.
  private static func fromQuery(_ call: Call) -> JSONObject {
    var body = JSONObject()
    for name in ["q", "in"] { body[name] = call.request.parameter(name).map { .string($0) } }
    for name in ["overallLimit", "defaultLimit"] { body[name] = number(call.request.parameter(name)) }
    body["fields"] = call.request.parameter("fields").map { .array(FieldList.split($0).map { .string($0) }) }
    let names = call.request.query.filter { $0.name == "sobject" }.flatMap { FieldList.split($0.value) }
    body["sobjects"] = .array(
      names.map { name in
        var object: JSONObject = ["name": .string(name)]
        let fields = call.request.parameter("\(name).fields")
        object["fields"] = fields.map { .array(FieldList.split($0).map { .string($0) }) }
        object["limit"] = number(call.request.parameter("\(name).limit"))
        for key in ["where", "orderBy"] { object[key] = call.request.parameter("\(name).\(key)").map { .string($0) } }
        return .object(object)
      })
    return body
  }

  private static func number(_ text: String?) -> JSONValue? {
    text.map { text in Int64(text).map { .integer($0) } ?? .string(text) }
  }

  private static func parameterized(_ body: JSONObject, _ call: Call) throws -> [UInt8] {
    guard let text = body["q"]?.stringValue else { throw noTerm }
    do {
      let characters = Array(text.unicodeScalars)
      var search = SearchStatement(expression: try SearchExpressionParser.parse(characters[...], at: 0))
      if let scope = body["in"]?.stringValue {
        guard let found = SearchStatement.Scope(rawValue: scope.uppercased()) else {
          throw SOQLError(code: "MALFORMED_SEARCH", message: "unknown search scope: \(scope)", position: nil)
        }
        search.scope = found
      }
      search.limit = try limit("overallLimit", of: body)
      let objects = body["sobjects"]?.arrayValue ?? []
      if !objects.isEmpty { search.returning = try objects.map { try returned($0, of: body) } }
      return try runner(call).answer(search)
    } catch let error as SOQLError {
      // Parameters have no statement to which a position could refer.
      throw SandboxError(status: 400, code: error.code, message: error.message)
    }
  }

  private static func returned(_ value: JSONValue, of body: JSONObject) throws -> SearchStatement.Returned {
    guard let object = value.objectValue, let name = object["name"]?.stringValue else {
      throw SandboxError.json("each entry of sobjects needs a name")
    }
    let list = object["fields"] ?? body["fields"]
    let fields = list?.arrayValue?.compactMap(\.stringValue) ?? list?.stringValue.map { FieldList.split($0) } ?? []
    var clauses = fields.isEmpty ? "Id" : fields.joined(separator: ",")
    if let condition = object["where"]?.stringValue { clauses += " WHERE \(condition)" }
    if let order = object["orderBy"]?.stringValue { clauses += " ORDER BY \(order)" }
    if let limit = try limit("limit", of: object) ?? limit("defaultLimit", of: body) { clauses += " LIMIT \(limit)" }
    return try SOSLParser.returned("\(name)(\(clauses))")
  }

  private static func limit(_ name: String, of body: JSONObject) throws(SandboxError) -> Int? {
    guard let value = body[name], !value.isNull else { return nil }
    guard let limit = value.integerValue, (0...Int64(Int32.max)).contains(limit) else {
      throw .json("\(name) must be a number of at least 0")
    }
    return Int(limit)
  }

  // MARK: Scope and layout

  /// Answers with the objects to search first: those that the caller used recently.
  private static func scopeOrder(_ call: Call) -> ServerReply {
    let used = call.org.schema.objects.filter { !call.org.recentlyUsed.ids($0.name, of: call.userId).isEmpty }
    return .json(
      200,
      .array(
        used.map { object in
          .object(["type": .string(object.name), "url": .string("\(call.dataRoot)/sobjects/\(object.name)/describe")])
        }))
  }

  private static func layout(_ call: Call) throws -> ServerReply {
    let objects = try FieldList.split(call.request.parameter("q") ?? "").map { name in
      guard let object = call.org.schema.object(name) else { throw SandboxError.unknownType(name) }
      return object
    }
    return .json(
      200,
      .array(
        objects.map { object in
          .object([
            "errorMessages": nil, "label": "Search Results", "limitRows": 25, "objectType": .string(object.name),
            "searchColumns": .array(columns(object)),
          ])
        }))
  }

  /// Returns the name and the first few fields that users look for.
  private static func columns(_ object: ObjectSchema) -> [JSONValue] {
    let others = object.fields.filter { [.phone, .email, .url].contains($0.type) }.prefix(3)
    return ((object.nameField.map { [$0] } ?? []) + others).map { field in
      .object([
        "field": .string("\(object.name).\(field.name)"), "format": nil, "label": .string(field.label),
        "name": .string(field.name),
      ])
    }
  }
}
