import Dispatch
import SmartStore
import TestSupport
import Testing

@testable import PostgresStore

/// Reads from a standby, with `reads=standby` in the address.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct StandbyTests {
  /// A primary, its standby, and a store that hosts open with the addresses of both.
  private final class Servers {
    let primary: PostgresCluster, standby: PostgresCluster
    let schema = PostgresFixture.newSchemaName()
    /// Connections for commands of the tests.
    private let first: PostgresConnection, second: PostgresConnection

    init() throws {
      primary = try PostgresCluster()
      standby = try PostgresCluster(following: primary)
      first = try primary.connect()
      second = try PostgresConnector(standby.address()).connect(to: .standby)
    }

    func store() throws -> Store {
      var address = primary.address(schema: schema)
      address.hosts += standby.address().hosts
      address.readsFromStandbys = true
      let engines = PostgresEngines(PostgresConnector(address), org: "acme", user: "ada")
      defer { engines.close() }
      return Store(name: "main", isGlobal: false, engine: try engines.open("main", isGlobal: false))
    }

    /// Waits until the standby has all that the primary has.
    func catchUp() throws {
      let end = try first.query("SELECT pg_current_wal_flush_lsn()::text").only().string(0)
      try waitUntil { try second.query("SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", [.text(end)]).only().bool(0) }
    }

    func pauseReplay() throws {
      _ = try second.query("SELECT pg_wal_replay_pause()")
      try waitUntil { try second.query("SELECT pg_get_wal_replay_pause_state()").only().string(0) == "paused" }
    }

    func resumeReplay() throws { _ = try second.query("SELECT pg_wal_replay_resume()") }

    func stopStandby() {
      second.close()
      standby.stop()
    }

    func stop() {
      first.close()
      stopStandby()
      primary.stop()
    }
  }

  /// The number of entries, and whether a standby has told it.
  private func look(_ store: Store) throws -> (count: Int64, isStandby: Bool) {
    try store.readBlocking { snapshot in
      let snapshot = try #require(snapshot as? PostgresSnapshot)
      let table = try snapshot.table("s").sql
      let row = try snapshot.query("SELECT count(*), pg_is_in_recovery() FROM \(table)").only()
      return (try row.int64(0), try row.bool(1))
    }
  }

  @Test func reads_standby_answersWhatThisHostHasSeen() throws {
    let servers = try Servers()
    defer { servers.stop() }
    let store = try servers.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .string)])
    try store.upsert(#"[{"a":"x"}]"#, into: "s")
    try servers.catchUp()
    #expect(try look(store) == (1, true))
    // Its own writes are seen at once, though the standby lacks them.
    try servers.pauseReplay()
    try store.upsert(#"[{"a":"y"}]"#, into: "s")
    #expect(try look(store) == (2, false))
    // Another host may see an older state, but none that is older than what it has seen.
    let other = try servers.store()
    defer { other.close() }
    #expect(try look(other) == (1, true))
    try other.upsert(#"[{"a":"z"}]"#, into: "s")
    #expect(try look(other) == (3, false))
    try servers.resumeReplay()
    try servers.catchUp()
    #expect(try look(store) == (3, true))
    #expect(try look(other) == (3, true))
  }

  @Test func reads_observerOfAChange_seesIt() throws {
    let servers = try Servers()
    defer { servers.stop() }
    let store = try servers.store(), other = try servers.store()
    defer {
      store.close()
      other.close()
    }
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .string)])
    try servers.catchUp()
    #expect(try look(store) == (0, true))
    let news = DispatchSemaphore(value: 0)
    let observer = try store.observe(soups: ["s"], onNews: { _ in news.signal() })
    try servers.pauseReplay()
    try other.upsert(#"[{"a":"x"}]"#, into: "s")
    news.wait()
    #expect(try look(store) == (1, false))
    observer.cancel()
    try servers.resumeReplay()
  }

  @Test func reads_noStandby_primaryAnswers() throws {
    let servers = try Servers()
    defer { servers.stop() }
    let store = try servers.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .string)])
    try servers.catchUp()
    #expect(try look(store) == (0, true))
    servers.stopStandby()
    // The open connection is lost before or during the read; either way the primary answers.
    #expect(try look(store) == (0, false))
    try store.upsert(#"[{"a":"x"}]"#, into: "s")
    #expect(try look(store) == (1, false))
  }
}
