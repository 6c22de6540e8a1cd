/// The limits and sizes of a store, each with its unit and its reason.
enum Tuning {
  /// Bytes per page of a new database file. With 8 KiB, a first load is 15–20 % cheaper than with
  /// SQLite's default of 4 KiB.
  static let pageSize = 8192
  /// KiB of page cache per connection. At 100,000 records, 16 MiB perform like 64 MiB. A bulk load
  /// only adds rows and sorts its indexes at the end, so it needs less.
  static let writerCacheKiB = 16384
  static let bulkLoadCacheKiB = 4096
  /// KiB of cache while the indexes of a bulk load are sorted. With 4 MiB, a million keys are
  /// merged from four times as many runs; with 16 MiB, the process exceeds 150 MB.
  static let sortingCacheKiB = 10240
  static let readerCacheKiB = 8192
  /// Pages of write-ahead log before a checkpoint: 16 MiB.
  static let walAutoCheckpoint = 2000
  /// Milliseconds to wait for another process that is writing before failing with a retryable
  /// error.
  static let busyTimeoutMs: Int32 = 10_000
  /// Reading connections. More would only compete for the two to four cores that most machines
  /// have.
  static let readers = 4
  /// The announced number of records from which a first load builds its indexes afterwards. Below
  /// it, there is nothing to gain.
  static let bulkLoadMinimum = 20_000
  /// The share of the readers that smart queries may use: they can take arbitrarily long, and other
  /// calls need a free reader.
  static let smartReaders = readers - 1
  /// SQLite's limits for queries, which may be untrusted. Bytes of a value: more than an entry may
  /// have.
  static let queryValueBytes = 256 << 20
  /// Bytes of memory of SQLite in a program that runs untrusted scripts, for all stores together.
  static let strangersBytes: Int64 = 1 << 30
  /// Bytes of smart SQL, levels of its expressions (SQLite's default), instructions of a compiled
  /// statement, and bytes of a LIKE pattern: far beyond real queries. Each limits a phase in which
  /// a query cannot be interrupted.
  static let querySqlBytes = 1_000_000
  static let queryExpressionDepth = 1000
  static let queryInstructions = 1_000_000
  static let queryLikePatternBytes = 1000
  /// Parentheses inside one another: as many as the parser of SQLite 3.40 has places for.
  static let queryParentheses = 100
  /// OVERs, ANDs and calls of functions in smart SQL: each number takes SQLite half a second to prepare.
  static let queryWindows = 200, queryTerms = 8000, queryCalls = 4000
  /// Bytes of smart SQL once the names of its CTEs are replaced by their texts, as SQLite does.
  static let expandedBytes = 4_000_000
  /// SELECTs and VALUES of smart SQL. SQLite may recurse once for each, which takes about 1 KB of the
  /// thread's stack; it allows 500 in one UNION.
  static let querySelects = 1000
  /// Milliseconds that closing waits for queries which have been cancelled. They end within a second, unless
  /// one is in a part of SQLite that nothing interrupts.
  static let closePatienceMs = 5000
  /// Checks, one every hundred steps, after which a query that should end soon is cancelled: half
  /// a second of work.
  static let looksOfHurriedQuery = 100_000
  /// Bytes of a page. An endless query with a huge page size would use all memory.
  static let pageBytes = 256 << 20
  /// Bytes of all pages that are built at once in this process. Each takes up to twice its text, as it
  /// grows.
  static let allPagesBytes = 1 << 30
  /// Bytes of a value from which the escapes of its JSON are counted before it is added to a page.
  static let largeValueBytes = 1 << 20
  /// Open cursors per store. A cursor takes a few hundred bytes; a script that never closes them
  /// gets an error before memory runs out.
  static let maximumCursors = 10_000
  /// Anchors per cursor: pages next to one are found at once, others from the nearest one.
  static let cursorAnchors = 64
  /// Bytes of an anchor's text; with both limits a cursor takes at most 32 KB.
  static let anchorBytes = 400
  /// Query shapes whose statements a connection keeps prepared: a script uses few.
  static let queryPlans = 32
  /// Sets of changed columns for which a soup's writer keeps a prepared UPDATE. Records of a server
  /// mostly change a few columns together. 20 columns that change at random make a million sets,
  /// and 20,000 statements took 214 MB. Preparing another one takes 29 µs.
  static let updateStatements = 64
  /// Bytes reserved for a page at most, if the previous one was as large; larger pages grow.
  static let reservedPageBytes = 4 << 20
  /// Rows per page if the query spec gives no size (as in the plug-ins).
  static let defaultPageSize = 10
  /// How much of an observed query's result is compared: rows, bytes, and virtual machine steps (a
  /// few hundred milliseconds). Comparing larger results would keep a core busy, and people do
  /// not look at them row by row.
  static let watchedRows = 10_000
  static let watchedBytes = 8_000_000
  static let watchedSteps = 10_000_000
  /// Changed ids kept for an observer of a soup. Beyond that, the change is reported as "all".
  static let changedIds = 1000
  /// Milliseconds between checks for writes of other processes while there are observers: too short
  /// for users to notice. Each check is one read of shared memory.
  static let otherProcessPollMs = 250
  /// Bytes of entries scanned at once while indexes are filled: large enough for an efficient scan,
  /// small enough to hold in memory.
  static let reIndexBytes = 1 << 20
  /// Bytes and rows of a batch while a store is copied. Larger ones would not be faster; each is read
  /// twice and held in memory once.
  static let copyBatchBytes = 512 << 10, copyBatchRows = 1000
  /// Characters of a key-value store's name (as in the Mobile SDK).
  static let keyValueNameLength = 96
  /// Bytes of one stored entry: a fifth of SQLite's limit, so that our error, which names the
  /// entry, comes first.
  static let maximumEntryBytes = 200_000_000
  /// Attempts to open an encrypted file, 10 ms apart, before the key counts as wrong: its first
  /// page may be half written during one of them.
  static let looksAtWrongKey = 5
  /// Milliseconds that a key change waits for another program's lock. Short, because the user can
  /// close the other program.
  static let keyChangeBusyTimeoutMs: Int32 = 1000
  /// Milliseconds that removing a store waits for its last holder. A child process that is starting
  /// releases the lock within a few.
  static let removalPatienceMs: Int64 = 500
  /// Milliseconds that a look waits for a command that removes, rekeys or copies the store, and for a process
  /// that recovers its write-ahead log. Half a second each: a look waits no longer than a second.
  static let lookPatienceMs: Int64 = 500
  static let lookBusyTimeoutMs: Int32 = 500
}
