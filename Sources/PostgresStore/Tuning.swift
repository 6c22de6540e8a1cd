/// The limits of the PostgreSQL engine, each with its unit and its reason.
enum Tuning {
  /// The oldest supported server. Older ones are out of support, and its client library is the first
  /// with pipelines.
  static let oldestServer = 14
  /// Milliseconds to establish a connection to one host, including TLS and sign-in. A primary that is
  /// shutting down answers late; a dead host must not keep the next one in the list waiting.
  static let connectTimeoutMs: Int64 = 10_000
  /// Milliseconds to wait for the results of a statement or flight. Far beyond a page's work: its
  /// purpose is to notice a server that is frozen or unreachable.
  static let answerTimeoutMs: Int64 = 60_000
  /// Milliseconds that a transaction may wait for another one's row lock, as SQLite's busy timeout.
  static let lockTimeoutMs: Int64 = 10_000
  /// How often a transaction that has not begun waits that long for the store.
  static let lockAttempts = 6
  /// Milliseconds after which the server ends a session that holds a transaction open and is silent:
  /// a paused host must not keep locks longer than its leases.
  static let idleInTransactionMs: Int64 = 30_000
  /// Milliseconds that sent data may stay unacknowledged before the connection counts as lost.
  static let unacknowledgedMs: Int64 = 30_000
  /// Seconds of silence before the first keep-alive probe, between probes, and how many: a dead peer
  /// is noticed after 25 s, within a lease's time.
  static let keepAliveIdleS = 10, keepAliveIntervalS = 5, keepAliveProbes = 3
  /// CASE inside one another in smart SQL: the translation looks at the results of each.
  static let nestedCases = 100
  /// Statements that a connection keeps prepared. Soups and masks need a few dozen, smart SQL more.
  static let preparedStatements = 256
  /// Rounds of the test for a connection pooler. Each proves nothing if the pooler happens to give
  /// both connections the servers they had; with other clients, one round mostly suffices.
  static let poolerProbes = 3
  /// Attempts to create a schema that other hosts are creating at the same time.
  static let creationAttempts = 10
  /// Times that a flight is sent, if each one's connection was lost before COMMIT.
  static let flightAttempts = 3
  /// Attempts to reconnect in order to learn whether a transaction was committed, and milliseconds
  /// between them: together more than a failover takes.
  static let resumeAttempts = 60, resumePauseMs: Int64 = 500
  /// Days after which a writer that has not written is removed from the table of writers.
  static let forgottenWriterDays = 30
  /// Milliseconds that a claimed job belongs to its worker without a sign of life, and that a lease
  /// holds: three missed heartbeats.
  static let leaseMs: Int64 = 30_000
  /// Milliseconds that a lease holds at most, a century: PostgreSQL's times end in the year 294276.
  static let longestLeaseMs: Int64 = 36_525 * 86_400_000
  /// Calls that are reserved from a budget at a time: a reservation costs a round trip, and a killed
  /// host loses what it had reserved.
  static let reservedCalls: Int64 = 50
  /// Where systems keep the certificates of public authorities; libpq looks for them only from version 16 on.
  static let certificateBundles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
  /// Bytes of COPY data to collect before they are sent: as large as a socket buffer.
  static let copyChunkBytes = 64 << 10
  /// The announced number of records from which a first load builds its indexes afterwards, as in SQLite's engine.
  static let bulkLoadMinimum = 20_000
  /// Seconds of silence after which a load on another host counts as ended: its pages come much faster, and a longer
  /// pause only means that its indexes are kept from then on.
  static let endedLoadS = 300
  /// Connections that read a store; smart queries leave one to others.
  static let readers = 4
  /// Milliseconds without reads from standbys after none could be reached, or one failed.
  static let standbyPauseMs: Int64 = 30_000
  /// Translations of smart SQL that a connection keeps: a script uses few.
  static let smartStatements = 256
  /// Milliseconds that work on a whole soup may take, such as an index over it or a smart query.
  static let longAnswerMs: Int64 = 24 * 3_600_000
  /// Bytes of a LIKE pattern, as in SQLite's engine.
  static let likePatternBytes = 1000
  /// How much of an observed query's result is compared, and how long in ms: as in SQLite's engine.
  static let watchedRows = 10_000, watchedBytes = 8_000_000, watchedMs = 500
  /// Milliseconds that a call waits for its own request to cancel.
  static let cancellingMs = 5000
  /// Milliseconds between looks for commits of other hosts while there are observers.
  static let otherHostsPollMs = 250
  /// Commits between removals of old rows of the change feed, and the hours that rows stay.
  static let commitsPerPruning: Int64 = 1000, changesStayHours = 24
  /// Bytes of entries that are scanned at once while columns are filled.
  static let reIndexBytes = 1 << 20
  /// Bytes and rows of a batch while a store is copied, as in SQLite's engine.
  static let copyBatchBytes = 512 << 10, copyBatchRows = 1000
  /// Milliseconds that a copy waits for the sessions of one that was killed: the server ends their
  /// statements first.
  static let copyPatienceMs: Int64 = 5000
  /// Bytes of a store's name: an index holds it.
  static let longestStoreName = 1000
  /// Bytes of one stored entry, as in SQLite's engine.
  static let maximumEntryBytes = 200_000_000
  /// Milliseconds that removing a store waits for sessions that are ending.
  static let removalPatienceMs: Int64 = 500
  /// Milliseconds after which the server ends a statement of a session that only looks: a forgotten one must
  /// not hold back the server's cleaning for long.
  static let lookStatementTimeoutMs: Int64 = 120_000
  /// Milliseconds that such a session waits for a host that removes the store or changes its soups.
  static let lookLockTimeoutMs: Int64 = 1_000
}
