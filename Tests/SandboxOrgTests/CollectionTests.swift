import Foundation
import JSON
import SandboxOrg
import Testing

private let collection = "/services/data/v66.0/composite/sobjects"

@Suite struct CollectionTests {
  private func codes(_ answer: WireClient.Answer) -> [String] {
    (answer.json.arrayValue ?? []).map { item in
      item["success"] == true ? "ok" : item["errors"]?.arrayValue?.first?["statusCode"]?.stringValue ?? "?"
    }
  }

  @Test func create_oneBadOfThree_savesTheOthers() async throws {
    try await withOrg { server, client in
      let body = #"""
        {"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Name":"A"},{"attributes":{"type":"Contact"}},
        {"attributes":{"type":"Account"},"Name":"B"},{"attributes":{"type":"badType"},"Name":"C"},{"Name":"D"}]}
        """#
      let answer = try await client.json("POST", collection, body)
      #expect(answer.status == 200)
      #expect(codes(answer) == ["ok", "REQUIRED_FIELD_MISSING", "ok", "INVALID_TYPE", "INVALID_TYPE"])
      #expect(answer.json.arrayValue?[1].objectValue?.keys == ["success", "errors"])
      #expect(answer.text.contains("sObject type 'badType' is not supported"))
      #expect(answer.text.contains("sObject type 'null' is not supported"))
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 2)
    }
  }

  /// The position refers to the whole body, after records and members that look alike.
  @Test(arguments: [
    (
      #"{"records":[{"attributes":{"type":"Account"},"Name":"AnnualRevenue"},"# + "\n"
        + #"{"AnnualRevenue":"abc","attributes":{"type":"Account"},"Name":"[{"}]}"#, 2, 18
    ),
    (
      #"{"allOrNone":false, "records": [ {"attributes":{"type":"Account","AnnualRevenue":1},"Name":"B","AnnualRevenue": "x"} ]}"#,
      1, 113
    ),
  ])
  func create_valueOfAnotherType_saysWhereItStands(body: String, line: Int, column: Int) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", collection, body)
      let errors = (answer.json.arrayValue ?? []).compactMap { $0["errors"]?.arrayValue?.first }
      #expect(errors.map { $0["statusCode"] } == ["JSON_PARSER_ERROR"])
      #expect(errors.first?["message"]?.stringValue?.hasSuffix(" at [line:\(line), column:\(column)]") == true, "\(errors)")
    }
  }

  @Test func create_allOrNone_rollsEverythingBack() async throws {
    try await withOrg { server, client in
      let body = #"{"allOrNone":true,"records":[{"attributes":{"type":"Account"},"Name":"A"},{"attributes":{"type":"Account"}}]}"#
      let answer = try await client.json("POST", collection, body)
      #expect(answer.status == 200)
      #expect(codes(answer) == ["ALL_OR_NONE_OPERATION_ROLLED_BACK", "REQUIRED_FIELD_MISSING"])
      #expect(try server.query("SELECT COUNT() FROM Account", includeDeleted: true)["totalSize"] == 0)
    }
  }

  @Test func update_mixedRecords_answersEachInOrder() async throws {
    try await withOrg { server, client in
      let ids = try ["A", "B", "C"].map { try server.create("Account", fields: ["Name": .string($0)]) }
      try server.delete("Account", id: ids[2])
      let records = [
        "\"id\":\"\(ids[0])\",\"Name\":\"A2\"", "\"Id\":\"\(ids[1].prefix(15))\",\"Name\":\"B2\"", "\"id\":\"\(ids[2])\"",
        "\"id\":\"001gL0000009999\"", "\"Name\":\"x\"", "\"id\":\"003gL0000000001\"", "\"id\":\"\(ids[0])\"",
      ].map { "{\"attributes\":{\"type\":\"Account\"},\($0)}" }
      let answer = try await client.json("PATCH", collection, "{\"records\":[\(records.joined(separator: ","))]}")
      #expect(
        codes(answer) == [
          "ok", "ok", "ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY", "MISSING_ARGUMENT", "MALFORMED_ID", "DUPLICATE_VALUE",
        ])
      let names = try server.query("SELECT Name FROM Account")["records"]?.arrayValue?.compactMap { $0["Name"]?.stringValue }
      #expect(names == ["A2", "B2"])
    }
  }

  @Test func delete_goneAndUnknownIds_doNotStopTheOthers() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let contact = try server.create("Contact", fields: ["LastName": "B"])
      let ids = [account, "003gL0000009999", contact, account, "junk"].joined(separator: ",")
      let answer = try await client.send("DELETE", "\(collection)?allOrNone=false&ids=\(ids)")
      #expect(codes(answer) == ["ok", "INVALID_CROSS_REFERENCE_KEY", "ok", "ENTITY_IS_DELETED", "MALFORMED_ID"])
      let kept = try server.create("Account", fields: ["Name": "K"])
      let all = try await client.send("DELETE", "\(collection)?allOrNone=true&ids=\(kept),\(account)")
      #expect(codes(all) == ["ALL_OR_NONE_OPERATION_ROLLED_BACK", "ENTITY_IS_DELETED"])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
    }
  }

  @Test func upsert_byExternalIdAndById_tellsWhatWasCreated() async throws {
    try await withOrg { server, client in
      let known = try server.create("Account", fields: ["Name": "A", "External_Id__c": "a"])
      let body = #"""
        {"records":[{"attributes":{"type":"Account"},"External_Id__c":"A","Name":"A2"},{"attributes":{"type":"Account"},
        "External_Id__c":"b","Name":"B"},{"attributes":{"type":"Account"},"External_Id__c":"c"},{"attributes":{"type":"Account"}}]}
        """#
      let answer = try await client.json("PATCH", "\(collection)/Account/External_Id__c", body)
      #expect(codes(answer) == ["ok", "ok", "REQUIRED_FIELD_MISSING", "MISSING_ARGUMENT"])
      #expect(answer.json.arrayValue?.map { $0["created"] } == [false, true, true, false])
      #expect(answer.json.arrayValue?[0]["id"] == .string(known))
      let byId = try await client.json(
        "PATCH", "\(collection)/Account/Id",
        "{\"records\":[{\"attributes\":{\"type\":\"Account\"},\"Id\":\"\(known)\",\"Name\":\"A3\"},{\"attributes\":{\"type\":\"Account\"},\"id\":null,\"Name\":\"N\"}]}"
      )
      #expect(byId.json.arrayValue?.map { $0["created"] } == [false, true])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 3)
    }
  }

  @Test func retrieve_missingIds_areNullInTheirPlace() async throws {
    try await withOrg { server, client in
      let ids = try ["A", "B"].map { try server.create("Account", fields: ["Name": .string($0)]) }
      try server.delete("Account", id: ids[1])
      let list = "[\"\(ids[1])\",\"\(ids[0])\",\"junk\",\"\(ids[0].prefix(15))\"]"
      let answer = try await client.json("POST", "\(collection)/Account", "{\"ids\":\(list),\"fields\":[\"Id\",\"Name\"]}")
      let names = answer.json.arrayValue?.map { $0["Name"]?.stringValue }
      #expect(answer.status == 200 && names == [nil, "A", nil, "A"])
      let get = try await client.send("GET", "\(collection)/Account?ids=\(ids[0]),\(ids[1])&fields=Id,LastModifiedDate")
      #expect(get.json.arrayValue?.count == 2 && get.json.arrayValue?[1] == .null)
      let bad = try await client.json("POST", "\(collection)/Account", "{\"ids\":\(list),\"fields\":[\"Nope\"]}")
      #expect(bad.status == 400 && bad.errorCode == "INVALID_FIELD")
    }
  }

  @Test func collections_tooManyRecords_areRefusedWhole() async throws {
    try await withOrg { server, client in
      let record = #"{"attributes":{"type":"Account"},"Name":"A"}"#
      let records = Array(repeating: record, count: 201).joined(separator: ",")
      let answer = try await client.json("POST", collection, "{\"records\":[\(records)]}")
      #expect(answer.status == 400 && answer.errorCode == "EXCEEDED_ID_LIMIT")
      #expect(answer.message == "record limit reached. cannot submit more than 200 records into this call")
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
      let ids = Array(repeating: "\"001gL0000000001\"", count: 2_001).joined(separator: ",")
      let retrieve = try await client.json("POST", "\(collection)/Account", "{\"ids\":[\(ids)],\"fields\":[\"Id\"]}")
      #expect(retrieve.errorCode == "EXCEEDED_ID_LIMIT")
      #expect(try await client.json("POST", collection, #"{"records":[]}"#).status == 400)
      #expect(try await client.json("POST", collection, #"{"records":7}"#).errorCode == "JSON_PARSER_ERROR")
      #expect(try await client.send("PUT", collection).status == 405)
    }
  }

  @Test func create_typesThatAlternate_areTenChunksAtMost() async throws {
    try await withOrg { server, client in
      func body(_ count: Int) -> String {
        let records = (0..<count).map { index in
          index % 2 == 0 ? #"{"attributes":{"type":"Account"},"Name":"A"}"# : #"{"attributes":{"type":"Contact"},"LastName":"C"}"#
        }
        return "{\"records\":[\(records.joined(separator: ","))]}"
      }
      let refused = try await client.json("POST", collection, body(11))
      #expect(refused.status == 400 && refused.errorCode == "LIMIT_EXCEEDED")
      #expect(codes(try await client.json("POST", collection, body(10))) == Array(repeating: "ok", count: 10))
      #expect(try server.query("SELECT COUNT() FROM Contact")["totalSize"] == 5)
    }
  }
}
