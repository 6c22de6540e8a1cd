import Foundation
import JSON
import Support
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

struct ConcurrencyTests {
  @Test func read_duringATransaction_seesTheStateBefore() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    try store.upsert(#"[{"k":"before"}]"#, into: "s")
    try store.writeBlocking(.pulled) { transaction in
      _ = try transaction.create(["k": "new"], in: "s")
      _ = try transaction.replace(1, with: ["k": "changed"], in: "s")
      try transaction.registerSoup("t", [.string("a")])
      #expect(try store.rows("SELECT {s:k} FROM {s}") == #"[["before"]]"#)
      #expect(try store.soupExists("t") == false)
      #expect(try transaction.soupExists("t"))
    }
    #expect(try store.rows("SELECT {s:k} FROM {s} ORDER BY 1") == #"[["changed"],["new"]]"#)
    #expect(try store.soupExists("t"))
  }

  @Test func snapshot_whileOthersWrite_staysOneView() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    try store.readBlocking { snapshot in
      let spec = QuerySpec.smart("SELECT {s:k} FROM {s}")
      #expect(try snapshot.count(spec, soup: nil) == 0)
      try store.upsert(#"[{"k":"new"}]"#, into: "s")
      #expect(try snapshot.count(spec, soup: nil) == 0)
    }
    #expect(try store.count(of: "s") == 1)
  }

