/// The standard objects the org starts with, as data. Source: the standard object reference of Salesforce, reduced to
/// the fields that offline clients read and write.
extension OrgSchema {
  static let standard = OrgSchema(objects: [account, contact, user, opportunity, lead, supportCase, task])

  private static let account = ObjectSchema(
    "Account", plural: "Accounts", prefix: "001",
    fields: [
      FieldSchema("Name", .string, 255, label: "Account Name").with {
        $0.isRequired = true
        $0.isNameField = true
      },
      FieldSchema("Type", .picklist, 40, label: "Account Type").with { $0.picklist = ["Customer", "Partner", "Prospect"] },
      picklist("Industry", Seeds.industries), picklist("Rating", ["Hot", "Warm", "Cold"]),
      reference("ParentId", to: ["Account"], "Parent", children: "ChildAccounts", label: "Parent Account ID"),
      FieldSchema("Phone", .phone, 40, label: "Account Phone"), FieldSchema("Fax", .phone, 40, label: "Account Fax"),
      FieldSchema("Website", .url, 255), FieldSchema("AccountNumber", .string, 40),
      number("AnnualRevenue", .currency, 18, 0), number("NumberOfEmployees", .int, 8, 0, label: "Employees"),
    ] + address("Billing") + address("Shipping") + [longText("Account Description"), externalId])

  private static let contact = ObjectSchema(
    "Contact", plural: "Contacts", prefix: "003",
    fields: person + [
      reference("AccountId", to: ["Account"], "Account", children: "Contacts", onDelete: .cascade),
      reference("ReportsToId", to: ["Contact"], "ReportsTo", children: nil, label: "Reports To ID"),
      FieldSchema("Email", .email, 80).with { $0.isIdLookup = true },
      FieldSchema("Phone", .phone, 40, label: "Business Phone"), FieldSchema("MobilePhone", .phone, 40),
      FieldSchema("Title", .string, 128), FieldSchema("Department", .string, 80),
      picklist("LeadSource", Seeds.leadSources), FieldSchema("Birthdate", .date),
      FieldSchema("DoNotCall", .boolean), FieldSchema("HasOptedOutOfEmail", .boolean, label: "Email Opt Out"),
      number("YearsKnown__c", .double, 4, 1),
    ] + address("Mailing") + [longText("Contact Description"), externalId])

  private static let user = ObjectSchema(
    "User", plural: "Users", prefix: "005", isCreateable: false, isDeletable: false, hasOwner: false,
    fields: person + [
      FieldSchema("Username", .string, 80).with {
        $0.isRequired = true
        $0.isIdLookup = true
        $0.isUnique = true
      },
      FieldSchema("Email", .email, 128), FieldSchema("Alias", .string, 8),
      FieldSchema("IsActive", .boolean, label: "Active"), FieldSchema("UserType", .picklist, 40),
      FieldSchema("TimeZoneSidKey", .picklist, 40, label: "Time Zone"),
      FieldSchema("LanguageLocaleKey", .picklist, 40, label: "Language"), FieldSchema("Title", .string, 80),
    ])

  private static let opportunity = ObjectSchema(
    "Opportunity", plural: "Opportunities", prefix: "006",
    fields: [
      FieldSchema("Name", .string, 120, label: "Opportunity Name").with {
        $0.isRequired = true
        $0.isNameField = true
        $0.isIdLookup = true
      },
      picklist("StageName", stages, label: "Stage").with { $0.isRequired = true },
      FieldSchema("CloseDate", .date).with { $0.isRequired = true },
      reference("AccountId", to: ["Account"], "Account", children: "Opportunities", onDelete: .cascade),
      number("Amount", .currency, 18, 2), number("Probability", .percent, 3, 0),
      FieldSchema("NextStep", .string, 255), picklist("LeadSource", Seeds.leadSources), longText("Description"),
      flag("IsClosed", label: "Closed", field: "StageName", values: ["Closed Won", "Closed Lost"]),
      flag("IsWon", label: "Won", field: "StageName", values: ["Closed Won"]),
    ])

  private static let lead = ObjectSchema(
    "Lead", plural: "Leads", prefix: "00Q",
    fields: person + [
      FieldSchema("Company", .string, 255).with { $0.isRequired = true },
      picklist("Status", ["Open - Not Contacted", "Working - Contacted", "Closed"], label: "Lead Status").with {
        $0.defaultValue = "Open - Not Contacted"
      },
      FieldSchema("Email", .email, 80).with { $0.isIdLookup = true }, FieldSchema("Phone", .phone, 40),
      FieldSchema("Title", .string, 128), picklist("Industry", Seeds.industries),
      picklist("LeadSource", Seeds.leadSources), longText("Lead Description"),
    ])

