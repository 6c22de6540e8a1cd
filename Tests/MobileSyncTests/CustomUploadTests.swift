import JSON
import SandboxOrg
import Synchronization
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows U20–U23 of the acceptance list: uploads that the hosting program sends.
@Suite struct CustomUploadTests {
  /// Has some of the functions, answers from a closure and records the calls.
  private final class Runner: CustomTargetRunner {
    let calls = Mutex<[String]>([])
    private let functions: [CustomTargetCall.Function]
    private let body: @Sendable (CustomTargetCall) throws -> JSONValue

    init(_ functions: [CustomTargetCall.Function], _ body: @escaping @Sendable (CustomTargetCall) throws -> JSONValue) {
      self.functions = functions
      self.body = body
    }

    func run(_ call: CustomTargetCall) async throws -> [UInt8] {
      if call.function == .functions {
        let names: JSONValue = .array(functions.map { .string($0.rawValue) })
        return JSONValue.object(["functions": names]).serialized()
      }
      let name = call.arguments["record"]?["Name"]?.stringValue ?? ""
      calls.withLock { $0.append("\(call.function.rawValue) \(name) \(call.arguments["fields"]?.text ?? "")") }
      return try body(call).serialized()
    }
  }

  private static let target: JSONObject = ["type": "custom", "luaImpl": "my.sink"]
  private static let senders: [CustomTargetCall.Function] = [.createOnServer, .updateOnServer, .deleteOnServer]

  /// Creates one updated, one deleted and one created record.
  private func bench(_ runner: Runner) async throws -> SyncBench {
    var configuration = SyncConfiguration()
    configuration.customTargets = runner
    let bench = try await SyncBench(accounts: 2, configuration: configuration)
    _ = try await bench.down()
    try bench.updateLocally("Account 0", ["Description": "mine"])
    try bench.deleteLocally("Account 1")
    try bench.createLocally("New", ["Description": "mine"])
    bench.org.clearRequests()
    return bench
  }

  private func up(_ bench: SyncBench, _ mergeMode: String = "OVERWRITE") async throws -> SyncState {
    try await bench.manager.syncUp(
      target: Self.target, options: ["fieldlist": ["Name", "Description"], "mergeMode": .string(mergeMode)],
      soupName: "accounts")
  }

