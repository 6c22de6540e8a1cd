import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"

/// Data types, defaults, derived fields and rules of the org.
@Suite struct DataModelTests {
  // MARK: Refusals

  @Test(
    arguments: [
      ("Contact", #"{"LastName":"A","Email":"a b@c.de"}"#, "INVALID_EMAIL_ADDRESS", "Email: invalid email address: a b@c.de"),
      (
        "Account", #"{"Name":"A","NumberOfEmployees":123456789}"#, "NUMBER_OUTSIDE_VALID_RANGE",
        "Employees: value outside of valid range on numeric field: 123456789"
      ),
      (
        "Account", #"{"Name":"A","NumberOfEmployees":"forty"}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of int from VALUE_STRING value forty or request may be missing a required field"
          + " at [line:1, column:33]"
      ),
      (
        "Account", #"{"Name":"A","NumberOfEmployees":1.5}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of int from VALUE_NUMBER_FLOAT value 1.5 or request may be missing a required field"
          + " at [line:1, column:33]"
      ),
      (
        "Account", #"{"Name":["A"]}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of string from START_ARRAY value [\"A\"] or request may be missing a required field"
          + " at [line:1, column:9]"
      ),
      (
        "Account", #"{"Name":"A","BillingAddress":{"city":"x"}}"#, "INVALID_FIELD_FOR_INSERT_UPDATE",
        "Unable to create/update fields: BillingAddress. Please check the security settings of this field and verify that it is "
          + "read/write for your profile or permission set."
      ),
      (
        "Opportunity", #"{"Name":"A","StageName":"Proposal","CloseDate":"2026-02-30"}"#, "JSON_PARSER_ERROR",
        "Cannot deserialize instance of date from VALUE_STRING value 2026-02-30 or request may be missing a required field"
          + " at [line:1, column:48]"
      ),
      (
        "Event", #"{"StartDateTime":"2026-03-02T10:00:00Z","EndDateTime":"2026-03-02T09:00:00Z"}"#,
        "FIELD_CUSTOM_VALIDATION_EXCEPTION", "The end of the event must not be before its start."
      ),
      ("Task", #"{"WhatId":"003gL0000000001"}"#, "MALFORMED_ID", "Related To ID: id value of incorrect type: 003gL0000000001QAA"),
      ("ContentDocument", #"{"Title":"A"}"#, "INVALID_TYPE_FOR_OPERATION", "entity type ContentDocument does not support create"),
      ("User", #"{"LastName":"A"}"#, "REQUIRED_FIELD_MISSING", nil),
      ("Attachment", #"{"Name":"a","Body":"%%"}"#, "JSON_PARSER_ERROR", nil),
    ] as [(String, String, String, String?)])
  func create_refused_answersCodeAndMessage(type: String, body: String, code: String, message: String?) async throws {
    try await withOrg { server, client in
      let answer = try await client.json("POST", "\(rows)/\(type)", body)
      #expect(answer.status == 400 && answer.errorCode == code, "\(answer.text)")
      if let message { #expect(answer.message == message) }
      #expect(answer.json.arrayValue?.count == 1)
      if type != "User" { #expect(try server.query("SELECT COUNT() FROM \(type)")["totalSize"] == 0) }
    }
  }

  @Test func create_severalBadValues_answersOneErrorEach() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let user = server.credentials().userId
      let link = "{\"ContentDocumentId\":\"069gL0000000001\",\"LinkedEntityId\":\"\(account)\",\"ShareType\":\"X\"}"
      let answer = try await client.json("POST", "\(rows)/ContentDocumentLink", link)
      #expect(answer.errorCode == "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")
      #expect(answer.message == "Share Type: bad value for restricted picklist field: X")
      let title = String(repeating: "t", count: 129)
      let contact = try await client.json(
        "POST", "\(rows)/Contact", "{\"LastName\":\"A\",\"Email\":\"x\",\"Title\":\"\(title)\"}")
      let codes = contact.json.arrayValue?.compactMap { $0["errorCode"]?.stringValue }
      #expect(contact.status == 400 && codes == ["INVALID_EMAIL_ADDRESS", "STRING_TOO_LONG"])
      // A missing required field is reported first and alone.
      let missing = try await client.json("POST", "\(rows)/Contact", #"{"Email":"x"}"#)
      #expect(missing.json.arrayValue?.count == 1 && missing.errorCode == "REQUIRED_FIELD_MISSING")
      #expect(try await client.json("PATCH", "\(rows)/User/\(user)", #"{"Title":"Boss"}"#).status == 204)
      #expect(
        try await client.json("PATCH", "\(rows)/Organization/00DgL0000000001", #"{"Name":"x"}"#).errorCode
          == "INVALID_TYPE_FOR_OPERATION")
    }
  }

  @Test func update_fieldForCreateOnly_isRefused() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let note = try server.create("Note", fields: ["Title": "n", "ParentId": .string(account)])
      let answer = try await client.json("PATCH", "\(rows)/Note/\(note)", "{\"ParentId\":\"\(account)\"}")
      #expect(answer.status == 400 && answer.errorCode == "INVALID_FIELD_FOR_INSERT_UPDATE")
    }
  }

  @Test func update_parentThatIsADescendant_isRefused() async throws {
    try await withOrg { server, client in
      let top = try server.create("Account", fields: ["Name": "A"])
      let middle = try server.create("Account", fields: ["Name": "B", "ParentId": .string(top)])
      let bottom = try server.create("Account", fields: ["Name": "C", "ParentId": .string(middle)])
      for parent in [top, bottom] {
        let answer = try await client.json("PATCH", "\(rows)/Account/\(top)", "{\"ParentId\":\"\(parent)\"}")
        #expect(answer.status == 400 && answer.errorCode == "FIELD_INTEGRITY_EXCEPTION")
      }
      #expect(try await client.json("PATCH", "\(rows)/Account/\(bottom)", "{\"ParentId\":\"\(top)\"}").status == 204)
    }
  }

  @Test func update_brokenRule_leavesTheRowAsItWas() async throws {
    try await withOrg { server, client in
      let id = try server.create(
        "Event", fields: ["StartDateTime": "2026-03-02T10:00:00Z", "EndDateTime": "2026-03-02T11:00:00Z"])
      let answer = try await client.json("PATCH", "\(rows)/Event/\(id)", #"{"EndDateTime":"2026-03-01T00:00:00Z"}"#)
      #expect(answer.errorCode == "FIELD_CUSTOM_VALIDATION_EXCEPTION")
      #expect(answer.json.arrayValue?.first?["fields"] == ["EndDateTime"])
      let row = try server.query("SELECT EndDateTime, ActivityDate FROM Event")["records"]?.arrayValue?.first
      #expect(row?["EndDateTime"] == "2026-03-02T11:00:00.000+0000" && row?["ActivityDate"] == "2026-03-02")
    }
  }

  // MARK: Derived values

  @Test func opportunity_stage_bringsProbabilityForecastAndFlags() async throws {
    try await withOrg { server, client in
      let id = try server.create(
        "Opportunity", fields: ["Name": "o", "StageName": "Proposal", "CloseDate": "2026-05-01", "Amount": 1000])
      func read() async throws -> WireClient.Answer {
        try await client.send(
          "GET",
          "\(rows)/Opportunity/\(id)?fields=Probability,ForecastCategory,ExpectedRevenue,IsClosed,IsWon,FiscalYear,FiscalQuarter")
      }
      let first = try await read()
      #expect(
        first.text.hasSuffix(
          ##""Probability":60.0,"ForecastCategory":"BestCase","ExpectedRevenue":600.0,"IsClosed":false,"IsWon":false,"FiscalYear":2026,"FiscalQuarter":2,"Id":"\##(id)"}"##
        ), "\(first.text)")
      try server.update("Opportunity", id: id, fields: ["StageName": "Closed Won"])
      let won = try await read()
      #expect(won.json["Probability"] == 100.0 && won.json["IsClosed"] == true && won.json["IsWon"] == true)
      try server.update("Opportunity", id: id, fields: ["StageName": "Negotiation", "Probability": 75])
      #expect(try await read().json["Probability"] == 75.0)
    }
  }

  @Test func case_contactAndStatus_bringAccountAndClosedDate() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let contact = try server.create("Contact", fields: ["LastName": "C", "AccountId": .string(account)])
      let id = try server.create("Case", fields: ["ContactId": .string(contact)])
      let fields = "AccountId,ClosedDate,IsEscalated"
      let open = try await client.send("GET", "\(rows)/Case/\(id)?fields=\(fields)")
      #expect(open.json["AccountId"] == .string(account) && open.json["ClosedDate"] == .null)
      try server.update("Case", id: id, fields: ["Status": "Closed"])
      #expect(
        try await client.send("GET", "\(rows)/Case/\(id)?fields=ClosedDate").json["ClosedDate"] == "2026-03-02T09:00:00.000+0000")
      try server.update("Case", id: id, fields: ["Status": "Escalated"])
      let again = try await client.send("GET", "\(rows)/Case/\(id)?fields=\(fields)")
      #expect(again.json["ClosedDate"] == .null && again.json["IsEscalated"] == true)
    }
  }

  @Test func address_parts_readAsOneObject() async throws {
    try await withOrg { server, client in
      let id = try server.create(
        "Contact", fields: ["LastName": "A", "MailingCity": "Lyon", "MailingLatitude": 45.76, "MailingStreet": "1 \"Rue\""])
      let text = try await client.send("GET", "\(rows)/Contact/\(id)?fields=MailingAddress,OtherAddress").text
      #expect(
        text.hasSuffix(
          ##""MailingAddress":{"city":"Lyon","country":null,"geocodeAccuracy":null,"latitude":45.76,"longitude":null,"postalCode":null,"state":null,"street":"1 \"Rue\""},"OtherAddress":null,"Id":"\##(id)"}"##
        ), "\(text)")
      let filter = try await client.query("SELECT Id FROM Contact WHERE MailingAddress = 'x'")
      #expect(filter.errorCode == "INVALID_FIELD")
    }
  }

