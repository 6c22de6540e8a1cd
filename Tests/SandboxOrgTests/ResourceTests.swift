import Foundation
import JSON
import SandboxOrg
import Testing

@Suite struct ResourceTests {
  @Test func versions_needNoSession() async throws {
    try await withOrg { server, _ in
      for path in ["/services/data", "/services/data/"] {
        let answer = try await WireClient(port: server.port).send("GET", path)
        #expect(answer.status == 200)
        #expect(answer.json.arrayValue?.first?["version"] == "31.0")
        #expect(answer.json.arrayValue?.last == ["label": "Summer '26", "url": "/services/data/v67.0", "version": "67.0"])
      }
    }
  }

  @Test func resources_echoTheVersionAndNameTheIdentity() async throws {
    try await withOrg { server, client in
      let answer = try await client.send("GET", "/services/data/v42.0")
      #expect(answer.json["query"] == "/services/data/v42.0/query")
      #expect(answer.json["identity"]?.stringValue?.hasPrefix(server.url + "/id/00D") == true)
      let query = try await client.send("GET", "/services/data/v42.0/query/?q=select+id+from+User+limit+1")
      #expect(query.text.contains("\"url\":\"/services/data/v42.0/sobjects/User/005"))
      let limits = try await client.send("GET", "/services/data/v66.0/limits/")
      #expect(limits.json["DailyApiRequests"]?["Max"] == 15_000 && limits.json["DailyApiRequests"]?["Remaining"] == 14_997)
      let count = try await client.send("GET", "/services/data/v66.0/limits/recordCount?sObjects=User,Account")
      #expect(count.text == #"{"sObjects":[{"count":2,"name":"User"}]}"#)
    }
  }

  @Test func describe_contact_tellsWhatClientsRead() async throws {
    try await withOrg { _, client in
      let global = try await client.send("GET", "/services/data/v66.0/sobjects/")
      let names = global.json["sobjects"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
      #expect(Set(["Account", "Contact", "User", "Case", "Opportunity", "Lead", "Task"]).isSubset(of: names))
      let answer = try await client.send("GET", "/services/data/v66.0/sobjects/contact/describe/")
      #expect(answer.json["keyPrefix"] == "003")
      let fields = answer.json["fields"]?.arrayValue ?? []
      let byName = Dictionary(uniqueKeysWithValues: fields.map { ($0["name"]?.stringValue ?? "", $0) })
      #expect(byName["LastName"]?["nillable"] == false && byName["LastName"]?["defaultedOnCreate"] == false)
      #expect(byName["AccountId"]?["referenceTo"] == ["Account"] && byName["AccountId"]?["relationshipName"] == "Account")
      #expect(byName["Name"]?["createable"] == false && byName["Name"]?["nameField"] == true)
      #expect(byName["DoNotCall"]?["soapType"] == "xsd:boolean" && byName["Email"]?["idLookup"] == true)
      #expect(byName["Description"]?["filterable"] == false)
      let account = try await client.send("GET", "/services/data/v66.0/sobjects/Account/describe")
      let children = account.json["childRelationships"]?.arrayValue?.compactMap { $0["relationshipName"]?.stringValue } ?? []
      #expect(children.contains("Contacts") && children.contains("ChildAccounts"))
      #expect(try await client.send("GET", "/services/data/v66.0/sobjects/Nothing/describe").status == 404)
    }
  }

  @Test func recentItems_moveToTheHeadAndLoseDeletedRows() async throws {
    try await withOrg { _, client in
      let rows = "/services/data/v66.0/sobjects/Account"
      var ids: [String] = []
      for name in ["A", "B", "C"] {
        ids.append(try await client.json("POST", rows, "{\"Name\":\"\(name)\"}").json["id"]?.stringValue ?? "")
      }
      _ = try await client.send("GET", "\(rows)/\(ids[0])?fields=Id")
      _ = try await client.send("DELETE", "\(rows)/\(ids[1])")
      let answer = try await client.send("GET", rows)
      #expect(answer.json["objectDescribe"]?["keyPrefix"] == "001")
      #expect(answer.json["recentItems"]?.arrayValue?.compactMap { $0["Name"]?.stringValue } == ["A", "C"])
      let recent = try await client.send("GET", "/services/data/v66.0/recent?limit=1")
      #expect(recent.json.arrayValue?.count == 1)
    }
  }
}
