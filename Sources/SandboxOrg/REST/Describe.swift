import JSON

/// Builds describe responses from the schema.
struct Describe {
  let org: Org
  /// Such as `/services/data/v66.0`; URLs repeat the requested version.
  let dataRoot: String
  /// `http://127.0.0.1:<port>`; links to pages are absolute.
  let origin: String

  init(call: Call) {
    org = call.org
    dataRoot = call.dataRoot
    origin = call.origin
  }

  /// The record type of rows of objects without record types.
  static let masterRecordType = RecordTypes.master

  // MARK: Objects

  /// The entry of an object in describeGlobal.
  func entry(_ object: ObjectSchema) -> JSONObject {
    let isRecent = object.traits.contains(.recent)
    var entry: JSONObject = [
      "activateable": false, "associateEntityType": nil, "associateParentEntity": nil,
      "createable": .bool(object.isCreateable), "custom": .bool(object.isCustom), "customSetting": false,
      "deepCloneable": false, "deletable": .bool(object.isDeletable), "deprecatedAndHidden": false, "feedEnabled": false,
      "hasSubtypes": false, "isInterface": false, "isSubtype": false, "keyPrefix": .string(object.keyPrefix),
      "label": .string(object.label), "labelPlural": .string(object.labelPlural),
      "layoutable": .bool(object.traits.contains(.layout)), "mergeable": false, "mruEnabled": .bool(isRecent),
      "name": .string(object.name), "queryable": .bool(!object.traits.contains(.event)), "replicateable": true,
      "retrieveable": true,
      "searchable": .bool(object.traits.contains(.search)), "triggerable": .bool(object.isCreateable),
      "undeletable": .bool(object.isDeletable), "updateable": .bool(object.isUpdateable),
    ]
    entry["urls"] = .object(JSONObject(urls(object, Self.paths.map(\.key).filter { $0 != "namedLayouts" })))
    return entry
  }

  func object(_ object: ObjectSchema) throws -> JSONObject {
    let isLayoutable = JSONValue.bool(object.traits.contains(.layout))
    var description = entry(object)
    description["actionOverrides"] = []
    description["childRelationships"] = .array(
      org.schema.references(to: object.name).map { childRelationship($0.child, $0.field) })
    description["compactLayoutable"] = isLayoutable
    description["fields"] = .array(object.fields.map { field(object, $0) })
    description["listviewable"] = .bool(object.traits.contains(.recent))
    description["lookupLayoutable"] = isLayoutable
    description["namedLayoutInfos"] = []
    description["networkScopeFieldName"] = .null
    description["recordTypeInfos"] = .array(try recordTypeInfos(object))
    description["searchLayoutable"] = .bool(object.traits.contains(.search))
    description["sobjectDescribeOption"] = "FULL"
    description["supportedScopes"] =
      object.field("OwnerId") == nil
      ? [["label": "All records", "name": "everything"]]
      : [["label": "All records", "name": "everything"], ["label": "My records", "name": "mine"]]
    for name in ["defaultImplementation", "extendedBy", "extendsInterfaces", "implementedBy", "implementsInterfaces"] {
      description[name] = .null
    }
    var links = urls(object, Self.paths.map(\.key))
    links.append(("defaultValues", .string("\(dataRoot)/sobjects/\(object.name)/defaultValues?recordTypeId&fields")))
    let pages = [("uiNewRecord", "/\(object.keyPrefix)/e"), ("uiDetailTemplate", "/{ID}"), ("uiEditTemplate", "/{ID}/e")]
    links += pages.map { ($0.0, .string(origin + $0.1)) }
    description["urls"] = .object(JSONObject(links))
    return description
  }

  private static let paths: [(key: String, path: String)] = [
    ("compactLayouts", "/describe/compactLayouts"), ("rowTemplate", "/{ID}"), ("approvalLayouts", "/describe/approvalLayouts"),
    ("listviews", "/listviews"), ("describe", "/describe"), ("quickActions", "/quickActions"),
    ("layouts", "/describe/layouts"), ("namedLayouts", "/describe/namedLayouts/{name}"), ("sobject", ""),
  ]

  /// Links to the object's resources; layouts only if it has any.
  private func urls(_ object: ObjectSchema, _ keys: [String]) -> [(String, JSONValue)] {
    let url = "\(dataRoot)/sobjects/\(object.name)"
    let hasLayouts = object.traits.contains(.layout)
    return Self.paths.filter { keys.contains($0.key) && (hasLayouts || !$0.key.lowercased().contains("layout")) }
      .map { ($0.key, .string(url + $0.path)) }
  }

  /// Describes the object's record types and the master record type.
  private func recordTypeInfos(_ object: ObjectSchema) throws -> [JSONValue] {
    let types = try RecordTypes(connection: org.connection).list(of: object)
    let hasDefault = types.contains { $0.type.isDefault }
    let master = RecordTypeSchema(name: "Master", developerName: "Master", isDefault: !hasDefault)
    return (types + [(Self.masterRecordType, master)]).map { recordTypeInfo(object, $0.id, $0.type) }
  }