  private static let supportCase = ObjectSchema(
    "Case", plural: "Cases", prefix: "500",
    fields: [
      FieldSchema("CaseNumber", .string, 30).with {
        $0.isNameField = true
        $0.isIdLookup = true
        $0.isReadOnly = true
        $0.computation = .autoNumber(start: 1000)
      },
      FieldSchema("Subject", .string, 255),
      picklist("Status", ["New", "Working", "Escalated", "Closed"]).with { $0.defaultValue = "New" },
      picklist("Priority", ["High", "Medium", "Low"]).with { $0.defaultValue = "Medium" },
      picklist("Origin", ["Phone", "Email", "Web"], label: "Case Origin"),
      reference("ContactId", to: ["Contact"], "Contact", children: "Cases", onDelete: .restrict),
      reference("AccountId", to: ["Account"], "Account", children: "Cases", onDelete: .restrict),
      longText("Description"), flag("IsClosed", label: "Closed", field: "Status", values: ["Closed"]),
    ])

  private static let task = ObjectSchema(
    "Task", plural: "Tasks", prefix: "00T",
    fields: [
      FieldSchema("Subject", .combobox, 255).with { $0.isNameField = true },
      picklist("Status", ["Not Started", "In Progress", "Completed"]).with { $0.defaultValue = "Not Started" },
      picklist("Priority", ["High", "Normal", "Low"]).with { $0.defaultValue = "Normal" },
      FieldSchema("ActivityDate", .date, label: "Due Date Only"),
      reference("WhoId", to: ["Contact", "Lead"], "Who", children: "Tasks", onDelete: .cascade, label: "Name ID"),
      reference(
        "WhatId", to: ["Account", "Opportunity", "Case"], "What", children: "Tasks", onDelete: .cascade,
        label: "Related To ID"),
      longText("Description"), flag("IsClosed", label: "Closed", field: "Status", values: ["Completed"]),
    ])

  private static let stages = ["Prospecting", "Qualification", "Proposal", "Negotiation", "Closed Won", "Closed Lost"]
}

extension OrgSchema {
  /// Salutation, first and last name, and the name made of them.
  private static let person: [FieldSchema] = [
    FieldSchema("LastName", .string, 80).with { $0.isRequired = true },
    FieldSchema("FirstName", .string, 40), picklist("Salutation", ["Mr.", "Ms.", "Mrs.", "Dr.", "Prof."]),
    FieldSchema("Name", .string, 121, label: "Full Name").with {
      $0.isNameField = true
      $0.isReadOnly = true
      $0.computation = .personName
    },
  ]

  private static let externalId = FieldSchema("External_Id__c", .string, 80).with {
    $0.isExternalId = true
    $0.isIdLookup = true
    $0.isUnique = true
  }

  private static func address(_ kind: String) -> [FieldSchema] {
    [
      FieldSchema(kind + "Street", .textarea, 255), FieldSchema(kind + "City", .string, 40),
      FieldSchema(kind + "State", .string, 80, label: "\(kind) State/Province"),
      FieldSchema(kind + "PostalCode", .string, 20, label: "\(kind) Zip/Postal Code"),
      FieldSchema(kind + "Country", .string, 80),
    ]
  }

  private static func picklist(_ name: String, _ values: [String], label: String? = nil) -> FieldSchema {
    FieldSchema(name, .picklist, 255, label: label).with { $0.picklist = values }
  }

  private static func longText(_ label: String) -> FieldSchema { FieldSchema("Description", .textarea, 32_000, label: label) }

  private static func number(
    _ name: String, _ type: FieldType, _ precision: Int, _ scale: Int, label: String? = nil
  ) -> FieldSchema {
    FieldSchema(name, type, label: label).with {
      $0.precision = precision
      $0.scale = scale
    }
  }

  private static func flag(_ name: String, label: String, field: String, values: [String]) -> FieldSchema {
    FieldSchema(name, .boolean, label: label).with {
      $0.isReadOnly = true
      $0.computation = .flag(field: field, values: values)
    }
  }

  private static func reference(
    _ name: String, to targets: [String], _ relationship: String, children: String?,
    onDelete: ParentDeleteRule = .setNull, label: String? = nil
  ) -> FieldSchema {
    FieldSchema(name, .reference, 18, label: label).with {
      $0.referenceTo = targets
      $0.relationshipName = relationship
      $0.childRelationshipName = children
      $0.onParentDelete = onDelete
    }
  }
}
