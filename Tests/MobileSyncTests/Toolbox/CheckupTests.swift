import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync

/// Checks of what waits in a store, and why.
@Suite struct CheckupTests {
  @Test func row44_refusedInEveryRun_isFound() async throws {
    let bench = try await SyncBench()
    bench.keepHistory()
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: SyncBench.upload, soupName: "accounts", syncName: "accountsUp")
    try bench.createLocally("New", ["Name": .string(String(repeating: "n", count: 300))])
    func found() throws -> HealthCheck? {
      try StoreCheckup(bench.manager.look).checks().first { $0.text.contains("in every run") }
    }
    #expect(try await bench.manager.reSync(.name("accountsUp")).counts.failed == 1)
    #expect(try found() == nil, "once is not always")
    #expect(try await bench.manager.reSync(.name("accountsUp")).counts.failed == 1)
    let check = try #require(try found())
    #expect(check.status == .warn && check.text.hasSuffix("of 'accounts' in every run: 1") && check.fix != nil, "\(check)")
    await bench.close()
  }

  @Test func soundIndexes_areNotReported() async throws {
    let bench = try await SyncBench(accounts: 5)
    _ = try await bench.down(name: "s")
    try bench.createLocally("New", ["Id": .null])
    for isDeep in [false, true] {
      #expect(try StoreCheckup(bench.manager.look).checks(isDeep: isDeep).allSatisfy { $0.details["staleIndex"] == nil })
    }
    await bench.close()
  }

  /// Some servers say what is wrong under other names.
  @Test(arguments: [
    (#"{"code": 119, "error": "no permission"}"#, "no permission"), (#"[{"message": "not now"}]"#, "not now"), ("plain", "plain"),
  ])
  func failedSync_hasTheMessageOfTheServer(body: String, text: String) async throws {
    let bench = try await SyncBench()
    _ = try await bench.down(name: "s")
    try bench.setProgress { state in
      state.status = .failed
      state.error = body
    }
    let checks = try StoreCheckup(bench.manager.look).checks()
    #expect(checks.contains { $0.text.hasSuffix("the last run of sync 's' failed: \(text)") }, "\(checks)")
    await bench.close()
  }
}
