import Glibc
import JSON
import RestClient
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync

/// A bulk load with deferred indexes, from a server that answers only when the indexes are built.
@Suite(.timeLimit(.minutes(60))) struct LargeLoadTests {
  private static let total = 200, pages = [80, 80, 40]

  private static func page(_ number: Int) -> ScriptedAnswer {
    let first = pages[..<number].reduce(0, +), isLast = number == pages.count - 1
    let records = (first..<first + pages[number]).map {
      #"{"Id":"001\#($0)","Name":"A\#($0)","LastModifiedDate":"2026-01-01T00:00:00.000+0000"}"#
    }
    let next = isLast ? "" : #","nextRecordsUrl":"/services/data/v66.0/query/01g-\#(number + 1)""#
    return .json(#"{"totalSize":\#(total),"done":\#(isLast)\#(next),"records":[\#(records.joined(separator: ","))]}"#)
  }

  private static func indexes(of store: Store) -> Int {
    let spec = QuerySpec.smart("SELECT count(*) FROM sqlite_master WHERE name LIKE 'TABLE_1_%_idx'", pageSize: 1)
    let text = (try? store.query(spec)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Int(text.filter(\.isNumber)) ?? -1
  }

  @Test(.enabled(if: TestEngine.isSQLite, "bulk loads without indexes are SQLite's"))
  func syncDown_slowServer_buildsIndexesWhileItWaits() async throws {
    let bench = try ScriptedStore(bulkLoadMinimum: Self.total), store = bench.store
    let all = Self.indexes(of: store), seen = Mutex<[Int]>([]), isOver = Mutex(false)
    let server = try ScriptedServer { request in
      let number = Int(request.target.suffix(1)) ?? 0
      guard request.target.contains("/query/01g-") else { return Self.page(0) }
      // The number of indexes that may be missing equals the number of pages left, including this
      // one.
      let wanted = all - (Self.pages.count - number) + 1
      // Nothing signals a new index. The pause leaves the processor to the load.
      while Self.indexes(of: store) != wanted, !isOver.withLock({ $0 }) { usleep(2000) }
      seen.withLock { $0.append(Self.indexes(of: store)) }
      return Self.page(number)
    }
    // If the load fails, the server must not wait on.
    defer { isOver.withLock { $0 = true } }
    var transport = TransportConfiguration()
    // Longer than the test may take.
    transport.idleTimeoutMs = 3_600_000
    let end = try await bench.manager(server, transport: transport).syncDown(
      target: ["type": "soql", "query": "SELECT Id, Name, LastModifiedDate FROM Account"], options: [:], soupName: "accounts")
    #expect(end.status == .done && end.counts.stored == Self.total)
    #expect(seen.withLock { $0 } == [all - 1, all])
    #expect(Self.indexes(of: store) == all)
    #expect(try store.count(.smart("SELECT 1 FROM {accounts} WHERE {accounts:Id} = '001199'", pageSize: 1)) == 1)
    await bench.close()
  }
}
