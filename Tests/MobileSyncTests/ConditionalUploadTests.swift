import JSON
import SandboxOrg
import Synchronization
import Testing

@testable import MobileSync

/// Targets with one request per record: the server compares again before it updates.
@Suite struct ConditionalUploadTests {
  @Test(arguments: [UploadKind.plain, .batch])
  func syncUp_changedThereInTheLastMoment_isLeft(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 2)
    _ = try await bench.down()
    let id = try #require(try bench.entry(named: "Account 0")?["Id"]?.stringValue)
    for n in 0..<2 { try bench.updateLocally("Account \(n)", ["Description": "mine"]) }
    let isFirst = Mutex(true)
    bench.org.setInterceptor { request in
      // The stamps have been compared, and the first update is in flight.
      let isUpdate = kind == .plain ? request.method == "PATCH" : request.path.hasSuffix("/composite")
      if isUpdate,
        isFirst.withLock({ first in
          defer { first = false }
          return first
        })
      {
        try? bench.change(id, ["Description": "theirs"])
      }
      return nil
    }
    let end = try await bench.up(SyncBench.uploadLeave)
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.conflicting == 1 && end.counts.failed == 0)
    #expect(try bench.onServer(id)?["Description"] == "theirs" && bench.dirtyCount() == 1)
    #expect(try bench.entry(named: "Account 0")?["__last_error__"] == nil)
    bench.org.setInterceptor(nil)
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.onServer(id)?["Description"] == "mine")
    await bench.close()
  }

  /// A portal or a gateway may answer everything with a page and status 200; then nothing was
  /// uploaded.
  @Test(arguments: UploadKind.allCases)
  func syncUp_pageInsteadOfAnAnswer_keepsEveryChange(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 3, realTime: true)
    _ = try await bench.down()
    try bench.deleteLocally("Account 0")
    try bench.updateLocally("Account 1", ["Description": "mine"])
    bench.org.setInterceptor { _ in .respond(status: 200, headers: [("Content-Type", "text/html")], body: "<html>sign in</html>")
    }
    let end = try await bench.up()
    #expect(end.status == .failed && end.failure?.code == "invalidBody")
    #expect(try bench.dirtyCount() == 2)
    bench.org.setInterceptor(nil)
    let again = try await bench.up()
    #expect(again.status == .done && again.counts.succeeded == 2 && again.counts.failed == 0)
    #expect(try bench.serverNames() == ["Account 1", "Account 2"])
    await bench.close()
  }

  @Test(
    arguments: [(784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT")] as [(Int64, String)])
  func httpDate_table(milliseconds: Int64, text: String) {
    #expect(TimeStamp.httpDate(milliseconds) == text && TimeStamp.milliseconds(httpDate: text) == milliseconds)
  }
}
