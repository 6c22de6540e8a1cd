import Dispatch
import PostgresStore
import Synchronization
import TestSupport
import Testing

@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct ConnectionTests {
  @Test func values_everyType_comeBackTheSame() throws {
    let connection = try PostgresCluster.running().connect()
    let row = try connection.query(
      "SELECT $1, $2, $3, $4, $5, $6, $7, $8::bigint, $9",
      [
        .int64(.min), .double(-0.0), .text("é\u{1F600}"), .text(""), .bool(true), .bytes([0, 255]), .bytes([]), .null,
        .utf8(Array("x".utf8)),
      ]
    ).only()
    #expect(try row.int64(0) == .min)
    #expect(try row.double(1).sign == .minus)
    #expect(try row.string(2) == "é\u{1F600}")
    #expect(try row.optionalString(3) == "")
    #expect(try row.bool(4))
    #expect(try row.optionalBytes(5) == [0, 255])
    #expect(try row.optionalBytes(6) == [])
    #expect(try row.isNull(7))
    #expect(try row.optionalInt64(7) == nil)
    #expect(try row.string(8) == "x")
  }

  @Test func arrays_everyType_areUnnested() throws {
    let connection = try PostgresCluster.running().connect()
    var texts = PostgresArray(of: .text), numbers = PostgresArray(of: .int64), doubles = PostgresArray(of: .double)
    var flags = PostgresArray(of: .bool), blobs = PostgresArray(of: .bytes)
    for i in 0..<1000 {
      if i == 7 { texts.appendNull() } else { texts.append("t\(i)") }
      numbers.append(Int64(i))
      doubles.append(Double(i) / 2)
      flags.append(i == 7)
      [UInt8(i % 256)].withUnsafeBytes { blobs.append($0) }
    }
    let row = try connection.query(
      """
      SELECT count(*), sum(n)::bigint, sum(d), count(*) FILTER (WHERE f), string_agg(t, ',') FILTER (WHERE n < 3),
        array_agg(n ORDER BY n) FILTER (WHERE n < 3), array_agg(t ORDER BY n) FILTER (WHERE n < 2), sum(get_byte(b, 0))::bigint,
        max(n) FILTER (WHERE t IS NULL)
      FROM unnest($1, $2, $3, $4, $5) AS p(t, n, d, f, b)
      """, [.array(texts), .array(numbers), .array(doubles), .array(flags), .array(blobs)]
    ).only()
    #expect(try row.int64(0) == 1000)
    #expect(try row.int64(1) == 499_500)
    #expect(try row.double(2) == 249_750)
    #expect(try row.int64(3) == 1)
    #expect(try row.string(4) == "t0,t1,t2")
    #expect(try row.int64s(5) == [0, 1, 2])
    #expect(try row.strings(6) == ["t0", "t1"])
    #expect(try row.int64(7) == Int64((0..<1000).map { $0 % 256 }.reduce(0, +)))
    #expect(try row.int64(8) == 7)
    let empty = try connection.query("SELECT count(*), $1::text[] FROM unnest($1::text[])", [.array(.init(of: .text))]).only()
    #expect(try empty.int64(0) == 0)
    #expect(try empty.strings(1) == [])
  }

  @Test func columns_ofAnotherTypeOrMissing_areErrors() throws {
    let row = try PostgresCluster.running().connect().query("SELECT 1 AS a, 'x'::text AS b, NULL::text").only()
    #expect(code { _ = try row.string(0) } == .unexpectedResult)
    #expect(code { _ = try row.int64(1) } == .unexpectedResult)
    #expect(code { _ = try row.string(2) } == .unexpectedResult)
    #expect(code { _ = try row.int64(3) } == .unexpectedResult)
    #expect(code { _ = try row.int64s(1) } == .unexpectedResult)
    #expect(code { _ = try row.bool(2) } == .unexpectedResult)
  }

  @Test func flight_failingStatement_skipsTheRestAndRollsBack() throws {
    let fixture = try PostgresFixture(), connection = fixture.connection, table = "\(fixture.schema.sql).t"
    try connection.execute("CREATE TABLE \(table) (n bigint UNIQUE)")
    var flight = Flight()
    flight.add("BEGIN")
    flight.add("INSERT INTO \(table) VALUES ($1)", [.int64(1)])
    flight.add("INSERT INTO \(table) VALUES ($1)", [.int64(1)])
    flight.add("INSERT INTO \(table) VALUES ($1)", [.int64(2)])
    flight.add("COMMIT")
    let error = try #require(failure { _ = try connection.run(flight) })
    #expect(error.sqlState == "23505")
    #expect(error.sql == "INSERT INTO \(table) VALUES ($1)")
    #expect(!connection.isInTransaction)
    #expect(try fixture.count(table) == 0)
    var fine = Flight()
    fine.add("BEGIN")
    let counted = fine.add("SELECT count(*) FROM \(table)")
    fine.add("INSERT INTO \(table) SELECT unnest($1)", [.int64s([1, 2, 3])])
    fine.add("COMMIT")
    let rows = try connection.run(fine)
    #expect(try rows[counted].only().int64(0) == 0)
    #expect(rows[2].changes == 3)
    #expect(try fixture.count(table) == 3)
  }

  @Test func flight_ofManyLargeValues_doesNotBlock() throws {
    let connection = try PostgresCluster.running().connect(), large = String(repeating: "x", count: 4_000_000)
    var flight = Flight()
    for _ in 0..<10 { flight.add("SELECT $1, length($1)", [.text(large)]) }
    let rows = try connection.run(flight)
    #expect(try rows.map { try $0.only().int64(1) } == Array(repeating: 4_000_000, count: 10))
  }

  @Test func errors_ofValues_doNotQuoteThem() throws {
    let fixture = try PostgresFixture(), table = "\(fixture.schema.sql).t"
    try fixture.connection.execute("CREATE TABLE \(table) (name text PRIMARY KEY, n bigint NOT NULL CHECK (n < 10))")
    let insert = "INSERT INTO \(table) VALUES ($1, $2::bigint)"
    _ = try fixture.connection.query(insert, [.text("s3cret"), .int64(1)])
    let failures = [
      failure { _ = try fixture.connection.query(insert, [.text("s3cret"), .int64(1)]) },
      failure { _ = try fixture.connection.query(insert, [.text("s3cret2"), .int64(10)]) },
      failure { _ = try fixture.connection.query(insert, [.text("s3cret3"), .null]) },
      failure { _ = try fixture.connection.query("SELECT $1::text::bigint", [.text("s3cret")]) },
      failure { _ = try fixture.connection.query(insert, [.text("s3cret\u{0}"), .int64(1)]) },
    ]
    #expect(failures.map { $0?.sqlState } == ["23505", "23514", "23502", "22P02", "22021"])
    for failure in failures { #expect(failure?.description.contains("s3cret") == false, "\(failure?.description ?? "")") }
    #expect(failures[0]?.message == "PostgreSQL: a row with the same key exists, table t, constraint t_pkey (23505)")
  }

  @Test func transaction_swallowedError_isNotCommitted() throws {
    let fixture = try PostgresFixture(), table = "\(fixture.schema.sql).t"
    try fixture.connection.execute("CREATE TABLE \(table) (n bigint)")
    let error = failure {
      try fixture.connection.transaction {
        _ = try fixture.connection.query("INSERT INTO \(table) VALUES (1)")
        try? fixture.connection.execute("SELECT 1 / 0")
      }
    }
    #expect(error?.sqlState == "25P02")
    #expect(try fixture.count(table) == 0)
  }

  @Test func statements_moreThanAreKept_allRun() throws {
    let connection = try PostgresCluster.running().connect()
    for i in 0..<600 { #expect(try connection.query("SELECT \(i)::bigint").only().int64(0) == Int64(i)) }
    let kept = try connection.query("SELECT count(*) FROM pg_catalog.pg_prepared_statements").only().int64(0)
    #expect(kept <= 257)
  }

  @Test func statement_afterItsTableChanged_runsAgain() throws {
    let fixture = try PostgresFixture(), table = "\(fixture.schema.sql).t"
    try fixture.connection.execute("CREATE TABLE \(table) (n bigint); INSERT INTO \(table) VALUES (1)")
    #expect(try fixture.connection.query("SELECT * FROM \(table)").columnCount == 1)
    try fixture.connection.execute("ALTER TABLE \(table) ADD COLUMN more text")
    #expect(try fixture.connection.query("SELECT * FROM \(table)").columnCount == 2)
    // A transaction that is open cannot go on, but the next one can.
    try fixture.connection.execute("ALTER TABLE \(table) ADD COLUMN third text")
    let error = failure { try fixture.connection.transaction { _ = try fixture.connection.query("SELECT * FROM \(table)") } }
    #expect(error?.code == .outdatedStatement)
    #expect(try fixture.connection.query("SELECT * FROM \(table)").columnCount == 3)
  }

  // MARK: COPY

  @Test func copy_rows_areStoredAsGiven() throws {
    let fixture = try PostgresFixture(), table = "\(fixture.schema.sql).t"
    try fixture.connection.execute("CREATE TABLE \(table) (id bigint PRIMARY KEY, body text, more text)")
    var rows = PostgresCopyRows(columns: 3)
    for i in 0..<20_000 { rows.append([.int64(Int64(i)), .text("body \(i)"), i % 2 == 0 ? .null : .text("")]) }
    let sql = "COPY \(table) (id, body, more) FROM STDIN (FORMAT binary)"
    #expect(try fixture.connection.copy(sql, rows) == 20_000)
    let row = try fixture.connection.query("SELECT count(*), count(more), max(body) FROM \(table)").only()
    #expect(try [row.int64(0), row.int64(1)] == [20_000, 10_000])
    #expect(try row.string(2) == "body 9999")
    // The same keys again: nothing of it is stored, and the connection goes on.
    #expect(failure { try fixture.connection.copy(sql, rows) }?.sqlState == "23505")
    #expect(failure { try fixture.connection.copy("COPY nowhere FROM STDIN", rows) }?.sqlState == "42P01")
    #expect(try fixture.count(table) == 20_000)
  }

  // MARK: Ends

  /// Waits until the server runs a statement of another session that contains a text.
  private func waitUntilRunning(_ text: String, _ session: PostgresSession) throws -> Int64 {
    var found: Int64?
    try waitUntil {
      let rows = try session.query(
        """
        SELECT pid FROM pg_catalog.pg_stat_activity
        WHERE query LIKE '%' || $1 || '%' AND state = 'active' AND pid <> pg_catalog.pg_backend_pid()
        """, [.text(text)])
      found = try rows.first?.int64(0)
      return found != nil
    }
    return try #require(found)
  }

  @Test func cancel_fromAnotherThread_endsTheStatement() throws {
    let cluster = try PostgresCluster.running(), connection = try cluster.connect()
    let watcher = PostgresSession(PostgresConnector(cluster.address()))
    let cancellation = connection.cancellation, group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      _ = try? waitUntilRunning("pg_sleep(3661)", watcher)
      cancellation.cancel()
    }
    #expect(code { _ = try connection.query("SELECT pg_sleep(3661)", timeoutMs: 3_600_000) } == .cancelled)
    group.wait()
    #expect(try connection.query("SELECT 1").only().int64(0) == 1)
  }

  @Test func answer_tooLate_losesTheConnection() throws {
    let connection = try PostgresCluster.running().connect()
    let error = failure { _ = try connection.query("SELECT pg_sleep(62)", timeoutMs: 50) }
    #expect(error?.code == .connectionLost)
    #expect(error?.message.contains("did not answer in time") == true)
    #expect(!connection.isUsable)
    #expect(code { _ = try connection.query("SELECT 1") } == .connectionLost)
  }

  @Test func session_endedByTheServer_connectsAgain() throws {
    let fixture = try PostgresFixture(), session = fixture.session()
    let first = try session.query("SELECT pg_catalog.pg_backend_pid()").only().int64(0)
    _ = try fixture.connection.query("SELECT pg_terminate_backend($1::int, 600000)", [.int64(first)])
    // It has ended by now, so that an idle session notices before it sends anything.
    #expect(try session.query("SELECT pg_catalog.pg_backend_pid()").only().int64(0) != first)
    session.close()
    #expect(code { _ = try session.query("SELECT 1") } == .connectionLost)
  }

  @Test func statement_ofAnEndedSession_saysThatTheConnectionIsLost() throws {
    let cluster = try PostgresCluster.running(), connection = try cluster.connect()
    let watcher = PostgresSession(PostgresConnector(cluster.address())), group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      guard let id = try? waitUntilRunning("pg_sleep(3663)", watcher) else { return }
      _ = try? watcher.query("SELECT pg_terminate_backend($1::int)", [.int64(id)])
    }
    let error = failure { _ = try connection.query("SELECT pg_sleep(3663)", timeoutMs: 3_600_000) }
    group.wait()
    #expect(error?.code == .connectionLost)
    #expect(error?.sqlState == "57P01")
    #expect(error?.isRetryable == true)
    #expect(!connection.isUsable)
  }

  // MARK: Notifications

  @Test func notifications_arriveInTheOrderOfCommits() throws {
    let cluster = try PostgresCluster.running(), listener = try cluster.connect(), sender = try cluster.connect()
    try listener.listen("Odd \" channel")
    #expect(try listener.notifications(waitMs: 0) == [])
    try sender.transaction { _ = try sender.query("SELECT pg_notify('Odd \" channel', 'one')") }
    _ = try sender.query("SELECT pg_notify('another', 'x')")
    _ = try sender.query("SELECT pg_notify('Odd \" channel', 'two')")
    var found: [String] = []
    while found.count < 2 { found += try listener.notifications(waitMs: 600_000).map(\.payload) }
    #expect(found == ["one", "two"])
    #expect(listener.pollDescriptor != nil)
  }

  @Test func notifications_ofALostConnection_fail() throws {
    let cluster = try PostgresCluster.running(), listener = try cluster.connect(), other = try cluster.connect()
    try listener.listen("c")
    let id = try listener.query("SELECT pg_catalog.pg_backend_pid()").only().int64(0)
    _ = try other.query("SELECT pg_terminate_backend($1::int, 600000)", [.int64(id)])
    #expect(code { _ = try listener.notifications(waitMs: 600_000) } == .connectionLost)
  }
}
