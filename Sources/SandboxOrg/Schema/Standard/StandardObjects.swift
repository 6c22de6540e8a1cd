/// The standard objects with which an org starts. Source: Salesforce's object reference, reduced to
/// the fields that offline clients read and write. Dependent picklists, record types and other
/// features that such clients do not use are left out.
extension OrgSchema {
  static let standard = OrgSchema(
    objects: [
      account, contact, user, opportunity, lead, supportCase, task, event, campaign, campaignMember, opportunityContactRole,
      asset, product, priceBook, priceBookEntry, opportunityLineItem, order, orderItem, contract, caseComment, attachment, note,
      contentDocument, contentVersion, contentDocumentLink,
    ] + setup)
}

/// Short forms for common fields.
enum Fields {
  /// Salutation, first and last name, and the full name derived from them.
  static let person: [FieldSchema] = [
    required(FieldSchema("LastName", .string, 80)), FieldSchema("FirstName", .string, 40),
    picklist("Salutation", ["Mr.", "Ms.", "Mrs.", "Dr.", "Prof."], length: 40),
    FieldSchema("Name", .string, 121, label: "Full Name").with {
      $0.isNameField = true
      $0.isReadOnly = true
      $0.computation = .formula("TRIM(FirstName & \" \" & LastName)")
    },
  ]

  /// The key of a row in other systems.
  static let externalId = FieldSchema("External_Id__c", .string, 80).with {
    $0.isExternalId = true
    $0.isIdLookup = true
    $0.isUnique = true
  }

  /// Null for objects without record types.
  static let recordType = reference("RecordTypeId", to: ["RecordType"], children: nil, label: "Record Type ID")

  static func name(_ length: Int, label: String) -> FieldSchema {
    FieldSchema("Name", .string, length, label: label).with {
      $0.isRequired = true
      $0.isNameField = true
    }
  }

  static func required(_ field: FieldSchema) -> FieldSchema { field.with { $0.isRequired = true } }
  static func readOnly(_ field: FieldSchema) -> FieldSchema { field.with { $0.isReadOnly = true } }
  static func createOnly(_ field: FieldSchema) -> FieldSchema { field.with { $0.isCreateOnly = true } }
  static func idLookup(_ field: FieldSchema) -> FieldSchema { field.with { $0.isIdLookup = true } }

  /// Returns the parts of an address and their compound. Labels of the parts start with `kind`.
  static func address(_ kind: String) -> [FieldSchema] {
    let place = kind.isEmpty ? "" : "\(kind) "
    let parts = [
      FieldSchema(kind + "Street", .textarea, 255), FieldSchema(kind + "City", .string, 40),
      FieldSchema(kind + "State", .string, 80, label: "\(place)State/Province"),
      FieldSchema(kind + "PostalCode", .string, 20, label: "\(place)Zip/Postal Code"),
      FieldSchema(kind + "Country", .string, 80), number(kind + "Latitude", .double, 18, 15),
      number(kind + "Longitude", .double, 18, 15), picklist(kind + "GeocodeAccuracy", geocodeAccuracies, length: 40),
    ]
    let compound = FieldSchema(kind + "Address", .address).with {
      $0.isReadOnly = true
      $0.computation = .compound(
        [
          "City", "Country", "GeocodeAccuracy", "Latitude", "Longitude", "PostalCode", "State", "Street",
        ].map { CompoundPart(key: $0.prefix(1).lowercased() + $0.dropFirst(), field: kind + $0) })
    }
    return parts.map { part in part.with { $0.compoundName = compound.name } } + [compound]
  }

  private static let geocodeAccuracies = [
    "Address", "NearAddress", "Block", "Street", "ExtendedZip", "Zip", "Neighborhood", "City", "County", "State", "Unknown",
  ]

  /// - Parameter initial: The value of new rows.
  static func picklist(
    _ name: String, _ values: [String], initial: String? = nil, label: String? = nil, length: Int = 255
  ) -> FieldSchema {
    FieldSchema(name, .picklist, length, label: label).with {
      $0.picklist = values
      $0.defaultValue = initial.map { .string($0) }
    }
  }

  static func longText(_ label: String, name: String = "Description") -> FieldSchema {
    FieldSchema(name, .textarea, 32_000, label: label)
  }

  static func number(
    _ name: String, _ type: FieldType, _ precision: Int, _ scale: Int, label: String? = nil
  ) -> FieldSchema {
    FieldSchema(name, type, label: label).with {
      $0.precision = precision
      $0.scale = scale
    }
  }

  /// Returns a flag that is true while a picklist has one of these values.
  static func flag(_ name: String, label: String, field: String, values: [String]) -> FieldSchema {
    FieldSchema(name, .boolean, label: label).with {
      $0.isReadOnly = true
      $0.computation = .formula(values.map { "ISPICKVAL(\(field), \"\($0)\")" }.joined(separator: " || "))
    }
  }

  /// - Parameters:
  ///   - relationship: The relationship's name in paths; nil for the field's name without `Id`.
  ///   - children: The relationship's name at the parent.
  static func reference(
    _ name: String, to targets: [String], _ relationship: String? = nil, children: String?,
    onDelete: ParentDeleteRule = .setNull, label: String? = nil
  ) -> FieldSchema {
    FieldSchema(name, .reference, 18, label: label).with {
      $0.referenceTo = targets
      $0.relationshipName = relationship ?? (name.hasSuffix("Id") ? String(name.dropLast(2)) : name)
      $0.childRelationshipName = children
      $0.onParentDelete = onDelete
    }
  }
}
