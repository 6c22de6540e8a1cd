import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"

@Suite struct RowTests {
  // MARK: Create

  @Test func create_account_answers201WithIdAndLocation() async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", "\(rows)/Account/", #"{"Name":" Acme ","attributes":{"type":"Account"}}"#)
      let id = answer.json["id"]?.stringValue ?? ""
      #expect(answer.status == 201)
      #expect(answer.text == "{\"id\":\"\(id)\",\"success\":true,\"errors\":[]}")
      #expect(id.count == 18 && id.hasPrefix("001"))
      #expect(answer.headers["location"] == "\(rows)/Account/\(id)")
      #expect(answer.headers["content-type"] == "application/json;charset=UTF-8")
      #expect(answer.headers["sforce-limit-info"]?.hasPrefix("api-usage=1/") == true)
      let found = try await client.send(
        "GET", "\(rows)/account/\(id)?fields=Name, OwnerId".replacingOccurrences(of: " ", with: "%20"))
      #expect(found.json["Id"] == .string(id), "an org adds the id to the fields")
      #expect(found.json["Name"] == "Acme" && found.json["OwnerId"]?.stringValue?.hasPrefix("005") == true)
    }
  }

  @Test(arguments: ["Id,Name", "name,id", "Name"])
  func retrieve_someFields_haveTheIdOnce(fields: String) async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "Acme", "External_Id__c": "k"])
      for path in ["Account/\(id)", "Account/External_Id__c/k"] {
        let found = try await client.send("GET", "\(rows)/\(path)?fields=\(fields)").json.objectValue ?? [:]
        #expect(found.keys.sorted() == ["Id", "Name", "attributes"] && found["Id"] == .string(id), "\(path)")
      }
    }
  }

  @Test(
    arguments: [
      (#"{}"#, "REQUIRED_FIELD_MISSING", "Required fields are missing: [LastName]", ["LastName"]),
      (#"{"LastName":"  "}"#, "REQUIRED_FIELD_MISSING", "Required fields are missing: [LastName]", ["LastName"]),
      (#"{"LastName":"A","Foo":1}"#, "INVALID_FIELD", "No such column 'Foo' on sobject of type Contact", nil),
      (#"{"LastName":"A","Id":"003"}"#, "INVALID_FIELD_FOR_INSERT_UPDATE", "cannot specify Id in an insert call", ["Id"]),
      (
        #"{"LastName":"A","CreatedDate":"2026-01-01T00:00:00Z"}"#, "INVALID_FIELD_FOR_INSERT_UPDATE",
        "Unable to create/update fields: CreatedDate. Please check the security settings of this field and verify that it is "
          + "read/write for your profile or permission set.", ["CreatedDate"]
      ),
      (#"{"LastName":"A","Email":"x"}"#, "INVALID_EMAIL_ADDRESS", "Email: invalid email address: x", ["Email"]),
      (#"{"LastName":"A","AccountId":"zzz"}"#, "MALFORMED_ID", "Account ID: id value of incorrect type: zzz", ["AccountId"]),
      (
        #"{"LastName":"A","AccountId":"001gL0000009999"}"#, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", []
      ),
      (
        #"{"LastName":"A","YearsKnown__c":99999}"#, "NUMBER_OUTSIDE_VALID_RANGE",
        "Years Known: value outside of valid range on numeric field: 99999", ["YearsKnown__c"]
      ),
      (
        #"{"LastName":"A","Birthdate":"x"}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of date from VALUE_STRING value x or request may be missing a required field"
          + " at [line:1, column:29]", nil
      ),
      (
        #"{"LastName":"A","DoNotCall":"perhaps"}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of boolean from VALUE_STRING value perhaps or request may be missing a required field"
          + " at [line:1, column:29]", nil
      ),
      (
        #"{"LastName":"A","Birthdate":""}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of date from VALUE_STRING value  or request may be missing a required field"
          + " at [line:1, column:29]", nil
      ),
      (
        "{\"Description\": \"{\\\"Birthdate\\\":\\\\\",\n  \"LastName\":\"A\", \"YearsKnown__c\" : \"\"}", "JSON_PARSER_ERROR",
        "Cannot deserialize instance of double from VALUE_STRING value  or request may be missing a required field"
          + " at [line:2, column:37]", nil
      ),
    ] as [(String, String, String, [String]?)])
  func create_badContact_answers400(body: String, code: String, message: String, fields: [String]?) async throws {
    try await withOrg { server, client in
      let answer = try await client.json("POST", "\(rows)/Contact", body)
      #expect(answer.status == 400)
      #expect(answer.errorCode == code)
      #expect(answer.message == message)
      #expect(answer.json.arrayValue?.first?["fields"]?.arrayValue?.compactMap(\.stringValue) == fields)
      #expect(try server.query("SELECT COUNT() FROM Contact")["totalSize"] == 0)
    }
  }

  @Test func create_nameTooLong_namesTheLabelAndTheLimit() async throws {
    try await withOrg { _, client in
      let name = String(repeating: "x", count: 256)
      let answer = try await client.json("POST", "\(rows)/Account", "{\"Name\":\"\(name)\"}")
      #expect(answer.status == 400 && answer.errorCode == "STRING_TOO_LONG")
      #expect(answer.message == "Account Name: data value too large: \(name) (max length=255)")
    }
  }

  @Test(arguments: [
    ("{\"Name\":\n}", "Unexpected character ('}' (code 125)): "),
    ("{\"Name\" \"A\"}", "Unexpected character ('\"' (code 34)): "), ("{\"Name\":ü}", "Unexpected character ('ü' (code 252)): "),
    ("{\"Name\":\"A\"", "Unexpected end-of-input: "), ("", "Unexpected end-of-input: "),
  ])
  func create_malformedJSON_tellsThePlace(body: String, message: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", "\(rows)/Account", body)
      #expect(answer.status == 400 && answer.errorCode == "JSON_PARSER_ERROR")
      #expect(answer.message?.hasPrefix(message) == true, "\(answer.text)")
      #expect(answer.message?.contains(" at [line:") == true)
    }
  }

  @Test func create_bodyThatIsNotAnObject_isRefused() async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", "\(rows)/Account", "{\"Name\":\n}")
      #expect(answer.message?.hasSuffix("at [line:2, column:1]") == true)
      let list = try await client.json("POST", "\(rows)/Account", "[1]")
      #expect(list.status == 400 && list.errorCode == "JSON_PARSER_ERROR")
      let deep = try await client.json("POST", "\(rows)/Account", String(repeating: "[", count: 100_000))
      #expect(deep.status == 400 && deep.errorCode == "JSON_PARSER_ERROR")
      let xml = try await client.send("POST", "\(rows)/Account", headers: [("Content-Type", "text/xml")], body: [0x3C])
      #expect(xml.status == 415 && xml.errorCode == "UNSUPPORTED_MEDIA_TYPE")
    }
  }

  @Test func create_sameExternalIdTwice_isADuplicate() async throws {
    try await withOrg { _, client in
      let first = try await client.json("POST", "\(rows)/Account", #"{"Name":"A","External_Id__c":"k"}"#)
      let second = try await client.json("POST", "\(rows)/Account", #"{"Name":"B","External_Id__c":"K"}"#)
      let id = first.json["id"]?.stringValue ?? ""
      #expect(second.status == 400 && second.errorCode == "DUPLICATE_VALUE")
      #expect(second.message == "duplicate value found: External_Id__c duplicates value on record with id: \(id.prefix(15))")
    }
  }

  @Test func create_referenceByExternalId_findsTheParent() async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "A", "External_Id__c": "k"])
      let good = try await client.json("POST", "\(rows)/Contact", #"{"LastName":"X","Account":{"External_Id__c":"k"}}"#)
      #expect(good.status == 201)
      #expect(try server.query("SELECT AccountId FROM Contact")["records"]?.arrayValue?[0]["AccountId"] == .string(id))
      let bad = try await client.json("POST", "\(rows)/Contact", #"{"LastName":"X","Account":{"External_Id__c":"no"}}"#)
      #expect(bad.status == 400 && bad.errorCode == "INVALID_FIELD")
      #expect(bad.message == "Foreign key external ID: no not found for field External_Id__c in entity Account")
    }
  }

  @Test func create_caseTaskOpportunity_computesTheirFields() async throws {
    try await withOrg { server, client in
      _ = try await client.json("POST", "\(rows)/Case", #"{"Subject":"s"}"#)
      _ = try await client.json("POST", "\(rows)/Case", #"{"Subject":"t","Status":"Closed"}"#)
      let cases = try server.query("SELECT CaseNumber, Status, IsClosed FROM Case")["records"]?.arrayValue ?? []
      #expect(cases.compactMap { $0["CaseNumber"]?.stringValue } == ["00001000", "00001001"])
      #expect(cases[0]["Status"] == "New" && cases[0]["IsClosed"] == false && cases[1]["IsClosed"] == true)
      let missing = try await client.json("POST", "\(rows)/Opportunity", #"{"Name":"o"}"#)
      #expect(missing.message == "Required fields are missing: [StageName, CloseDate]")
      let lead = try await client.json("POST", "\(rows)/Lead", #"{"LastName":"L","Company":"C"}"#)
      let who = lead.json["id"]?.stringValue ?? ""
      _ = try await client.json("POST", "\(rows)/Task", "{\"Subject\":\"call\",\"WhoId\":\"\(who)\"}")
      let tasks = try server.query("SELECT Who.Name, Who.Id FROM Task WHERE Who.Name = 'l'")
      #expect(tasks["records"]?.arrayValue?[0]["Who"]?["Name"] == "L")
      #expect(tasks["records"]?.arrayValue?[0]["Who"]?["attributes"]?["type"] == "Lead")
    }
  }

  // MARK: Retrieve

  @Test func retrieve_withoutFields_givesEveryFieldAttributesFirst() async throws {
    try await withOrg { server, client in
      let id = try server.create("Contact", fields: ["LastName": "A\"\\\n\u{1}é", "YearsKnown__c": 2])
      let answer = try await client.send("GET", "\(rows)/Contact/\(id.prefix(15))")
      #expect(answer.status == 200)
      #expect(answer.json.objectValue?.keys.first == "attributes")
      #expect(answer.json["attributes"] == ["type": "Contact", "url": .string("\(rows)/Contact/\(id)")])
      #expect(answer.json["LastName"] == "A\"\\\n\u{1}é")
      #expect(answer.json["AccountId"] == .null)
      #expect(answer.text.contains("\"YearsKnown__c\":2.0,"))
      #expect((answer.json.objectValue?.count ?? 0) > 25)
    }
  }

  @Test func rows_thatAreGone_answerAsTheVerbAsks() async throws {
    try await withOrg { server, client in
      let id = try server.create("Contact", fields: ["LastName": "A"])
      let deleted = try server.create("Contact", fields: ["LastName": "B"])
      try server.delete("Contact", id: deleted)
      let never = "003gL0000009999"
      let account = try server.create("Account", fields: ["Name": "A"])
      let cases: [(String, String, Int, String)] = [
        ("GET", deleted, 404, "ENTITY_IS_DELETED"), ("PATCH", deleted, 404, "ENTITY_IS_DELETED"),
        ("DELETE", deleted, 404, "ENTITY_IS_DELETED"), ("GET", never, 404, "NOT_FOUND"),
        ("PATCH", never, 404, "NOT_FOUND"), ("DELETE", never, 404, "NOT_FOUND"), ("GET", account, 404, "NOT_FOUND"),
        ("PATCH", account, 400, "MALFORMED_ID"), ("DELETE", account, 400, "MALFORMED_ID"),
        ("GET", "nonsense", 404, "NOT_FOUND"), ("PATCH", "nonsense", 404, "NOT_FOUND"),
      ]
      for (method, key, status, code) in cases {
        let answer =
          method == "PATCH"
          ? try await client.json(method, "\(rows)/Contact/\(key)", #"{"LastName":"Z"}"#)
          : try await client.send(method, "\(rows)/Contact/\(key)")
        #expect(answer.status == status && answer.errorCode == code, "\(method) \(key): \(answer.text)")
      }
      #expect(try await client.send("GET", "\(rows)/Contact/\(id)?fields=Nope").errorCode == "INVALID_FIELD")
      #expect(try await client.send("GET", "\(rows)/Contact/\(id)?fields=Owner.Name").json["Owner"]?["Name"] == "Otto Colleague")
      #expect(try await client.send("GET", "\(rows)/Nothing/\(id)").status == 404)
    }
  }

  // MARK: Update, delete

  @Test func update_partialBody_changesNameAndStampOnly() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let id = try server.create("Contact", fields: ["LastName": "Lee", "FirstName": "Ann", "Title": "CEO"])
      clock.advance(by: 5)
      let answer = try await client.json("PATCH", "\(rows)/Contact/\(id)", #"{"FirstName":"Bo","Title":null,"DoNotCall":"true"}"#)
      #expect(answer.status == 204 && answer.body.isEmpty)
      let text = try server.query("SELECT Name, Title, DoNotCall, CreatedDate, LastModifiedDate FROM Contact").text
      #expect(
        text.contains(
          #""Name":"Bo Lee","Title":null,"DoNotCall":true,"CreatedDate":"2026-03-02T09:00:00.000+0000","LastModifiedDate":"2026-03-02T09:00:05.000+0000""#
        ))
      let tunnelled = try await client.json("POST", "\(rows)/Contact/\(id)?_HttpMethod=PATCH", #"{"LastName":"Ma"}"#)
      #expect(tunnelled.status == 204)
      let withId = try await client.json("PATCH", "\(rows)/Contact/\(id)", "{\"Id\":\"\(id)\"}")
      #expect(withId.status == 400 && withId.errorCode == "INVALID_FIELD")
      #expect(try await client.json("PATCH", "\(rows)/Contact/\(id)", "{}").status == 204)
      let empty = try await client.json("PATCH", "\(rows)/Contact/\(id)", #"{"LastName":null}"#)
      #expect(empty.errorCode == "REQUIRED_FIELD_MISSING")
    }
  }

  @Test func update_toADeletedParent_is400EntityIsDeleted() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let id = try server.create("Contact", fields: ["LastName": "B"])
      try server.delete("Account", id: account)
      let answer = try await client.json("PATCH", "\(rows)/Contact/\(id)", "{\"AccountId\":\"\(account)\"}")
      #expect(answer.status == 400 && answer.errorCode == "ENTITY_IS_DELETED")
    }
  }

  @Test func delete_account_takesContactsAlongAndLetsGoOfSubsidiaries() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let subsidiary = try server.create("Account", fields: ["Name": "B", "ParentId": .string(account)])
      try server.create("Contact", fields: ["LastName": "C", "AccountId": .string(account)])
      #expect(try await client.send("DELETE", "\(rows)/account/\(account)").status == 204)
      #expect(try await client.send("DELETE", "\(rows)/account/\(account)").errorCode == "ENTITY_IS_DELETED")
      #expect(try server.query("SELECT COUNT() FROM Contact")["totalSize"] == 0)
      #expect(try server.query("SELECT COUNT() FROM Contact", includeDeleted: true)["totalSize"] == 1)
      #expect(try server.query("SELECT ParentId FROM Account WHERE Id = '\(subsidiary)'").text.contains("\"ParentId\":null"))
      let all = try await client.query("SELECT IsDeleted FROM Contact", resource: "queryAll")
      #expect(all.json["records"]?.arrayValue?.first?["IsDeleted"] == true)
    }
  }

  @Test func delete_contactWithACase_isRefused() async throws {
    try await withOrg { server, client in
      let contact = try server.create("Contact", fields: ["LastName": "Davis", "FirstName": "Jo"])
      try server.create("Case", fields: ["ContactId": .string(contact)])
      let answer = try await client.send("DELETE", "\(rows)/Contact/\(contact)")
      #expect(answer.status == 400 && answer.errorCode == "DELETE_FAILED")
      #expect(
        answer.message
          == "Your attempt to delete Jo Davis could not be completed because it is associated with the following cases.: 00001000\n"
      )
      let user = server.credentials().userId
      #expect(try await client.send("DELETE", "\(rows)/User/\(user)").errorCode == "INSUFFICIENT_ACCESS_OR_READONLY")
    }
  }

  // MARK: External ids

  @Test func upsert_byExternalId_insertsThenUpdates() async throws {
    try await withOrg { server, client in
      let url = "\(rows)/Account/External_Id__c/a%2Fb"
      let onlyUpdate = try await client.json("PATCH", url + "?updateOnly=true", #"{"Name":"A"}"#)
      #expect(onlyUpdate.status == 404)
      let first = try await client.json("PATCH", url, #"{"Name":"A"}"#)
      #expect(first.status == 201 && first.json["created"] == true)
      let second = try await client.json("PATCH", url, #"{"Name":"B"}"#)
      #expect(second.status == 200 && second.json["created"] == false && second.json["id"] == first.json["id"])
      let old = try await client.json("PATCH", url.replacingOccurrences(of: "v66.0", with: "v45.0"), #"{"Name":"C"}"#)
      #expect(old.status == 204)
      #expect(try await client.send("GET", url + "?fields=Name,External_Id__c").json["External_Id__c"] == "a/b")
      let inBody = try await client.json("PATCH", url, #"{"External_Id__c":"a/b"}"#)
      #expect(inBody.errorCode == "INVALID_FIELD")
      let noField = try await client.json("PATCH", "\(rows)/Account/Industry/x", #"{"Name":"C"}"#)
      #expect(noField.status == 404)
      #expect(noField.message == "Provided external ID field does not exist or is not accessible: Industry")
      #expect(try await client.send("DELETE", url).status == 204)
      #expect(try await client.send("GET", url).status == 404)
    }
  }

  @Test func upsert_severalMatches_answers300AndWritesNothing() async throws {
    try await withOrg { server, client in
      let ids = try (0..<2).map { _ in try server.create("Contact", fields: ["LastName": "A", "Email": "a@b.example"]) }
      let answer = try await client.json("PATCH", "\(rows)/Contact/Email/a@b.example", #"{"LastName":"B"}"#)
      #expect(answer.status == 300)
      #expect(answer.json == .array(ids.map { .string("\(rows)/Contact/\($0)") }))
      #expect(try server.query("SELECT COUNT() FROM Contact WHERE LastName = 'B'")["totalSize"] == 0)
      let byId = try await client.json("PATCH", "\(rows)/Contact/Id/\(ids[0])", #"{"LastName":"B"}"#)
      #expect(byId.status == 200 && byId.json["created"] == false)
      let inserted = try await client.json("POST", "\(rows)/Contact/Id", #"{"LastName":"C"}"#)
      #expect(inserted.status == 201)
    }
  }

  // MARK: Methods and paths

  @Test func rows_wrongMethodOrPath_answers405Or404() async throws {
    try await withOrg { _, client in
      let patch = try await client.json("PATCH", "\(rows)/Account", "{}")
      #expect(patch.status == 405 && patch.errorCode == "METHOD_NOT_ALLOWED")
      #expect(patch.message == "HTTP Method 'PATCH' not allowed. Allowed are HEAD,GET,POST")
      #expect(patch.headers["allow"] == "HEAD,GET,POST")
      for path in ["\(rows)/Nothing", "/services/data/v66.0/nowhere", "/elsewhere"] {
        let answer = try await client.send("GET", path)
        #expect(answer.status == 404 && answer.errorCode == "NOT_FOUND", "\(path)")
        #expect(answer.message == "The requested resource does not exist")
      }
    }
  }
}
