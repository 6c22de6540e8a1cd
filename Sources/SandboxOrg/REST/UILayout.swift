import JSON

/// Serves `/ui-api/layout/<type>`, which layout sync downs fetch.
struct UILayout {
  private let call: Call
  private let plan: LayoutPlan
  private let layoutType: String, mode: String

  /// - Throws: 404 for objects without layouts, 400 for parameter values that the UI API does not
  ///   have.
  init(_ call: Call) throws(SandboxError) {
    self.call = call
    plan = LayoutPlan(object: try LayoutRoutes.layoutable(call))
    _ = try Self.choice("formFactor", ["Large", "Medium", "Small"], call)
    layoutType = try Self.choice("layoutType", ["Full", "Compact"], call)
    mode = try Self.choice("mode", ["View", "Create", "Edit"], call)
    if let recordType = call.request.parameter("recordTypeId"), !recordType.isEmpty,
      RecordID.normalized(recordType) != Describe.masterRecordType
    {
      throw Self.refused("recordTypeId", recordType, [Describe.masterRecordType])
    }
  }

  private static func choice(_ name: String, _ values: [String], _ call: Call) throws(SandboxError) -> String {
    guard let given = call.request.parameter(name), !given.isEmpty else { return values[0] }
    guard let value = values.first(where: { $0.lowercased() == given.lowercased() }) else {
      throw refused(name, given, values)
    }
    return value
  }

  private static func refused(_ name: String, _ given: String, _ values: [String]) -> SandboxError {
    SandboxError(
      status: 400, code: "ILLEGAL_QUERY_PARAMETER_VALUE",
      message: "\(name): '\(given)' is not one of \(values.joined(separator: ", "))")
  }

  func reply() -> ServerReply {
    let sections =
      layoutType == "Compact"
      ? [LayoutPlan.Section(heading: "", columns: 1, fields: plan.compactFields)] : plan.sections
    let id = layoutType == "Compact" ? JSONValue.null : .string(plan.id("00h", 0, in: call.org.schema))
    var layout: JSONObject = [
      "id": id, "layoutType": .string(layoutType), "mode": .string(mode), "objectApiName": .string(plan.object.name),
      "recordTypeId": .string(Describe.masterRecordType), "saveOptions": [],
      "sections": .array(sections.enumerated().map { section($0, $1) }),
    ]
    let tag = EntityTag.of(layout.serialized())
    layout["eTag"] = .string(String(tag.dropFirst().dropLast()))
    return .json(200, .object(layout), headers: [("ETag", tag)])
  }

  private func section(_ index: Int, _ section: LayoutPlan.Section) -> JSONValue {
    let rows = stride(from: 0, to: section.fields.count, by: section.columns).map { start -> JSONValue in
      let fields = section.fields[start..<min(start + section.columns, section.fields.count)]
      return .object(["layoutItems": .array(fields.map(item))])
    }
    return .object([
      "collapsible": false, "columns": .integer(Int64(section.columns)),
      "heading": section.heading.isEmpty ? .null : .string(section.heading),
      "id": .string(plan.id("01B", index, in: call.org.schema)), "layoutRows": .array(rows),
      "rows": .integer(Int64(rows.count)), "useHeading": .bool(!section.heading.isEmpty),
    ])
  }

  private func item(_ field: FieldSchema) -> JSONValue {
    let component: JSONObject = [
      "apiName": .string(field.name), "componentType": "Field", "label": .string(field.label),
    ]
    return .object([
      "editableForNew": .bool(plan.isEditable(field, onCreate: true)),
      "editableForUpdate": .bool(plan.isEditable(field, onCreate: false)), "label": .string(field.label),
      "layoutComponents": [.object(component)],
      "lookupIdApiName": field.type == .reference ? .string(field.name) : .null,
      "required": .bool(plan.isRequired(field)), "sortable": .bool(field.isSortable),
    ])
  }

  /// Returns the UI API's name of a type.
  static func dataType(_ type: FieldType) -> String {
    switch type {
    case .id, .reference: return "Reference"
    case .textarea: return "TextArea"
    case .datetime: return "DateTime"
    case .combobox: return "ComboBox"
    case .multipicklist: return "MultiPicklist"
    default: return type.rawValue.prefix(1).uppercased() + type.rawValue.dropFirst()
    }
  }
}
