import Foundation
import JSON
import SandboxOrg
import Testing

/// When a rule's fault occurs and for which requests; invalid rules.
@Suite struct FaultRuleTests {
  /// Returns for each request whether the fault occurred.
  private func hits(_ server: SandboxServer, count: Int = 12) async throws -> [Int] {
    server.clearRequests()
    for _ in 0..<count { _ = try await WireClient(port: server.port).send("GET", "/services/data") }
    return server.requests().enumerated().filter { !$0.element.faults.isEmpty }.map { $0.offset + 1 }
  }

  @Test(arguments: [
    (FaultCondition.always, Array(1...12)), (.nth(3), [3]), (.nth(2, 5), [2, 5]), (.every(4), [4, 8, 12]), (.first(2), [1, 2]),
    (.after(9), [10, 11, 12]), (.probability(0), []), (.probability(1), Array(1...12)),
  ])
  func condition_each_countsMatchingRequests(condition: FaultCondition, expected: [Int]) async throws {
    try await withOrg { server, _ in
      try server.faults.add(.serverError(), when: condition)
      let found = try await hits(server)
      #expect(found == expected)
      #expect(server.faults.active[0].matched == 12 && server.faults.active[0].fired == expected.count)
      server.faults.reset()
      let again = try await hits(server)
      #expect(again == expected)
    }
  }

  @Test func times_limitsHowOftenItHappens() async throws {
    try await withOrg { server, _ in
      try server.faults.add(.serverError(), when: .every(2), times: 3)
      let found = try await hits(server)
      #expect(found == [2, 4, 6])
    }
  }

  @Test func probability_isRepeatableAndARuleMoreChangesNothing() async throws {
    try await withOrg { server, _ in
      try server.faults.add(.serverError(), when: .probability(0.4))
      let first = try await hits(server, count: 30)
      server.faults.reset()
      try server.faults.add(.latency(milliseconds: 0), when: .probability(0.5), method: "POST")
      let same = try await hits(server, count: 30)
      server.faults.reset(seed: 99)
      let other = try await hits(server, count: 30)
      #expect(first == same && first != other && server.faults.seed == 99)
      #expect((5...20).contains(first.count))
    }
  }

  @Test func path_patterns_fitWhatTheySay() async throws {
    let cases: [(String, Bool)] = [
      ("/services/data/v66.0/limits", true), ("/services/data", false), ("/services/data/**", true),
      ("/services/*/limits", false),
      ("/services/data/*/limits", true), ("limits", true), ("data/*/limits", true), ("mits", false), ("/SERVICES/**", true),
      ("**", true), ("**mits", true), ("*", true), ("/**/**/**/**x", false), ("/services/data/v*.0/l*s", true),
    ]
    try await withOrg { server, client in
      for (pattern, fits) in cases {
        server.faults.clear()
        try server.faults.add(.serverError(), path: pattern)
        let answer = try await client.send("GET", "/services/data/v66.0/limits")
        #expect(answer.status == (fits ? 500 : 200), "\(pattern)")
      }
    }
  }

