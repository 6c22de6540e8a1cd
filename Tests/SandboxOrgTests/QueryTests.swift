import Foundation
import JSON
import SandboxOrg
import Testing

@Suite struct QueryTests {
  @Test func query_standardSeed_pagesThroughEveryContactOnce() async throws {
    try await withOrg(seed: .standard) { server, client in
      var answer = try await client.query("SELECT Id, Name, Account.Name FROM Contact ORDER BY LastModifiedDate")
      #expect(answer.json["totalSize"]?.integerValue == 5_000)
      var ids: Set<String> = []
      var pages: [Int] = []
      while true {
        let records = answer.json["records"]?.arrayValue ?? []
        pages.append(records.count)
        ids.formUnion(records.compactMap { $0["Id"]?.stringValue })
        guard let next = answer.json["nextRecordsUrl"]?.stringValue else { break }
        #expect(answer.json["done"] == false)
        #expect(next.hasPrefix("/services/data/v66.0/query/0r8"))
        answer = try await client.send("GET", next)
        #expect(answer.json["totalSize"]?.integerValue == 5_000)
      }
      #expect(answer.json["done"] == true)
      #expect(pages == [2_000, 2_000, 1_000])
      #expect(ids.count == 5_000)
    }
  }

  @Test func query_batchSize_isHeldBetween200And2000() async throws {
    try await withOrg(seed: .custom(accounts: 0, contacts: 450)) { _, client in
      for (wish, records) in [("250", 250), ("10", 200), ("9999", 450), ("x", 450)] {
        let answer = try await client.query("SELECT Id FROM Contact", headers: [("Sforce-Query-Options", "batchSize=\(wish)")])
        #expect(answer.json["records"]?.arrayValue?.count == records, "\(wish)")
      }
    }
  }

  @Test func locators_severalOpen_areReadIndependentlyAndAgain() async throws {
    try await withOrg(seed: .custom(accounts: 0, contacts: 30), pageSize: 10) { server, client in
      let first = try await client.query("SELECT Id FROM Contact").json["nextRecordsUrl"]?.stringValue ?? ""
      let second = try await client.query("SELECT Id FROM Contact ORDER BY Id DESC").json["nextRecordsUrl"]?.stringValue ?? ""
      #expect(first != second && first.hasSuffix("-10"))
      let page = try await client.send("GET", first)
      _ = try await client.send("GET", second)
      #expect(try await client.send("GET", first).text == page.text)
      #expect(try await client.send("GET", first.replacingOccurrences(of: "/query/", with: "/queryAll/")).status == 200)
      try server.expireQueryLocators()
      for locator in [first, "/services/data/v66.0/query/0r8xx-10", "/services/data/v66.0/query/x"] {
        let gone = try await client.send("GET", locator)
        #expect(gone.status == 400 && gone.errorCode == "INVALID_QUERY_LOCATOR" && gone.message == "invalid query locator")
      }
    }
  }

  @Test func locator_rowsAreFixedWhenTheQueryRuns() async throws {
    try await withOrg(seed: .custom(accounts: 0, contacts: 15), pageSize: 10) { server, client in
      let next = try await client.query("SELECT Id FROM Contact").json["nextRecordsUrl"]?.stringValue ?? ""
      try server.create("Contact", fields: ["LastName": "Late"])
      let page = try await client.send("GET", next)
      #expect(page.json["totalSize"] == 15 && page.json["records"]?.arrayValue?.count == 5)
    }
  }

  @Test func query_missingOrHugeStatement_answers400() async throws {
    try await withOrg { server, client in
      let missing = try await client.send("GET", "/services/data/v66.0/query")
      #expect(missing.status == 400 && missing.errorCode == "MALFORMED_QUERY")
      let long = "SELECT Id FROM Contact WHERE LastName = 'a'" + String(repeating: " ", count: 100_000)
      #expect(throws: SandboxError.self) { try server.query(long) }
      let literal = String(repeating: "x", count: 4_001)
      #expect(throws: SandboxError.self) { try server.query("SELECT Id FROM Contact WHERE LastName = '\(literal)'") }
    }
  }

  @Test func query_deepOrWideConditions_endInAnAnswer() async throws {
    try await withOrg { server, _ in
      let deep = "SELECT Id FROM Contact WHERE " + String(repeating: "(", count: 20_000) + "LastName = 'a'"
      let error = #expect(throws: SandboxError.self) { try server.query(deep) }
      #expect(error?.code == "MALFORMED_QUERY" && error?.message.contains("nested more than 40 deep") == true)
      let nots = "SELECT Id FROM Contact WHERE " + String(repeating: "NOT ", count: 20_000) + "LastName = 'a'"
      #expect(throws: SandboxError.self) { try server.query(nots) }
      for word in ["OR", "AND"] {
        let terms = (0..<3_000).map { "LastName = '\($0)'" }.joined(separator: " \(word) ")
        let answer = try server.query("SELECT Id FROM Contact WHERE \(terms)")
        #expect(answer["totalSize"] == 0)
      }
      let list = (0..<9_000).map { "'\($0)'" }.joined(separator: ",")
      let answer = try server.query("SELECT Id FROM Contact WHERE LastName IN (\(list))")
      #expect(answer["totalSize"] == 0)
      let nested = (0..<38).reduce("LastName = 'a'") { inner, _ in "Title = 'x' AND (Title = 'y' OR (\(inner)))" }
      #expect(throws: SandboxError.self) { try server.query("SELECT Id FROM Contact WHERE \(nested)") }
    }
  }
}
