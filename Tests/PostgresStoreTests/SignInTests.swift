import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct SignInTests {
  private func lockedUser() throws -> PostgresCluster {
    let cluster = try PostgresCluster.running()
    try cluster.connect().execute(
      """
      DO $$ BEGIN CREATE ROLE locked LOGIN PASSWORD 'r1ght-password'; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
      """)
    return cluster
  }

  @Test func signIn_wrongPassword_namesTheUserAndNoPassword() throws {
    let cluster = try lockedUser(), connector = PostgresConnector(cluster.address(user: "locked")) { "wr0ng-password" }
    let error = try #require(failure { _ = try connector.connect() })
    #expect(error.code == .signInRefused)
    #expect(error.sqlState == "28P01")
    #expect(!error.isRetryable)
    #expect(
      error.message == "PostgreSQL at 127.0.0.1:\(cluster.port) refused the sign-in of user 'locked': PostgreSQL: password "
        + "authentication failed for user \"locked\"")
  }

  @Test func signIn_withoutPassword_saysWhereToPutOne() throws {
    let error = try #require(failure { _ = try PostgresConnector(try lockedUser().address(user: "locked")).connect() })
    #expect(error.code == .signInRefused)
    #expect(error.message.contains("asks for a password and there is none"))
  }

  @Test func signIn_passwordOfItsSource_isReadEachTime() throws {
    let cluster = try lockedUser(), reads = Mutex(0)
    let connector = PostgresConnector(cluster.address(user: "locked")) {
      reads.withLock {
        $0 += 1
        return $0 == 1 ? "old" : "r1ght-password"
      }
    }
    #expect(code { _ = try connector.connect() } == .signInRefused)
    #expect(try connector.connect().isUsable)
    let address = try PostgresAddress("postgres://locked:r1ght-password@127.0.0.1:\(cluster.port)/postgres?sslmode=disable")
    #expect(try PostgresConnector(address).connect().isUsable)
  }

  @Test func signIn_passwordFile_isLibpqs() throws {
    let cluster = try lockedUser(), file = "/tmp/tureen-pgpass-\(getpid())"
    defer { unlink(file) }
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600), line = "127.0.0.1:\(cluster.port):*:locked:r1ght-password\n"
    #expect(write(descriptor, line, line.utf8.count) == line.utf8.count)
    close(descriptor)
    var address = cluster.address(user: "locked")
    address.options["passfile"] = file
    #expect(try PostgresConnector(address).connect().isUsable)
  }

  @Test func connect_noSuchDatabase_isNotRetryable() throws {
    let error = failure { _ = try PostgresConnector(try PostgresCluster.running().address(database: "nowhere")).connect() }
    #expect(error?.code == .cannotConnect)
    #expect(error?.sqlState == "3D000")
    #expect(error?.isRetryable == false)
    #expect(error?.message.contains("database \"nowhere\" does not exist") == true)
  }

  @Test func connect_firstHostDown_takesTheNext() throws {
    let cluster = try PostgresCluster.running(), dead = HeldPort()
    var address = cluster.address()
    address.hosts.insert(.init(name: "127.0.0.1", port: dead.number), at: 0)
    #expect(try PostgresConnector(address).connect().place == "127.0.0.1:\(cluster.port)")
    address.hosts = [.init(name: "127.0.0.1", port: dead.number)]
    let error = withExtendedLifetime(dead) { failure { _ = try PostgresConnector(address).connect() } }
    #expect(error?.code == .cannotConnect)
    #expect(error?.isRetryable == true)
    #expect(error?.message.contains("Connection refused") == true)
  }

  @Test func connect_silentHost_givesUp() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    let port = try #require(Loopback.bind(descriptor))
    #expect(listen(descriptor, 4) == 0)
    var connector = PostgresConnector(try PostgresCluster.running().address(port: port))
    connector.connectTimeoutMs = 100
    #expect(failure { _ = try connector.connect() }?.message.contains("did not answer within") == true)
  }

  @Test func connect_standby_saysWhatToAdd() throws {
    let standby = try PostgresCluster(isStandby: true), primary = try PostgresCluster.running()
    defer { standby.stop() }
    let error = try #require(failure { _ = try standby.connect() })
    #expect(error.code == .readOnlyServer)
    #expect(error.isRetryable)
    #expect(
      error.message == "PostgreSQL at 127.0.0.1:\(standby.port) is a read-only standby; add the primary's host to the address: "
        + "postgres://primary,standby/database")
    var both = primary.address()
    both.hosts.insert(.init(name: "127.0.0.1", port: standby.port), at: 0)
    #expect(try PostgresConnector(both).connect().place == "127.0.0.1:\(primary.port)")
    let dead = HeldPort()
    both.hosts[1] = .init(name: "127.0.0.1", port: dead.number)
    let neither = withExtendedLifetime(dead) { failure { _ = try PostgresConnector(both).connect() } }
    #expect(neither?.code == .cannotConnect)
    #expect(neither?.message.contains("is a read-only standby") == true)
  }

  @Test func connect_otherEncoding_isRefused() throws {
    let cluster = try PostgresCluster.running(), admin = try cluster.connect()
    try admin.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    defer { try? admin.execute("DROP DATABASE latin") }
    let error = failure { _ = try PostgresConnector(cluster.address(database: "latin")).connect() }
    #expect(error?.code == .unsupportedServer)
    #expect(error?.message.contains("has the encoding LATIN1; create one with ENCODING 'UTF8'") == true)
  }

  @Test func connect_readOnlyDatabase_isRefused() throws {
    let cluster = try PostgresCluster.running(), admin = try cluster.connect()
    try admin.execute("CREATE DATABASE frozen TEMPLATE template0")
    defer { try? admin.execute("DROP DATABASE frozen") }
    try admin.execute("ALTER DATABASE frozen SET default_transaction_read_only = on")
    #expect(code { _ = try PostgresConnector(cluster.address(database: "frozen")).connect() } == .readOnlyServer)
  }

  @Test func session_settings_areOurs() throws {
    let connection = try PostgresCluster.running().connect()
    let expected = [
      "search_path": "pg_catalog", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "30s", "TimeZone": "UTC",
      "statement_timeout": "0", "application_name": "tureen", "client_encoding": "UTF8",
    ]
    for (name, value) in expected {
      #expect(try connection.query("SELECT current_setting($1)", [.text(name)]).only().string(0) == value, "\(name)")
    }
  }

  // MARK: Encryption

  @Test func encryption_otherMachine_mustBeVerified() {
    func options(_ host: String, _ options: [String: String] = [:]) -> [String: String] {
      let host = PostgresAddress.Host(name: host, port: 5432)
      let list = PostgresConnector(PostgresAddress(hosts: [host], options: options)).parameters(host, nil)
      return Dictionary(list) { $1 }
    }
    #expect(options("db.example")["sslmode"] == "verify-full")
    #expect(options("db.example", ["sslmode": "require"])["sslmode"] == "require")
    for local in ["localhost", "127.0.0.1", "::1", "/run/postgresql"] { #expect(options(local)["sslmode"] == nil, "\(local)") }
    #expect(options("db.example", ["sslrootcert": "/ca.pem"])["sslrootcert"] == "/ca.pem")
  }

  @Test func encryption_ofTheRightServer_carriesEverything() throws {
    let cluster = try PostgresCluster(isEncrypted: true)
    defer { cluster.stop() }
    var address = cluster.address()
    address.hosts = [.init(name: "localhost", port: cluster.port)]
    address.options = ["sslmode": "verify-full", "sslrootcert": cluster.certificate]
    let connection = try PostgresConnector(address).connect()
    let row = try connection.query("SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_catalog.pg_backend_pid()").only()
    #expect(try row.bool(0))
    let large = String(repeating: "x", count: 3_000_000)
    var flight = Flight()
    for _ in 0..<5 { flight.add("SELECT $1", [.text(large)]) }
    for rows in try connection.run(flight) { #expect(try rows.only().string(0).utf8.count == 3_000_000) }
    try connection.execute("CREATE TEMPORARY TABLE t (body text)")
    var rows = PostgresCopyRows(columns: 1)
    for _ in 0..<5 { rows.append([.text(large)]) }
    #expect(try connection.copy("COPY t FROM STDIN (FORMAT binary)", rows) == 5)
    // The certificate is for another name.
    address.hosts = cluster.address().hosts
    let error = failure { _ = try PostgresConnector(address).connect() }
    #expect(error?.code == .cannotConnect)
    #expect(error?.message.contains("does not match host name") == true, "\(error?.message ?? "")")
  }

  @Test func encryption_serverHasNone_saysWhichOptionDecides() throws {
    var address = try PostgresCluster.running().address()
    address.options["sslmode"] = "verify-full"
    address.options["sslrootcert"] = "/nonexistent/ca.pem"
    let missing = failure { _ = try PostgresConnector(address).connect() }
    #expect(missing?.code == .cannotConnect)
    #expect(missing?.message.contains("the address's options sslmode and sslrootcert say what is accepted") == true)
    address.options = ["sslmode": "require"]
    let error = failure { _ = try PostgresConnector(address).connect() }
    #expect(error?.message.contains("server does not support SSL, but SSL was required") == true)
  }

  // MARK: Poolers

  static let hasBouncer = access("/usr/sbin/pgbouncer", X_OK) == 0

  /// Starts PgBouncer in front of the shared server; it ends with this process.
  private func bouncer(_ mode: String) throws -> (port: Int, stop: () -> Void) {
    let cluster = try PostgresCluster.running(), held = HeldPort(), port = held.number
    let script = """
      folder=$(mktemp -d /tmp/tureen-pgbouncer-XXXXXX) && cd "$folder" || exit 1
      cat >ini <<END
      [databases]
      postgres = host=127.0.0.1 port=\(cluster.port) user=tureen
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(port)
      unix_socket_dir =
      auth_type = any
      pool_mode = \(mode)
      logfile = $folder/log
      END
      as=
      if [ "$(id -u)" = 0 ]; then chown -R postgres "$folder"; as="runuser -u postgres --"; fi
      $as /usr/sbin/pgbouncer ini >/dev/null 2>&1 </dev/null &
      cat >/dev/null
      kill $! && wait $!
      cd / && rm -rf "$folder"
      """
    let child = try ChildProcess.start(["/bin/sh", "-c", script], takesInput: true)
    waitUntil {
      guard let socket = Loopback.connect(port) else { return false }
      close(socket)
      return true
    }
    return (
      port,
      {
        close(child.input)
        withExtendedLifetime(held) { _ = child.wait() }
        close(child.output)
      }
    )
  }

  @Test(.enabled(if: hasBouncer, "needs PgBouncer (Debian: apt install pgbouncer)"))
  func pooler_transactionMode_isRefused() throws {
    let pooler = try bouncer("transaction")
    defer { pooler.stop() }
    let error = failure { _ = try PostgresConnector(try PostgresCluster.running().address(port: pooler.port)).connect() }
    #expect(error?.code == .transactionPooler)
    #expect(error?.message.contains("PgBouncer: pool_mode = session") == true)
  }

  @Test(.enabled(if: hasBouncer, "needs PgBouncer (Debian: apt install pgbouncer)"))
  func pooler_sessionMode_isAccepted() throws {
    let pooler = try bouncer("session")
    defer { pooler.stop() }
    let connection = try PostgresConnector(try PostgresCluster.running().address(port: pooler.port)).connect()
    #expect(try connection.query("SELECT 1").only().int64(0) == 1)
  }
}
