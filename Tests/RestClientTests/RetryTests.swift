import RestClient
import TestSupport
import Testing

@testable import Salesforce

@Suite(.timeLimit(.minutes(60))) struct RetryTests {
  private let get = RestRequest(.GET, "/x")
  private let post = RestRequest(.POST, "/x", body: Array("{}".utf8))
  private let busy = ScriptedAnswer.restError(503, "SERVER_UNAVAILABLE", "busy")

  @Test func send_serverRecovers_isRepeatedWithBackoff() async throws {
    let server = try ScriptedServer(busy, .closed, busy, .json("{}"))
    let (waits, traces) = (RecordedWaits(), RecordedTraces())
    try await withClient(server, policy: .standard, waits: waits, observer: traces) { _ = try await $0.send(get) }
    #expect(waits.seconds == [0.25, 0.5, 1])
    #expect(traces.all.map(\.attempt) == [1, 2, 3, 4])
    #expect(traces.all.map(\.status) == [503, nil, 503, 200])
    #expect(traces.all.map(\.errorCode) == [.httpStatus, .noResponse, .httpStatus, nil])
  }

  @Test func send_truncatedPage_isFetchedAgain() async throws {
    let server = try ScriptedServer(.json(#"{"done":true}"#, delivery: .closeAfter(bytes: 5)), .json(#"{"done":true}"#))
    let response = try await withClient(server, policy: .standard) { try await $0.send(get) }
    #expect(response.body.text == #"{"done":true}"#)
    #expect(server.requests.count == 2)
  }

  @Test func send_serverStaysBusy_failsAfterFiveTries() async throws {
    let server = try ScriptedServer(handler: { _ in .restError(503, "SERVER_UNAVAILABLE", "busy") })
    let error = try await withClient(server, policy: .standard) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.message == "busy" && error.status == 503)
    #expect(server.requests.count == 5)
  }

  @Test func send_retryAfter_isWaitedFor() async throws {
    let server = try ScriptedServer(
      .restError(429, "X", "slow down", headers: [("Retry-After", "12")]), .json("{}"))
    let waits = RecordedWaits()
    try await withClient(server, policy: .standard, waits: waits) { _ = try await $0.send(get) }
    #expect(waits.seconds == [12.25])
  }

  @Test func send_retryAfterOfAnHour_failsNow() async throws {
    let server = try ScriptedServer(.restError(503, "X", "later", headers: [("Retry-After", "3600")]))
    let error = try await withClient(server, policy: .standard) { client in
      try await failure { try await client.send(get) }
    }
    #expect(error.header("retry-after") == "3600" && error.isRetryable)
    #expect(server.requests.count == 1)
  }

  /// The response to a retry says nothing about the earlier attempt.
  @Test func send_repeatIsRefusedAfterALostTry_mayHaveHappened() async throws {
    let upsert = RestRequest(.PATCH, "/x", body: Array("{}".utf8), isRepeatable: true)
    for (first, isLost) in [(busy, true), (.closed, true), (.restError(429, "X", "slow down"), false)] {
      let server = try ScriptedServer(first, .restError(404, "NOT_FOUND", "no such page"))
      let error = try await withClient(server, policy: .standard) { client in
        try await failure { try await client.send(upsert) }
      }
      #expect(error.status == 404 && error.followsLostAttempt == isLost && error.mayHaveTakenEffect == isLost)
    }
  }

  @Test func send_create_isNeverRepeatedOnceSent() async throws {
    for answer in [busy, .closed, .json("{}", delivery: .closeAfter(bytes: 1)), .restError(500, "X", "gack")] {
      let server = try ScriptedServer(answer)
      let error = try await withClient(server, policy: .standard) { client in
        try await failure { try await client.send(post) }
      }
      #expect(error.outcome == .unknown)
      #expect(server.requests.count == 1)
    }
  }

  @Test func send_createRefusedConnection_isRepeated() async throws {
    let server = try ScriptedServer()
    server.stop()
    let waits = RecordedWaits()
    let error = try await withClient(server, policy: .standard, waits: waits) { client in
      try await failure { try await client.send(post) }
    }
    #expect(error.outcome == .notSent)
    #expect(waits.seconds.count == 4)
  }

  @Test func send_postThatOnlyReads_isRepeated() async throws {
    let server = try ScriptedServer(busy, .json("[]"))
    try await withClient(server, policy: .standard) {
      _ = try await $0.send($0.requests.collectionRetrieve(type: "Account", ids: ["1"], fields: ["Id"]))
    }
    #expect(server.requests.map(\.text) == Array(repeating: #"{"ids":["1"],"fields":["Id"]}"#, count: 2))
  }

  @Test func cancel_duringBackoff_ends() async throws {
    let server = try ScriptedServer(busy)
    let environment = RetryEnvironment(
      sleep: { _ in throw CancellationError() }, random: { 0 }, now: { 0 })
    let client = SalesforceClient(session: session(server), environment: environment)
    let error = try await failure { try await client.send(get) }
    await client.shutdown()
    #expect(error.code == .cancelled)
  }

  @Test func observer_sizes_countBodies() async throws {
    let server = try ScriptedServer(.json("12345678"))
    let traces = RecordedTraces()
    let post = RestRequest(.POST, "/a?b=c", body: [1, 2, 3])
    try await withClient(server, observer: traces) { _ = try await $0.send(post) }
    let trace = try #require(traces.all.first)
    #expect(traces.all.count == 1)
    #expect(trace.method == .POST && trace.path == "/a" && trace.bytesSent == 3 && trace.bytesReceived == 8)
  }
}
