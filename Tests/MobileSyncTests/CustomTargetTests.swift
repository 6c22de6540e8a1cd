import JSON
import SmartStore
import Synchronization
import Testing

@testable import MobileSync

/// Row D4 of the acceptance list: records that the hosting program fetches.
@Suite struct CustomTargetTests {
  /// Answers from a closure and records the calls.
  private final class Runner: CustomTargetRunner {
    let calls = Mutex<[String]>([])
    private let body: @Sendable (CustomTargetCall) async throws -> JSONValue

    init(_ body: @escaping @Sendable (CustomTargetCall) async throws -> JSONValue) { self.body = body }

    func run(_ call: CustomTargetCall) async throws -> [UInt8] {
      calls.withLock { $0.append("\(call.implementation).\(call.function.rawValue) \(call.arguments.text)") }
      return try await body(call).serialized()
    }
  }

  private static let target: JSONObject = ["type": "custom", "luaImpl": "my.source", "extra": [1, 2]]

  private func bench(_ runner: Runner?, timeoutMs: Int64 = 900_000) async throws -> SyncBench {
    var configuration = SyncConfiguration()
    configuration.customTargets = runner
    configuration.customTargetTimeoutMs = timeoutMs
    return try await SyncBench(configuration: configuration)
  }

  private static func record(_ n: Int64) -> JSONValue {
    ["Id": .string("a\(100 + n)"), "Name": "r", "LastModifiedDate": .string(TimeStamp.text(1_700_000_000_000 + n * 1000))]
  }

  /// Returns three pages of ten.
  @Sendable private static func page(_ call: CustomTargetCall) -> JSONValue {
    if call.function == .remoteIds { return ["ids": ["a100", "a101"]] }
    let first = call.arguments["more"]?.integerValue ?? 0
    return [
      "records": .array((first..<first + 10).map(record)), "totalSize": 30, "more": first < 20 ? .integer(first + 10) : false,
    ]
  }

  @Test func syncDown_threePages_reportsEach() async throws {
    let runner = Runner { Self.page($0) }
    let bench = try await bench(runner)
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: Self.target, soupName: "accounts", syncName: "c", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/30", "RUNNING 33/30", "RUNNING 66/30", "DONE 100/30"])
    #expect(end.maxTimeStamp == 1_700_000_029_000 && end.target["extra"] == [1, 2])
    #expect(
      runner.calls.withLock { $0 } == [
        #"my.source.startFetch {"maxTimeStamp":-1}"#, #"my.source.continueFetch {"more":10}"#,
        #"my.source.continueFetch {"more":20}"#,
      ])
    #expect(try await bench.manager.cleanResyncGhosts(.name("c")) == 28)
    #expect(try bench.entries().compactMap { $0["Id"]?.stringValue }.sorted() == ["a100", "a101"])
    await bench.close()
  }

  @Test func syncDown_nullRecords_isDone() async throws {
    let bench = try await bench(Runner { _ in [:] })
    let end = try await bench.manager.syncDown(target: Self.target, soupName: "accounts")
    #expect(end.status == .done && end.totalSize == 0)
    await bench.close()
  }

  @Test(
    arguments: [
      (["records": 3], "custom target 'my.source': startFetch must return an array of records"),
      (["records": [1, 2]], "custom target 'my.source': startFetch must return an array of records"),
      (["records": [["Name": "no id"]]], "record 1 of a page for soup accounts has no 'Id'"),
    ] as [(JSONValue, String)])
  func syncDown_wrongShape_fails(answer: JSONValue, message: String) async throws {
    let bench = try await bench(Runner { _ in answer })
    let end = try await bench.manager.syncDown(target: Self.target, soupName: "accounts")
    #expect(end.status == .failed && end.error.hasPrefix(message), "\(end.error)")
    await bench.close()
  }

  @Test func syncDown_runnerFails_failsWithItsError() async throws {
    let bench = try await bench(Runner { _ in throw SyncError(.customTarget, "the module raised") })
    let end = try await bench.manager.syncDown(target: Self.target, soupName: "accounts")
    #expect(end.status == .failed && end.error == "the module raised" && end.failure?.code == "customTarget")
    await bench.close()
  }

  @Test func syncDown_noRunner_fails() async throws {
    let bench = try await bench(nil)
    let end = try await bench.manager.syncDown(target: Self.target, soupName: "accounts")
    #expect(end.error == "custom target 'my.source': startFetch cannot be called: there is no script to run it")
    await bench.close()
  }

  @Test func syncDown_runnerSilent_failsAfterTheTimeout() async throws {
    let runner = Runner { _ in
      try await Task.sleep(for: .seconds(3600))
      return [:]
    }
    let bench = try await bench(runner, timeoutMs: 20)
    let end = try await bench.manager.syncDown(target: Self.target, soupName: "accounts")
    #expect(end.status == .failed && end.error.contains("did not answer within 20 ms"))
    await bench.close()
  }

  @Test func cancel_whileTheRunnerWorks_stops() async throws {
    let (started, signal) = AsyncStream.makeStream(of: Void.self)
    let runner = Runner { _ in
      signal.yield()
      try await Task.sleep(for: .seconds(3600))
      return [:]
    }
    let bench = try await bench(runner)
    let recorder = UpdateRecorder()
    let state = try bench.manager.syncDown(target: Self.target, soupName: "accounts", onUpdate: recorder.listener)
    for await _ in started { break }
    bench.manager.cancel(state.id)
    #expect(await recorder.ended().status == .stopped)
    await bench.close()
  }

  /// A sync that waits for its custom target does not hold up others.
  @Test func syncDown_runnerSilent_otherSyncsGoOn() async throws {
    let runner = Runner { _ in
      try await Task.sleep(for: .seconds(3600))
      return [:]
    }
    let bench = try await bench(runner)
    try bench.store.registerSoup("others", indexSpecs: SyncBench.specs)
    try bench.addAccount("A")
    let recorder = UpdateRecorder()
    let state = try bench.manager.syncDown(target: Self.target, soupName: "others", onUpdate: recorder.listener)
    #expect(try await bench.down().status == .done)
    bench.manager.cancel(state.id)
    #expect(await recorder.ended().status == .stopped)
    await bench.close()
  }
}
