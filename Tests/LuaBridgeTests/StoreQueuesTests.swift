import Foundation
import Glibc
import LuaBridge
import Testing

@Suite struct StoreQueuesTests {
  private final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [String] = []
    func add(_ entry: String) { lock.withLock { entries.append(entry) } }
    var all: [String] { lock.withLock { entries } }
  }

  private func store(_ name: String) -> StoreReference { StoreReference(name: name) }

  @Test func submit_oneStore_runsInOrder() {
    let queues = StoreQueues(threadLimit: 4)
    let log = Log()
    for i in 0..<500 { queues.submit(store("a")) { log.add("\(i)") } }
    queues.close()
    #expect(log.all == (0..<500).map(String.init))
  }

  @Test func submit_twoStores_runSideBySide() {
    let queues = StoreQueues(threadLimit: 2)
    let a = DispatchSemaphore(value: 0), b = DispatchSemaphore(value: 0)
    queues.submit(store("a")) {  // the two jobs wait for each other, so one thread would never finish
      a.signal()
      b.wait()
    }
    queues.submit(store("b")) {
      b.signal()
      a.wait()
    }
    queues.close()
  }

  /// If jobs of any number of stores never end, there is still a thread for the next store.
  @Test func lending_allThreads_leavesOneForOthers() {
    let queues = StoreQueues(threadLimit: 2), release = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    for name in ["a", "b", "c"] { queues.submit(store(name)) { queues.lending { release.wait() } } }
    queues.submit(store("d")) { done.signal() }
    done.wait()
    for _ in 0..<3 { release.signal() }
    queues.close()
  }

  /// A query in a part of a database that nothing interrupts is left to its thread.
  @Test func close_queryThatDoesNotEnd_returns() {
    let queues = StoreQueues(threadLimit: 2), started = DispatchSemaphore(value: 0), release = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0), ran = DispatchSemaphore(value: 0)
    queues.submit(store("a")) {
      queues.lending {
        started.signal()
        release.wait()
      }
      ended.signal()
    }
    queues.submit(store("a")) { ran.signal() }
    started.wait()
    queues.close(patienceMs: 1)
    queues.close(patienceMs: 1)
    release.signal()
    ended.wait()
    #expect(ran.wait(timeout: .now()) == .timedOut, "what waited behind it is dropped")
  }

  @Test func submit_withoutStore_runsExclusively() {
    let queues = StoreQueues(threadLimit: 4)
    let log = Log()
    let gate = DispatchSemaphore(value: 0)
    queues.submit(store("a")) {
      gate.wait()
      log.add("a")
    }
    queues.submit(nil) { log.add("all") }
    queues.submit(store("b")) { log.add("b") }
    queues.submit(nil) { log.add("all again") }
    gate.signal()
    queues.close()
    #expect(log.all == ["a", "all", "b", "all again"])
  }

  @Test func submitIndependent_whileAnExclusiveJobRuns_isRunInOrder() {
    let queues = StoreQueues(threadLimit: 2)
    let log = Log(), inside = DispatchSemaphore(value: 0), gate = DispatchSemaphore(value: 0)
    queues.submit(nil) {
      inside.signal()
      gate.wait()
      log.add("alone")
    }
    inside.wait()
    queues.submit(store("a")) { log.add("a") }
    for i in 0..<100 { queues.submitIndependent { log.add("\(i)") } }
    queues.submitIndependent { gate.signal() }
    queues.close()
    #expect(log.all == (0..<100).map(String.init) + ["alone", "a"])
  }

  @Test func submitIndependent_afterClose_isDropped() {
    let queues = StoreQueues(threadLimit: 2), log = Log()
    queues.submitIndependent { log.add("in time") }
    queues.close()
    queues.submitIndependent { log.add("late") }
    queues.close()
    #expect(log.all == ["in time"])
  }

  @Test func submit_moreStoresThanThreads_allRun() {
    let queues = StoreQueues(threadLimit: 2)
    let log = Log()
    for i in 0..<40 { queues.submit(store("\(i % 10)")) { log.add("\(i)") } }
    queues.close()
    #expect(Set(log.all).count == 40)
  }

  @Test func submit_afterClose_isDropped() {
    let queues = StoreQueues(threadLimit: 2)
    let log = Log()
    queues.close()
    queues.submit(store("a")) { log.add("late") }
    queues.close()
    #expect(log.all.isEmpty)
  }

  @Test func dropWaiting_runsOnlyWhatHasBegun() {
    let queues = StoreQueues(threadLimit: 2), log = Log()
    let inside = DispatchSemaphore(value: 0), gate = DispatchSemaphore(value: 0)
    queues.submit(store("a")) {
      inside.signal()
      gate.wait()
      log.add("a")
    }
    inside.wait()
    for _ in 0..<100 { queues.submit(store("a")) { log.add("dropped") } }
    queues.submit(nil) { log.add("dropped") }
    queues.submit(store("b")) { log.add("dropped") }
    queues.dropWaiting()
    queues.submit(store("a")) { log.add("later") }
    gate.signal()
    queues.close()
    #expect(log.all == ["a", "later"])
  }

  @Test func lending_manyStores_startsNoThreadForEach() {
    let queues = StoreQueues(threadLimit: 2), release = DispatchSemaphore(value: 0), lent = DispatchSemaphore(value: 0)
    let log = Log()
    for i in 0..<200 {
      queues.submit(store("\(i)")) {
        log.add("\(pthread_self())")
        queues.lending {
          lent.signal()
          release.wait()
        }
      }
    }
    for _ in 0..<26 { lent.wait() }
    for _ in 0..<200 { release.signal() }
    queues.close()
    #expect(Set(log.all).count == 26)
  }
}
