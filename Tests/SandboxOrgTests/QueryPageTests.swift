import Foundation
import JSON
import SandboxOrg
import Testing

private let data = "/services/data/v66.0"

/// Locators, nested pages, query plans, and differences between versions.
@Suite struct QueryPageTests {
  @Test func childRows_moreThanAPage_continueUnderTheirOwnUrl() async throws {
    try await withOrg(pageSize: 10) { server, client in
      for parent in 0..<12 {
        let id = try server.create("Account", fields: ["Name": .string("A\(10 + parent)")])
        for child in 0..<(parent == 3 ? 25 : 1) {
          try server.create("Contact", fields: ["LastName": .string("C\(10 + child)"), "AccountId": .string(id)])
        }
      }
      let page = try await client.query(
        "SELECT Name, (SELECT LastName FROM Contacts ORDER BY LastName) FROM Account ORDER BY Name")
      #expect(page.json["totalSize"] == 12 && page.json["done"] == false)
      let contacts = page.json["records"]?.arrayValue?[3]["Contacts"]
      #expect(contacts?["totalSize"] == 25 && contacts?["done"] == false)
      var found = contacts?["records"]?.arrayValue ?? []
      var next = contacts?["nextRecordsUrl"]?.stringValue
      while let url = next {
        let more = try await client.send("GET", url)
        #expect(more.json["totalSize"] == 25)
        found += more.json["records"]?.arrayValue ?? []
        next = more.json["nextRecordsUrl"]?.stringValue
      }
      #expect(found.compactMap { $0["LastName"]?.stringValue } == (0..<25).map { "C\(10 + $0)" })
      #expect(found.first?["attributes"]?["type"] == "Contact")
      let rest = try await client.send("GET", page.json["nextRecordsUrl"]?.stringValue ?? "")
      #expect(rest.json["records"]?.arrayValue?.count == 2 && rest.json["done"] == true)
    }
  }

