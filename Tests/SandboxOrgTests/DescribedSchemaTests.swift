import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"

/// Schema files with standard objects, events, metadata and record types; describe files of real
/// orgs.
@Suite struct DescribedSchemaTests {
  private func with(
    schema: String, seed: String? = nil, _ body: (SandboxServer, WireClient) async throws -> Void
  ) async throws {
    let folder = NSTemporaryDirectory() + "described-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try schema.write(toFile: folder + "/schema.json", atomically: true, encoding: .utf8)
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.clock = ManualSandboxClock()
    configuration.schemaPath = folder + "/schema.json"
    if let seed {
      try seed.write(toFile: folder + "/seed.json", atomically: true, encoding: .utf8)
      configuration.seedPaths = [folder + "/seed.json"]
    }
    let server = try await SandboxServer.start(configuration)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body(server, WireClient(port: server.port, token: try server.issueAccessToken())))
    } catch { outcome = .failure(error) }
    await server.stop()
    try outcome.get()
  }

  private static let schema = #"""
    {"objects": [
      {"name": "WorkOrder", "prefix": "0WO", "nameField": {"format": "{00000000}"}, "fields": [
        {"name": "AccountId", "type": "reference", "referenceTo": ["Account"], "children": "WorkOrders"},
        {"name": "Subject", "type": "string"}, {"name": "Depth__c", "type": "int"}]},
      {"name": "Shipped__e", "fields": [{"name": "Order__c", "type": "string", "required": true}]},
      {"name": "Rate__mdt", "fields": [{"name": "Percent__c", "type": "double", "scale": 1}]},
      {"name": "Account", "fields": [
        {"name": "Industry", "values": ["Zinc", "Aluminium"], "restricted": true}, {"name": "Tradestyle", "type": "string"}],
       "recordTypes": [{"name": "Business Account", "default": true}, {"name": "Old", "active": false}]}]}
    """#

  @Test func schema_standardObject_hasIdsReferencesAndChildren() async throws {
    try await with(schema: Self.schema) { server, client in
      let account = try server.create("Account", fields: ["Name": "A", "Tradestyle": "T"])
      let made = try await client.json(
        "POST", "\(rows)/WorkOrder", "{\"AccountId\":\"\(account)\",\"Subject\":\"S\",\"Depth__c\":2}")
      #expect(made.status == 201 && made.json["id"]?.stringValue?.hasPrefix("0WO") == true, "\(made.text)")
      let answer = try await client.query("SELECT Tradestyle, (SELECT Subject, Account.Name FROM WorkOrders) FROM Account")
      let record = answer.json["records"]?.arrayValue?.first
      #expect(record?["WorkOrders"]?["records"]?.arrayValue?.first?["Account"]?["Name"] == "A", "\(answer.text)")
      #expect(record?["Tradestyle"] == "T")
      let global = try await client.send("GET", rows).json["sobjects"]?.arrayValue ?? []
      #expect(global.first { $0["name"] == "WorkOrder" }?["custom"] == false)
    }
  }

  @Test func schema_event_isPublishedAndDescribedAsSuch() async throws {
    try await with(schema: Self.schema) { server, client in
      let made = try await client.json("POST", "\(rows)/Shipped__e", #"{"Order__c":"17"}"#)
      #expect(made.status == 201 && made.json["id"]?.stringValue?.hasPrefix("e00") == true)
      #expect(try await client.json("POST", "\(rows)/Shipped__e", "{}").errorCode == "REQUIRED_FIELD_MISSING")
      let describe = try await client.send("GET", "\(rows)/Shipped__e/describe").json
      #expect(describe["createable"] == true && describe["updateable"] == false && describe["queryable"] == false)
      #expect(try server.query("SELECT Order__c, ReplayId FROM Shipped__e")["records"]?.arrayValue?.first?["ReplayId"] == "1")
    }
  }

  @Test func schema_metadata_isSeededAndReadOnly() async throws {
    let seed = #"{"Rate__mdt": [{"DeveloperName": "Low", "MasterLabel": "Low rate", "Percent__c": 7.5}]}"#
    try await with(schema: Self.schema, seed: seed) { _, client in
      let found = try await client.query("SELECT DeveloperName, QualifiedApiName, Percent__c FROM Rate__mdt")
      #expect(found.json["records"]?.arrayValue?.first?["QualifiedApiName"] == "Low", "\(found.text)")
      let body = #"{"DeveloperName":"X","MasterLabel":"X"}"#
      #expect(try await client.json("POST", "\(rows)/Rate__mdt", body).errorCode == "INVALID_TYPE_FOR_OPERATION")
    }
  }

  @Test func schema_picklistAndRecordTypes_areTheOrgsOwn() async throws {
    try await with(schema: Self.schema) { server, client in
      let refused = try await client.json("POST", "\(rows)/Account", #"{"Name":"A","Industry":"Energy"}"#)
      #expect(refused.errorCode == "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")
      for industry in ["Aluminium", "Zinc"] {
        try server.create("Account", fields: ["Name": .string(industry), "Industry": .string(industry)])
      }
      let sorted = try await client.query("SELECT Name, RecordType.DeveloperName FROM Account ORDER BY Industry")
      let records = sorted.json["records"]?.arrayValue ?? []
      #expect(records.map { $0["Name"] } == ["Zinc", "Aluminium"])
      #expect(records.first?["RecordType"]?["DeveloperName"] == "Business_Account", "\(sorted.text)")
      let infos = try await client.send("GET", "\(rows)/Account/describe").json["recordTypeInfos"]?.arrayValue ?? []
      #expect(infos.map { $0["developerName"] } == ["Business_Account", "Old", "Master"])
      #expect(infos.map { $0["defaultRecordTypeMapping"] } == [true, false, false] && infos[1]["active"] == false)
      let old = infos[1]["recordTypeId"]?.stringValue ?? ""
      for (type, object, code) in [
        (old, "Account", "INVALID_CROSS_REFERENCE_KEY"),
        (infos[0]["recordTypeId"]?.stringValue ?? "", "Contact", "INVALID_CROSS_REFERENCE_KEY"),
        ("012000000000000AAA", "Account", nil),
      ] as [(String, String, String?)] {
        let name = object == "Account" ? "Name" : "LastName"
        let answer = try await client.json("POST", "\(rows)/\(object)", "{\"\(name)\":\"A\",\"RecordTypeId\":\"\(type)\"}")
        #expect(answer.errorCode == code, "\(answer.text)")
      }
      let layout = try await client.send("GET", "\(rows)/Account/describe/layouts/\(infos[0]["recordTypeId"]?.stringValue ?? "")")
      #expect(layout.status == 200)
    }
  }

  // MARK: Descriptions

  /// The sandbox's own describe is a valid describe file: an org with its objects answers the same.
  @Test(arguments: ["Invoice__c", "OrderItem", "Lead"])
  func describe_ofASandbox_makesTheSameObjectInAnotherOrg(name: String) async throws {
    let custom = #"""
      {"objects": [{"name": "Invoice__c", "nameField": {"format": "{00000000}"}, "fields": [
        {"name": "Account__c", "type": "reference", "referenceTo": ["Account"], "children": "Invoices__r", "onDelete": "cascade"},
        {"name": "Amount__c", "type": "currency", "precision": 8, "scale": 2, "required": true},
        {"name": "Double__c", "type": "currency", "formula": "Amount__c * 2"},
        {"name": "Kind__c", "type": "picklist", "values": ["b", "a"], "restricted": true, "default": "a"},
        {"name": "Flags__c", "type": "multipicklist", "values": ["x", "y"]}, {"name": "At__c", "type": "datetime"},
        {"name": "Key__c", "type": "string", "length": 20, "externalId": true, "unique": true}],
       "recordTypes": [{"name": "Big", "default": true}]}]}
      """#
    var described = JSONValue.null
    try await with(schema: custom) { _, client in
      described = try await client.send("GET", "\(rows)/\(name)/describe").json
    }
    try await with(schema: "{\"status\":0,\"result\":\(described.text)}") { server, client in
      let again = try await client.send("GET", "\(rows)/\(name)/describe").json
      func fields(_ value: JSONValue) -> [String: JSONValue] {
        Dictionary((value["fields"]?.arrayValue ?? []).map { ($0["name"]?.stringValue ?? "", $0) }) { $1 }
      }
      let before = fields(described), after = fields(again)
      #expect(Set(before.keys) == Set(after.keys))
      for (name, field) in before { #expect(after[name] == field, "\(name)") }
      #expect(again["recordTypeInfos"] == described["recordTypeInfos"] && again["keyPrefix"] == described["keyPrefix"])
      guard name == "Invoice__c" else { return }
      let made = try await client.json("POST", "\(rows)/Invoice__c", #"{"Amount__c":4,"Flags__c":"y;x","Key__c":"k"}"#)
      #expect(made.status == 201, "\(made.text)")
      let row = try server.query("SELECT Name, Double__c, Kind__c, Flags__c, RecordType.Name FROM Invoice__c")["records"]?
        .arrayValue?.first
      #expect(
        row?["Double__c"] == 8.0 && row?["Kind__c"] == "a" && row?["Flags__c"] == "x;y" && row?["RecordType"]?["Name"] == "Big")
    }
  }

  @Test func describe_ofARealOrg_isReducedToWhatTheSandboxHas() async throws {
    func field(_ name: String, _ type: String, _ rest: String = "") -> String {
      let flags = ["nillable", "createable", "updateable"].filter { !rest.contains("\"\($0)\"") }.map { "\"\($0)\":true," }
      return "{\(flags.joined())\"name\":\"\(name)\",\"label\":\"\(name)\",\"type\":\"\(type)\",\"soapType\":\"x\"\(rest)}"
    }
    let fields = [
      field("Id", "id", #","createable":false"#), field("Name", "string", #","nameField":true,"nillable":false,"length":80"#),
      field("OwnerId", "reference", #","referenceTo":["User"],"relationshipName":"Owner""#),
      field("Gadget__c", "reference", #","referenceTo":["Gadget__c"],"relationshipName":"Gadget__r""#),
      field("Secret__c", "encryptedstring", #","length":20"#), field("Place__c", "location"),
      field("Place__Latitude__s", "double", #","compoundFieldName":"Place__c","precision":8,"scale":5"#),
      field("Place__Longitude__s", "double", #","compoundFieldName":"Place__c","precision":8,"scale":5"#),
      field("Odd__c", "string", #","calculatedFormula":"HYPERLINK(Name)","length":1300"#),
      field("Parent__c", "reference", #","referenceTo":["Thing__c"],"relationshipName":"Parent__r""#),
    ]
    let thing = """
      {"name":"Thing__c","label":"Thing","labelPlural":"Things","keyPrefix":"a7X","createable":true,"updateable":true,"deletable":true,
       "searchable":true,"mruEnabled":true,"layoutable":true,"fields":[\(fields.joined(separator: ","))],
       "childRelationships":[{"childSObject":"Thing__c","field":"Parent__c","relationshipName":"Children__r"},
         {"childSObject":"Elsewhere__c","field":"Thing__c","relationshipName":"Elsewhere__r"}],
       "recordTypeInfos":[{"name":"Master","developerName":"Master","master":true}]}
      """
    try await with(schema: "[\(thing)]") { server, client in
      let body = #"{"Name":"A","Gadget__c":"a0BgL0000000001","Secret__c":"s","Place__Latitude__s":1.5,"Place__Longitude__s":2}"#
      let made = try await client.json("POST", "\(rows)/Thing__c", body)
      #expect(made.status == 201 && made.json["id"]?.stringValue?.hasPrefix("a7X") == true, "\(made.text)")
      let id = made.json["id"]?.stringValue ?? ""
      try server.create("Thing__c", fields: ["Name": "B", "Parent__c": .string(id)])
      let found = try await client.query(
        "SELECT Gadget__c, Place__c, Odd__c, Owner.Name, (SELECT Name FROM Children__r) FROM Thing__c WHERE Name = 'A'")
      let row = found.json["records"]?.arrayValue?.first
      #expect(row?["Gadget__c"]?.stringValue?.hasPrefix("a0B") == true && row?["Odd__c"] == .null, "\(found.text)")
      #expect(row?["Place__c"] == ["latitude": 1.5, "longitude": 2.0] && row?["Children__r"]?["totalSize"] == 1)
      #expect(
        try await client.json("PATCH", "\(rows)/Thing__c/\(id)", #"{"Odd__c":"x"}"#).errorCode
          == "INVALID_FIELD_FOR_INSERT_UPDATE")
    }
  }

  // MARK: Prices, orders, contracts

  @Test func order_ofAPricedProduct_takesNameAndPriceFromThePriceBook() async throws {
    try await withOrg { server, client in
      let book = try #require(
        try server.query("SELECT Id FROM Pricebook2 WHERE IsStandard = true")["records"]?.arrayValue?.first?["Id"])
      let product = JSONValue.string(try server.create("Product2", fields: ["Name": "Pump", "ProductCode": "P-1"]))
      let entry = JSONValue.string(
        try server.create(
          "PricebookEntry", fields: ["Pricebook2Id": book, "Product2Id": product, "UnitPrice": 20, "IsActive": true]))
      let account = JSONValue.string(try server.create("Account", fields: ["Name": "A"]))
      let deal = JSONValue.string(
        try server.create("Opportunity", fields: ["Name": "D", "StageName": "Proposal", "CloseDate": "2026-04-01"]))
      try server.create(
        "OpportunityLineItem", fields: ["OpportunityId": deal, "PricebookEntryId": entry, "Quantity": 3, "Discount": 10])
      let contract = JSONValue.string(try server.create("Contract", fields: ["AccountId": account, "ContractTerm": 12]))
      let order = JSONValue.string(
        try server.create(
          "Order",
          fields: [
            "AccountId": account, "ContractId": contract, "EffectiveDate": "2026-03-02", "Status": "Draft", "Pricebook2Id": book,
          ]))
      try server.create("OrderItem", fields: ["OrderId": order, "PricebookEntryId": entry, "Quantity": 2, "UnitPrice": 15])
      let line = try server.query(
        "SELECT Name, UnitPrice, ListPrice, TotalPrice, ProductCode, Product2.Name, PricebookEntry.Pricebook2.Name "
          + "FROM OpportunityLineItem")["records"]?.arrayValue?.first
      #expect(
        line?["Name"] == "Pump" && line?["UnitPrice"] == 20.0 && line?["TotalPrice"] == 54.0 && line?["ProductCode"] == "P-1")
      #expect(line?["Product2"]?["Name"] == "Pump" && line?["PricebookEntry"]?["Pricebook2"]?["Name"] == "Standard Price Book")
      let orders = try await client.query(
        "SELECT OrderNumber, Contract.ContractNumber, (SELECT OrderItemNumber, TotalPrice, ListPrice FROM OrderItems) FROM Order")
      let found = orders.json["records"]?.arrayValue?.first
      #expect(found?["OrderNumber"] == "00000100" && found?["Contract"]?["ContractNumber"] == "00000100", "\(orders.text)")
      let item = found?["OrderItems"]?["records"]?.arrayValue?.first
      #expect(item?["TotalPrice"] == 30.0 && item?["ListPrice"] == 20.0)
      let refused = try await client.send("DELETE", "\(rows)/Account/\(account.stringValue ?? "")")
      #expect(refused.errorCode == "DELETE_FAILED", "\(refused.text)")
      #expect(try await client.send("DELETE", "\(rows)/Order/\(order.stringValue ?? "")").status == 204)
      #expect(try server.query("SELECT COUNT() FROM OrderItem")["totalSize"] == 0)
    }
  }

  @Test func setup_rolesAndPermissionSets_areReadAndAssigned() async throws {
    try await withOrg { server, client in
      let role = try #require(
        try server.query("SELECT Id FROM UserRole WHERE DeveloperName = 'CEO'")["records"]?.arrayValue?.first?["Id"])
      let user = server.credentials().userId
      try server.update("User", id: user, fields: ["UserRoleId": role])
      let set = try server.create("PermissionSet", fields: ["Name": "Fields", "Label": "Fields"])
      let body = "{\"AssigneeId\":\"\(user)\",\"PermissionSetId\":\"\(set)\"}"
      #expect(try await client.json("POST", "\(rows)/PermissionSetAssignment", body).status == 201)
      let found = try await client.query(
        "SELECT UserRole.Name, (SELECT PermissionSet.Name FROM PermissionSetAssignments) FROM User WHERE Id = '\(user)'")
      let row = found.json["records"]?.arrayValue?.first
      #expect(row?["UserRole"]?["Name"] == "CEO", "\(found.text)")
      let assigned = row?["PermissionSetAssignments"]?["records"]?.arrayValue?.first
      #expect(assigned?["PermissionSet"]?["Name"] == "Fields")
    }
  }
}
