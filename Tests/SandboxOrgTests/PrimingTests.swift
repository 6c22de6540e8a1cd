import Foundation
import JSON
import SandboxOrg
import Testing

private let path = "/services/data/v66.0/connect/briefcase/priming-records"
private let master = "012000000000000AAA"

@Suite struct PrimingTests {
  /// Creates three accounts whose names start with A, with a contact each, and a fourth one.
  /// Returns ids by name.
  private func populate(_ server: SandboxServer, _ clock: ManualSandboxClock) throws -> [String: String] {
    var ids: [String: String] = [:]
    for name in ["A1", "A2", "A3", "B1"] {
      let account = try server.create("Account", fields: ["Name": .string(name)])
      ids[name] = account
      ids["C" + name] = try server.create("Contact", fields: ["LastName": .string(name), "AccountId": .string(account)])
      clock.advance(by: 60)
    }
    return ids
  }

  private static let rule = BriefcaseRule(object: "Account", condition: "Name LIKE 'A%'", order: "Name", related: ["Contacts"])

  private func ids(_ answer: WireClient.Answer, _ object: String) -> [String] {
    (answer.json["primingRecords"]?[object]?[master]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue }
  }

  @Test func priming_withoutABriefcase_isEmpty() async throws {
    try await withOrg { _, client in
      let answer = try await client.send("GET", path)
      #expect(
        answer.text
          == #"{"primingRecords":{},"relayToken":null,"ruleErrors":[],"stats":{"recordCountServed":0,"recordCountTotal":0,"ruleCountServed":0,"ruleCountTotal":0}}"#
      )
      #expect(try await client.send("GET", path.replacingOccurrences(of: "v66", with: "v53")).status == 404)
    }
  }

  @Test func priming_pages_followTheRelayToken() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(pageSize: 2, clock: clock) { server, client in
      let known = try populate(server, clock)
      try server.setBriefcase([Self.rule])
      var accounts: [String] = []
      var contacts: [String] = []
      var token: String?
      var pages = 0
      repeat {
        let answer = try await client.send("GET", path + (token.map { "?relayToken=\($0)" } ?? ""))
        accounts += ids(answer, "Account")
        contacts += ids(answer, "Contact")
        #expect(answer.json["stats"]?["recordCountTotal"] == 6 && answer.json["stats"]?["ruleCountTotal"] == 2)
        token = answer.json["relayToken"]?.stringValue
        pages += 1
        // Changes in between do not shift the pages.
        if pages == 1 { try server.delete("Account", id: known["B1"]!) }
      } while token != nil && pages < 10
      #expect(pages == 3)
      #expect(accounts == ["A1", "A2", "A3"].map { known[$0] })
      #expect(Set(contacts) == Set(["CA1", "CA2", "CA3"].compactMap { known[$0] }))
    }
  }

  @Test func priming_changedAfter_filtersTheRuleAndNotItsRelatedRecords() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let known = try populate(server, clock)
      try server.setBriefcase([Self.rule])
      let answer = try await client.send("GET", path + "?changedAfterTimestamp=2026-03-02T09:00:59.999Z")
      #expect(ids(answer, "Account") == [known["A2"], known["A3"]])
      #expect(ids(answer, "Contact").count == 3)
      let first = answer.json["primingRecords"]?["Account"]?[master]?.arrayValue?.first
      #expect(first?["systemModstamp"] == "2026-03-02T09:01:00.000Z")
      let never = try await client.send("GET", path + "?changedAfterTimestamp=1969-12-31T23:59:59.999Z")
      #expect(ids(never, "Account").count == 3)
    }
  }

  @Test func priming_badRulesAndParameters_areReported() async throws {
    try await withOrg { server, client in
      try server.create("Account", fields: ["Name": "A"])
      try server.setBriefcase([BriefcaseRule(object: "Account", condition: "Nope = 1"), BriefcaseRule(object: "Account")])
      let answer = try await client.send("GET", path)
      #expect(answer.json["ruleErrors"]?.arrayValue?.count == 1 && ids(answer, "Account").count == 1)
      for query in ["relayToken=x", "relayToken=x&changedAfterTimestamp=2026-03-02T09:00:00Z", "changedAfterTimestamp=x"] {
        let bad = try await client.send("GET", "\(path)?\(query)")
        #expect(bad.status == 400 && bad.errorCode == "ILLEGAL_QUERY_PARAMETER_VALUE", "\(query)")
      }
    }
  }
}