  @Test func childQueries_queryAll_showDeletedRows() async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "A"])
      let contact = try server.create("Contact", fields: ["LastName": "C", "AccountId": .string(id)])
      try server.delete("Contact", id: contact)
      let statement = "SELECT (SELECT LastName FROM Contacts) FROM Account"
      #expect(try await client.query(statement).json["records"]?.arrayValue?.first?["Contacts"] == .null)
      let all = try await client.query(statement, resource: "queryAll")
      #expect(all.json["records"]?.arrayValue?.first?["Contacts"]?["totalSize"] == 1)
    }
  }

  @Test func locator_anyIndex_isReadFromThere() async throws {
    try await withOrg(seed: .custom(accounts: 0, contacts: 30), pageSize: 10) { _, client in
      let first = try await client.query("SELECT Id FROM Contact")
      let next = try #require(first.json["nextRecordsUrl"]?.stringValue)
      let jump = try await client.send("GET", next.replacingOccurrences(of: "-10", with: "-25"))
      #expect(jump.json["records"]?.arrayValue?.count == 5 && jump.json["done"] == true && jump.json["totalSize"] == 30)
      for end in ["-30", "-99999999999999999999", "--1", "-", "-1e1", ""] {
        let answer = try await client.send("GET", next.replacingOccurrences(of: "-10", with: end))
        #expect(answer.status == 400 && answer.errorCode == "INVALID_QUERY_LOCATOR", "\(end)")
      }
    }
  }

  @Test func locator_afterTwoDays_hasExpired() async throws {
    let clock = ManualSandboxClock()
    clock.set(1_772_442_000)
    try await withOrg(seed: .custom(accounts: 0, contacts: 30), pageSize: 10, clock: clock) { server, client in
      var client = client
      let next = try await client.query("SELECT Id FROM Contact").json["nextRecordsUrl"]?.stringValue ?? ""
      clock.set(1_772_442_000 + 2 * 86_400 - 1)
      client.token = try server.issueAccessToken()
      #expect(try await client.send("GET", next).status == 200)
      clock.set(1_772_442_000 + 2 * 86_400)
      #expect(try await client.send("GET", next).errorCode == "INVALID_QUERY_LOCATOR")
    }
  }

  @Test func locators_tooMany_pushOutTheOneUnusedLongest() async throws {
    try await withOrg(seed: .custom(accounts: 0, contacts: 12), pageSize: 10) { _, client in
      var urls: [String] = []
      for _ in 0..<50 { urls.append(try await client.query("SELECT Id FROM Contact").json["nextRecordsUrl"]?.stringValue ?? "") }
      #expect(try await client.send("GET", urls[0]).status == 200)
      _ = try await client.query("SELECT Id FROM Contact")
      #expect(try await client.send("GET", urls[0]).status == 200)
      #expect(try await client.send("GET", urls[1]).status == 400)
    }
  }

  @Test func forView_movesRowsToTheHeadOfTheRecentList() async throws {
    try await withOrg { server, client in
      for name in ["A", "B", "C"] { try server.create("Account", fields: ["Name": .string(name)]) }
      _ = try await client.query("SELECT Name FROM Account WHERE Name != 'C' ORDER BY Name DESC FOR VIEW")
      let recent = try await client.send("GET", "\(data)/recent")
      #expect(recent.json.arrayValue?.compactMap { $0["Name"]?.stringValue } == ["B", "A"])
      let seen = try await client.query("SELECT Name FROM Account WHERE LastViewedDate != null ORDER BY Name")
      #expect(seen.json["totalSize"] == 2)
      _ = try await client.query("SELECT Name FROM Account WHERE Name = 'C' FOR REFERENCE")
      #expect(try await client.query("SELECT COUNT() FROM Account WHERE LastReferencedDate != null").json["totalSize"] == 1)
    }
  }

  @Test func explain_statement_tellsIndexOrScan() async throws {
    try await withOrg(seed: .custom(accounts: 20, contacts: 100)) { _, client in
      func plan(_ statement: String) async throws -> JSONValue? {
        let answer = try await client.send("GET", "\(data)/query?explain=\(WireClient.encoded(statement))")
        #expect(answer.json["sourceQuery"]?.stringValue == statement || answer.status == 400)
        return answer.json["plans"]?.arrayValue?.first
      }
      let scan = try await plan("SELECT Id FROM Contact WHERE Title LIKE 'c%'")
      #expect(scan?["leadingOperationType"] == "TableScan" && scan?["sobjectCardinality"] == 100)
      #expect(scan?["sobjectType"] == "Contact")
      let index = try await plan("SELECT Id FROM Contact WHERE Email = 'nobody@mail.example'")
      #expect(index?["leadingOperationType"] == "Index" && index?["fields"] == ["Email"] && index?["cardinality"] == 0)
      #expect(try await plan("SELECT COUNT(Id) FROM Contact")?["cardinality"] == 1)
      #expect(try await plan("SELECT Nothing FROM Contact") == nil)
    }
  }

  @Test func query_moreThan2000Groups_isRefused() async throws {
    try await withOrg(seed: .custom(accounts: 0, contacts: 2_001)) { server, _ in
      let error = #expect(throws: SandboxError.self) { try server.query("SELECT Email, COUNT(Id) FROM Contact GROUP BY Email") }
      #expect(error?.code == "EXCEEDED_ID_LIMIT" && error?.message.contains("does not support queryMore()") == true)
      let some = try server.query("SELECT Email, COUNT(Id) FROM Contact GROUP BY Email LIMIT 2000")
      #expect(some["totalSize"] == 2_000)
    }
  }

  @Test func query_versionsBeforeAFeature_refuseIt() async throws {
    try await withOrg { _, client in
      let cases = [
        ("v57.0", "v58.0", "SELECT Id, (SELECT Id, (SELECT Id FROM Tasks) FROM Contacts) FROM Account"),
        ("v50.0", "v51.0", "SELECT FIELDS(STANDARD) FROM Account"),
      ]
      for (before, since, statement) in cases {
        let target = "query?q=\(WireClient.encoded(statement))"
        let refused = try await client.send("GET", "/services/data/\(before)/\(target)")
        #expect(refused.errorCode == "MALFORMED_QUERY", "\(statement)")
        #expect(try await client.send("GET", "/services/data/\(since)/\(target)").status == 200, "\(statement)")
      }
    }
  }

  @Test func query_hardPatternsAndWideLists_endInAnAnswer() async throws {
    try await withOrg { server, _ in
      try server.create("Account", fields: ["Name": .string(String(repeating: "é", count: 255))])
      let pattern = String(repeating: "%é", count: 1_900) + "x"
      #expect(try server.query("SELECT Id FROM Account WHERE Name LIKE '\(pattern)'")["totalSize"] == 0)
      #expect(try server.query("SELECT Id FROM Account WHERE Name LIKE '%É%É_%'")["totalSize"] == 1)
      let list = repeatElement("'é'", count: 24_000).joined(separator: ",")
      #expect(try server.query("SELECT Id FROM Account WHERE Name IN (\(list))")["totalSize"] == 0)
      let includes = (0..<3_000).map { "'a\($0);b'" }.joined(separator: ",")
      #expect(try server.query("SELECT Id FROM Contact WHERE Interests__c INCLUDES (\(includes))")["totalSize"] == 0)
      let ranges = (1..<2_500).map { "LAST_N_DAYS:\($0)" }.joined(separator: ",")
      #expect(try server.query("SELECT Id FROM Contact WHERE CreatedDate IN (\(ranges))")["totalSize"] == 0)
      let wide = (0..<60).map { "COUNT(\(["Id", "Title", "Email"][$0 % 3])) n\($0)" }.joined(separator: ",")
      #expect(try server.query("SELECT \(wide) FROM Contact")["totalSize"] == 1)
    }
  }
}
