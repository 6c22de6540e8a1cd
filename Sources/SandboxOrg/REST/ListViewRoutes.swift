import JSON

/// Serves list views: all rows of an object, and those the caller owns.
enum ListViewRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "/sobjects/:type/listviews", list)
    table.data("GET", "/sobjects/:type/listviews/:view", summary)
    table.data("GET", "/sobjects/:type/listviews/:view/describe", describe)
    table.data("GET", "/sobjects/:type/listviews/:view/results", results)
  }

  private struct View {
    let id: String, name: String, label: String
    let scope: String
  }

  private static func views(_ object: ObjectSchema, _ call: Call) -> [View] {
    let place = call.org.schema.objects.firstIndex { $0.name == object.name } ?? 0
    func id(_ number: Int) -> String { RecordID.make(prefix: "00B", sequence: Int64(place * 10 + number)) }
    let plain = object.labelPlural.filter { !$0.isWhitespace }
    let all = View(id: id(1), name: "All\(plain)", label: "All \(object.labelPlural)", scope: "everything")
    guard object.field("OwnerId") != nil else { return [all] }
    return [all, View(id: id(2), name: "My\(plain)", label: "My \(object.labelPlural)", scope: "mine")]
  }

  private static func found(_ call: Call) throws -> (ObjectSchema, View) {
    let object = try listable(call)
    let text = call.parameter("view")
    guard let view = views(object, call).first(where: { $0.id == RecordID.normalized(text) || $0.name == text }) else {
      throw SandboxError.notFound()
    }
    return (object, view)
  }

  private static func listable(_ call: Call) throws(SandboxError) -> ObjectSchema {
    let object = try call.object()
    guard object.traits.contains(.recent) else { throw .notFound() }
    return object
  }

  private static func list(_ call: Call) throws -> ServerReply {
    let object = try listable(call)
    let entries = views(object, call).map { JSONValue.object(entry($0, object, call)) }
    return .json(
      200,
      .object([
        "done": true, "listviews": .array(entries), "nextRecordsUrl": nil, "size": .integer(Int64(entries.count)),
        "sobjectType": .string(object.name),
      ]))
  }

  private static func entry(_ view: View, _ object: ObjectSchema, _ call: Call) -> JSONObject {
    let url = "\(call.dataRoot)/sobjects/\(object.name)/listviews/\(view.id)"
    return [
      "describeUrl": .string(url + "/describe"), "developerName": .string(view.name), "id": .string(view.id),
      "label": .string(view.label), "resultsUrl": .string(url + "/results"), "soqlCompatible": true, "url": .string(url),
    ]
  }

  private static func summary(_ call: Call) throws -> ServerReply {
    let (object, view) = try found(call)
    return .json(200, .object(entry(view, object, call)))
  }

  // MARK: Contents

  private static func columns(_ object: ObjectSchema) -> [FieldSchema] {
    let all =
      LayoutPlan(object: object).compactFields
      + ["Id", "CreatedDate", "LastModifiedDate", "SystemModstamp"].compactMap {
        object.field($0)
      }
    return all.filter { $0.type != .base64 }
  }

  private static func statement(_ object: ObjectSchema, _ view: View) -> String {
    let list = columns(object).map(\.name).joined(separator: ", ")
    let order = object.nameField.map { " ORDER BY \($0.name) ASC NULLS FIRST, Id ASC NULLS FIRST" } ?? ""
    return "SELECT \(list) FROM \(object.name) USING SCOPE \(view.scope)\(order)"
  }

  private static func describe(_ call: Call) throws -> ServerReply {
    let (object, view) = try found(call)
    let order = object.nameField.map { name -> JSONValue in
      .object(["fieldNameOrPath": .string(name.name), "nullsPosition": "first", "sortDirection": "ascending"])
    }
    return .json(
      200,
      .object([
        "columns": .array(columns(object).map(column)), "id": .string(view.id), "orderBy": .array(order.map { [$0] } ?? []),
        "query": .string(statement(object, view)), "scope": .string(view.scope), "sobjectType": .string(object.name),
        "whereCondition": ["conditions": [], "conjunction": "and"],
      ]))
  }

  private static func column(_ field: FieldSchema) -> JSONValue {
    .object([
      "ascendingLabel": nil, "descendingLabel": nil, "fieldNameOrPath": .string(field.name),
      "hidden": .bool(field.isReadOnly && field.computation == nil), "label": .string(field.label),
      "selectListItem": .string(field.name),
      "sortDirection": nil, "sortIndex": nil, "sortable": .bool(field.isSortable), "type": .string(field.type.rawValue),
    ])
  }

  private static func results(_ call: Call) throws -> ServerReply {
    let (object, view) = try found(call)
    let limit = call.request.parameter("limit").flatMap { Int($0) } ?? 25
    let offset = call.request.parameter("offset").flatMap { Int($0) } ?? 0
    guard (1...Tuning.listViewRows).contains(limit), (0...Tuning.maximumOffset).contains(offset) else {
      throw SandboxError(
        status: 400, code: "ILLEGAL_QUERY_PARAMETER_VALUE",
        message: "limit may be 1 to \(Tuning.listViewRows), offset 0 to \(Tuning.maximumOffset)")
    }
    let runner = QueryRunner(org: call.org, version: call.version, userId: call.userId, pageSize: Tuning.maximumPageSize)
    let query = "\(statement(object, view)) LIMIT \(limit) OFFSET \(offset)"
    let answer = try JSONValue(parsing: try runner.run(query, includeDeleted: false))
    let fields = columns(object)
    let records = (answer["records"]?.arrayValue ?? []).map { record -> JSONValue in
      let values = fields.map { field -> JSONValue in
        let value = record[field.name] ?? .null
        return .object([
          "fieldNameOrPath": .string(field.name), "value": value.isNull ? .null : .string(value.stringValue ?? value.text),
        ])
      }
      return .object(["columns": .array(values)])
    }
    return .json(
      200,
      .object([
        "columns": .array(fields.map(column)), "developerName": .string(view.name), "done": .bool(records.count < limit),
        "id": .string(view.id), "label": .string(view.label), "records": .array(records),
        "size": .integer(Int64(records.count)),
      ]))
  }
}