  @Test func syncUp_customTarget_goesThroughItsFunctions() async throws {
    let runner = Runner(Self.senders) { call in call.function == .createOnServer ? ["id": "x-1"] : ["status": 204] }
    let bench = try await bench(runner)
    let end = try await up(bench)
    #expect(end.status == .done && end.counts.succeeded == 3)
    #expect(
      runner.calls.withLock { $0 } == [
        #"updateOnServer Account 0 {"Name":"Account 0","Description":"mine"}"#, "deleteOnServer Account 1 ",
        #"createOnServer New {"Name":"New","Description":"mine"}"#,
      ])
    #expect(try bench.names() == ["Account 0", "New"] && bench.dirtyCount() == 0)
    #expect(try bench.entry(named: "New")?["Id"] == "x-1")
    #expect(bench.requests().isEmpty)
    await bench.close()
  }

  @Test func syncUp_functionsMissing_isSentByTheEngine() async throws {
    let runner = Runner([.createOnServer]) { _ in ["id": "x-1"] }
    let bench = try await bench(runner)
    #expect(try await up(bench).counts.succeeded == 3)
    #expect(bench.requests().map { $0.prefix { $0 != " " } } == ["PATCH", "DELETE"])
    #expect(try bench.serverNames() == ["Account 0"] && bench.dirtyCount() == 0)
    await bench.close()
  }

  /// Status 404 of a deletion means success; every other record stays dirty, and the run ends as
  /// DONE.
  @Test(arguments: [404, 400])
  func syncUp_softFailures_leaveTheRecordsDirty(status: Int64) async throws {
    let runner = Runner(Self.senders) { call in
      call.function == .createOnServer ? ["id": .null, "reason": "full"] : ["status": .integer(status), "reason": "no"]
    }
    let bench = try await bench(runner)
    let end = try await up(bench)
    #expect(end.status == .done && end.counts.failed == (status == 404 ? 2 : 3))
    #expect(try bench.names() == (status == 404 ? ["Account 0", "New"] : ["Account 0", "Account 1", "New"]))
    #expect(try bench.dirtyCount() == bench.names().count)
    #expect(try bench.entry(named: "New")?["__last_error__"]?.stringValue?.contains("full") == true)
    await bench.close()
  }

  @Test func syncUp_functionRaises_failsAndLosesNothing() async throws {
    let failing = Mutex(true)
    let runner = Runner(Self.senders) { call in
      if failing.withLock({ $0 }) { throw SyncError(.customTarget, "the module raised") }
      return call.function == .createOnServer ? ["id": "x-1"] : ["status": 204]
    }
    let bench = try await bench(runner)
    let end = try await up(bench)
    #expect(end.status == .failed && end.progress == 0 && end.error == "the module raised")
    #expect(try bench.dirtyCount() == 3)
    failing.withLock { $0 = false }
    #expect(try await up(bench).counts.succeeded == 3)
    await bench.close()
  }

  @Test(
    arguments: [
      (.isNewerThanServer, ["newer": false], 1), (.isNewerThanServer, ["newer": true], 3),
      (.fetchLastModifiedDates, ["dates": ["2999-01-01T00:00:00.000+0000", "2999-01-01T00:00:00.000+0000"]], 1),
      (.fetchLastModifiedDates, ["dates": ["1999-01-01T00:00:00.000+0000", false]], 3),
      (.fetchLastModifiedDates, ["dates": [.null, false]], 2),
    ] as [(CustomTargetCall.Function, JSONValue, Int)])
  func syncUp_leaveIfChanged_asksTheTarget(
    function: CustomTargetCall.Function, answer: JSONValue, sent: Int
  ) async throws {
    let runner = Runner(Self.senders + [function]) { call in
      call.function == function ? answer : call.function == .createOnServer ? ["id": "x-1"] : ["status": 204]
    }
    let bench = try await bench(runner)
    let end = try await up(bench, "LEAVE_IF_CHANGED")
    #expect(end.status == .done && end.counts.succeeded == sent && end.counts.conflicting == 3 - sent)
    #expect(try bench.dirtyCount() == 3 - sent)
    await bench.close()
  }

  /// This target reports only dates. Its update returns the record's new date, so a later one comes
  /// from somebody else.
  @Test(arguments: ["LEAVE_IF_CHANGED", "MERGE"])
  func syncUp_updateTellsItsDate_isNoConflictWithItself(mergeMode: String) async throws {
    let dates = Mutex(["2000-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"])
    let runner = Runner([.updateOnServer, .fetchLastModifiedDates]) { call in
      if call.function == .updateOnServer { return ["status": 200, "date": "2100-01-01T00:00:00.000Z"] }
      return ["dates": [.string(dates.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })]]
    }
    var configuration = SyncConfiguration()
    configuration.customTargets = runner
    let bench = try await SyncBench(accounts: 1, configuration: configuration)
    _ = try await bench.down()
    for text in ["first", "second"] {
      try bench.updateLocally("Account 0", ["Description": .string(text)])
      // A sync down in between keeps the edit.
      if text == "second" { _ = try await bench.down(["mergeMode": "LEAVE_IF_CHANGED"]) }
      let end = try await up(bench, mergeMode)
      #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0, "\(text)")
    }
    try bench.updateLocally("Account 0", ["Description": "third"])
    dates.withLock { $0 = ["2100-01-01T00:00:01.000Z"] }
    #expect(try await up(bench, mergeMode).counts.conflicting == 1)
    await bench.close()
  }

  /// The module reports no change, and then that the record does not exist: that is a deletion, not
  /// a refusal.
  @Test(arguments: ["LEAVE_IF_CHANGED", "MERGE"])
  func syncUp_updateAnswers404_isAConflict(mergeMode: String) async throws {
    let runner = Runner(Self.senders + [.isNewerThanServer]) { call in
      switch call.function {
      case .isNewerThanServer: ["newer": true]
      case .createOnServer: ["id": "x-1"]
      default: ["status": 404, "reason": "no such record"]
      }
    }
    let bench = try await bench(runner)
    let end = try await up(bench, mergeMode)
    #expect(end.status == .done && end.counts.conflicting == 1 && end.counts.failed == 0 && end.counts.succeeded == 2)
    #expect(try bench.names() == ["Account 0", "New"] && bench.dirtyCount() == 1)
    #expect(try bench.entry(named: "Account 0")?["__last_error__"] == nil)
    #expect(try bench.conflicts().map(\.kind) == [.deletedThere])
    await bench.close()
  }

  @Test func syncUp_datesCannotBeRead_leavesTheRecordsDirty() async throws {
    let runner = Runner(Self.senders + [.fetchLastModifiedDates]) { call in
      if call.function == .fetchLastModifiedDates { throw SyncError(.customTarget, "no connection") }
      return call.function == .createOnServer ? ["id": "x-1"] : ["status": 204]
    }
    let bench = try await bench(runner)
    let end = try await up(bench, "LEAVE_IF_CHANGED")
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.conflicting == 2)
    await bench.close()
  }
}
