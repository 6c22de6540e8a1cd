/// The limits and sizes of a store, each with its unit and its reason.
enum Tuning {
  /// Bytes a page of a new database file. 8 KiB: a first load is 15–20 % cheaper than with SQLite's 4 KiB.
  static let pageSize = 8192
  /// KiB of page cache a connection. 16 MiB do what 64 MiB do at 100,000 records, in a quarter of the memory; a load that only
  /// adds rows, and sorts its indexes at the end, needs less.
  static let writerCacheKiB = 16384
  static let loadingCacheKiB = 4096
  /// While the indexes of a load are sorted: with 4 MiB a million keys are merged from four times as many runs, with 16 MiB the
  /// process is above 150 MB.
  static let sortingCacheKiB = 10240
  static let readerCacheKiB = 8192
  /// Pages of write-ahead log before it is folded back: 16 MiB.
  static let walAutoCheckpoint = 2000
  /// Milliseconds to wait for another process that is writing before giving up with a retryable error.
  static let busyTimeoutMs: Int32 = 10_000
  /// Connections that read while the writer writes. More would only wait for the two or four cores most machines have.
  static let readers = 4
  /// Records announced by a server from which a first load builds its indexes afterwards: below, there is nothing to gain.
  static let deferIndexesFrom = 20_000
  /// Of those, smart queries have this many at most: they may take any time, and other calls are to find a reader meanwhile.
  static let smartReaders = readers - 1
  /// What SQLite allows a query, which may come from anywhere. Bytes of a value: more than an entry may have.
  static let queryValueBytes = 256 << 20
  /// Bytes of smart SQL, levels of its expressions (SQLite's own default), instructions it is compiled to, bytes of a LIKE
  /// pattern: far beyond what a person or a program writes; each bounds time in which a query cannot be interrupted.
  static let querySqlBytes = 1_000_000
  static let queryExpressionDepth = 1000
  static let queryInstructions = 1_000_000
  static let queryLikePatternBytes = 1000
  /// Looks, one in a thousand steps, after which a query that is to end soon ends: half a second of work.
  static let looksOfHurriedQuery = 10_000
  /// Bytes of a page: a query without end and with a huge page size would take all memory there is.
  static let pageBytes = 512 << 20
  /// Open cursors a store. A cursor is a few hundred bytes; a script that never closes one is told before memory is.
  static let maximumCursors = 10_000
  /// Rows a cursor remembers the number of: pages beside one are found at once, others from the nearest.
  static let cursorMarks = 64
  /// Bytes of a text that is remembered as such a row's place; with the two limits a cursor costs 32 KB at most.
  static let markBytes = 400
  /// Shapes of queries whose statements a connection keeps prepared: a script has a few.
  static let queryPlans = 32
  /// Sets of changed columns that a soup's writer keeps an UPDATE prepared for. Records of a server mostly change a few columns
  /// together; 20 columns that change by chance make a million sets, and 20,000 of them took 214 MB. Another set costs 29 us.
  static let updateStatements = 64
  /// Bytes a page is given room for before its first row, if the one before was as large: what is larger grows.
  static let reservedPageBytes = 4 << 20
  /// Rows a page of a query when the spec names no size (as in the plug-ins).
  static let defaultPageSize = 10
  /// How much of a watched smart query's result is compared: rows, bytes, and steps of SQLite's machine, a few hundred
  /// milliseconds. What is larger is no longer looked at by eye, and comparing it would keep a core busy.
  static let watchedRows = 10_000
  static let watchedBytes = 8_000_000
  static let watchedSteps = 10_000_000
  /// Changed ids kept for an observer of a soup: the longest list a person reads. Beyond it the event says "all".
  static let changedIds = 1000
  /// Milliseconds between looks whether another process has written, while there are observers: below what people notice, and
  /// each look is one read of shared memory.
  static let otherProcessPollMs = 250
  /// Bytes of entries scanned at once while indexes are filled from them: enough to make the scan cheap, little to hold.
  static let reIndexBytes = 1 << 20
  /// Characters of a key-value store's name (as in the model).
  static let keyValueNameLength = 96
  /// Bytes of one stored entry: a fifth of SQLite's own limit, so that the error is ours and names the entry.
  static let maximumEntryBytes = 200_000_000
  /// Looks at an encrypted file, 10 ms apart, before a key counts as wrong: its first page may be half written at one of them.
  static let looksAtWrongKey = 5
  /// Milliseconds a change of key waits for another program's lock: the person who changes a key knows what else uses the store.
  static let keyChangeBusyTimeoutMs: Int32 = 1000
  /// Milliseconds that removing a store waits for its last holder: a child process that is being started lets go within a few.
  static let removalPatienceMs: Int64 = 500
}
