extension OrgSchema {
  static let supportCase = ObjectSchema(
    "Case", plural: "Cases", prefix: "500", traits: .standard.subtracting(.owner),
    fields: [
      Fields.idLookup(
        Fields.readOnly(
          FieldSchema("CaseNumber", .string, 30).with {
            $0.isNameField = true
            $0.computation = .autoNumber(start: 1000, format: "{00000000}")
          })),
      FieldSchema("Subject", .string, 255),
      Fields.picklist("Status", ["New", "Working", "Escalated", "Closed"], initial: "New"),
      Fields.picklist("Priority", ["High", "Medium", "Low"], initial: "Medium"),
      Fields.picklist("Origin", ["Phone", "Email", "Web"], label: "Case Origin"),
      Fields.picklist("Type", ["Problem", "Feature Request", "Question"], label: "Case Type"),
      Fields.picklist("Reason", ["Installation", "Performance", "Breakdown", "Feedback", "Other"], label: "Case Reason"),
      Fields.reference("ContactId", to: ["Contact"], children: "Cases", onDelete: .restrict),
      Fields.reference("AccountId", to: ["Account"], children: "Cases", onDelete: .restrict).with {
        $0.computation = .inherited(reference: "ContactId", field: "AccountId")
      },
      Fields.reference("ParentId", to: ["Case"], children: "Cases", label: "Parent Case ID"),
      Fields.reference("AssetId", to: ["Asset"], children: "Cases"), Fields.longText("Description"),
      FieldSchema("Comments", .textarea, 4_000, label: "Internal Comments"), FieldSchema("SuppliedName", .string, 80),
      FieldSchema("SuppliedEmail", .email, 80), FieldSchema("SuppliedPhone", .string, 40),
      FieldSchema("SuppliedCompany", .string, 80),
      Fields.flag("IsClosed", label: "Closed", field: "Status", values: ["Closed"]),
      Fields.readOnly(
        FieldSchema("ClosedDate", .datetime).with { $0.computation = .moment(field: "Status", values: ["Closed"]) }),
      Fields.flag("IsEscalated", label: "Escalated", field: "Status", values: ["Escalated"]), SystemFields.queueOwner,
      Fields.recordType,
    ])

  static let caseComment = ObjectSchema(
    "CaseComment", plural: "Case Comments", prefix: "00a", traits: .standard.subtracting([.owner, .recent]),
    fields: [
      required("ParentId", "Case", children: "CaseComments"), FieldSchema("CommentBody", .textarea, 4_000, label: "Body"),
      FieldSchema("IsPublished", .boolean, label: "Published"),
    ])

  static let asset = ObjectSchema(
    "Asset", plural: "Assets", prefix: "02i",
    fields: [
      Fields.name(255, label: "Asset Name"),
      Fields.reference("AccountId", to: ["Account"], children: "Assets", onDelete: .cascade),
      Fields.reference("ContactId", to: ["Contact"], children: "Assets", onDelete: .cascade),
      Fields.reference("Product2Id", to: ["Product2"], "Product2", children: "Assets"),
      FieldSchema("SerialNumber", .string, 80), FieldSchema("InstallDate", .date), FieldSchema("PurchaseDate", .date),
      Fields.picklist("Status", ["Shipped", "Installed", "Registered", "Obsolete"]), Fields.number("Price", .currency, 18, 0),
      Fields.number("Quantity", .double, 12, 2), Fields.longText("Description"), Fields.recordType,
    ])

  private static let whats = ["Account", "Opportunity", "Case", "Asset", "Campaign"]

  private static func activityLinks(_ children: String) -> [FieldSchema] {
    [
      Fields.reference("WhoId", to: ["Contact", "Lead"], children: children, onDelete: .cascade, label: "Name ID"),
      Fields.reference("WhatId", to: whats, children: children, onDelete: .cascade, label: "Related To ID"),
      Fields.readOnly(
        Fields.reference("AccountId", to: ["Account"], children: nil).with {
          $0.computation = .inherited(reference: "WhoId", field: "AccountId")
        }),
    ]
  }

  static let task = ObjectSchema(
    "Task", plural: "Tasks", prefix: "00T",
    fields: [
      FieldSchema("Subject", .combobox, 255).with {
        $0.isNameField = true
        $0.picklist = ["Call", "Email", "Send Letter", "Other"]
      },
      Fields.picklist("Status", ["Not Started", "In Progress", "Completed", "Deferred"], initial: "Not Started"),
      Fields.picklist("Priority", ["High", "Normal", "Low"], initial: "Normal"),
      FieldSchema("ActivityDate", .date, label: "Due Date Only"),
    ] + activityLinks("Tasks") + [
      Fields.longText("Description"), Fields.flag("IsClosed", label: "Closed", field: "Status", values: ["Completed"]),
      Fields.flag("IsHighPriority", label: "High Priority", field: "Priority", values: ["High"]), Fields.recordType,
    ])

  static let event = ObjectSchema(
    "Event", plural: "Events", prefix: "00U",
    rules: [
      ValidationRule(
        condition: "EndDateTime < StartDateTime", message: "The end of the event must not be before its start.",
        field: "EndDateTime")
    ],
    fields: [
      FieldSchema("Subject", .combobox, 255).with {
        $0.isNameField = true
        $0.picklist = ["Call", "Email", "Meeting", "Other"]
      },
      FieldSchema("Location", .string, 255), FieldSchema("IsAllDayEvent", .boolean, label: "All-Day Event"),
      Fields.required(FieldSchema("StartDateTime", .datetime, label: "Start Date Time")),
      Fields.required(FieldSchema("EndDateTime", .datetime, label: "End Date Time")),
      Fields.readOnly(
        FieldSchema("ActivityDate", .date, label: "Due Date Only").with { $0.computation = .formula("LEFT(StartDateTime, 10)") }),
    ] + activityLinks("Events") + [Fields.longText("Description"), Fields.recordType])
}
