import Foundation
import LuaBridge
import Testing

@Suite struct LanesTests {
  private final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var entries: [String] = []
    func add(_ entry: String) { lock.withLock { entries.append(entry) } }
    var all: [String] { lock.withLock { entries } }
  }

  private func store(_ name: String) -> StoreReference { StoreReference(name: name) }

  @Test func submit_oneStore_runsInOrder() {
    let lanes = Lanes(threadLimit: 4)
    let log = Log()
    for i in 0..<500 { lanes.submit(store("a")) { log.add("\(i)") } }
    lanes.close()
    #expect(log.all == (0..<500).map(String.init))
  }

  @Test func submit_twoStores_runSideBySide() {
    let lanes = Lanes(threadLimit: 2)
    let a = DispatchSemaphore(value: 0), b = DispatchSemaphore(value: 0)
    lanes.submit(store("a")) {  // each waits for the other: one thread alone would never end
      a.signal()
      b.wait()
    }
    lanes.submit(store("b")) {
      b.signal()
      a.wait()
    }
    lanes.close()
  }

  /// However many stores have a job that takes for ever, there is a thread for the next one.
  @Test func lending_allThreads_leavesOneForOthers() {
    let lanes = Lanes(threadLimit: 2), release = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
    for name in ["a", "b", "c"] { lanes.submit(store(name)) { lanes.lending { release.wait() } } }
    lanes.submit(store("d")) { done.signal() }
    done.wait()
    for _ in 0..<3 { release.signal() }
    lanes.close()
  }

  @Test func submit_withoutStore_runsAlone() {
    let lanes = Lanes(threadLimit: 4)
    let log = Log()
    let gate = DispatchSemaphore(value: 0)
    lanes.submit(store("a")) {
      gate.wait()
      log.add("a")
    }
    lanes.submit(nil) { log.add("all") }
    lanes.submit(store("b")) { log.add("b") }
    lanes.submit(nil) { log.add("all again") }
    gate.signal()
    lanes.close()
    #expect(log.all == ["a", "all", "b", "all again"])
  }

  @Test func submitBeside_whileAJobRunsAlone_isRunInOrder() {
    let lanes = Lanes(threadLimit: 2)
    let log = Log(), inside = DispatchSemaphore(value: 0), gate = DispatchSemaphore(value: 0)
    lanes.submit(nil) {
      inside.signal()
      gate.wait()
      log.add("alone")
    }
    inside.wait()
    lanes.submit(store("a")) { log.add("a") }
    for i in 0..<100 { lanes.submitBeside { log.add("\(i)") } }
    lanes.submitBeside { gate.signal() }
    lanes.close()
    #expect(log.all == (0..<100).map(String.init) + ["alone", "a"])
  }

  @Test func submitBeside_afterClose_isDropped() {
    let lanes = Lanes(threadLimit: 2), log = Log()
    lanes.submitBeside { log.add("in time") }
    lanes.close()
    lanes.submitBeside { log.add("late") }
    lanes.close()
    #expect(log.all == ["in time"])
  }

  @Test func submit_moreStoresThanThreads_allRun() {
    let lanes = Lanes(threadLimit: 2)
    let log = Log()
    for i in 0..<40 { lanes.submit(store("\(i % 10)")) { log.add("\(i)") } }
    lanes.close()
    #expect(Set(log.all).count == 40)
  }

  @Test func submit_afterClose_isDropped() {
    let lanes = Lanes(threadLimit: 2)
    let log = Log()
    lanes.close()
    lanes.submit(store("a")) { log.add("late") }
    lanes.close()
    #expect(log.all.isEmpty)
  }
}
