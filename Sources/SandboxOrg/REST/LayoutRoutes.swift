import JSON

/// Serves record layouts, in the formats of the describe resources and of the UI API.
enum LayoutRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "/sobjects/:type/describe/layouts", layouts)
    table.data("GET", "/sobjects/:type/describe/layouts/:recordType", layout)
    table.data("GET", "/sobjects/:type/describe/namedLayouts/:name", namedLayout)
    table.data("GET", "/sobjects/:type/describe/approvalLayouts") { call in
      _ = try layoutable(call)
      return .json(200, ["approvalLayouts": []])
    }
    table.data("GET", "/sobjects/:type/describe/compactLayouts", compactLayouts)
    table.data("GET", "/compactLayouts", compactLayoutsOfSeveral)
    table.data("GET", "/ui-api/layout/:type") { call in try UILayout(call).reply() }
    table.data("GET", "/ui-api/object-info/:type", objectInfo)
  }

  /// - Throws: 404 for objects without layouts.
  static func layoutable(_ call: Call) throws(SandboxError) -> ObjectSchema {
    let object = try call.object()
    guard object.traits.contains(.layout) else { throw .notFound() }
    return object
  }

  // MARK: Describe

  private static func layouts(_ call: Call) throws -> ServerReply {
    let object = try layoutable(call)
    let url = "\(call.dataRoot)/sobjects/\(object.name)/describe/layouts/\(Describe.masterRecordType)"
    let plan = LayoutPlan(object: object)
    let mapping: JSONObject = [
      "available": true, "defaultRecordTypeMapping": true, "layoutId": .string(plan.id("00h", 0, in: call.org.schema)),
      "master": true, "name": "Master", "picklistsForRecordType": [],
      "recordTypeId": .string(Describe.masterRecordType), "urls": .object(["layout": .string(url)]),
    ]
    return .json(
      200,
      .object([
        "layouts": [.object(body(object, call))], "recordTypeMappings": [.object(mapping)],
        "recordTypeSelectorRequired": [false],
      ]))
  }

  private static func layout(_ call: Call) throws -> ServerReply {
    let object = try layoutable(call)
    let wanted = RecordID.normalized(call.parameter("recordType"))
    let types = try RecordTypes(connection: call.org.connection).list(of: object).map(\.id) + [Describe.masterRecordType]
    guard let wanted, types.contains(wanted) else {
      throw SandboxError.notFound()
    }
    return .json(200, .object(body(object, call)))
  }

  /// Answers with a named layout. Users have one of this name in every org.
  private static func namedLayout(_ call: Call) throws -> ServerReply {
    let object = try layoutable(call)
    guard object.name == "User", call.parameter("name").lowercased() == "useralt" else { throw SandboxError.notFound() }
    return .json(200, .object(["layouts": [.object(body(object, call))]]))
  }

  private static func body(_ object: ObjectSchema, _ call: Call) -> JSONObject {
    let plan = LayoutPlan(object: object)
    let id = plan.id("00h", 0, in: call.org.schema)
    let sections = plan.sections.enumerated().map { index, section -> JSONValue in
      self.section(section, plan, id: plan.id("01B", index, in: call.org.schema), layout: id, call)
    }
    let related = call.org.schema.references(to: object.name).compactMap { child, field in
      field.childRelationshipName.map { relatedList(child, field, $0) }
    }
    return [
      "buttonLayoutSection": ["detailButtons": []], "detailLayoutSections": .array(sections),
      "editLayoutSections": .array(sections), "feedView": nil, "highlightsPanelLayoutSection": nil, "id": .string(id),
      "multirowEditLayoutSections": [], "offlineLinks": [], "quickActionList": ["quickActionListItems": []],
      "relatedContent": nil, "relatedLists": .array(related), "saveOptions": [],
    ]
  }

  private static func section(
    _ section: LayoutPlan.Section, _ plan: LayoutPlan, id: String, layout: String, _ call: Call
  ) -> JSONValue {
    let describe = Describe(call: call)
    let rows = stride(from: 0, to: section.fields.count, by: section.columns).map { start -> JSONValue in
      let fields = section.fields[start..<min(start + section.columns, section.fields.count)]
      let items = fields.enumerated().map { item($1, plan, describe, tabOrder: start + $0 + 1) }
      return .object(["layoutItems": .array(items), "numItems": .integer(Int64(items.count))])
    }
    return .object([
      "collapsed": false, "columns": .integer(Int64(section.columns)), "heading": .string(section.heading),
      "layoutRows": .array(rows), "layoutSectionId": .string(id), "parentLayoutId": .string(layout),
      "rows": .integer(Int64(rows.count)), "tabOrder": "LeftToRight", "useCollapsibleSection": true, "useHeading": true,
    ])
  }

  private static func item(
    _ field: FieldSchema, _ plan: LayoutPlan, _ describe: Describe, tabOrder: Int
  ) -> JSONValue {
    let component: JSONObject = [
      "components": [], "details": describe.field(plan.object, field), "displayLines": field.type == .textarea ? 6 : 1,
      "tabOrder": .integer(Int64(tabOrder)), "type": "Field", "value": .string(field.name),
    ]
    return .object([
      "editableForNew": .bool(plan.isEditable(field, onCreate: true)),
      "editableForUpdate": .bool(plan.isEditable(field, onCreate: false)), "label": .string(field.label),
      "layoutComponents": [.object(component)], "placeholder": false, "required": .bool(plan.isRequired(field)),
    ])
  }

  private static func relatedList(_ child: ObjectSchema, _ field: FieldSchema, _ name: String) -> JSONValue {
    let columns = LayoutPlan(object: child).compactFields.map { column -> JSONValue in
      .object([
        "field": .string("\(child.name).\(column.name)"), "fieldApiName": .string(column.name), "format": nil,
        "label": .string(column.label), "lookupId": nil, "name": .string(column.name), "sortable": .bool(column.isSortable),
      ])
    }
    return .object([
      "accessLevelRequiredForCreate": nil, "buttons": [], "columns": .array(columns), "custom": .bool(child.isCustom),
      "field": .string(field.name), "label": .string(child.labelPlural), "limitRows": 5, "name": .string(name),
      "sobject": .string(child.name), "sort": [],
    ])
  }

  // MARK: Compact layouts

  private static func compactLayouts(_ call: Call) throws -> ServerReply {
    .json(200, .object(compact(try layoutable(call), call)))
  }

  /// Answers `?q=Account,Contact` with compact layouts by object name.
  private static func compactLayoutsOfSeveral(_ call: Call) throws -> ServerReply {
    var answer = JSONObject()
    for name in FieldList.split(call.request.parameter("q") ?? "") {
      let object = try call.org.object(name)
      guard object.traits.contains(.layout) else { throw SandboxError.notFound() }
      answer[object.name] = compact(object, call)["compactLayouts"]?.arrayValue?.first ?? .null
    }
    return .json(200, .object(answer))
  }

  private static func compact(_ object: ObjectSchema, _ call: Call) -> JSONObject {
    let plan = LayoutPlan(object: object)
    let describe = Describe(call: call)
    let items = plan.compactFields.enumerated().map { item($1, plan, describe, tabOrder: $0 + 1) }
    let url = "\(call.dataRoot)/sobjects/\(object.name)/describe/compactLayouts"
    return [
      "compactLayouts": [
        .object([
          "actions": [], "fieldItems": .array(items), "id": nil, "imageItems": [], "label": "System Default",
          "name": "SYSTEM", "objectType": .string(object.name),
        ])
      ],
      "defaultCompactLayoutId": nil,
      "recordTypeCompactLayoutMappings": [
        .object([
          "available": true, "compactLayoutId": nil, "compactLayoutName": "SYSTEM",
          "recordTypeId": .string(Describe.masterRecordType), "recordTypeName": "Master",
          "urls": .object(["compactLayout": .string("\(url)/\(Describe.masterRecordType)")]),
        ])
      ],
      "urls": .object(["primary": .string("\(url)/primary")]),
    ]
  }

  // MARK: UI API

  private static func objectInfo(_ call: Call) throws -> ServerReply {
    let object = try call.object()
    let fields = object.fields.map { field -> (String, JSONValue) in
      (
        field.name,
        .object([
          "apiName": .string(field.name), "calculated": .bool(field.isGenerated), "compound": .bool(field.type.isCompound),
          "createable": .bool(field.isCreateable), "custom": .bool(field.isCustom),
          "dataType": .string(UILayout.dataType(field.type)), "label": .string(field.label),
          "length": .integer(Int64(field.length)), "nameField": .bool(field.isNameField),
          "referenceToInfos": .array(field.referenceTo.map { .object(["apiName": .string($0)]) }),
          "relationshipName": field.relationshipName.map { .string($0) } ?? .null, "required": .bool(field.isRequired),
          "updateable": .bool(field.isUpdateable),
        ])
      )
    }
    let master: JSONObject = [
      "available": true, "defaultRecordTypeMapping": true, "master": true, "name": "Master",
      "recordTypeId": .string(Describe.masterRecordType),
    ]
    let info: JSONObject = [
      "apiName": .string(object.name), "createable": .bool(object.isCreateable), "custom": .bool(object.isCustom),
      "defaultRecordTypeId": .string(Describe.masterRecordType), "deletable": .bool(object.isDeletable),
      "fields": .object(JSONObject(fields)), "keyPrefix": .string(object.keyPrefix), "label": .string(object.label),
      "labelPlural": .string(object.labelPlural), "layoutable": .bool(object.traits.contains(.layout)),
      "nameFields": .array(object.nameField.map { [.string($0.name)] } ?? []), "queryable": true,
      "recordTypeInfos": .object([Describe.masterRecordType: .object(master)]),
      "searchable": .bool(object.traits.contains(.search)), "updateable": .bool(object.isUpdateable),
    ]
    return .json(200, .object(info), headers: [("ETag", EntityTag.of(info.serialized()))])
  }
}
