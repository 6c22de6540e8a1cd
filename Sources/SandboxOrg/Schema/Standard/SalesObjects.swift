import JSON

extension OrgSchema {
  static let account = ObjectSchema(
    "Account", plural: "Accounts", prefix: "001", traits: .standard.union(.entityTag),
    fields: [
      Fields.name(255, label: "Account Name"),
      Fields.picklist("Type", ["Customer", "Partner", "Prospect"], label: "Account Type", length: 40),
      Fields.picklist("Industry", Seeds.industries, length: 40),
      Fields.picklist("Rating", ["Hot", "Warm", "Cold"], length: 40),
      Fields.picklist("Ownership", ["Public", "Private", "Subsidiary", "Other"], length: 40),
      Fields.picklist("AccountSource", Seeds.leadSources, length: 40),
      Fields.reference("ParentId", to: ["Account"], children: "ChildAccounts", label: "Parent Account ID"),
      FieldSchema("Phone", .phone, 40, label: "Account Phone"), FieldSchema("Fax", .phone, 40, label: "Account Fax"),
      FieldSchema("Website", .url, 255), FieldSchema("AccountNumber", .string, 40),
      FieldSchema("Sic", .string, 20, label: "SIC Code"), FieldSchema("Site", .string, 80, label: "Account Site"),
      FieldSchema("TickerSymbol", .string, 20), Fields.number("AnnualRevenue", .currency, 18, 0),
      Fields.number("NumberOfEmployees", .int, 8, 0, label: "Employees"),
    ] + Fields.address("Billing") + Fields.address("Shipping") + [
      Fields.longText("Account Description"), Fields.externalId, Fields.recordType,
    ])

  static let contact = ObjectSchema(
    "Contact", plural: "Contacts", prefix: "003",
    fields: Fields.person + [
      Fields.reference("AccountId", to: ["Account"], children: "Contacts", onDelete: .cascade),
      Fields.reference("ReportsToId", to: ["Contact"], children: nil, label: "Reports To ID"),
      Fields.idLookup(FieldSchema("Email", .email, 80)), FieldSchema("Phone", .phone, 40, label: "Business Phone"),
      FieldSchema("MobilePhone", .phone, 40), FieldSchema("HomePhone", .phone, 40), FieldSchema("Fax", .phone, 40),
      FieldSchema("Title", .string, 128), FieldSchema("Department", .string, 80),
      Fields.picklist("LeadSource", Seeds.leadSources), FieldSchema("Birthdate", .date), FieldSchema("DoNotCall", .boolean),
      FieldSchema("HasOptedOutOfEmail", .boolean, label: "Email Opt Out"), Fields.number("YearsKnown__c", .double, 4, 1),
      FieldSchema("Interests__c", .multipicklist, 4_099).with { $0.picklist = ["Chess", "Golf", "Sailing", "Ski & Snow"] },
    ] + Fields.address("Mailing") + Fields.address("Other") + [
      Fields.longText("Contact Description"), Fields.externalId, Fields.recordType,
    ])

  static let opportunity = ObjectSchema(
    "Opportunity", plural: "Opportunities", prefix: "006",
    fields: [
      Fields.idLookup(Fields.name(120, label: "Opportunity Name")),
      Fields.required(Fields.picklist("StageName", stages.map(\.name), label: "Stage")),
      Fields.required(FieldSchema("CloseDate", .date)),
      Fields.reference("AccountId", to: ["Account"], children: "Opportunities", onDelete: .cascade),
      Fields.number("Amount", .currency, 18, 2),
      Fields.number("Probability", .percent, 3, 0, label: "Probability (%)").with {
        $0.computation = .follows(field: "StageName", values: byStage { .integer($0.probability) })
      },
      Fields.picklist("Type", ["New Customer", "Existing Customer"], label: "Opportunity Type"),
      Fields.picklist("LeadSource", Seeds.leadSources), FieldSchema("NextStep", .string, 255),
      Fields.reference("CampaignId", to: ["Campaign"], children: "Opportunities"),
      Fields.reference("Pricebook2Id", to: ["Pricebook2"], "Pricebook2", children: "Opportunities", label: "Price Book ID"),
      Fields.createOnly(Fields.reference("ContactId", to: ["Contact"], children: nil)), Fields.longText("Description"),
      Fields.flag("IsClosed", label: "Closed", field: "StageName", values: ["Closed Won", "Closed Lost"]),
      Fields.flag("IsWon", label: "Won", field: "StageName", values: ["Closed Won"]),
      Fields.readOnly(
        Fields.picklist("ForecastCategory", ["Omitted", "Pipeline", "BestCase", "Forecast", "Closed"], length: 40).with {
          $0.computation = .follows(field: "StageName", values: byStage { .string($0.forecast) })
        }),
      Fields.readOnly(
        Fields.number("ExpectedRevenue", .currency, 18, 2, label: "Expected Amount").with {
          $0.computation = .formula("Amount * Probability / 100")
        }),
      Fields.readOnly(
        FieldSchema("FiscalYear", .int).with { $0.computation = .formula("YEAR(CloseDate)") }),
      Fields.readOnly(
        FieldSchema("FiscalQuarter", .int).with {
          $0.computation = .formula("IF(MONTH(CloseDate) < 4, 1, IF(MONTH(CloseDate) < 7, 2, IF(MONTH(CloseDate) < 10, 3, 4)))")
        }), Fields.recordType,
    ])

