import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests `tureen sync --every`. ``RepeatedWorkTests`` have its times, with a clock of their own.
@Suite(.timeLimit(.minutes(60))) struct RepeatedSyncTests {
  private func project(_ syncs: String = RepeatedSyncTests.down) throws -> Workplace {
    let place = try Workplace()
    try place.write(
      #"{"soups": [{"soupName": "contacts", "indexes": [{"path": "Id", "type": "string"}]}]}"#, to: "userstore.json")
    try place.write(syncs, to: "usersyncs.json")
    return place
  }

  private static let down = """
    {"syncs": [{"syncName": "down", "syncType": "syncDown", "soupName": "contacts",
      "target": {"type": "soql", "query": "SELECT Id, LastName, LastModifiedDate FROM Contact"}}]}
    """

  private func start(
    _ place: Workplace, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Child {
    try Child(Built.tureen, ["sync", "--home", place.home] + arguments, environment: environment, in: place.path)
  }

  @Test(arguments: [SIGTERM, SIGINT]) func row23_every_runsAgainUntilASignal_thenEndsWith0(signal: Int32) async throws {
    let place = try project()
    let child = try start(place, ["--every", "1s", "down"])
    #expect(await child.prints("down: DONE, 5000 fetched", then: "down: DONE, "))
    child.send(signal)
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.complaints == "", "\(ended)")
  }

  @Test func row23_every_signalInAPause_endsAtOnce() async throws {
    let place = try project()
    let child = try start(place, ["--every", "1d", "--jitter", "1h", "down"])
    #expect(await child.prints("down: DONE, 5000 fetched"))
    child.send(SIGTERM)
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.complaints == "", "\(ended)")
  }

  @Test func row23_every_signalInARun_stopsAtAPageAndEndsWith0() async throws {
    let place = try project(), org = try PagedOrg(holdsFrom: 2)
    let child = try start(place, ["--every", "15m", "--json", "down"], environment: org.environment)
    #expect(await child.prints(#""progress":20"#))
    child.send(SIGTERM)
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.output.contains(#""status":"STOPPED""#), "\(ended)")
    org.open()
    let next = try await start(place, ["down"], environment: org.environment).ended()
    #expect(next.status == 0 && next.output.hasPrefix("down: DONE"), "\(next)")
  }

  @Test func every_signalTwice_endsWith130() async throws {
    let place = try project(), org = try PagedOrg(holdsFrom: 0)
    let child = try start(place, ["--every", "15m", "down"], environment: org.environment)
    await org.server.received(1) { $0.path.contains("/query") }
    child.send(SIGTERM)
    child.send(SIGINT)
    let status = await child.ended().status
    #expect(status == 130 || status == 0, "both came before the first was seen, or the run ended between them: \(status)")
  }

  @Test func row23_every_failure_isTriedAgainAfterAPause() async throws {
    let place = try project()
    let server = try ScriptedServer { request in
      PagedOrg.token(request) ?? .restError(500, "SERVER_ERROR", "down for a while")
    }
    let environment = [
      "TUREEN_ORG": server.url, "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u",
      "TUREEN_PASSWORD": "p",
    ]
    let child = try start(place, ["--every", "1d", "down"], environment: environment)
    #expect(await child.complains("next attempt in 10s"))
    child.send(SIGTERM)
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.errors.contains("sync 'down' failed: "), "\(ended)")
  }

  @Test func row23_every_twoAtOnce_bothGoOn() async throws {
    let place = try project(), org = try PagedOrg(holdsFrom: 2)
    let first = try start(place, ["--every", "1s", "--json", "down"], environment: org.environment)
    #expect(await first.prints(#""progress":20"#))
    let second = try start(place, ["--every", "1s", "down"], environment: org.environment)
    #expect(await second.complains("runningElsewhere"))
    org.open()
    // Both run it, in turns.
    #expect(await second.prints("down: DONE"))
    #expect(await first.prints(#""status":"DONE""#))
    for child in [first, second] { child.send(SIGTERM) }
    let ended = (await first.ended(), await second.ended())
    #expect(ended.0.status == 0 && ended.1.status == 0, "\(ended)")
    #expect(!ended.1.errors.contains("next attempt"), "\(ended.1.errors)")
  }

  @Test func row23_every_recordsThatStay_doNotEndIt() async throws {
    let place = try project(
      """
      {"syncs": [{"syncName": "up", "syncType": "syncUp", "soupName": "contacts", "target": {},
        "options": {"fieldlist": ["LastName", "FirstName"]}}]}
      """)
    let entry =
      #"{"Id":"local_1","FirstName":"No last name","attributes":{"type":"Contact"},"__local__":true,"__locally_created__":true,"#
      + #""__locally_updated__":false,"__locally_deleted__":false}"#
    #expect(
      try await place.exec("smartstore", "upsertSoupEntries", #"{"soupName":"contacts","entries":[\#(entry)]}"#).status == 0)
    let child = try start(place, ["--every", "1s", "up"])
    #expect(await child.prints("1 refused", times: 2))
    child.send(SIGTERM)
    let ended = await child.ended()
    #expect(ended.status == 0 && !ended.errors.contains("next attempt"), "\(ended)")
  }

  @Test(arguments: [
    (["--every", "1m", "dwon"], 1, "did you mean 'down'?"), (["--every", "1m", "--org", "nowhere", "down"], 67, "nowhere"),
    (["--every", "1m", "--store-name", "none", "down"], 1, "does not exist"),
  ])
  func every_mistake_endsWithTheFirstRun(arguments: [String], status: Int32, message: String) async throws {
    let place = try project()
    let ended = try await start(place, arguments).ended()
    #expect(ended.status == status && ended.errors.contains(message), "\(ended)")
  }

  @Test func every_wrongFile_endsWith78() async throws {
    let place = try project(#"{"syncs": [{}]}"#)
    let ended = try await start(place, ["--every", "1m", "down"]).ended()
    #expect(ended.status == 78 && ended.errors.contains("usersyncs.json"), "\(ended)")
  }

  @Test(arguments: [
    ["--every", "soon"], ["--every", "0s"], ["--every", "10ms"], ["--every", "1m", "--jitter", "1m"], ["--jitter", "1m"],
    ["--every="], ["--every", "1m", "--jitter", "x"],
  ])
  func every_wrongTimes_are64(arguments: [String]) async throws {
    let place = try project()
    let ended = try await start(place, arguments + ["down"]).ended()
    #expect(ended.status == 64, "\(ended)")
  }

  /// A mistake that is made while it runs is a failure, which the next run may find corrected.
  @Test func every_fileThatBecomesWrong_isTriedAgain() async throws {
    let place = try project()
    let child = try start(place, ["--every", "1s", "down"])
    #expect(await child.prints("down: DONE"))
    try place.write(#"{"syncs": [{}]}"#, to: "usersyncs.json")
    #expect(await child.complains("next attempt in 10s"))
    child.send(SIGTERM)
    let ended = await child.ended()
    #expect(ended.status == 0 && ended.errors.contains("usersyncs.json"), "\(ended)")
  }

  /// No store is open between runs: others may remove or copy it.
  @Test func every_betweenRuns_storesAreClosed() async throws {
    let place = try project()
    let child = try start(place, ["--every", "1d", "down"])
    #expect(await child.prints("down: DONE"))
    var ended: Child.Ended
    // The line comes right before the store is closed.
    repeat {
      ended = try await place.run(Built.tureen, ["store", "remove", "--home", place.home, "--yes", "defaultStore"])
    } while ended.status == 75
    #expect(ended.status == 0, "\(ended)")
    child.send(SIGTERM)
    #expect(await child.ended().status == 0)
  }
}
