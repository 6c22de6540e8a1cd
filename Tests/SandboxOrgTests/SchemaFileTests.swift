import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"

/// Files that add objects and records.
@Suite struct SchemaFileTests {
  /// A folder for the files of one test, deleted on release.
  private final class Folder {
    let path = NSTemporaryDirectory() + "sandbox-" + UUID().uuidString
    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String) throws -> String {
      try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
      return path + "/" + name
    }
  }

  private static let schema = #"""
    {
      "objects": [
        {
          "name": "Invoice__c", "label": "Invoice", "nameField": {"format": "INV-{0000}", "start": 7},
          "fields": [
            {"name": "Account__c", "type": "reference", "referenceTo": ["Account"], "children": "Invoices__r",
             "required": true, "onDelete": "cascade"},
            {"name": "Amount__c", "type": "currency", "precision": 8, "scale": 2, "required": true},
            {"name": "Rate__c", "type": "percent", "precision": 5, "scale": 2, "default": 19},
            {"name": "Total__c", "type": "currency", "formula": "ROUND(Amount__c * (100 + Rate__c) / 100, 2)"},
            {"name": "Big__c", "type": "boolean", "formula": "Total__c > 1000 && NOT(ISBLANK(Code__c))"},
            {"name": "Code__c", "type": "string", "length": 10, "externalId": true, "unique": true, "caseSensitive": true},
            {"name": "Tags__c", "type": "multipicklist", "values": ["red", "green"], "restricted": true},
            {"name": "Due__c", "type": "time"}
          ],
          "rules": [
            {"condition": "Amount__c < 0", "message": "An invoice asks for money.", "field": "Amount__c"},
            {"condition": "Tags__c = \"green\" && Rate__c > 50", "message": "Green means cheap."}
          ]
        },
        {"name": "Account", "fields": [{"name": "Tier__c", "type": "int", "precision": 1, "default": 3}]}
      ],
      "briefcase": [{"object": "Account", "related": ["Invoices__r"]}]
    }
    """#

  private func start(_ change: (inout SandboxConfiguration) -> Void) async throws -> SandboxServer {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.clock = ManualSandboxClock()
    change(&configuration)
    return try await SandboxServer.start(configuration)
  }

  private func with(_ server: SandboxServer, _ body: (SandboxServer, WireClient) async throws -> Void) async throws {
    do {
      try await body(server, WireClient(port: server.port, token: try server.issueAccessToken()))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  // MARK: Schema

  @Test func schema_customObject_behavesLikeAStandardOne() async throws {
    let folder = try Folder()
    let path = try folder.write("schema.json", Self.schema)
    try await with(try await start { $0.schemaPath = path }) { server, client in
      let account = try server.create("Account", fields: ["Name": "Acme"])
      #expect(try await client.send("GET", "\(rows)/Account/\(account)?fields=Tier__c").json["Tier__c"] == 3)
      let body =
        "{\"Account__c\":\"\(account)\",\"Amount__c\":1000,\"Code__c\":\"x\",\"Tags__c\":\"green; red;green\",\"Due__c\":\"09:30\"}"
      let made = try await client.json("POST", "\(rows)/Invoice__c", body)
      let id = made.json["id"]?.stringValue ?? ""
      #expect(made.status == 201 && id.hasPrefix("a00"), "\(made.text)")
      let row = try await client.send(
        "GET", "\(rows)/invoice__c/\(id)?fields=Name,Total__c,Big__c,Tags__c,Due__c,Account__r.Name")
      #expect(row.json["Name"] == "INV-0007" && row.json["Total__c"] == 1190.0 && row.json["Big__c"] == true)
      #expect(row.json["Tags__c"] == "red;green" && row.json["Due__c"] == "09:30:00.000Z", "\(row.text)")
      #expect(row.json["Account__r"]?["Name"] == "Acme")
      // The external id is case-sensitive.
      let other = try await client.json(
        "PATCH", "\(rows)/Invoice__c/Code__c/X", "{\"Account__c\":\"\(account)\",\"Amount__c\":1}")
      #expect(other.status == 201)
      let describe = try await client.send("GET", "\(rows)/Account/describe")
      let children = describe.json["childRelationships"]?.arrayValue?.compactMap { $0["relationshipName"]?.stringValue }
      #expect(children?.contains("Invoices__r") == true)
      let priming = try await client.send("GET", "/services/data/v66.0/connect/briefcase/priming-records")
      #expect(priming.json["stats"]?["recordCountTotal"] == 3)
      #expect(try await client.send("DELETE", "\(rows)/Account/\(account)").status == 204)
      #expect(try server.query("SELECT COUNT() FROM Invoice__c")["totalSize"] == 0)
    }
  }

  @Test(arguments: [
    ("= 09:30:00.000Z", "INV-0007"), ("= 09:30", "INV-0007"), ("!= 09:30:00Z", "INV-0008 INV-0009"),
    ("> 09:30:00.001", "INV-0008"),
    ("IN (09:30, 17:05:06.700Z)", "INV-0007 INV-0008"), ("= null", "INV-0009"), ("= 24:00", "Invalid time: 24:00"),
    ("= 9:30", "unexpected token: ':'"), ("= '09:30'", "and should not be enclosed in quotes"),
    ("= 2026-01-01", "must be of type time"),
  ])
  func query_timeField_comparesWithTimeLiterals(condition: String, expected: String) async throws {
    let folder = try Folder()
    let path = try folder.write("schema.json", Self.schema)
    try await with(try await start { $0.schemaPath = path }) { server, client in
      let account = try server.create("Account", fields: ["Name": "Acme"])
      for due in ["09:30", "17:05:06.7Z", nil] as [String?] {
        let fields: JSONObject = ["Account__c": .string(account), "Amount__c": 1, "Due__c": due.map { .string($0) } ?? .null]
        try server.create("Invoice__c", fields: fields)
      }
      let answer = try await client.query("SELECT Name FROM Invoice__c WHERE Due__c \(condition)")
      let names = answer.json["records"]?.arrayValue?.compactMap { $0["Name"]?.stringValue }.joined(separator: " ")
      #expect(names ?? answer.message ?? "" == expected || answer.message?.contains(expected) == true, "\(answer.text)")
    }
  }

  @Test(
    arguments: [
      (#"{"Amount__c":-1}"#, "FIELD_CUSTOM_VALIDATION_EXCEPTION", "An invoice asks for money."),
      (#"{"Amount__c":1,"Rate__c":60,"Tags__c":"green"}"#, "FIELD_CUSTOM_VALIDATION_EXCEPTION", "Green means cheap."),
      (
        #"{"Amount__c":1,"Tags__c":"blue"}"#, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
        "Tags: bad value for restricted picklist field: blue"
      ),
      (#"{"Amount__c":1234567}"#, "NUMBER_OUTSIDE_VALID_RANGE", "Amount: value outside of valid range on numeric field: 1234567"),
      (
        #"{"Amount__c":1,"Due__c":"25:00"}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of time from VALUE_STRING value 25:00 or request may be missing a required field at ["
      ),
      (#"{"Amount__c":1,"Code__c":"12345678901"}"#, "STRING_TOO_LONG", "Code: data value too large: 12345678901 (max length=10)"),
      (#"{"Amount__c":1,"Total__c":2}"#, "INVALID_FIELD_FOR_INSERT_UPDATE", nil),
      ("{}", "REQUIRED_FIELD_MISSING", "Required fields are missing: [Amount__c]"),
    ] as [(String, String, String?)])
  func schema_brokenRuleOrValue_isRefused(body: String, code: String, message: String?) async throws {
    let folder = try Folder()
    let path = try folder.write("schema.json", Self.schema)
    try await with(try await start { $0.schemaPath = path }) { server, client in
      let account = try server.create("Account", fields: ["Name": "Acme"])
      let separator = body == "{}" ? "" : ","
      let answer = try await client.json(
        "POST", "\(rows)/Invoice__c", "{\"Account__c\":\"\(account)\"\(separator)" + body.dropFirst())
      #expect(answer.status == 400 && answer.errorCode == code, "\(answer.text)")
      if let message { #expect(answer.message?.hasPrefix(message) == true) }
      #expect(try server.query("SELECT COUNT() FROM Invoice__c", includeDeleted: true)["totalSize"] == 0)
    }
  }

  @Test(arguments: [
    ("[", "schema.json:1:2: not valid JSON: the text ends too early"),
    ("[]", "schema.json: must be an object, not array"),
    (#"{"object":[]}"#, "schema.json: 'object' is not known here; known: objects, briefcase"),
    (
      #"{"objects":[{"name":"Invoice__x"}]}"#,
      "schema.json: objects[0]: 'Invoice__x' is not a valid name for a new object: use the suffix '__c' for a custom object"
    ),
    (
      #"{"objects":[{"name":"Account","fields":[{"name":"Industry","type":"string"}]}]}"#,
      "schema.json: objects[0].fields[0]: 'Industry' is a standard field of Account: only its label, values, restricted and "
    ),
    (
      #"{"objects":[{"name":"Account","recordTypes":[{"name":"A","default":true},{"name":"B","default":true}]}]}"#,
      "schema.json: objects[0]: has more than one default record type; leave one"
    ),
    (
      #"{"name":"Odd","keyPrefix":"001","fields":[{"name":"Id","type":"id","soapType":"tns:ID"}]}"#,
      "schema.json: objects[0]: the id prefix '001' is taken by another object"
    ),
    (
      #"[{"name":"Odd","fields":[{"name":"A","type":"magic","soapType":"xsd:string"}]}]"#,
      "schema.json: objects[0].fields[0].type: 'magic' is not a field type that the sandbox supports; remove the field"
    ),
    (
      #"{"objects":[{"name":"A b__c"}]}"#,
      "schema.json: objects[0].name: 'A b__c' is not a valid API name: use a letter, then letters, digits and '_', at most 80 characters"
    ),
    (
      #"{"objects":[{"name":"A__c","prefix":"001"}]}"#,
      "schema.json: objects[0].prefix: '001' is used by another object; choose another"
    ),
    (
      #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"strng"}]}]}"#,
      "schema.json: objects[0].fields[0].type: 'strng' is not a known field type; use one of id, reference"
    ),
    (
      #"{"objects":[{"name":"A__c","fields":[{"name":"B","type":"int"}]}]}"#,
      "schema.json: objects[0].fields[0].name: 'B' is not a valid field name: use letters, digits and '_', with '__c' at the end"
    ),
    (
      #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"int","length":3}]}]}"#,
      "schema.json: objects[0].fields[0].length: fields of type int have no length; remove it"
    ),
    (
      #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"reference","referenceTo":["Nope"]}]}]}"#,
      "schema.json: objects[0].fields[0].referenceTo[0]: must name an object of the org"
    ),
    (
      #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"int","default":"x"}]}]}"#,
      "schema.json: objects[0].fields[0].default: is not a valid value of the field"
    ),
    (
      #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"int","formula":"1 +"}]}]}"#,
      "schema.json: objects[0].fields[0].formula: is not a valid formula: column 4: a value is missing at the end"
    ),
    (
      #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"int","formula":"B__c + 1"}]}]}"#,
      "schema.json: objects[0].fields[0].formula: is not a valid formula: column 1: 'B__c' refers to itself"
    ),
    (
      #"{"objects":[{"name":"A__c","rules":[{"condition":"FOO(1)","message":"m"}]}]}"#,
      "schema.json: objects[0].rules[0].condition: is not a valid formula: column 1: no function 'FOO'"
    ),
    (#"{"objects":[{"name":"A__c","rules":[{"condition":"TRUE"}]}]}"#, "schema.json: objects[0].rules[0]: 'message' is missing"),
    (
      #"{"objects":[{"name":"Account","fields":[{"name":"B__c","type":"int"},{"name":"b__c","type":"int"}]}]}"#,
      "schema.json: objects[0].fields[1]: 'b__c' is in the list twice; remove one"
    ),
    (
      #"{"briefcase":[{"object":"Account","related":["Nope"]}]}"#,
      "schema.json: briefcase[0].related[0]: must name a relationship of Account: "
    ),
  ])
  func schema_mistake_namesFilePlaceAndFix(text: String, message: String) async throws {
    let folder = try Folder()
    let path = try folder.write("schema.json", text)
    let error = await #expect(throws: SandboxError.self) { _ = try await start { $0.schemaPath = path } }
    #expect(error?.code == "INVALID_SCHEMA_FILE")
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test func schema_missingFile_isNamed() async throws {
    let error = await #expect(throws: SandboxError.self) { _ = try await start { $0.schemaPath = "/nowhere/schema.json" } }
    #expect(error?.message.hasPrefix("/nowhere/schema.json: cannot be read: ") == true)
  }

  @Test func schema_reopened_isRememberedGrowsAndRefusesOtherTypes() async throws {
    let folder = try Folder()
    let database = folder.path + "/org.sqlite"
    let one = try folder.write("one.json", #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"string"}]}]}"#)
    let two = try folder.write(
      "two.json",
      #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"string"},{"name":"C__c","type":"int","default":5},{"name":"D__c","type":"string","formula":"UPPER(B__c)"}]}]}"#
    )
    let three = try folder.write("three.json", #"{"objects":[{"name":"A__c","fields":[{"name":"B__c","type":"double"}]}]}"#)
    var id = ""
    try await with(try await start { ($0.databasePath, $0.schemaPath) = (database, one) }) { server, _ in
      id = try server.create("A__c", fields: ["Name": "n", "B__c": "b"])
    }
    try await with(try await start { $0.databasePath = database }) { server, _ in
      let found = try server.query("SELECT B__c FROM A__c")["records"]
      #expect(found?.arrayValue?.first?["B__c"] == "b")
    }
    try await with(try await start { ($0.databasePath, $0.schemaPath) = (database, two) }) { server, client in
      let row = try await client.send("GET", "\(rows)/A__c/\(id)?fields=B__c,C__c,D__c")
      #expect(row.json["C__c"] == .null && row.json["D__c"] == "B")
    }
    let error = await #expect(throws: SandboxError.self) {
      _ = try await start { ($0.databasePath, $0.schemaPath) = (database, three) }
    }
    #expect(
      error?.message
        == "cannot open the sandbox database \(database): A__c.B__c is stored as TEXT but would now be REAL; rename the field, "
        + "or start with a new file")
  }

  // MARK: Seeds

  @Test func seed_jsonThenCSV_loadsRecordsAndTheirReferences() async throws {
    let folder = try Folder()
    let accounts = try folder.write(
      "seed.json",
      "\u{FEFF}"
        + #"{"Account": [{"Name": "Acme }\"", "External_Id__c": "a", "CreatedDate": "2024-01-01T00:00:00Z"}, {"Name":"Beta","Parent":{"External_Id__c":"a"}}], "Lead": []}"#
    )
    let contacts = try folder.write(
      "Contact.csv",
      "LastName,Account.External_Id__c,DoNotCall,YearsKnown__c,MailingStreet\r\n\"Smith, \"\"J\"\"\",a,true,1.5,\"1 Main\nStreet\"\r\n\r\nLee,,,,"
    )
    let list = try folder.write("more.json", #"[{"attributes":{"type":"Task"},"Subject":"call"}]"#)
    try await with(try await start { $0.seedPaths = [accounts, contacts, list] }) { server, client in
      let text = try server.query("SELECT LastName, Account.Name, DoNotCall, YearsKnown__c, MailingStreet FROM Contact").text
      #expect(text.contains(#""LastName":"Smith, \"J\"","Account":{"#) && text.contains(#""Name":"Acme }\"""#))
      #expect(
        text.contains(#""DoNotCall":true,"YearsKnown__c":1.5,"MailingStreet":"1 Main\nStreet""#)
          && text.contains(#""LastName":"Lee","Account":null,"DoNotCall":false"#))
      #expect(try server.query("SELECT Name FROM Account WHERE CreatedDate < 2024-01-02T00:00:00Z")["totalSize"] == 1)
      #expect(try server.query("SELECT COUNT() FROM Task")["totalSize"] == 1)
      #expect(try await client.send("GET", "/services/data/v66.0/recent").json == [])
    }
  }

  @Test(arguments: [
    ("seed.json", "{\n\"Account\": [\n{\"Name\": \"A\"},\n{\"Name\": }\n]}", "seed.json:4: not valid JSON"),
    (
      "seed.json", "{\n\"Account\": [\n{\"Nam\": \"A\"}]}",
      "seed.json:3: Account: INVALID_FIELD: No such column 'Nam' on sobject of type Account"
    ),
    ("seed.json", "{\"Nope\": [\n{\"Name\": \"A\"}]}", "seed.json:2: the org has no object 'Nope'"),
    ("seed.json", "{\"Account\": [{\"Name\": \"A\"}", "seed.json:1: ',' or ']' is missing"),
    ("seed.json", "\"x\"", "seed.json:1: must start with '{' or '['"),
    ("seed.json", "[{\"Name\":\"A\"}]", "seed.json:1: a record of a list needs \"attributes\""),
    ("Contact.csv", "LastName,Nope\nA,b\n", "Contact.csv:1: Contact has no field 'Nope'"),
    ("Contact.csv", "LastName,FirstName\nA,b\n\"B\nC\",d,e\n", "Contact.csv:3: 3 cells for 2 columns"),
    ("Contact.csv", "LastName,Email\nA,x\n", "Contact.csv:2: Contact: INVALID_EMAIL_ADDRESS: Email: invalid email address: x"),
    ("Contact.csv", "LastName,Account.Name\nA,x\n", "Contact.csv:1: 'Name' is not a field to find records of Account"),
    ("Contact.csv", "LastName\n\"A", "Contact.csv:2: a cell has no closing quotation mark"),
    ("Nope.csv", "Name\nA\n", "Nope.csv: the org has no object 'Nope'"),
    ("seed.xml", "<a/>", "seed.xml: is neither .json nor .csv"),
  ])
  func seed_mistake_namesFileAndLine(name: String, text: String, message: String) async throws {
    let folder = try Folder()
    let database = folder.path + "/org.sqlite"
    let path = try folder.write(name, text)
    let error = await #expect(throws: SandboxError.self) {
      _ = try await start { ($0.databasePath, $0.seedPaths) = (database, [path]) }
    }
    #expect(error?.code == "INVALID_SEED_FILE")
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    // The failed start left nothing behind, so this one seeds the org.
    let good = try folder.write("good.json", #"{"Account":[{"Name":"A"}]}"#)
    try await with(try await start { ($0.databasePath, $0.seedPaths) = (database, [good]) }) { server, _ in
      let count = try server.query("SELECT COUNT() FROM Account")
      #expect(count["totalSize"] == 1)
    }
    try await with(try await start { ($0.databasePath, $0.seedPaths) = (database, [good]) }) { server, _ in
      let count = try server.query("SELECT COUNT() FROM Account")
      #expect(count["totalSize"] == 1)
    }
  }
}
