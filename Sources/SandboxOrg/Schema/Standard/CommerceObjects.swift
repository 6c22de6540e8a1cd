/// Prices, orders and contracts.
extension OrgSchema {
  /// The price of a product in one price book.
  static let priceBookEntry = ObjectSchema(
    "PricebookEntry", label: "Price Book Entry", plural: "Price Book Entries", prefix: "01u",
    traits: .standard.subtracting([.owner, .search]),
    fields: [
      taken("Name", .string, 255, from: "Product2Id", label: "Product Name").with { $0.isNameField = true },
      required("Pricebook2Id", "Pricebook2", children: "PricebookEntries"),
      required("Product2Id", "Product2", children: "PricebookEntries"),
      Fields.required(Fields.number("UnitPrice", .currency, 18, 2, label: "List Price")),
      FieldSchema("IsActive", .boolean, label: "Active"), FieldSchema("UseStandardPrice", .boolean),
      taken("ProductCode", .string, 255, from: "Product2Id"),
    ])

  static let opportunityLineItem = ObjectSchema(
    "OpportunityLineItem", label: "Opportunity Product", plural: "Opportunity Products", prefix: "00k",
    traits: .standard.subtracting([.owner, .recent, .search]),
    fields: [
      required("OpportunityId", "Opportunity", children: "OpportunityLineItems"),
      taken("Name", .string, 376, from: "PricebookEntryId", label: "Opportunity Product Name").with { $0.isNameField = true },
    ] + lineItem("OpportunityLineItems") + [
      Fields.number("Discount", .percent, 5, 2), total("Quantity * UnitPrice * (100 - BLANKVALUE(Discount, 0)) / 100"),
      FieldSchema("SortOrder", .int),
    ])

  static let order = ObjectSchema(
    "Order", plural: "Orders", prefix: "801",
    fields: [
      numbered("OrderNumber", "{00000000}"), FieldSchema("Name", .string, 80, label: "Order Name"),
      Fields.required(Fields.reference("AccountId", to: ["Account"], children: "Orders", onDelete: .restrict)),
      Fields.reference("ContractId", to: ["Contract"], children: "Orders", onDelete: .restrict),
      Fields.reference("Pricebook2Id", to: ["Pricebook2"], "Pricebook2", children: "Orders", label: "Price Book ID"),
      Fields.required(FieldSchema("EffectiveDate", .date, label: "Order Start Date")),
      FieldSchema("EndDate", .date, label: "Order End Date"),
      Fields.required(Fields.picklist("Status", ["Draft", "Activated"])),
      Fields.picklist("Type", ["New", "Renewal"], label: "Order Type"),
      FieldSchema("PoNumber", .string, 80, label: "PO Number"), FieldSchema("OrderReferenceNumber", .string, 80),
    ] + Fields.address("Billing") + Fields.address("Shipping") + [Fields.longText("Description"), Fields.recordType])

  static let orderItem = ObjectSchema(
    "OrderItem", label: "Order Product", plural: "Order Products", prefix: "802",
    traits: .standard.subtracting([.owner, .recent, .search]),
    fields: [
      numbered("OrderItemNumber", "{0000000000}", label: "Order Product Number"),
      required("OrderId", "Order", children: "OrderItems"),
    ] + lineItem("OrderItems") + [FieldSchema("EndDate", .date), total("Quantity * UnitPrice")])

  static let contract = ObjectSchema(
    "Contract", plural: "Contracts", prefix: "800",
    fields: [
      numbered("ContractNumber", "{00000000}"), FieldSchema("Name", .string, 80, label: "Contract Name"),
      Fields.required(Fields.reference("AccountId", to: ["Account"], children: "Contracts", onDelete: .restrict)),
      Fields.picklist("Status", ["Draft", "In Approval Process", "Activated"], initial: "Draft", length: 40),
      FieldSchema("StartDate", .date, label: "Contract Start Date"),
      Fields.number("ContractTerm", .int, 4, 0, label: "Contract Term"),
      Fields.reference("Pricebook2Id", to: ["Pricebook2"], "Pricebook2", children: "Contracts", label: "Price Book ID"),
      Fields.reference("CustomerSignedId", to: ["Contact"], children: "ContractsSigned", label: "Customer Signed By ID"),
      FieldSchema("CustomerSignedTitle", .string, 40), FieldSchema("CustomerSignedDate", .date),
      Fields.reference("CompanySignedId", to: ["User"], children: nil, label: "Company Signed By ID"),
      FieldSchema("CompanySignedDate", .date), FieldSchema("SpecialTerms", .textarea, 4_000),
    ] + Fields.address("Billing") + [Fields.longText("Description"), Fields.recordType])

  /// Returns the fields of a line item. Price and name are copied from the price book on creation.
  private static func lineItem(_ children: String) -> [FieldSchema] {
    [
      required("PricebookEntryId", "PricebookEntry", children: children),
      taken("Product2Id", .reference, 18, from: "PricebookEntryId", label: "Product ID").with {
        $0.referenceTo = ["Product2"]
        $0.relationshipName = "Product2"
      },
      taken("ProductCode", .string, 255, from: "PricebookEntryId"),
      Fields.required(Fields.number("Quantity", .double, 12, 2)),
      Fields.number("UnitPrice", .currency, 18, 2, label: "Sales Price").with {
        $0.computation = .inherited(reference: "PricebookEntryId", field: "UnitPrice")
      },
      Fields.number("ListPrice", .currency, 18, 2).with {
        $0.isReadOnly = true
        $0.computation = .inherited(reference: "PricebookEntryId", field: "UnitPrice")
      },
      FieldSchema("ServiceDate", .date), FieldSchema("Description", .string, 255, label: "Line Description"),
    ]
  }

  /// Returns a field whose value is copied on creation.
  private static func taken(
    _ name: String, _ type: FieldType, _ length: Int, from reference: String, label: String? = nil
  ) -> FieldSchema {
    FieldSchema(name, type, length, label: label).with {
      $0.isReadOnly = true
      $0.computation = .inherited(reference: reference, field: name)
    }
  }

  private static func numbered(_ name: String, _ format: String, label: String? = nil) -> FieldSchema {
    FieldSchema(name, .string, 30, label: label).with {
      $0.isNameField = true
      $0.isReadOnly = true
      $0.computation = .autoNumber(start: 100, format: format)
    }
  }

  private static func total(_ formula: String) -> FieldSchema {
    Fields.number("TotalPrice", .currency, 18, 2).with {
      $0.isReadOnly = true
      $0.computation = .formula(formula)
    }
  }
}
