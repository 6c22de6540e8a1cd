import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct LeaseTests {
  private func expire(_ name: String, _ fixture: PostgresFixture) throws {
    try fixture.connection.execute(
      "UPDATE \(PostgresName.quoted(fixture.store.schema)).leases SET expires = clock_timestamp() - interval '1 ms' WHERE name = '\(name)'"
    )
  }

  @Test func acquire_heldByAnother_isRefusedUntilItExpires() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), connection = fixture.connection
    let first = try #require(try leases.acquire("sync:1", owner: "a", on: connection))
    #expect(first.fence == 1)
    #expect(try leases.acquire("sync:1", owner: "b", on: connection) == nil)
    #expect(try leases.acquire("sync:1", owner: "a", on: connection) == nil)
    #expect(try leases.lease("sync:1", on: connection)?.owner == "a")
    #expect(try leases.lease("sync:2", on: connection) == nil)
    try expire("sync:1", fixture)
    let second = try #require(try leases.acquire("sync:1", owner: "b", on: connection))
    #expect(second.fence == 2)
    #expect(try leases.renew([first, second], on: connection).map(\.owner) == ["b"])
  }

  @Test func release_freesItAndKeepsTheFence() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), connection = fixture.connection
    let first = try #require(try leases.acquire("sync:1", owner: "a", on: connection))
    try leases.release(first, on: connection)
    #expect(try leases.lease("sync:1", on: connection)?.expiresAt == 0)
    let second = try #require(try leases.acquire("sync:1", owner: "b", on: connection))
    #expect(second.fence == 2)
    // The former owner's second release does nothing.
    try leases.release(first, on: connection)
    #expect(try leases.renew([second], on: connection).count == 1)
  }

  @Test func acquire_ownerKnownToBeGone_isTakenOverOnce() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), connection = fixture.connection
    let first = try #require(try leases.acquire("sync:1", owner: "dead", on: connection))
    let second = try leases.acquire("sync:1", owner: "b", on: connection) { $0.owner == "dead" }
    #expect(second?.fence == 2)
    #expect(try leases.steal(first, owner: "c", on: connection) == nil)
    #expect(try leases.acquire("sync:1", owner: "c", on: connection) { $0.owner == "dead" } == nil)
  }

  @Test func acquire_byManyAtOnce_hasOneOwner() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), owners = Mutex<[Int]>([])
    let cluster = fixture.cluster
    for round in 1...5 {
      DispatchQueue.concurrentPerform(iterations: 8) { i in
        guard let connection = try? cluster.connect(),
          let lease = try? leases.acquire("sync:1", owner: "\(i)", on: connection)
        else { return }
        #expect(lease.fence == Int64(round))
        owners.withLock { $0.append(i) }
      }
      #expect(owners.withLock { $0.count } == round)
      try expire("sync:1", fixture)
    }
  }

  @Test func renew_ofManyLeases_tellsWhichAreLost() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), connection = fixture.connection
    let mine = try (0..<5).compactMap { try leases.acquire("sync:\($0)", owner: "a", on: connection) }
    _ = try leases.steal(mine[2], owner: "b", on: connection)
    try expire("sync:3", fixture)
    let kept = try leases.renew(mine, on: connection)
    #expect(kept.map(\.name) == ["sync:0", "sync:1", "sync:3", "sync:4"])
    let held = try #require(try leases.lease("sync:3", on: connection))
    #expect(held.expiresAt == kept[2].expiresAt)
    #expect(held.expiresAt > mine[3].expiresAt)
    #expect(try leases.renew([], on: connection) == [])
  }

  @Test func permitsRequests_endsAfterTwoThirds() {
    let lease = PostgresLease(
      name: "sync:1", owner: "a", fence: 1, expiresAt: 0, durationMs: 30_000, heldSince: 1000, schema: "s")
    #expect(lease.permitsRequests(now: 1000))
    #expect(lease.permitsRequests(now: 20_999))
    #expect(!lease.permitsRequests(now: 21_000))
  }

  // MARK: The fence

  /// Two hosts apply the pages of one sync in turns; the lease changes hands after every second page,
  /// and the former owner, which does not know, applies the page once more.
  /// - Returns: Rows that were applied twice, and those missing.
  private func applyPages(isFenced: Bool) throws -> [Int64] {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), connection = fixture.connection
    let table = "\(PostgresName.quoted(fixture.store.schema)).pages"
    try connection.execute("CREATE TABLE \(table) (n bigint)")
    let writers = (0..<2).map { _ in Writer(fixture.session(), fixture.schema) }
    var lease = try #require(try leases.acquire("sync:1", owner: "0", on: connection)), owner = 0, refused = 0
    let pages = 100
    for page in 0..<pages {
      var flight = Flight()
      flight.add("INSERT INTO \(table) VALUES ($1)", [.int64(Int64(page))])
      let former = lease, formerOwner = owner
      if page % 2 == 1 {
        owner = 1 - owner
        lease = try #require(try leases.steal(former, owner: "\(owner)", on: connection))
      }
      _ = try writers[owner].commit(flight, holding: isFenced ? [lease] : [])
      if former != lease {
        let error = failure { _ = try writers[formerOwner].commit(flight, holding: isFenced ? [former] : []) }
        if error?.code == .leaseLost { refused += 1 }
      }
    }
    #expect(refused == (isFenced ? pages / 2 : 0))
    let row = try connection.query(
      """
      SELECT count(*) FILTER (WHERE times > 1), count(*) FILTER (WHERE times = 0)
      FROM (SELECT count(n) AS times FROM generate_series(0, $1::bigint - 1) g LEFT JOIN \(table) ON n = g GROUP BY g) q
      """, [.int(pages)]
    ).only()
    return [try row.int64(0), try row.int64(1)]
  }

  @Test func hold_formerOwner_appliesNoPage() throws { #expect(try applyPages(isFenced: true) == [0, 0]) }

  /// The control of the test above: it must be able to fail.
  @Test func hold_withoutTheFence_pagesAreAppliedTwice() throws { #expect(try applyPages(isFenced: false) == [50, 0]) }

  @Test func hold_expiredButNotTaken_isExtended() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), connection = fixture.connection
    let lease = try #require(try leases.acquire("sync:1", owner: "a", on: connection))
    try expire("sync:1", fixture)
    _ = try Writer(fixture.session(), fixture.schema).commit(Flight(), holding: [lease])
    #expect(try leases.acquire("sync:1", owner: "b", on: connection) == nil)
  }

  @Test func hold_lost_namesTheLease() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store), connection = fixture.connection
    let lease = try #require(try leases.acquire("sync:1", owner: "a", on: connection))
    try leases.release(lease, on: connection)
    let error = failure { _ = try Writer(fixture.session(), fixture.schema).commit(Flight(), holding: [lease]) }
    #expect(error?.code == .leaseLost)
    #expect(error?.message == "another owner has taken over 'sync:1'")
    #expect(error?.isRetryable == false)
  }

  /// A transaction that holds a lease makes others wait; none gets the lease before it ends.
  @Test func steal_duringATransaction_waitsForItsEnd() throws {
    let fixture = try PostgresFixture(), leases = PostgresLeases(fixture.store)
    let lease = try #require(try leases.acquire("sync:1", owner: "a", on: fixture.connection))
    let writer = Writer(fixture.session(), fixture.schema), order = Mutex<[String]>([]), group = DispatchGroup()
    let cluster = fixture.cluster
    try writer.transaction(holding: [lease]) { _ in
      DispatchQueue.global().async(group: group) {
        guard let other = try? cluster.connect(), let stolen = try? leases.steal(lease, owner: "b", on: other) else {
          return
        }
        order.withLock { $0.append("stolen \(stolen.fence)") }
      }
      try waitUntil {
        try fixture.connection.query(
          "SELECT count(*) > 0 FROM pg_catalog.pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%leases%'",
          [.text(fixture.store.schema)]
        ).only().bool(0)
      }
      order.withLock { $0.append("committing") }
    }
    group.wait()
    #expect(order.withLock { $0 } == ["committing", "stolen 2"])
  }
}