  private func recordTypeInfo(_ object: ObjectSchema, _ id: String, _ type: RecordTypeSchema) -> JSONValue {
    let layout = "\(dataRoot)/sobjects/\(object.name)/describe/layouts/\(id)"
    return .object([
      "active": .bool(type.isActive), "available": .bool(type.isActive), "defaultRecordTypeMapping": .bool(type.isDefault),
      "developerName": .string(type.developerName), "master": .bool(id == Self.masterRecordType), "name": .string(type.name),
      "recordTypeId": .string(id), "urls": .object(["layout": .string(layout)]),
    ])
  }

  private func childRelationship(_ child: ObjectSchema, _ field: FieldSchema) -> JSONValue {
    .object([
      "cascadeDelete": .bool(field.onParentDelete == .cascade), "childSObject": .string(child.name),
      "deprecatedAndHidden": false, "field": .string(field.name), "junctionIdListNames": [], "junctionReferenceTo": [],
      "relationshipName": field.childRelationshipName.map { .string($0) } ?? nil,
      "restrictedDelete": .bool(field.onParentDelete == .restrict),
    ])
  }

  // MARK: Fields

  /// Describes a field, with every key that clients decode.
  func field(_ object: ObjectSchema, _ field: FieldSchema) -> JSONValue {
    var description = shape(field)
    for (name, value) in access(field) { description[name] = value }
    for (name, value) in meaning(field) { description[name] = value }
    for name in Self.alwaysFalse { description[name] = false }
    for name in Self.alwaysNull { description[name] = .null }
    return .object(JSONObject(description.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
  }

  private func shape(_ field: FieldSchema) -> JSONObject {
    let characters = field.type.isText || field.type.isReference || field.type == .base64 ? field.length : 0
    let isWhole = field.type == .int
    return [
      "name": .string(field.name), "label": .string(field.label), "type": .string(field.type.rawValue),
      "soapType": .string(field.type.soapType), "length": .integer(Int64(characters)),
      "byteLength": .integer(Int64(field.type.isText ? characters * 3 : characters)),
      "precision": .integer(Int64(isWhole ? 0 : field.precision)), "scale": .integer(Int64(field.scale)),
      "digits": .integer(Int64(isWhole ? (field.precision == 0 ? 9 : field.precision) : 0)),
      "compoundFieldName": field.compoundName.map { .string($0) } ?? .null,
      "extraTypeInfo": field.type == .textarea ? "plaintextarea" : .null,
    ]
  }

  private func access(_ field: FieldSchema) -> JSONObject {
    [
      "nillable": .bool(!field.isRequired && !field.isNeverNull && !field.isDefaulted),
      "createable": .bool(field.isCreateable), "updateable": .bool(field.isUpdateable),
      "defaultedOnCreate": .bool(field.isDefaulted), "permissionable": .bool(field.isCreateable && !field.isRequired),
      "filterable": .bool(field.isFilterable), "sortable": .bool(field.isSortable),
      "groupable": .bool(field.isGroupable),
      "aggregatable": .bool(field.isSortable && field.type != .boolean),
    ]
  }

  private func meaning(_ field: FieldSchema) -> JSONObject {
    let isPolymorphic = JSONValue.bool(field.referenceTo.count > 1)
    var formula = JSONValue.null
    if case .formula(let text)? = field.computation, field.isCustom { formula = .string(text) }
    return [
      "custom": .bool(field.isCustom), "externalId": .bool(field.isExternalId), "idLookup": .bool(field.isIdLookup),
      "unique": .bool(field.isUnique), "caseSensitive": .bool(field.isCaseSensitive),
      "nameField": .bool(field.isNameField), "calculated": .bool(formula != .null), "calculatedFormula": formula,
      "autoNumber": .bool(field.isAutoNumber), "cascadeDelete": .bool(field.onParentDelete == .cascade),
      "restrictedDelete": .bool(field.onParentDelete == .restrict),
      "defaultValue": field.defaultValue ?? (field.type == .boolean ? false : nil),
      "referenceTo": .array(field.referenceTo.map { .string($0) }),
      "relationshipName": field.relationshipName.map { .string($0) } ?? .null, "polymorphicForeignKey": isPolymorphic,
      "namePointing": isPolymorphic, "picklistValues": .array(field.picklist.map { picklistValue($0, field) }),
      "restrictedPicklist": .bool(field.isRestricted), "queryByDistance": .bool(field.type.isCompound),
      "writeRequiresMasterRead": .bool(field.isRequired && field.onParentDelete == .cascade),
    ]
  }

  private static let alwaysFalse = [
    "aiPredictionField", "dependentPicklist", "deprecatedAndHidden", "displayLocationInDecimal", "encrypted",
    "formulaTreatNullNumberAsZero", "highScaleNumber", "htmlFormatted", "searchPrefilterable",
  ]
  private static let alwaysNull = [
    "controllerName", "defaultValueFormula", "filteredLookupInfo", "inlineHelpText", "mask", "maskType",
    "referenceTargetField", "relationshipOrder",
  ]

  private func picklistValue(_ value: String, _ field: FieldSchema) -> JSONValue {
    .object([
      "active": true, "defaultValue": .bool(field.defaultValue == .string(value)), "label": .string(value),
      "validFor": nil, "value": .string(value),
    ])
  }
}
