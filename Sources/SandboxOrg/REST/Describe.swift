import JSON

/// Describe answers, from the schema.
struct Describe {
  let call: Call

  /// What describeGlobal lists of an object.
  func entry(_ object: ObjectSchema) -> JSONObject {
    let url = "\(call.dataRoot)/sobjects/\(object.name)"
    let writable = JSONValue.bool(object.isCreateable)
    return [
      "activateable": false, "associateEntityType": nil, "associateParentEntity": nil, "createable": writable,
      "custom": false, "customSetting": false, "deepCloneable": false, "deletable": .bool(object.isDeletable),
      "deprecatedAndHidden": false, "feedEnabled": false, "hasSubtypes": false, "isInterface": false, "isSubtype": false,
      "keyPrefix": .string(object.keyPrefix), "label": .string(object.label), "labelPlural": .string(object.labelPlural),
      "layoutable": true, "mergeable": false, "mruEnabled": true, "name": .string(object.name), "queryable": true,
      "replicateable": true, "retrieveable": true, "searchable": true, "triggerable": false, "undeletable": false,
      "updateable": true,
      "urls": .object([
        "sobject": .string(url), "describe": .string(url + "/describe"), "rowTemplate": .string(url + "/{ID}"),
      ]),
    ]
  }

  func object(_ object: ObjectSchema) -> JSONValue {
    var description = entry(object)
    description["childRelationships"] = .array(
      call.org.schema.references(to: object.name).map { childRelationship($0.child, $0.field) })
    description["fields"] = .array(object.fields.map(field))
    let layout = "\(call.dataRoot)/sobjects/\(object.name)/describe/layouts/012000000000000AAA"
    description["recordTypeInfos"] = [
      .object([
        "active": true, "available": true, "defaultRecordTypeMapping": true, "developerName": "Master", "master": true,
        "name": "Master", "recordTypeId": "012000000000000AAA", "urls": .object(["layout": .string(layout)]),
      ])
    ]
    description["sobjectDescribeOption"] = "FULL"
    description["supportedScopes"] = [
      ["label": "All records", "name": "everything"], ["label": "My records", "name": "mine"],
    ]
    return .object(description)
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

  private func field(_ field: FieldSchema) -> JSONValue {
    let isWritable = !field.isReadOnly
    let hasDefault = field.type == .boolean || field.defaultValue != nil || field.name == "OwnerId"
    var description: JSONObject = [
      "name": .string(field.name), "label": .string(field.label), "type": .string(field.type.rawValue),
      "length": .integer(Int64(field.type.isText || field.type.isReference ? field.length : 0)),
      "byteLength": .integer(Int64(field.type.isText ? field.length * 3 : field.type.isReference ? 18 : 0)),
      "precision": .integer(Int64(field.type == .int ? 0 : field.precision)), "scale": .integer(Int64(field.scale)),
      "digits": .integer(Int64(field.type == .int ? field.precision : 0)), "soapType": .string(soapType(field.type)),
      "nillable": .bool(!field.isRequired && !field.isNeverNull && !hasDefault && !isSystem(field)),
      "createable": .bool(isWritable), "updateable": .bool(isWritable), "defaultedOnCreate": .bool(hasDefault || isSystem(field)),
      "filterable": .bool(field.isFilterable), "sortable": .bool(field.isFilterable),
      "groupable": .bool(field.isFilterable && !field.type.isNumber && field.type != .datetime),
      "aggregatable": .bool(field.isFilterable && field.type != .boolean), "custom": .bool(field.isCustom),
      "externalId": .bool(field.isExternalId), "idLookup": .bool(field.isIdLookup), "unique": .bool(field.isUnique),
      "caseSensitive": false, "nameField": .bool(field.isNameField), "calculated": false,
      "autoNumber": .bool(isAutoNumber(field)), "cascadeDelete": .bool(field.onParentDelete == .cascade),
      "restrictedDelete": .bool(field.onParentDelete == .restrict),
      "defaultValue": field.defaultValue ?? (field.type == .boolean ? false : nil),
    ]
    description["referenceTo"] = .array(field.referenceTo.map { .string($0) })
    description["relationshipName"] = field.relationshipName.map { .string($0) } ?? .null
    description["polymorphicForeignKey"] = .bool(field.referenceTo.count > 1)
    description["namePointing"] = .bool(field.referenceTo.count > 1)
    description["picklistValues"] = .array(field.picklist.map { picklistValue($0, field) })
    for name in Self.alwaysFalse { description[name] = false }
    for name in Self.alwaysNull { description[name] = .null }
    description["permissionable"] = .bool(isWritable && !field.isRequired)
    return .object(description)
  }

  private static let alwaysFalse = [
    "aiPredictionField", "dependentPicklist", "deprecatedAndHidden", "displayLocationInDecimal", "encrypted",
    "formulaTreatNullNumberAsZero", "highScaleNumber", "htmlFormatted", "queryByDistance", "restrictedPicklist",
    "searchPrefilterable", "writeRequiresMasterRead",
  ]
  private static let alwaysNull = [
    "calculatedFormula", "compoundFieldName", "controllerName", "defaultValueFormula", "extraTypeInfo",
    "filteredLookupInfo", "inlineHelpText", "mask", "maskType", "referenceTargetField", "relationshipOrder",
  ]

  private func picklistValue(_ value: String, _ field: FieldSchema) -> JSONValue {
    .object([
      "active": true, "defaultValue": .bool(field.defaultValue == .string(value)), "label": .string(value),
      "validFor": nil, "value": .string(value),
    ])
  }

  private func isSystem(_ field: FieldSchema) -> Bool {
    field.isReadOnly && field.computation == nil
  }

  private func isAutoNumber(_ field: FieldSchema) -> Bool {
    if case .autoNumber? = field.computation { return true }
    return false
  }

  private func soapType(_ type: FieldType) -> String {
    switch type {
    case .id, .reference: return "tns:ID"
    case .boolean: return "xsd:boolean"
    case .int: return "xsd:int"
    case .double, .currency, .percent: return "xsd:double"
    case .date: return "xsd:date"
    case .datetime: return "xsd:dateTime"
    default: return "xsd:string"
    }
  }
}
