import Foundation
import JSON
import SandboxOrg
import Testing

/// Faults inside the org, as clients see them; each twice with the same seed.
@Suite struct SalesforceFaultTests {
  private static let data = "/services/data/v66.0"

  @Test func expireSession_inTheMiddleOfPaging_is401AndTheLocatorStaysGood() async throws {
    try await withOrg(seed: .custom(accounts: 1, contacts: 12), pageSize: 5) { server, signedIn in
      try server.faults.add(.expireSession(), when: .nth(1), path: "query/*")
      for _ in 0..<2 {
        server.faults.reset()
        var client = signedIn
        client.token = try server.issueAccessToken()
        let first = try await client.query("SELECT Id FROM Contact")
        let next = try #require(first.json["nextRecordsUrl"]?.stringValue)
        let refused = try await client.send("GET", next)
        #expect(refused.status == 401 && refused.errorCode == "INVALID_SESSION_ID")
        #expect(try await client.send("GET", next).status == 401)
        #expect(try await signedIn.query("SELECT Id FROM User").status == 200)
        client.token = try server.issueAccessToken()
        #expect(try await client.send("GET", next).json["records"]?.arrayValue?.count == 5)
      }
      try server.faults.add(.expireSession(all: true), times: 1)
      #expect(try await signedIn.query("SELECT Id FROM User").status == 401)
      #expect(server.requests().last?.faults == ["expireSession"])
    }
  }

  @Test func revokeRefreshToken_isInvalidGrantFromThenOn() async throws {
    try await withOrg { server, client in
      try server.faults.add(.revokeRefreshToken, when: .nth(2))
      let form = [
        ("grant_type", "refresh_token"), ("client_id", server.clientId), ("refresh_token", server.credentials().refreshToken),
      ]
      var statuses: [Int] = []
      for _ in 0..<3 { statuses.append(try await client.form("/services/oauth2/token", form).status) }
      let last = try await client.form("/services/oauth2/token", form)
      #expect(statuses == [200, 400, 400] && last.json["error"] == "invalid_grant")
      #expect(server.requests().map(\.faults) == [[], ["revokeRefreshToken"], [], []])
    }
  }

  @Test func expireLocator_isInvalidQueryLocator() async throws {
    try await withOrg(seed: .custom(accounts: 1, contacts: 12), pageSize: 5) { server, client in
      try server.faults.add(.expireLocator, when: .nth(2))
      for _ in 0..<2 {
        server.faults.reset()
        var next = try await client.query("SELECT Id FROM Contact").json["nextRecordsUrl"]?.stringValue ?? ""
        next = try await client.send("GET", next).json["nextRecordsUrl"]?.stringValue ?? ""
        let gone = try await client.send("GET", next)
        #expect(gone.status == 400 && gone.errorCode == "INVALID_QUERY_LOCATOR")
      }
    }
  }

  @Test func requestLimit_is403AtTheLimit() async throws {
    try await withOrg { server, client in
      try server.faults.add(.requestLimit, when: .every(2))
      for expected in [200, 403, 200, 403] {
        let answer = try await client.query("SELECT Id FROM User")
        #expect(answer.status == expected)
        guard expected == 403 else { continue }
        #expect(answer.text == #"[{"message":"TotalRequests Limit exceeded.","errorCode":"REQUEST_LIMIT_EXCEEDED"}]"#)
        #expect(answer.headers["sforce-limit-info"] == "api-usage=15000/15000")
      }
    }
  }

  @Test func lockRows_byIdAndObject_refusesWritesOfThoseAlone() async throws {
    try await withOrg { server, client in
      let locked = try server.create("Account", fields: ["Name": "A"]), free = try server.create("Account", fields: ["Name": "B"])
      let contact = try server.create("Contact", fields: ["LastName": "C"])
      func statuses() async throws -> [Int] {
        var statuses: [Int] = []
        for (type, id) in [("Account", locked), ("Account", free), ("Contact", contact)] {
          let body = type == "Account" ? #"{"Phone":"1"}"# : #"{"Phone":"2"}"#
          statuses.append(try await client.json("PATCH", "\(Self.data)/sobjects/\(type)/\(id)", body).status)
        }
        return statuses
      }
      for (fault, expected) in [
        (Fault.lockRows(ids: [String(locked.prefix(15))]), [400, 204, 204]), (.lockRows(objects: ["contact"]), [204, 204, 400]),
        (.lockRows(), [400, 400, 400]), (.lockRows(share: 0), [204, 204, 204]),
      ] {
        server.faults.clear()
        try server.faults.add(fault)
        for _ in 0..<2 {
          let found = try await statuses()
          #expect(found == expected)
        }
      }
      server.faults.clear()
      try server.faults.add(.lockRows(ids: [locked]), times: 1)
      let refused = try await client.send("DELETE", "\(Self.data)/sobjects/Account/\(locked)")
      #expect(refused.errorCode == "UNABLE_TO_LOCK_ROW")
      #expect(refused.message == "unable to obtain exclusive access to this record or 1 records: \(locked)")
      #expect(try await client.send("DELETE", "\(Self.data)/sobjects/Account/\(locked)").status == 204)
    }
  }

  /// Creates twenty records and returns their results.
  private func outcomes(_ client: WireClient) async throws -> [String] {
    let records = (0..<20).map { #"{"attributes":{"type":"Account"},"Name":"A\#($0)"}"# }.joined(separator: ",")
    let answer = try await client.json("POST", "\(Self.data)/composite/sobjects", "{\"records\":[\(records)]}")
    return (answer.json.arrayValue ?? []).map { $0["errors"]?.arrayValue?.first?["statusCode"]?.stringValue ?? "" }
  }

  @Test func failItems_byIndex_failsThoseAlone() async throws {
    try await withOrg { server, client in
      try server.faults.add(.failItems([0, 7], code: "DUPLICATES_DETECTED", message: "no"))
      for _ in 0..<2 {
        let found = try await outcomes(client)
        #expect(found.enumerated().filter { !$0.element.isEmpty }.map(\.offset) == [0, 7] && found[7] == "DUPLICATES_DETECTED")
      }
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 36)
    }
  }

