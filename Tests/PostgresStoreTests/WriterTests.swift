import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct WriterTests {
  /// Edits that leave a row each, without a key: an edit that happens twice leaves two.
  private struct Edits {
    let fixture: PostgresFixture
    let table: String

    init(_ cluster: PostgresCluster? = nil) throws {
      fixture = try PostgresFixture(cluster)
      table = "\(PostgresName.quoted(fixture.store.schema)).edits"
      try fixture.connection.execute("CREATE TABLE \(table) (n bigint)")
    }

    func edit(_ n: Int) -> Flight { Edits.edit(n, table) }

    static func edit(_ n: Int, _ table: String) -> Flight {
      var flight = Flight()
      flight.add("INSERT INTO \(table) VALUES ($1) RETURNING n", [.int64(Int64(n))])
      return flight
    }

    /// How many edits of `0..<count` are there twice or more, and how many are missing.
    func faults(of count: Int) throws -> [Int64] { try Edits.faults(table, of: count, fixture.connection) }

    static func faults(_ table: String, of count: Int, _ connection: PostgresConnection) throws -> [Int64] {
      let row = try connection.query(
        """
        SELECT count(*) FILTER (WHERE times > 1), count(*) FILTER (WHERE times = 0)
        FROM (SELECT g, count(n) AS times FROM generate_series(0, $1::bigint - 1) g LEFT JOIN \(table) ON n = g GROUP BY g) q
        """, [.int64(Int64(count))]
      ).only()
      return [try row.int64(0), try row.int64(1)]
    }
  }

  @Test func commit_rowsOfItsStatements_areReturned() throws {
    let edits = try Edits(), writer = Writer(edits.fixture.session(), edits.fixture.schema)
    for n in 0..<3 { #expect(try writer.commit(edits.edit(n))?.map { try $0.only().int64(0) } == [Int64(n)]) }
    #expect(try writer.commit(edits.edit(3), durability: .pulled)?.count == 1)
    #expect(try edits.faults(of: 4) == [0, 0])
    let row = try edits.fixture.connection.query("SELECT epoch, seq FROM \(edits.fixture.schema.sql).writers").only()
    #expect(try [row.int64(0), row.int64(1)] == [1, 4])
  }

  @Test func commit_failedStatement_leavesNothingAndTheWriterGoesOn() throws {
    let edits = try Edits(), writer = Writer(edits.fixture.session(), edits.fixture.schema)
    var bad = edits.edit(0)
    bad.add("SELECT 1 / (SELECT count(*) FROM \(edits.table) WHERE n < 0)")
    #expect(failure { _ = try writer.commit(bad) }?.sqlState == "22012")
    _ = try writer.commit(edits.edit(0))
    #expect(try edits.faults(of: 1) == [0, 0])
  }

  /// The connection is lost after the bytes that a flight and its answer have: every fourth, or every one
  /// with `TUREEN_RUNS`. Either it was committed and the writer knows, or it was not and the writer sends it again.
  @Test func commit_connectionLostAnywhere_happensOnce() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    defer { proxy.close() }
    let writer = Writer(edits.fixture.session(port: proxy.port), edits.fixture.schema)
    _ = try writer.commit(edits.edit(0))
    proxy.set(nil)
    _ = try writer.commit(edits.edit(1))
    let up = proxy.passed(.toServer), down = proxy.passed(.toClient)
    #expect(up > 50 && down > 20)
    var n = 2, lostAnswers = 0
    let everyByte = getenv("TUREEN_RUNS") != nil
    for (direction, size) in [(CuttingProxy.Direction.toServer, up), (.toClient, down)] {
      for bytes in stride(from: 0, through: size, by: everyByte ? 1 : 4) {
        // The statements of a new connection are prepared first; then the flight has its usual size.
        _ = try writer.commit(edits.edit(n))
        proxy.set(.cut(direction, after: bytes))
        if try writer.commit(edits.edit(n + 1)) == nil { lostAnswers += 1 }
        proxy.set(nil)
        n += 2
      }
    }
    #expect(proxy.cuts == (n - 2) / 2)
    #expect(lostAnswers > 10)
    #expect(lostAnswers < proxy.cuts - 10)
    #expect(try edits.faults(of: n) == [0, 0])
  }

  /// The control of the test above: without the writer's row, an edit whose answer is lost is done twice.
  @Test func commit_withoutTheWritersRow_happensTwice() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    defer { proxy.close() }
    let session = edits.fixture.session(port: proxy.port)
    for n in 0..<20 {
      proxy.set(nil)
      _ = try session.query("SELECT 1")
      proxy.set(.cut(.toClient, after: 1))
      do {
        _ = try session.run { try $0.connection().run(edits.edit(n)) }
      } catch {
        proxy.set(nil)
        _ = try session.run { try $0.connection().run(edits.edit(n)) }
      }
    }
    #expect(try edits.faults(of: 20) == [20, 0])
  }

  /// A flight that the network delivers after the writer lost its connection and went on must not be committed.
  @Test func commit_flightThatArrivesLate_isShutOut() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    defer { proxy.close() }
    let writer = Writer(edits.fixture.session(port: proxy.port), edits.fixture.schema)
    _ = try writer.commit(edits.edit(0))
    proxy.set(.hold)
    #expect(try writer.commit(edits.edit(1))?.count == 1)
    proxy.release()
    _ = try writer.commit(edits.edit(2))
    #expect(try edits.faults(of: 3) == [0, 0])
    #expect(try edits.fixture.count(edits.table) == 3)
  }

  /// The control of the test above.
  @Test func commit_lateFlightWithoutTheWritersRow_happensTwice() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    defer { proxy.close() }
    let session = edits.fixture.session(port: proxy.port)
    _ = try session.query("SELECT 1")
    proxy.set(.hold)
    #expect(code { _ = try session.run { try $0.connection().run(edits.edit(0)) } } == .connectionLost)
    _ = try session.run { try $0.connection().run(edits.edit(0)) }
    proxy.release()
    #expect(try edits.faults(of: 1) == [1, 0])
  }

  @Test func transaction_answerToCommitLost_isFoundCommitted() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    defer { proxy.close() }
    let writer = Writer(edits.fixture.session(port: proxy.port), edits.fixture.schema)
    for n in 0..<10 {
      let result = try writer.transaction { connection in
        _ = try connection.run(edits.edit(n))
        proxy.set(.cut(.toClient, after: 1))
        return n
      }
      #expect(result == n)
    }
    #expect(proxy.cuts == 10)
    #expect(try edits.faults(of: 10) == [0, 0])
  }

  @Test func transaction_lostBeforeCommit_leavesNothing() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    defer { proxy.close() }
    let writer = Writer(edits.fixture.session(port: proxy.port), edits.fixture.schema)
    for direction in [CuttingProxy.Direction.toServer, .toClient] {
      let error = failure {
        try writer.transaction { connection in
          _ = try connection.run(edits.edit(0))
          proxy.set(.cut(direction, after: 0))
          _ = try connection.run(edits.edit(1))
        }
      }
      #expect(error?.code == .connectionLost)
      #expect(error?.isRetryable == true)
    }
    // The server's session may still be ending; the writer waited for it.
    #expect(try edits.fixture.count(edits.table) == 0)
    _ = try writer.commit(edits.edit(0))
    #expect(try edits.faults(of: 1) == [0, 0])
  }

  @Test func transaction_thrownOrSwallowedError_leavesNothing() throws {
    struct Stop: Error {}
    let edits = try Edits(), writer = Writer(edits.fixture.session(), edits.fixture.schema)
    #expect(throws: Stop.self) {
      try writer.transaction { connection in
        _ = try connection.run(edits.edit(0))
        throw Stop()
      }
    }
    let swallowed = failure {
      try writer.transaction { connection in
        _ = try connection.run(edits.edit(0))
        _ = try? connection.query("SELECT 1 / 0")
      }
    }
    #expect(swallowed?.sqlState == "25P02")
    #expect(try edits.fixture.count(edits.table) == 0)
  }

  /// After a crash without fsync at COMMIT, or a failover, the server can lack what it acknowledged.
  @Test func commit_serverForgotTheLast_saysSoAndGoesOn() throws {
    let edits = try Edits(), writer = Writer(edits.fixture.session(), edits.fixture.schema)
    for n in 0..<3 { _ = try writer.commit(edits.edit(n), durability: .pulled) }
    try edits.fixture.connection.execute(
      "UPDATE \(edits.fixture.schema.sql).writers SET seq = 2; DELETE FROM \(edits.table) WHERE n = 2")
    let error = failure { _ = try writer.commit(edits.edit(3)) }
    #expect(error?.code == .commitsLost)
    #expect(error?.isRetryable == true)
    for n in 2..<4 { _ = try writer.commit(edits.edit(n)) }
    #expect(try edits.faults(of: 4) == [0, 0])
  }

  @Test func commit_serverForgotWhileTheConnectionWasLost_saysSo() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port), schema = edits.fixture.schema.sql
    defer { proxy.close() }
    let writer = Writer(edits.fixture.session(port: proxy.port), edits.fixture.schema)
    for n in 0..<3 { _ = try writer.commit(edits.edit(n), durability: .pulled) }
    // The writer then finds two transactions less.
    try edits.fixture.connection.execute(
      """
      CREATE FUNCTION \(schema).forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.seq := OLD.seq - 2; RETURN NEW; END $$;
      CREATE TRIGGER forget BEFORE UPDATE ON \(schema).writers FOR EACH ROW WHEN (NEW.epoch <> OLD.epoch)
        EXECUTE FUNCTION \(schema).forget()
      """)
    proxy.set(.cut(.toServer, after: 0))
    let error = failure { _ = try writer.commit(edits.edit(3)) }
    #expect(error?.code == .commitsLost)
    #expect(error?.message.contains("the server knows 1 transactions of this writer in place of 3") == true)
    #expect(try writer.commit(edits.edit(3)) != nil)
  }

  @Test func commit_replacedWriter_isRefused() throws {
    let edits = try Edits(), id = Writer.newId()
    let old = Writer(edits.fixture.session(), edits.fixture.schema, id: id)
    let new = Writer(edits.fixture.session(), edits.fixture.schema, id: id)
    _ = try old.commit(edits.edit(0))
    _ = try new.commit(edits.edit(1))
    #expect(code { _ = try old.commit(edits.edit(2)) } == .writerReplaced)
    #expect(try edits.faults(of: 2) == [0, 0])
    #expect(try edits.fixture.count(edits.table) == 2)
  }

  @Test func commit_serverGoneForLong_isUnknownUntilItIsBack() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    let writer = Writer(edits.fixture.session(port: proxy.port), edits.fixture.schema)
    (writer.resumeAttempts, writer.resumePauseMs) = (2, 1)
    _ = try writer.commit(edits.edit(0))
    proxy.set(.cut(.toClient, after: 1))
    proxy.close()
    let error = failure { _ = try writer.commit(edits.edit(1)) }
    #expect(error?.code == .outcomeUnknown)
    #expect(error?.message.contains("whether the last transaction was committed is not known") == true)
    // This one was not even sent.
    #expect(code { _ = try writer.commit(edits.edit(2)) } == .cannotConnect)
    #expect(try edits.faults(of: 2) == [0, 0])
    #expect(try edits.fixture.count(edits.table) == 2)
  }

  /// COMMIT was not sent, so the outcome is known, and the work can be tried again.
  @Test func transaction_serverGoneForLongBeforeItsEnd_mayBeTriedAgain() throws {
    let edits = try Edits(), proxy = CuttingProxy(to: edits.fixture.cluster.port)
    let writer = Writer(edits.fixture.session(port: proxy.port), edits.fixture.schema)
    (writer.resumeAttempts, writer.resumePauseMs) = (2, 1)
    _ = try writer.commit(edits.edit(0))
    let error = failure {
      try writer.transaction { connection in
        proxy.set(.cut(.toClient, after: 1))
        proxy.close()
        _ = try connection.query("SELECT 1")
      }
    }
    #expect(error?.code == .connectionLost && error?.isRetryable == true)
  }

  /// The server itself says that nothing was committed, so nobody waits for it.
  @Test func commit_serverTurnedReadOnly_failsAtOnceAndGoesOnLater() throws {
    let cluster = try PostgresCluster()
    defer { cluster.stop() }
    let edits = try Edits(cluster), session = edits.fixture.session(), writer = Writer(session, edits.fixture.schema)
    (writer.resumeAttempts, writer.resumePauseMs) = (2, 1)
    _ = try writer.commit(edits.edit(0))
    func permit(_ sessions: [PostgresSession], onlyReading: String) throws {
      try edits.fixture.connection.execute("ALTER SYSTEM SET default_transaction_read_only = \(onlyReading)")
      try edits.fixture.connection.execute("SELECT pg_reload_conf()")
      for session in sessions {
        try waitUntil { try session.query("SHOW default_transaction_read_only").only().string(0) == onlyReading }
      }
    }
    try permit([session], onlyReading: "on")
    #expect(code { _ = try writer.commit(edits.edit(1)) } == .readOnlyServer)
    try permit([], onlyReading: "off")
    waitUntil { code { _ = try writer.commit(edits.edit(1)) } != .readOnlyServer }
    try permit([session], onlyReading: "on")
    let error = failure { try writer.transaction { _ = try $0.run(edits.edit(2)) } }
    #expect(error?.sqlState == "25006" && error?.isRetryable == true)
    try permit([], onlyReading: "off")
    waitUntil { code { _ = try writer.commit(edits.edit(2)) } != .readOnlyServer }
    #expect(try edits.faults(of: 3) == [0, 0])
  }

  // MARK: A server that crashes

  /// Edits while something happens to the server, after every thirtieth edit.
  /// - Parameters:
  ///   - durability: With `.pulled`, the server forgets edits; the writer says so, and they are done again.
  ///   - last: The server that has the edits in the end.
  private func edit(
    _ edits: Edits, _ session: PostgresSession, _ durability: Writer.Durability, last: PostgresCluster,
    through events: [() throws -> Void]
  ) throws -> (faults: [Int64], forgotten: Int) {
    let table = edits.table, schema = edits.fixture.schema
    let progress = Mutex((done: 0, forgotten: 0, isOver: false, errors: [String]()))
    let oneMore = DispatchSemaphore(value: 0), group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      let writer = Writer(session, schema)
      (writer.resumeAttempts, writer.resumePauseMs) = (1000, 20)
      // One more than asked for: only a commit after the last event learns what that event undid.
      var isLast = false
      while !isLast {
        let state = progress.withLock { $0 }
        guard state.errors.count <= 100 else { break }
        do {
          _ = try writer.commit(Edits.edit(state.done, table), durability: durability)
          progress.withLock { $0.done += 1 }
          isLast = state.isOver
          oneMore.signal()
        } catch let error as PostgresError where error.code == .commitsLost {
          let count = (try? session.query("SELECT count(*) FROM \(table)").only().int64(0)) ?? -1
          progress.withLock { ($0.done, $0.forgotten) = (Int(count), $0.forgotten + 1) }
        } catch {
          if (error as? PostgresError)?.isRetryable != true { progress.withLock { $0.errors.append("\(error)") } }
        }
      }
      for _ in 0..<1000 { oneMore.signal() }
    }
    for event in events {
      for _ in 0..<30 { oneMore.wait() }
      try event()
    }
    for _ in 0..<30 { oneMore.wait() }
    progress.withLock { $0.isOver = true }
    group.wait()
    let end = progress.withLock { $0 }
    #expect(end.errors == [])
    return (try Edits.faults(table, of: end.done, last.connect()), end.forgotten)
  }

  private func editThroughCrashes(_ durability: Writer.Durability) throws -> (faults: [Int64], forgotten: Int) {
    let cluster = try PostgresCluster()
    defer { cluster.stop() }
    let edits = try Edits(cluster), crash = { try cluster.crash() }
    return try edit(edits, edits.fixture.session(), durability, last: cluster, through: [crash, crash, crash, crash])
  }

  @Test func commit_syncedWhileTheServerCrashes_happensOnce() throws {
    let result = try editThroughCrashes(.synced)
    #expect(result.faults == [0, 0])
    #expect(result.forgotten == 0)
  }

  @Test func commit_pulledWhileTheServerCrashes_saysWhatItForgot() throws {
    let result = try editThroughCrashes(.pulled)
    #expect(result.faults == [0, 0])
    #expect(result.forgotten > 0)
  }

  /// The primary ends for good, and its synchronous standby is promoted.
  @Test func commit_whileAStandbyTakesOver_happensOnce() throws {
    let primary = try PostgresCluster(), edits = try Edits(primary)
    let standby = try PostgresCluster(following: primary)
    defer { standby.stop() }
    try edits.fixture.connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
    try edits.fixture.connection.execute("SELECT pg_reload_conf()")
    var address = primary.address()
    address.hosts.append(.init(name: "127.0.0.1", port: standby.port))
    let result = try edit(
      edits, PostgresSession(PostgresConnector(address)), .synced, last: standby,
      through: [
        {
          primary.stop()
          try standby.promote()
        }
      ])
    #expect(result.faults == [0, 0])
    #expect(result.forgotten == 0)
  }
}
