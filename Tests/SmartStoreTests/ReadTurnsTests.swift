import Dispatch
import Foundation
import Testing

@testable import SmartStore

struct ReadTurnsTests {
  /// Closing a store waits for no query that SQLite cannot interrupt; its reader is closed when it ends.
  @Test func close_queryThatDoesNotEnd_returns() {
    let turns = ReadTurns<Int>(most: 2, mostSmart: 1, patienceMs: 1), query = QueryCancellation()
    let started = DispatchSemaphore(value: 0), release = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? turns.with(query, isSmart: true) {
        started.signal()
        release.wait()
        if !turns.keep(1) { ended.signal() }
      }
    }
    started.wait()
    _ = turns.close()
    #expect(query.isCancelled)
    #expect(throws: StoreError.self) { try turns.with(nil, isSmart: false) {} }
    release.signal()
    ended.wait()
  }
}
