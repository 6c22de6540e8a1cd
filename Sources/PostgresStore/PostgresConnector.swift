import CPostgres
import Glibc
import Support

/// Opens connections to one database.
package struct PostgresConnector: Sendable {
  package let address: PostgresAddress
  /// Reads the password before each connection, so that a renewed one is found. Its errors name the
  /// source and not what was read. If it returns nil, the address's password applies, then libpq's own
  /// sources: `PGPASSWORD`, and the file of the option `passfile`, `PGPASSFILE` or `~/.pgpass`.
  package let password: @Sendable () throws -> String?
  package var connectTimeoutMs = Tuning.connectTimeoutMs
  package var answerTimeoutMs = Tuning.answerTimeoutMs
  package var lockTimeoutMs = Tuning.lockTimeoutMs
  /// How often a transaction that has not begun waits that long for the store.
  package var lockAttempts = Tuning.lockAttempts
  package var idleInTransactionMs = Tuning.idleInTransactionMs
  /// Whether the sessions only read: the server refuses everything else, ends statements that take too long,
  /// and may be a standby.
  package var looksOnly = false

  package init(_ address: PostgresAddress, password: @escaping @Sendable () throws -> String? = { nil }) {
    self.address = address
    self.password = password
  }

  /// The same connector for another form of its address.
  func with(_ address: PostgresAddress) -> PostgresConnector {
    var other = PostgresConnector(address, password: password)
    (other.connectTimeoutMs, other.answerTimeoutMs) = (connectTimeoutMs, answerTimeoutMs)
    (other.lockTimeoutMs, other.idleInTransactionMs) = (lockTimeoutMs, idleInTransactionMs)
    other.lockAttempts = lockAttempts
    other.looksOnly = looksOnly
    return other
  }

  /// The same connector for sessions that only read.
  package var looking: PostgresConnector {
    var other = with(address)
    (other.looksOnly, other.lockTimeoutMs) = (true, Tuning.lookLockTimeoutMs)
    return other
  }

  package enum Role: Sendable {
    /// The first host that can be written to.
    case primary
    /// Any host that follows it.
    case standby
  }

  /// Connects to a host and sets up the session. Blocks.
  /// - Throws: ``PostgresError``: `.libraryMissing`, `.cannotConnect`, `.signInRefused`, `.readOnlyServer`,
  ///   `.unsupportedServer`, `.transactionPooler`; what `password` throws.
  package func connect(to role: Role = .primary) throws -> PostgresConnection {
    try Self.loadLibrary()
    let secret = try secret()
    var failures: [PostgresError] = []
    var hosts: [PostgresAddress.Host?] = address.hosts.isEmpty ? [nil] : address.hosts
    if role == .standby { hosts.shuffle() }
    for host in hosts {
      do throws(PostgresError) {
        return try connect(to: host, as: role, secret)
      } catch {
        failures.append(error)
      }
    }
    // A standby is the expected second host: the primary's failure says more.
    var failure = failures.first { $0.code != .readOnlyServer } ?? failures[0]
    if failures.count > 1 {
      let all = failures.map(\.message).joined(separator: "; ")
      failure = PostgresError(failure.code, all, sqlState: failure.sqlState)
    }
    throw failure
  }

  /// The password that a connection made now would use; nil for libpq's own sources.
  package func secret() throws -> String? { try password() ?? address.password }

  /// - Parameter name: Another library than libpq.so.5, for tests of the message.
  /// - Throws: ``PostgresError`` `.libraryMissing`.
  package static func loadLibrary(_ name: String? = nil) throws(PostgresError) {
    var message = [CChar](repeating: 0, count: 512)
    let isUsable = if let name { cpostgres_load(name, &message, 512) } else { cpostgres_load(nil, &message, 512) }
    guard isUsable == 0 else { return }
    let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    throw PostgresError(.libraryMissing, text)
  }

  private func connect(
    to host: PostgresAddress.Host?, as role: Role, _ secret: String?
  ) throws(PostgresError) -> PostgresConnection {
    let connection = try open(host, secret)
    do throws(PostgresError) {
      let backend = try setUp(connection, as: role)
      // A pooler announces a process of its own making.
      if backend != connection.announcedBackend { try checkPooler(connection, host, secret) }
      return connection
    } catch {
      connection.close()
      throw error
    }
  }

  // MARK: Signing in

  private func open(_ host: PostgresAddress.Host?, _ secret: String?) throws(PostgresError) -> PostgresConnection {
    let end = SystemClock.monotonicMilliseconds() + timeout
    let place = host?.text ?? "its default address"
    guard let handle = start(parameters(host, secret)) else {
      throw PostgresError(.cannotConnect, "PostgreSQL at \(place): out of memory")
    }
    var step = CPOSTGRES_POLLING_WRITING
    while step == CPOSTGRES_POLLING_READING || step == CPOSTGRES_POLLING_WRITING {
      let descriptor = cpostgres_socket(handle)
      guard descriptor >= 0, cpostgres_status(handle) != CPOSTGRES_CONNECTION_BAD else { break }
      let isReading = step == CPOSTGRES_POLLING_READING
      guard PostgresConnection.wait(descriptor, reading: isReading, writing: !isReading, until: end) else {
        cpostgres_finish(handle)
        throw PostgresError(.cannotConnect, "PostgreSQL at \(place) did not answer within \(timeout / 1000) s")
      }
      step = Int(cpostgres_connect_poll(handle))
    }
    guard cpostgres_status(handle) == CPOSTGRES_CONNECTION_OK else {
      defer { cpostgres_finish(handle) }
      throw SignInFailure(handle, place: place, user: address.user).error
    }
    return try PostgresConnection(handle, place: place, answerTimeoutMs: answerTimeoutMs)
  }

  /// Milliseconds; libpq leaves `connect_timeout` to callers that poll.
  private var timeout: Int64 {
    guard let seconds = address.options["connect_timeout"].flatMap({ Int64($0) }), seconds > 0, seconds < 1_000_000 else {
      return connectTimeoutMs
    }
    return seconds * 1000
  }

  /// libpq's parameters. Of two values for a name, the last one counts.
  func parameters(_ host: PostgresAddress.Host?, _ secret: String?) -> [(String, String)] {
    var list = [
      ("fallback_application_name", "tureen"), ("keepalives", "1"), ("keepalives_idle", "\(Tuning.keepAliveIdleS)"),
      ("keepalives_interval", "\(Tuning.keepAliveIntervalS)"), ("keepalives_count", "\(Tuning.keepAliveProbes)"),
      ("tcp_user_timeout", "\(Tuning.unacknowledgedMs)"),
    ]
    list += host.map(encryption) ?? []
    list += address.options.filter { $0.key != "connect_timeout" }.map { ($0.key, $0.value) }
    if let host { list += [("host", host.name), ("port", "\(host.port)")] }
    if let user = address.user { list.append(("user", user)) }
    if let database = address.database { list.append(("dbname", database)) }
    if let secret { list.append(("password", secret)) }
    // We look ourselves, host by host, so that the message can say which one is a standby.
    return list + [("client_encoding", "UTF8"), ("target_session_attrs", "any")]
  }

  /// Encryption with a verified certificate for other machines, unless the address or libpq's environment
  /// says otherwise. libpq's own default takes what it gets, and verifies nothing.
  private func encryption(_ host: PostgresAddress.Host) -> [(String, String)] {
    let isHere = host.name.hasPrefix("/") || host.name.hasPrefix("127.") || ["localhost", "::1"].contains(host.name)
    guard !isHere, getenv("PGSSLMODE") == nil, address.options["service"] == nil else { return [] }
    let own = getenv("HOME").map { String(cString: $0) + "/.postgresql/root.crt" }
    guard getenv("PGSSLROOTCERT") == nil, own.map({ access($0, R_OK) != 0 }) ?? true,
      let bundle = Tuning.certificateBundles.first(where: { access($0, R_OK) == 0 })
    else { return [("sslmode", "verify-full")] }
    return [("sslmode", "verify-full"), ("sslrootcert", bundle)]
  }

  private func start(_ parameters: [(String, String)]) -> OpaquePointer? {
    let keywords = parameters.map { strdup($0.0) }, values = parameters.map { strdup($0.1) }
    defer {
      for keyword in keywords { free(keyword) }
      for value in values {
        if let value { explicit_bzero(value, strlen(value)) }
        free(value)
      }
    }
    return cpostgres_connect_start(keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
  }

  // MARK: The session

  /// Checks the server and configures the session, in one round trip.
  /// - Returns: The server's process.
  private func setUp(_ connection: PostgresConnection, as role: Role) throws(PostgresError) -> Int32 {
    let place = connection.place
    guard connection.serverVersion >= Tuning.oldestServer else {
      throw PostgresError(
        .unsupportedServer,
        "PostgreSQL at \(place) is version \(connection.serverVersion); version \(Tuning.oldestServer) or newer is required")
    }
    var flight = Flight()
    flight.add(
      """
      SELECT pg_catalog.pg_backend_pid(), pg_catalog.pg_is_in_recovery(), \
      pg_catalog.current_setting('transaction_read_only') = 'on', pg_catalog.current_setting('server_encoding')
      """)
    for (name, value) in settings {
      flight.add("SELECT pg_catalog.set_config($1, $2, false)", [.text(name), .text(value)])
    }
    let row = try connection.run(flight)[0].only()
    let isStandby = try row.bool(1)
    if role == .standby {
      guard isStandby else { throw PostgresError(.cannotConnect, "PostgreSQL at \(place) is not a standby") }
    } else if looksOnly {
      // Its own setting makes the session read-only.
    } else if isStandby {
      throw PostgresError(
        .readOnlyServer,
        "PostgreSQL at \(place) is a read-only standby; add the primary's host to the address: "
          + "postgres://primary,standby/database")
    } else if try row.bool(2) {
      throw PostgresError(
        .readOnlyServer, "PostgreSQL at \(place) permits only reading (default_transaction_read_only is on)")
    }
    let encoding = try row.string(3)
    guard encoding == "UTF8" else {
      throw PostgresError(
        .unsupportedServer, "the database at \(place) has the encoding \(encoding); create one with ENCODING 'UTF8'")
    }
    return Int32(truncatingIfNeeded: try row.int64(0))
  }

  /// Settings of the session. All names in our SQL have a schema, so that no other object is found by
  /// chance; times of roles and databases do not apply to us.
  private var settings: [(String, String)] {
    PostgresConnector.syntax + [
      ("search_path", "pg_catalog"), ("client_min_messages", "error"), ("timezone", "UTC"),
      ("default_transaction_isolation", "read committed"), ("lock_timeout", "\(lockTimeoutMs)"),
      ("idle_in_transaction_session_timeout", "\(idleInTransactionMs)"), ("tcp_user_timeout", "\(Tuning.unacknowledgedMs)"),
      ("tcp_keepalives_idle", "\(Tuning.keepAliveIdleS)"), ("tcp_keepalives_interval", "\(Tuning.keepAliveIntervalS)"),
      ("tcp_keepalives_count", "\(Tuning.keepAliveProbes)"), ("jit", "off"),
    ] + (looksOnly ? PostgresConnector.looking : [("statement_timeout", "0")])
  }

  private static let looking = [
    ("default_transaction_read_only", "on"), ("statement_timeout", "\(Tuning.lookStatementTimeoutMs)"),
  ]

  /// Settings of a server, a database, a role or the address that change how SQL is read and values are written. Smart
  /// SQL of untrusted scripts becomes part of our statements, so a text must end where we say. libpq sets the encoding.
  private static let syntax = [
    ("standard_conforming_strings", "on"), ("backslash_quote", "safe_encoding"), ("escape_string_warning", "off"),
    ("transform_null_equals", "off"), ("array_nulls", "on"), ("quote_all_identifiers", "off"), ("xmloption", "content"),
    ("datestyle", "ISO"), ("intervalstyle", "postgres"), ("bytea_output", "hex"), ("extra_float_digits", "1"),
  ]

  /// Refuses a pooler that gives a session's server to other clients between transactions: prepared
  /// statements, settings and LISTEN would get lost.
  ///
  /// While a second connection holds a transaction, the first one must still have the server process
  /// that it had, and no other connection may have it.
  private func checkPooler(
    _ connection: PostgresConnection, _ host: PostgresAddress.Host?, _ secret: String?
  ) throws(PostgresError) {
    func backend(_ connection: PostgresConnection) throws(PostgresError) -> Int64 {
      try connection.query("SELECT pg_catalog.pg_backend_pid()").only().int64(0)
    }
    let second = try open(host, secret)
    defer { second.close() }
    var isShared = false
    for _ in 0..<Tuning.poolerProbes where !isShared {
      do throws(PostgresError) {
        let mine = try backend(connection)
        try second.execute("BEGIN")
        let other = try backend(second), again = try backend(connection)
        try second.execute("COMMIT")
        isShared = other == mine || again != mine
      } catch {
        // A statement that was prepared on another server does not exist on this one, or does already.
        guard ["26000", "42P05", "25P01"].contains(error.sqlState) else { throw error }
        isShared = true
      }
    }
    guard isShared else { return }
    throw PostgresError(
      .transactionPooler,
      "the pooler at \(connection.place) gives a session's server to other clients between transactions; connect to PostgreSQL "
        + "directly, or set the pooler to session mode (PgBouncer: pool_mode = session)")
  }
}

/// Why a sign-in failed, from libpq's message, which has the server's SQLSTATE and never the password.
private struct SignInFailure {
  let error: PostgresError

  init(_ handle: OpaquePointer, place: String, user: String?) {
    let text = String(cString: cpostgres_error_message(handle))
    let lines = text.split(separator: "\n").map(String.init)
    // With the option sslmode=prefer there are two attempts, and thus two messages.
    let told = lines.compactMap { line in SignInFailure.state(line).map { (line: line, state: $0) } }.first
    let state = told?.state
    var words = told?.line ?? lines.first ?? "no reason was given"
    if let state, let range = words.firstRange(of: ":  \(state): ") { words = "PostgreSQL: " + words[range.upperBound...] }
    if cpostgres_needs_password(handle) == 1 {
      error = PostgresError(
        .signInRefused,
        "PostgreSQL at \(place) asks for a password and there is none; name its file, variable or command, or add a line to "
          + "~/.pgpass",
        sqlState: state)
    } else if let state, state.hasPrefix("28") {
      let name = user.map { " of user '\($0)'" } ?? ""
      error = PostgresError(.signInRefused, "PostgreSQL at \(place) refused the sign-in\(name): \(words)", sqlState: state)
    } else {
      let isOfEncryption = state == nil && ["SSL", "certificate"].contains { words.contains($0) }
      let hint = isOfEncryption ? "; the address's options sslmode and sslrootcert say what is accepted" : ""
      error = PostgresError(.cannotConnect, "cannot connect to PostgreSQL at \(place): \(words)\(hint)", sqlState: state)
    }
  }

  /// Finds the SQLSTATE in a line such as `… FATAL:  28P01: password authentication failed …`.
  private static func state(_ line: String) -> String? {
    guard let range = line.firstRange(of: ":  ") else { return nil }
    let state = line[range.upperBound...].prefix(5)
    let isState = state.utf8.count == 5 && state.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
    return isState && line[range.upperBound...].dropFirst(5).hasPrefix(": ") ? String(state) : nil
  }
}
