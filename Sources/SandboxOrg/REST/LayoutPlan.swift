import JSON

/// The page layout of an object, derived from the schema; the same for every user and form factor.
struct LayoutPlan {
  struct Section {
    let heading: String
    let columns: Int
    let fields: [FieldSchema]
  }

  let object: ObjectSchema

  /// The sections of a full layout: information, addresses, description, system.
  var sections: [Section] {
    let own = object.fields.filter { isShown($0) }
    let addresses = own.filter { $0.type == .address }
    let texts = own.filter { $0.type == .textarea && $0.compoundName == nil }
    let rest = own.filter { $0.type != .address && $0.type != .textarea }
    let system = ["CreatedById", "LastModifiedById"].compactMap { object.field($0) }
    return [
      Section(heading: "\(object.label) Information", columns: 2, fields: rest),
      Section(heading: "Address Information", columns: 2, fields: addresses),
      Section(heading: "Description Information", columns: 1, fields: texts),
      Section(heading: "System Information", columns: 2, fields: system),
    ].filter { !$0.fields.isEmpty }
  }

  /// The name and the next few fields that identify a record.
  var compactFields: [FieldSchema] {
    let name = object.nameField.map { [$0] } ?? []
    let others = object.fields.filter {
      isShown($0) && !$0.isNameField && $0.isSortable && $0.type != .boolean && $0.isCreateable
        && !Self.nameParts.contains($0.name)
    }
    return Array((name + others).prefix(Tuning.compactFields))
  }

  /// Fields that are part of the name, which is shown instead.
  private static let nameParts: Set<String> = ["FirstName", "LastName", "Salutation"]

  private func isShown(_ field: FieldSchema) -> Bool {
    guard field.compoundName == nil, field.type != .id, field.type != .base64 else { return false }
    if Self.nameParts.contains(field.name), object.nameField?.isCreateable == false { return false }
    return field.isCreateable || field.computation != nil
  }

  /// Returns true if a field can be edited; a person's name through its parts.
  func isEditable(_ field: FieldSchema, onCreate: Bool) -> Bool {
    if field.isNameField || field.type == .address { return object.isCreateable && !field.isAutoNumber }
    return onCreate ? field.isCreateable : field.isUpdateable
  }

  func isRequired(_ field: FieldSchema) -> Bool {
    field.isRequired || (field.isNameField && !field.isCreateable && object.field("LastName")?.isRequired == true)
  }

  /// Returns ids of layouts and sections, derived from the object's position in the schema.
  func id(_ prefix: String, _ number: Int, in schema: OrgSchema) -> String {
    let place = schema.objects.firstIndex { $0.name == object.name } ?? 0
    return RecordID.make(prefix: prefix, sequence: Int64(place * 100 + number + 1))
  }
}
