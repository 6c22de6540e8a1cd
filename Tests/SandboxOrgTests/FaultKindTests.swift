import Foundation
import JSON
import SandboxOrg
import Testing

/// Each kind of fault as a plain socket sees it, twice with the same seed.
@Suite struct FaultKindTests {
  private static let page = "/services/data/v66.0/query?q=SELECT+Id,Name,Email+FROM+Contact"

  /// Returns the answers to `count` requests for one page after the bench has been reset to `seed`.
  private func answers(
    _ server: SandboxServer, _ token: String?, seed: UInt64, count: Int = 2, keepsOpen: Bool = true, target: String = page
  ) async throws -> [FaultWire.Answer] {
    server.faults.reset(seed: seed)
    var answers: [FaultWire.Answer] = []
    for _ in 0..<count {
      let wire = try FaultWire(port: server.port)
      wire.send("GET", target, token: token, keepsOpen: keepsOpen)
      answers.append(try await wire.rest())
    }
    return answers
  }

  /// Requests a page with a fault: checks the unmodified answer and those of two runs with one
  /// seed, which must be equal.
  private func seen(
    _ fault: Fault, keepsOpen: Bool = true, isRandom: Bool = false,
    _ check: (_ whole: FaultWire.Answer, _ answers: [FaultWire.Answer], SandboxServer) throws -> Void
  ) async throws {
    try await withOrg(seed: .custom(accounts: 2, contacts: 40)) { server, client in
      let whole = try await answers(server, client.token, seed: 1, count: 1, keepsOpen: false)[0]
      #expect(whole.status == 200 && whole.body.count > 4_000)
      try server.faults.add(fault, path: "**/query")
      let first = try await answers(server, client.token, seed: 7, keepsOpen: keepsOpen)
      let second = try await answers(server, client.token, seed: 7, keepsOpen: keepsOpen)
      // Compare beforehand, to keep the bodies out of failure messages.
      let isRepeated = first == second, isConstant = first[0] == first[1]
      #expect(isRepeated && isConstant != isRandom)
      if isRandom {
        let isOther = try await answers(server, client.token, seed: 8, keepsOpen: keepsOpen) != first
        #expect(isOther)
      }
      #expect(server.requests().dropFirst().allSatisfy { $0.faults == [fault.kind] })
      try check(whole, first, server)
    }
  }

  // MARK: Connection

  @Test(arguments: [false, true]) func dropBeforeHandling_closesWithoutAByte(reset: Bool) async throws {
    try await seen(.dropBeforeHandling(reset: reset)) { _, answers, server in
      #expect(answers[0].head.isEmpty && answers[0].body.isEmpty && answers[0].ending == (reset ? .reset : .closed))
      #expect(server.requests().last?.status == 0)
    }
  }

