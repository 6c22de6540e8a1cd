/// Files, attachments and notes.
extension OrgSchema {
  private static let fileParents = [
    "Account", "Asset", "Campaign", "Case", "Contact", "Event", "Lead", "Opportunity", "Task",
  ]

  static let attachment = ObjectSchema(
    "Attachment", plural: "Attachments", prefix: "00P", traits: .standard.subtracting(.recent),
    fields: [
      parent(children: "Attachments"), Fields.name(255, label: "File Name"),
      FieldSchema("ContentType", .string, 120), FieldSchema("Description", .textarea, 500),
      Fields.required(
        FieldSchema("Body", .base64, 25 * 1024 * 1024).with { $0.mediaTypeField = "ContentType" }),
      Fields.readOnly(FieldSchema("BodyLength", .int).with { $0.computation = .formula("LEN(Body)") }),
    ])

  static let note = ObjectSchema(
    "Note", plural: "Notes", prefix: "002", traits: .standard.subtracting(.recent),
    fields: [
      parent(children: "Notes"),
      FieldSchema("Title", .string, 80).with {
        $0.isRequired = true
        $0.isNameField = true
      },
      FieldSchema("IsPrivate", .boolean, label: "Private"), Fields.longText("Body", name: "Body"),
    ])

  private static func parent(children: String) -> FieldSchema {
    Fields.createOnly(
      Fields.required(Fields.reference("ParentId", to: fileParents, children: children, onDelete: .cascade)))
  }

  /// Created by its first version, never by a client.
  static let contentDocument = ObjectSchema(
    "ContentDocument", label: "Content Document", plural: "Content Documents", prefix: "069",
    traits: [.update, .delete, .recent, .search, .owner, .fileDocument],
    fields: [
      FieldSchema("Title", .string, 255).with {
        $0.isRequired = true
        $0.isNameField = true
      },
      Fields.readOnly(FieldSchema("FileType", .string, 20)), Fields.readOnly(FieldSchema("FileExtension", .string, 40)),
      Fields.readOnly(FieldSchema("ContentSize", .int, label: "Size")),
      Fields.readOnly(
        Fields.reference(
          "LatestPublishedVersionId", to: ["ContentVersion"], children: nil, label: "Latest Published Version ID")),
      FieldSchema("Description", .textarea, 1_000),
    ])

  static let contentVersion = ObjectSchema(
    "ContentVersion", label: "Content Version", plural: "Content Versions", prefix: "068",
    traits: [.create, .update, .search, .owner, .fileVersion],
    fields: [
      Fields.createOnly(
        Fields.reference("ContentDocumentId", to: ["ContentDocument"], children: "ContentVersions", onDelete: .cascade)),
      FieldSchema("Title", .string, 255).with { $0.isNameField = true },
      Fields.createOnly(Fields.required(FieldSchema("PathOnClient", .string, 500))),
      Fields.createOnly(
        Fields.required(FieldSchema("VersionData", .base64, 37 * 1024 * 1024).with { $0.isKeptApart = true })),
      Fields.createOnly(
        Fields.reference(
          "FirstPublishLocationId", to: fileParents + ["User"], children: nil, label: "First Publish Location ID")),
      FieldSchema("Description", .textarea, 1_000), FieldSchema("ReasonForChange", .string, 1_000),
      Fields.readOnly(FieldSchema("VersionNumber", .string, 20)), Fields.readOnly(FieldSchema("IsLatest", .boolean)),
      Fields.readOnly(FieldSchema("ContentSize", .int, label: "Size")), Fields.readOnly(FieldSchema("Checksum", .string, 50)),
      Fields.readOnly(FieldSchema("FileType", .string, 20)), Fields.readOnly(FieldSchema("FileExtension", .string, 40)),
    ])

  static let contentDocumentLink = ObjectSchema(
    "ContentDocumentLink", label: "Content Document Link", plural: "Content Document Links", prefix: "06A",
    traits: [.create, .update, .delete, .fileShare],
    fields: [
      required("ContentDocumentId", "ContentDocument", children: "ContentDocumentLinks"),
      Fields.createOnly(
        Fields.required(
          Fields.reference(
            "LinkedEntityId", to: fileParents + ["User", "Group"], children: "ContentDocumentLinks", onDelete: .cascade))),
      Fields.picklist("ShareType", ["V", "C", "I"], initial: "V", length: 40).with { $0.isRestricted = true },
      Fields.picklist("Visibility", ["AllUsers", "InternalUsers", "SharedUsers"], initial: "AllUsers", length: 40).with {
        $0.isRestricted = true
      },
    ])
}