  @Test func shares_areDrawnFromTheSeed() async throws {
    try await withOrg { server, client in
      try server.faults.add(.failItems(share: 0.4))
      func run(_ seed: UInt64) async throws -> [[String]] {
        server.faults.reset(seed: seed)
        return [try await outcomes(client), try await outcomes(client)]
      }
      let first = try await run(5), second = try await run(5), other = try await run(6)
      #expect(first == second && first != other && first[0] != first[1])
      #expect((2...14).contains(first[0].filter { !$0.isEmpty }.count))
    }
  }

  // MARK: Stamps

  private func stamp(_ server: SandboxServer, _ name: String) throws -> String? {
    let rows = try server.query("SELECT LastModifiedDate, SystemModstamp FROM Account WHERE Name = '\(name)'")["records"]
    let row = rows?.arrayValue?.first
    #expect(row?["LastModifiedDate"] == row?["SystemModstamp"])
    return row?["LastModifiedDate"]?.stringValue.map { String($0.dropFirst(11).prefix(8)) }
  }

  @Test func stamps_equalAndSkewed_areThoseOfTheFaultyCallsAlone() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      try server.faults.add(.equalStamps(seconds: 60), when: .first(2))
      try server.faults.add(.stampSkew(seconds: -90), when: .nth(3))
      try server.faults.add(.stampSkew(seconds: 3_600), when: .nth(4))
      var stamps: [String?] = []
      for name in ["A", "B", "C", "D", "E"] {
        clock.advance(by: 10)
        _ = try await client.json("POST", "\(Self.data)/sobjects/Account", "{\"Name\":\"\(name)\"}")
        stamps.append(try stamp(server, name))
      }
      #expect(stamps == ["09:00:00", "09:00:00", "08:59:00", "10:00:40", "09:00:50"])
    }
  }

  // MARK: Late commits

  @Test func lateCommit_held_isAnsweredAndSeenWithTheStampsOfBefore() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      try server.faults.add(.lateCommit(after: .seconds(30)), when: .first(1))
      async let late = client.json("POST", "\(Self.data)/sobjects/Account", #"{"Name":"Late"}"#)
      try await until { try server.pendingCommits == 1 }
      clock.advance(by: 20)
      _ = try await client.json("POST", "\(Self.data)/sobjects/Account", #"{"Name":"Early"}"#)
      #expect(try await client.query("SELECT Name FROM Account").json["totalSize"] == 1)
      server.clock.advance(by: 10)
      let answer = try await late
      #expect(answer.status == 201 && answer.json["id"] != nil)
      let stamps = [try stamp(server, "Early"), try stamp(server, "Late")]
      #expect(stamps == ["09:00:20", "09:00:00"])
    }
  }

  @Test func lateCommit_lost_isSeenAfterSoManyCalls() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      for _ in 0..<2 {
        let before = try server.query("SELECT COUNT() FROM Account")["totalSize"]?.integerValue ?? 0
        server.faults.clear()
        try server.faults.add(.lateCommit(after: .requests(2), lost: true), when: .first(1))
        let wire = try FaultWire(port: server.port)
        wire.send("POST", "\(Self.data)/sobjects/Account", token: client.token, body: #"{"Name":"Lost"}"#)
        #expect(try await wire.rest() == FaultWire.Answer())
        clock.advance(by: 5)
        var sizes: [Int64] = []
        for _ in 0..<3 {
          sizes.append(try await client.query("SELECT Id FROM Account").json["totalSize"]?.integerValue ?? -1)
        }
        #expect(sizes == [before, before, before + 1])
        #expect(server.requests().first { $0.faults == ["lateCommit"] }?.status == 0)
      }
    }
  }

  @Test func changeLate_byAnotherUser_appearsBehindTheClientsBack() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let id = try server.create("Account", fields: ["Name": "Old"])
      clock.advance(by: 10)
      try server.changeLate(.update("Account", id: id, ["Name": "New"]), after: .requests(1))
      try server.changeLate(.create("Account", ["Name": "Other"]), after: .seconds(60))
      clock.advance(by: 10)
      func names() async throws -> [String] {
        let rows = try await client.query("SELECT Name FROM Account ORDER BY Name").json["records"]?.arrayValue ?? []
        return rows.compactMap { $0["Name"]?.stringValue }
      }
      var seen = [try await names(), try await names()]
      server.clock.advance(by: 50)
      seen.append(try await names())
      #expect(seen == [["Old"], ["New"], ["New", "Other"]])
      let stamps = [try stamp(server, "New"), try stamp(server, "Other")]
      #expect(stamps == ["09:00:10", "09:00:10"])
      #expect(throws: SandboxError.self) { try server.changeLate(.create("Account", [:]), after: .seconds(1)) }
      #expect(throws: SandboxError.self) { try server.changeLate(.delete("Account", id: "nothing"), after: .seconds(1)) }
    }
  }

  @Test func stop_whileACommitIsHeld_doesNotWaitForIt() async throws {
    try await withOrg { server, client in
      try server.faults.add(.lateCommit(after: .seconds(1_000)))
      async let answer = try? client.json("POST", "\(Self.data)/sobjects/Account", #"{"Name":"Late"}"#)
      try await until { try server.pendingCommits == 1 }
      await server.stop()
      _ = await answer
    }
  }
}