  @Test func drop_writes_areLostOrDoneAsTheKindSays() async throws {
    try await withOrg { server, client in
      let url = "/services/data/v66.0/sobjects/Account"
      try server.faults.add(.dropBeforeHandling(), when: .nth(1), method: "POST")
      try server.faults.add(.dropBeforeResponse(), when: .nth(2), method: "POST")
      try server.faults.add(.dropInsideResponse(bytes: 5), when: .nth(3), method: "POST")
      for name in ["lost", "done", "cut", "fine"] {
        let wire = try FaultWire(port: server.port)
        wire.send("POST", url, token: client.token, keepsOpen: name != "fine", body: "{\"Name\":\"\(name)\"}")
        let answer = try await wire.rest()
        #expect(answer.status == (name == "fine" || name == "cut" ? 201 : 0))
        #expect(answer.body.count == (name == "fine" ? answer.announced : name == "cut" ? 5 : 0))
      }
      let names = try server.query("SELECT Name FROM Account ORDER BY Id")["records"]?.arrayValue
      #expect(names?.map { $0["Name"]?.stringValue } == ["done", "cut", "fine"])
      #expect(
        server.requests().map(\.summary) == [
          "POST \(url) 0 dropBeforeHandling", "POST \(url) 0 dropBeforeResponse", "POST \(url) 201 dropInsideResponse",
          "POST \(url) 201",
        ])
      #expect(server.requests().map(\.bytes)[0...2] == [0, 0, 5])
      #expect(server.requests()[1].user == server.credentials().userId && server.requests()[0].user == nil)
    }
  }

  @Test func dropBeforeResponse_withReset_isSeenAsOne() async throws {
    try await seen(.dropBeforeResponse(reset: true)) { _, answers, _ in
      #expect(answers[0].head.isEmpty && answers[0].ending == .reset)
    }
  }

  @Test func dropInsideResponse_bytes_sendsExactlySoMany() async throws {
    try await seen(.dropInsideResponse(bytes: 1_234)) { whole, answers, server in
      #expect(answers[0].status == 200 && answers[0].announced == whole.body.count)
      #expect(answers[0].body == Array(whole.body[..<1_234]) && answers[0].ending == .closed)
      #expect(answers[0].header("connection") == nil && server.requests().last?.bytes == 1_234)
    }
  }

  @Test func dropInsideResponse_share_sendsThatPart() async throws {
    try await seen(.dropInsideResponse(share: 0.25, reset: true)) { whole, answers, _ in
      #expect(answers[0].body == Array(whole.body[..<(whole.body.count / 4)]) && answers[0].ending == .reset)
    }
  }

  @Test(arguments: [false, true]) func dropAfterResponse_sendsAllThenCloses(reset: Bool) async throws {
    try await seen(.dropAfterResponse(reset: reset)) { whole, answers, _ in
      #expect(answers[0].body == whole.body && answers[0].announced == whole.body.count)
      #expect(answers[0].header("connection") == nil && answers[0].ending == (reset ? .reset : .closed))
    }
  }

  @Test func hang_staysSilentUntilTheClientGivesUp() async throws {
    try await withOrg { server, client in
      var made: JSONValue = 0
      let (silences, silence) = AsyncStream.makeStream(of: Void.self)
      server.faults.observeSilence { silence.yield() }
      // Each one twice with one seed.
      for executed in [false, true, true, false] {
        server.faults.clear()
        server.faults.reset(seed: 2)
        try server.faults.add(.hang(executed: executed), method: "POST")
        if executed { made = made == 0 ? 1 : 2 }
        let wire = try FaultWire(port: server.port)
        wire.send("POST", "/services/data/v66.0/sobjects/Account", token: client.token, body: #"{"Name":"A"}"#)
        for await _ in silences { break }
        #expect(server.faults.active[0].fired == 1)
        #expect(try await client.query("SELECT Id FROM Account").status == 200)
        if executed { #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == made) }
        #expect(wire.isSilent)
        wire.hangUp()
        try await until { server.requests().last?.faults == ["hang"] }
        #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == made)
        server.clearRequests()
      }
    }
  }

  // MARK: Body

  @Test func truncateBody_eachFraming_isSeen() async throws {
    try await seen(.truncateBody(bytes: 600)) { whole, answers, _ in
      #expect(answers[0].announced == whole.body.count && answers[0].body == Array(whole.body[..<600]))
    }
    try await seen(.truncateBody(share: 0.5, framing: .consistent), keepsOpen: false) { whole, answers, _ in
      #expect(answers[0].announced == whole.body.count / 2 && answers[0].body == Array(whole.body[..<(whole.body.count / 2)]))
    }
    try await seen(.truncateBody(bytes: 600, framing: .chunked)) { whole, answers, _ in
      #expect(answers[0].announced == nil && answers[0].header("transfer-encoding") == "chunked")
      let chunks = Array("200\r\n".utf8) + whole.body[..<512] + Array("\r\n58\r\n".utf8) + whole.body[512..<600] + [13, 10]
      #expect(answers[0].body == chunks)
    }
  }

  @Test func flipBytes_changesSoManyBytesByOneBit() async throws {
    try await seen(.flipBytes(count: 3), keepsOpen: false, isRandom: true) { whole, answers, _ in
      for answer in answers {
        let changed = zip(answer.body, whole.body).filter { $0 != $1 }
        #expect(answer.body.count == whole.body.count && changed.count == 3)
        #expect(changed.allSatisfy { ($0 ^ $1).nonzeroBitCount == 1 })
      }
    }
  }

  @Test func invalidJSON_isOneByteShortAndNoJSON() async throws {
    try await seen(.invalidJSON, keepsOpen: false, isRandom: true) { whole, answers, _ in
      for answer in answers {
        #expect(answer.body.count == whole.body.count - 1 && answer.announced == answer.body.count)
        #expect(throws: (any Error).self) { try JSONValue(parsing: answer.body) }
      }
    }
  }

  @Test func invalidUTF8_hasAnInvalidByte() async throws {
    try await seen(.invalidUTF8, keepsOpen: false, isRandom: true) { whole, answers, _ in
      for answer in answers {
        #expect(answer.body.filter { $0 == 0xFF }.count == 1 && answer.body.count == whole.body.count + 1)
        #expect(answer.body.filter { $0 != 0xFF } == whole.body)
      }
    }
  }

  @Test(arguments: [10, -10]) func wrongContentLength_isOffByThat(by: Int) async throws {
    try await seen(.wrongContentLength(by: by)) { whole, answers, _ in
      #expect(answers[0].announced == whole.body.count + by && answers[0].body == whole.body)
    }
  }

  @Test func wrongGzip_beginsLikeOneAndIsNone() async throws {
    try await seen(.wrongGzip, keepsOpen: false, isRandom: true) { _, answers, _ in
      #expect(answers[0].header("content-encoding") == "gzip" && answers[0].body.starts(with: [0x1F, 0x8B, 8]))
      #expect(answers[0].announced == answers[0].body.count)
    }
  }

  @Test(arguments: [200, 204]) func emptyBody_isASuccessWithoutOne(status: Int) async throws {
    try await seen(.emptyBody(status: status), keepsOpen: false) { _, answers, _ in
      #expect(answers[0].status == status && answers[0].body.isEmpty)
    }
  }

  // MARK: Status

  @Test func refusals_sayWhenToComeBack() async throws {
    let cases: [(Fault, Int, String?)] = [
      (.tooManyRequests(), 429, nil), (.tooManyRequests(retryAfter: .seconds(17)), 429, "17"),
      (.unavailable(), 503, nil), (.unavailable(retryAfter: .seconds(2)), 503, "2"),
      (.unavailable(retryAfter: .date(inSeconds: 90)), 503, "Mon, 02 Mar 2026 09:01:30 GMT"),
    ]
    for (fault, status, retryAfter) in cases {
      try await seen(fault, keepsOpen: false) { _, answers, _ in
        #expect(answers[0].status == status && answers[0].header("retry-after") == retryAfter)
        if retryAfter?.hasSuffix("GMT") == true { #expect(answers[0].date == "Mon, 02 Mar 2026 09:00:00 GMT") }
      }
    }
  }

  @Test func answersInstead_areWhatWasAskedFor() async throws {
    for status in [500, 502, 504] {
      try await seen(.serverError(status), keepsOpen: false) { _, answers, _ in #expect(answers[0].status == status) }
    }
    for status in [200, 503] {
      try await seen(.htmlPage(status: status), keepsOpen: false) { _, answers, _ in
        #expect(answers[0].status == status && answers[0].header("content-type") == "text/html;charset=UTF-8")
        #expect(answers[0].text.contains("<html>"))
      }
    }
    try await seen(.answer(status: 418, body: "tea", contentType: "text/plain"), keepsOpen: false) { _, answers, _ in
      #expect(answers[0].status == 418 && answers[0].text == "tea" && answers[0].header("content-type") == "text/plain")
    }
    try await seen(.redirect(to: "/elsewhere", status: 307), keepsOpen: false) { _, answers, _ in
      #expect(answers[0].status == 307 && answers[0].header("location") == "/elsewhere")
    }
  }

  @Test func answerInstead_executed_hasDoneTheWork() async throws {
    try await withOrg { server, client in
      try server.faults.add(.serverError(502, executed: true), when: .first(1), method: "POST")
      try server.faults.add(.serverError(500), when: .nth(2), method: "POST")
      for name in ["A", "B"] {
        let answer = try await client.json("POST", "/services/data/v66.0/sobjects/Account", "{\"Name\":\"\(name)\"}")
        #expect(answer.status == (name == "A" ? 502 : 500))
      }
      #expect(try server.query("SELECT COUNT() FROM Account WHERE Name = 'A'")["totalSize"] == 1)
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
    }
  }
}
