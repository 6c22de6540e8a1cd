import Foundation
import JSON
import SandboxOrg
import Testing

private let tree = "/services/data/v66.0/composite/tree"

/// Returns a record as JSON text.
private func record(_ type: String, _ id: String, _ rest: String = "") -> String {
  "{\"attributes\":{\"type\":\"\(type)\",\"referenceId\":\"\(id)\"}\(rest.isEmpty ? "" : "," + rest)}"
}

private func children(_ name: String, _ records: [String]) -> String {
  "\"\(name)\":{\"records\":[\(records.joined(separator: ","))]}"
}

@Suite struct TreeTests {
  private func post(_ client: WireClient, _ records: [String]) async throws -> WireClient.Answer {
    try await client.json("POST", "\(tree)/Account", "{\"records\":[\(records.joined(separator: ","))]}")
  }

  private func failures(_ answer: WireClient.Answer) -> [String] {
    (answer.json["results"]?.arrayValue ?? []).map { item in
      let code = item["errors"]?.arrayValue?.first?["statusCode"]?.stringValue ?? "?"
      return (item["referenceId"]?.stringValue ?? "?") + " " + code
    }
  }

  @Test func tree_valueOfAnotherType_saysWhereItStands() async throws {
    try await withOrg { _, client in
      let child = record("Account", "a2", #""Name":"A2","AnnualRevenue":"abc""#)
      let root = record(
        "Account", "a1", #""Name":"A1","# + children("ChildAccounts", [record("Account", "a3", #""Name":"A3""#), child]))
      let answer = try await post(client, [record("Account", "b1", #""Name":"B1""#), root])
      let message = answer.json["results"]?.arrayValue?.first?["errors"]?.arrayValue?.first?["message"]?.stringValue ?? ""
      let sent = "{\"records\":[\(record("Account", "b1", #""Name":"B1""#)),\(root)]}"
      let value = try #require(sent.firstRange(of: #""abc""#)?.lowerBound)
      let column = sent.distance(from: sent.startIndex, to: value) + 1
      #expect(message.hasSuffix(" at [line:1, column:\(column)]"), "\(message)")
    }
  }

  @Test func tree_nestedRecords_areLinkedAndListedByLevel() async throws {
    try await withOrg { server, client in
      let contacts = [record("Contact", "c1", #""LastName":"C1""#), record("contact", "c2", #""LastName":"C2""#)]
      let grandchild = record("Account", "a3", #""Name":"A3""#)
      let child = record("Account", "a2", #""Name":"A2","# + children("ChildAccounts", [grandchild]))
      let root = record(
        "Account", "a1", #""Name":"A1","# + children("contacts", contacts) + "," + children("ChildAccounts", [child]))
      let answer = try await post(client, [root, record("Account", "b1", #""Name":"B1""#)])
      #expect(answer.status == 201 && answer.json["hasErrors"] == false)
      let ids = answer.json["results"]?.arrayValue?.map { $0["referenceId"]?.stringValue }
      #expect(ids == ["a1", "b1", "c1", "c2", "a2", "a3"])
      #expect(answer.json["results"]?.arrayValue?[2]["id"]?.stringValue?.hasPrefix("003") == true)
      #expect(try server.query("SELECT COUNT() FROM Contact WHERE Account.Name = 'A1'")["totalSize"] == 2)
      #expect(try server.query("SELECT COUNT() FROM Account WHERE Parent.Parent.Name = 'A1'")["totalSize"] == 1)
    }
  }

  @Test func tree_badRecords_areNamedAndNothingIsSaved() async throws {
    try await withOrg { server, client in
      let bad = record("Contact", "c1", #""LastName":"C","Email":"nowhere""#)
      let hidden = record("Contact", "c2", #""LastName":"C""#)
      let answer = try await post(
        client,
        [
          record("Account", "a1", #""Name":"A","# + children("Contacts", [bad])),
          record("Account", "a2", children("Contacts", [hidden])), record("Account", "a3", #""Name":"A","Nope":1"#),
        ])
      #expect(answer.status == 400 && answer.json["hasErrors"] == true)
      #expect(failures(answer) == ["a2 REQUIRED_FIELD_MISSING", "a3 INVALID_FIELD", "c1 INVALID_EMAIL_ADDRESS"])
      let error = answer.json["results"]?.arrayValue?.last?["errors"]?.arrayValue?.first
      #expect(
        error == ["statusCode": "INVALID_EMAIL_ADDRESS", "message": "Email: invalid email address: nowhere", "fields": ["Email"]])
      #expect(try server.query("SELECT COUNT() FROM Account", includeDeleted: true)["totalSize"] == 0)
    }
  }

  @Test func tree_twoOfOneReference_areBothNamed() async throws {
    try await withOrg { server, client in
      let answer = try await post(client, ["r", "s", "r"].map { record("Account", $0, #""Name":"A""#) })
      #expect(answer.status == 400 && failures(answer) == ["r INVALID_INPUT", "r INVALID_INPUT"])
      #expect(answer.text.contains("Duplicate ReferenceId provided in the request."))
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
    }
  }

  @Test func tree_limits_areHeld() async throws {
    try await withOrg { server, client in
      let many = (0..<201).map { record("Account", "r\($0)", #""Name":"A""#) }
      let refused = try await post(client, many)
      #expect(refused.errorCode == "EXCEEDED_ID_LIMIT")
      #expect(try await post(client, Array(many.dropLast())).status == 201)
      func nested(_ levels: Int) -> String {
        let rest = levels == 1 ? "" : "," + children("ChildAccounts", [nested(levels - 1)])
        return record("Account", "l\(levels)", #""Name":"A""# + rest)
      }
      #expect(try await post(client, [nested(6)]).errorCode == "INVALID_INPUT")
      #expect(try await post(client, [nested(5)]).status == 201)
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 205)
    }
  }

  @Test(
    arguments: [
      (#"{}"#, 400, "JSON_PARSER_ERROR"), (#"{"records":[]}"#, 400, "JSON_PARSER_ERROR"),
      (#"{"records":[7]}"#, 400, "JSON_PARSER_ERROR"), (#"{"records":[{"Name":"A"}]}"#, 400, "INVALID_INPUT"),
      (#"{"records":[{"attributes":{"type":"Account"},"Name":"A"}]}"#, 400, "INVALID_INPUT"),
      (#"{"records":[{"attributes":{"type":"Contact","referenceId":"r"},"LastName":"A"}]}"#, 400, "INVALID_INPUT"),
    ])
  func tree_badCall_isRefusedWhole(body: String, status: Int, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", "\(tree)/Account", body)
      #expect(answer.status == status && answer.errorCode == code)
      #expect(try await client.json("POST", "\(tree)/Nothing", body).status == 404)
    }
  }
}