  private struct Stage {
    let name: String, probability: Int64, forecast: String
  }
  private static let stages = [
    Stage(name: "Prospecting", probability: 10, forecast: "Pipeline"),
    Stage(name: "Qualification", probability: 20, forecast: "Pipeline"),
    Stage(name: "Proposal", probability: 60, forecast: "BestCase"),
    Stage(name: "Negotiation", probability: 80, forecast: "Forecast"),
    Stage(name: "Closed Won", probability: 100, forecast: "Closed"),
    Stage(name: "Closed Lost", probability: 0, forecast: "Omitted"),
  ]
  private static func byStage(_ value: (Stage) -> JSONValue) -> [String: JSONValue] {
    Dictionary(uniqueKeysWithValues: stages.map { ($0.name, value($0)) })
  }

  static let lead = ObjectSchema(
    "Lead", plural: "Leads", prefix: "00Q", traits: .standard.subtracting(.owner),
    fields: Fields.person + [
      Fields.required(FieldSchema("Company", .string, 255)), FieldSchema("Title", .string, 128),
      Fields.picklist(
        "Status", ["Open - Not Contacted", "Working - Contacted", "Closed"], initial: "Open - Not Contacted",
        label: "Lead Status"),
      Fields.idLookup(FieldSchema("Email", .email, 80)), FieldSchema("Phone", .phone, 40),
      FieldSchema("MobilePhone", .phone, 40), FieldSchema("Website", .url, 255),
    ] + Fields.address("") + [
      Fields.picklist("Industry", Seeds.industries), Fields.picklist("Rating", ["Hot", "Warm", "Cold"]),
      Fields.picklist("LeadSource", Seeds.leadSources), Fields.longText("Lead Description"),
      Fields.readOnly(FieldSchema("IsConverted", .boolean, label: "Converted")),
      Fields.readOnly(FieldSchema("ConvertedDate", .date)),
      Fields.readOnly(Fields.reference("ConvertedAccountId", to: ["Account"], children: nil)),
      Fields.readOnly(Fields.reference("ConvertedContactId", to: ["Contact"], children: nil)),
      Fields.readOnly(Fields.reference("ConvertedOpportunityId", to: ["Opportunity"], children: nil)),
      SystemFields.queueOwner, Fields.recordType,
    ])

  static let opportunityContactRole = ObjectSchema(
    "OpportunityContactRole", plural: "Opportunity Contact Roles", prefix: "00K",
    traits: .standard.subtracting([.owner, .recent, .search]),
    fields: [
      required("OpportunityId", "Opportunity", children: "OpportunityContactRoles"),
      required("ContactId", "Contact", children: "OpportunityContactRoles"),
      Fields.picklist("Role", ["Business User", "Decision Maker", "Economic Buyer", "Evaluator", "Influencer", "Other"]),
      FieldSchema("IsPrimary", .boolean, label: "Primary"),
    ])

  static let campaign = ObjectSchema(
    "Campaign", plural: "Campaigns", prefix: "701",
    fields: [
      Fields.name(80, label: "Campaign Name"), Fields.reference("ParentId", to: ["Campaign"], children: "ChildCampaigns"),
      Fields.picklist("Type", ["Conference", "Webinar", "Email", "Advertisement", "Other"]),
      Fields.picklist("Status", ["Planned", "In Progress", "Completed", "Aborted"], initial: "Planned"),
      FieldSchema("StartDate", .date), FieldSchema("EndDate", .date), FieldSchema("IsActive", .boolean, label: "Active"),
      Fields.number("BudgetedCost", .currency, 18, 0), Fields.number("ActualCost", .currency, 18, 0),
      Fields.number("ExpectedResponse", .percent, 10, 2), Fields.number("NumberSent", .double, 18, 0),
      Fields.longText("Description"), Fields.recordType,
    ])

  static let campaignMember = ObjectSchema(
    "CampaignMember", plural: "Campaign Members", prefix: "00v", traits: .standard.subtracting([.owner, .recent, .search]),
    fields: [
      required("CampaignId", "Campaign", children: "CampaignMembers"),
      Fields.createOnly(Fields.reference("LeadId", to: ["Lead"], children: "CampaignMembers", onDelete: .cascade)),
      Fields.createOnly(Fields.reference("ContactId", to: ["Contact"], children: "CampaignMembers", onDelete: .cascade)),
      Fields.picklist("Status", ["Sent", "Responded"], initial: "Sent"),
    ])

  /// Returns a required reference to a parent that cannot be changed later.
  static func required(_ name: String, _ target: String, children: String) -> FieldSchema {
    Fields.createOnly(Fields.required(Fields.reference(name, to: [target], children: children, onDelete: .cascade)))
  }

  static let product = ObjectSchema(
    "Product2", label: "Product", plural: "Products", prefix: "01t", traits: .standard.subtracting(.owner),
    fields: [
      Fields.name(255, label: "Product Name"), FieldSchema("ProductCode", .string, 255),
      Fields.picklist("Family", ["None"], label: "Product Family"), FieldSchema("IsActive", .boolean, label: "Active"),
      FieldSchema("Description", .textarea, 4_000, label: "Product Description"), Fields.recordType,
    ])

  static let priceBook = ObjectSchema(
    "Pricebook2", label: "Price Book", plural: "Price Books", prefix: "01s", traits: .standard.subtracting([.owner, .search]),
    fields: [
      Fields.name(255, label: "Price Book Name"), FieldSchema("IsActive", .boolean, label: "Active"),
      Fields.readOnly(FieldSchema("IsStandard", .boolean, label: "Is Standard Price Book")),
      FieldSchema("Description", .string, 255),
    ])
}