  @Test func owner_queue_takesCasesOnly() async throws {
    try await withOrg { _, client in
      let group = try await client.send("GET", "\(rows)/Group/00GgL0000000001?fields=Id,Type")
      #expect(group.json["Type"] == "Queue")
      let queue = group.json["Id"]?.stringValue ?? ""
      let owned = try await client.json("POST", "\(rows)/Case", "{\"OwnerId\":\"\(queue)\"}")
      #expect(owned.status == 201)
      let account = try await client.json("POST", "\(rows)/Account", "{\"Name\":\"A\",\"OwnerId\":\"\(queue)\"}")
      #expect(account.errorCode == "MALFORMED_ID")
      let organization = try await client.query("SELECT Id, IsSandbox, OrganizationType, InstanceName FROM Organization LIMIT 1")
      #expect(organization.json["records"]?.arrayValue?.first?["IsSandbox"] == true)
    }
  }

  // MARK: Recycle bin

  @Test func undelete_account_bringsBackWhatWentWithIt() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let contact = try server.create("Contact", fields: ["LastName": "B", "AccountId": .string(account)])
      let earlier = try server.create("Contact", fields: ["LastName": "C", "AccountId": .string(account)])
      try server.delete("Contact", id: earlier)
      clock.advance(by: 60)
      try server.delete("Account", id: account)
      clock.advance(by: 60)
      try server.undelete("Account", id: account)
      #expect(try await client.send("GET", "\(rows)/Account/\(account)").status == 200)
      let back = try await client.send("GET", "\(rows)/Contact/\(contact)?fields=AccountId,SystemModstamp")
      #expect(back.json["AccountId"] == .string(account) && back.json["SystemModstamp"] == "2026-03-02T09:02:00.000+0000")
      #expect(try await client.send("GET", "\(rows)/Contact/\(earlier)").errorCode == "ENTITY_IS_DELETED")
      #expect(throws: SandboxError.self) { try server.undelete("Account", id: account) }
    }
  }

  // MARK: Describe

  @Test func describe_everyObject_holdsTogether() async throws {
    try await withOrg { _, client in
      let global = try await client.send("GET", rows)
      let entries = global.json["sobjects"]?.arrayValue ?? []
      #expect(entries.count > 20)
      for entry in entries {
        let name = entry["name"]?.stringValue ?? ""
        let answer = try await client.send("GET", "\(rows)/\(name)/describe")
        #expect(answer.status == 200 && answer.json["urls"]?["sobject"] == .string("\(rows)/\(name)"))
        let fields = answer.json["fields"]?.arrayValue ?? []
        #expect(fields.filter { $0["nameField"] == true }.count <= 1, "\(name)")
        for field in fields {
          #expect(field.objectValue?.count == 57, "\(name).\(field["name"]?.stringValue ?? ""): \(field.objectValue?.count ?? 0)")
        }
        let every = fields.compactMap { $0["name"]?.stringValue }.joined(separator: ",")
        #expect(try await client.query("SELECT \(every) FROM \(name) WHERE Id = null").status == 200, "\(name)")
      }
    }
  }
}
