import JSON
import SandboxOrg
import Testing

/// The org's only clock, as clients see it.
@Suite struct ClockTests {
  private let account = "/services/data/v66.0/sobjects/Account"

  @Test func clock_moved_movesTheDateOfEveryAnswer() async throws {
    try await withOrg { server, client in
      let before = try await dates(client)
      server.clock.advance(by: 3_600)
      let later = try await dates(client)
      server.clock.set(1_767_225_600)
      let earlier = try await dates(client)
      #expect(before == Array(repeating: "Mon, 02 Mar 2026 09:00:00 GMT", count: 4))
      #expect(later == Array(repeating: "Mon, 02 Mar 2026 10:00:00 GMT", count: 4))
      #expect(earlier == Array(repeating: "Thu, 01 Jan 2026 00:00:00 GMT", count: 4))
    }
  }

  /// Returns the dates of a resource, of an error, and of refusals before and after the request
  /// could be read.
  private func dates(_ client: WireClient) async throws -> [String] {
    let answers = [
      try await client.send("GET", "/services/data"), try await client.send("GET", "/nowhere"),
      try await client.send("GET", "/services/data?x=" + String(repeating: "a", count: 20_000)),
      try await client.exchange(Array("NO HTTP\r\n\r\n".utf8)),
    ]
    return answers.map { $0.headers["date"] ?? "none" }
  }

  @Test func clock_moved_movesTheDateOfFaultedAnswers() async throws {
    try await withOrg { server, _ in
      server.clock.advance(by: 60)
      try server.faults.add(.dropAfterResponse(), when: .first(1))
      try server.faults.add(.unavailable(retryAfter: .date(inSeconds: 30)), when: .nth(2))
      var answers: [FaultWire.Answer] = []
      for _ in 0..<2 {
        let wire = try FaultWire(port: server.port)
        wire.send("GET", "/services/data", keepsOpen: false)
        answers.append(try await wire.rest())
      }
      #expect(answers.map(\.status) == [200, 503])
      #expect(answers.map(\.date) == Array(repeating: "Mon, 02 Mar 2026 09:01:00 GMT", count: 2))
      #expect(answers[1].header("retry-after") == "Mon, 02 Mar 2026 09:01:30 GMT")
    }
  }

  @Test func record_readInTheSecondOfItsChange_isNotNewerThanTheAnswer() async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "A"])
      for seconds in [Int64(0), 1, 59] {
        server.clock.advance(by: seconds)
        try server.update("Account", id: id, fields: ["Name": "B"])
        let answer = try await client.send("GET", "\(account)/\(id)")
        #expect(answer.headers["last-modified"] == answer.headers["date"] && answer.headers["date"] != nil)
      }
    }
  }
}