  @Test func match_methodHostSessionAndText_chooseRequests() async throws {
    try await withOrg { server, client in
      let other = WireClient(port: server.port, token: try server.issueAccessToken())
      func statuses(_ rule: FaultRule) async throws -> [Int] {
        server.faults.clear()
        try server.faults.add(rule)
        return [
          try await client.query("SELECT Id FROM Contact").status, try await other.query("SELECT Id FROM Account").status,
          try await other.json("POST", "/services/data/v66.0/sobjects/Account", #"{"Name":"Zoo"}"#).status,
        ]
      }
      let fault = Fault.answer(status: 599)
      let rules: [(FaultRule, [Int])] = [
        (FaultRule(fault, method: "post"), [200, 200, 599]), (FaultRule(fault, host: "127.0.0.1"), [599, 599, 599]),
        (FaultRule(fault, host: "127.0.0.1:\(server.port)"), [599, 599, 599]),
        (FaultRule(fault, host: "other"), [200, 200, 201]),
        (FaultRule(fault, session: client.token), [599, 200, 201]),
        (FaultRule(fault, contains: "FROM Account"), [200, 599, 201]),
        (FaultRule(fault, contains: "Zoo"), [200, 200, 599]),
      ]
      for (rule, expected) in rules {
        let found = try await statuses(rule)
        #expect(found == expected)
      }
      let mark = try #require(server.requests().last?.session)
      #expect(mark.count == 8 && other.token?.contains(mark) == false)
      let marked = try await statuses(FaultRule(fault, session: mark))
      #expect(marked == [200, 599, 599])
    }
  }

  @Test func rules_several_workTogether() async throws {
    try await withOrg { server, client in
      try server.faults.add(.latency(milliseconds: 1))
      try server.faults.add(.unavailable(retryAfter: .seconds(1)), when: .first(1))
      try server.faults.add(.serverError())
      let last = try server.faults.add(.truncateBody(bytes: 3))
      let first = try await client.send("GET", "/services/data")
      let second = try await client.send("GET", "/services/data")
      #expect(first.status == 503 && first.body.count == 3 && first.isTruncated && second.status == 500)
      #expect(server.requests()[0].faults == ["latency", "unavailable", "truncateBody"])
      #expect(server.faults.remove(last) && !server.faults.remove(last))
      #expect(server.faults.active.map(\.id) == [1, 2, 3])
      server.faults.clear()
      #expect(try await client.send("GET", "/services/data").status == 200)
    }
  }

  // MARK: Text and JSON

  @Test(arguments: [
    (
      "latency milliseconds=200-900 every=3 path=/services/data/**",
      #"{"kind":"latency","milliseconds":[200,900],"every":3,"path":"/services/data/**"}"#
    ),
    (
      "unavailable retryAfter=2 nth=3,5 method=GET times=1",
      #"{"kind":"unavailable","retryAfter":2,"nth":[3,5],"method":"GET","times":1}"#
    ),
    (
      "dropInsideResponse share=0.5 reset=true probability=0.25",
      #"{"kind":"dropInsideResponse","share":0.5,"reset":true,"probability":0.25}"#
    ),
    ("hang", #"{"kind":"hang"}"#),
  ])
  func text_andJSON_sayTheSame(text: String, json: String) async throws {
    try await withOrg { server, _ in
      let rule = try FaultRule(text: text, kinds: server.faults.kinds)
      #expect(try FaultRule(json: JSONValue(parsing: json)) == rule)
      #expect(try FaultRule(json: .object(rule.json)) == rule)
      try server.faults.add(rule)
    }
  }

  @Test(arguments: [
    (#"{"kind":"nonsense"}"#, "kind", "latency"), (#"{}"#, "kind", "string"), (#"[]"#, "rule", "object"),
    (#"{"kind":"latency","milliseconds":-1}"#, "milliseconds", "0 to"),
    (#"{"kind":"latency","milliseconds":[9,1]}"#, "milliseconds", "least, most"),
    (#"{"kind":"latency","clock":"sun"}"#, "clock", "real, org"),
    (#"{"kind":"latency","speed":1}"#, "speed", "milliseconds, clock"),
    (#"{"kind":"hang","every":0}"#, "every", "1 to"), (#"{"kind":"hang","nth":[]}"#, "nth", "1 to"),
    (#"{"kind":"hang","nth":1.5}"#, "nth", "1 to"),
    (#"{"kind":"hang","probability":1.5}"#, "probability", "0 to 1"),
    (#"{"kind":"hang","probability":"x"}"#, "probability", "0 to 1"),
    (#"{"kind":"hang","nth":1,"every":2}"#, "every", "nth"), (#"{"kind":"hang","method":"BREW"}"#, "method", "GET"),
    (#"{"kind":"hang","path":""}"#, "path", "1 to"), (#"{"kind":"hang","path":7}"#, "path", "string"),
    (#"{"kind":"hang","times":0}"#, "times", "1 to"),
    (#"{"kind":"dropInsideResponse","share":2}"#, "share", "0 to 1"),
    (#"{"kind":"hang","executed":"yes"}"#, "executed", "true or false"),
    (#"{"kind":"serverError","status":200}"#, "status", "500 to 599"),
    (#"{"kind":"hang","after":99999999999999999999}"#, "after", "1 to"),
  ])
  func add_badRule_namesTheFieldAndWhatIsRight(json: String, field: String, allowed: String) async throws {
    try await withOrg { server, _ in
      let error = #expect(throws: SandboxError.self) { try server.faults.add(FaultRule(json: JSONValue(parsing: json))) }
      #expect(error?.code == "INVALID_FAULT" && error?.details.first?.fields == [field], "\(error?.message ?? "")")
      #expect(
        error?.message.contains("'\(field)'") == true && error?.message.contains(allowed) == true, "\(error?.message ?? "")")
      #expect(server.faults.active.isEmpty)
    }
  }

  @Test(arguments: [
    ("", "kind"), ("nothing", "kind"), ("latency fast", "fast"), ("latency milliseconds=soon", "milliseconds"),
    ("latency milliseconds=9-1", "milliseconds"),
    ("hang nth=x", "nth"), ("hang nth=1 nth=2", "nth"), ("hang executed=maybe", "executed"), ("hang =3", "=3"),
    ("hang times=many", "times"),
  ])
  func text_bad_namesTheWord(text: String, field: String) async throws {
    try await withOrg { server, _ in
      let error = #expect(throws: SandboxError.self) {
        try server.faults.add(FaultRule(text: text, kinds: server.faults.kinds))
      }
      #expect(error?.details.first?.fields == [field], "\(error?.message ?? "")")
    }
  }

  @Test func kinds_all_haveAValidSample() async throws {
    try await withOrg { server, _ in
      #expect(Set(server.faults.kinds.map(\.name)).count == server.faults.kinds.count)
      for kind in server.faults.kinds {
        #expect(kind.sample.kind == kind.name && !kind.summary.isEmpty)
        try server.faults.add(kind.sample, method: "OPTIONS")
      }
      #expect(server.faults.active.count == server.faults.kinds.count)
      #expect(throws: SandboxError.self) { try server.faults.add(Array(repeating: FaultRule(.hang()), count: 1_000)) }
    }
  }
}