  @Test func otherStore_onTheSameFile_isSeenAtOnce() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .integer("n")]), store = temporary.store
    let other = try temporary.another()
    defer { other.close() }
    try store.upsert(#"[{"k":"a","n":1}]"#, into: "s")
    #expect(try other.rows("SELECT {s:n} FROM {s}") == "[[1]]")
    #expect(try other.ids(other.upsert(#"[{"k":"a","n":2},{"k":"b"}]"#, into: "s", by: "k")) == [1, 2])
    #expect(try store.ids(store.upsert(#"[{"k":"b","n":3},{"k":"c"}]"#, into: "s", by: "k")) == [2, 3])
    try other.registerSoup("t", indexSpecs: [.string("x")])
    try store.upsert(#"[{"x":"1"}]"#, into: "t", by: "x")
    #expect(try store.rows("SELECT {t:x} FROM {t}") == #"[["1"]]"#)
    try other.removeSoup("s")
    try other.registerSoup("s", indexSpecs: [.integer("n")])
    #expect(try store.count(of: "s") == 0)
    #expect(code { try store.upsert(#"[{"k":"b"}]"#, into: "s", by: "k") } == .pathNotIndexed)
    #expect(try store.ids(store.upsert(#"[{"n":4}]"#, into: "s", by: "n")) == [1])
  }

  @Test func writers_onTwoStores_loseNoUpdate() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .integer("n")])
    let other = try temporary.another()
    defer { other.close() }
    try temporary.store.upsert(#"[{"k":"counter","n":0}]"#, into: "s")
    let stores = [temporary.store, other, temporary.store, other], errors = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { i in
      do {
        for _ in 0..<25 {
          try stores[i].writeBlocking(.pulled) { transaction in
            let entry = try #require(try transaction.entry(1, in: "s")).object()
            _ = try transaction.patch(1, in: "s", setting: ["n": .integer((entry["n"]?.integerValue ?? 0) + 1)])
          }
        }
      } catch { errors.withLock { $0.append("\(error)") } }
    }
    #expect(errors.withLock { $0 } == [])
    #expect(try temporary.store.rows("SELECT {s:n}, version FROM {s}") == "[[100,101]]")
  }

  @Test func batches_atOnce_neverMix() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .integer("batch")]), store = temporary.store
    let mixed = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 24) { i in
      if i % 3 == 2 {
        let rows = try? store.rows("SELECT count(DISTINCT {s:batch}), count(*) FROM {s}")
        if rows != "[[1,20]]", rows != "[[0,0]]" { mixed.withLock { $0 += 1 } }
      } else {
        let text = "[" + (0..<20).map { #"{"k":"\#($0)","batch":\#(i)}"# }.joined(separator: ",") + "]"
        _ = try? store.upsert(text, into: "s", by: "k")
      }
    }
    #expect(mixed.withLock { $0 } == 0)
    #expect(try store.rows("SELECT count(DISTINCT {s:batch}), count(*), sum(version) FROM {s}") == "[[1,20,320]]")
  }

  @Test func asyncCalls_fromManyTasks_allFinish() async throws {
    let temporary = try TemporaryStore(soup: "s", [.integer("n")]), store = temporary.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for i in 0..<40 {
        group.addTask {
          _ = try await store.write(.pulled) { try $0.create(["n": .integer(Int64(i))], in: "s") }
          #expect(try await store.read { try $0.count(.smart("SELECT 1 FROM {s}"), soup: nil) } > 0)
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.rows("SELECT count(*), count(DISTINCT {s:n}) FROM {s}") == "[[40,40]]")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "moves the clock of leases, which is the server's on PostgreSQL"))
  func lease_oneOwnerAtATime() throws {
    let temporary = try TemporaryStore()
    func write<T>(_ body: (StoreTransaction) throws -> T) throws -> T { try temporary.store.writeBlocking(.synced, body) }
    let first = try #require(
      try write { try $0.acquireLease("sync", owner: "a", now: 100, duration: 50, takeover: { _ in false }) })
    #expect(first == Lease(name: "sync", owner: "a", fence: 1, expiresAt: 150))
    #expect(try write { try $0.acquireLease("sync", owner: "b", now: 149, duration: 50, takeover: { _ in false }) } == nil)
    #expect(try write { try $0.acquireLease("other", owner: "b", now: 149, duration: 50, takeover: { _ in false }) }?.fence == 1)
    let renewed = try write { try $0.renewLease(first, now: 140, duration: 50) }
    #expect(renewed.expiresAt == 190)
    let second = try #require(
      try write { try $0.acquireLease("sync", owner: "b", now: 190, duration: 50, takeover: { _ in false }) })
    #expect(second.fence == 2)
    #expect(code { try write { try $0.verify(renewed) } } == .leaseLost)
    #expect(code { _ = try write { try $0.renewLease(renewed, now: 191, duration: 50) } } == .leaseLost)
    try write { try $0.releaseLease(renewed) }
    #expect(try temporary.store.readBlocking { try $0.lease("sync") } == second, "a lost lease is not the loser's to release")
    let third = try #require(
      try write { try $0.acquireLease("sync", owner: "c", now: 191, duration: 50, takeover: { $0.owner == "b" }) })
    #expect(third.fence == 3)
    try write { try $0.releaseLease(third) }
    #expect(try write { try $0.acquireLease("sync", owner: "a", now: 192, duration: 50, takeover: { _ in false }) }?.fence == 4)
  }

  @Test func journal_uploads_areKeptUntilSettled() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")])
    try temporary.store.upsert("[{},{},{}]", into: "s")
    var uploads = [2, 1, 3].map { UploadRecord(entryId: $0, version: 1, syncId: 9, operation: .create, sentAt: 5) }
    try temporary.store.writeBlocking(.synced) { try $0.journal(uploads, in: "s") }
    uploads[0].state = .inDoubt
    uploads[0].version = 2
    try temporary.store.writeBlocking(.synced) {
      try $0.journal([uploads[0]], in: "s")
      try $0.endAttempts([1, 77], in: "s")
    }
    try temporary.reopen()
    #expect(try temporary.store.readBlocking { try $0.unsettledUploads(in: "s") } == [uploads[0], uploads[2]])
    try temporary.store.remove([3], from: "s")
    #expect(try temporary.store.readBlocking { try $0.unsettledUploads(in: "s") } == [uploads[0]])
  }

  @Test func process_identity_tellsTheDead() throws {
    let here = ProcessIdentity.current
    #expect(here.liveness() == .running && here.liveness(in: "pid:[1]") == .unknown)
    #expect(ProcessIdentity(text: here.text) == here)
    #expect(ProcessIdentity(bootId: here.bootId, pid: here.pid, startTicks: here.startTicks + 1).liveness() == .dead)
    #expect(ProcessIdentity(bootId: "another-boot", pid: 1, startTicks: 1).liveness() == .unknown)
    for text in ["", "a:b", "a:b:c", "a:1:-1", "a:1:2:3"] { #expect(ProcessIdentity(text: text) == nil, "\(text)") }
  }
}
