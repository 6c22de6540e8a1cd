/// Limits of the pretend org, each with its unit and its reason.
enum Tuning {
  /// Records a page holds at most, and without a `batchSize` header. Salesforce's own figure.
  static let maximumPageSize = 2_000
  /// Records: the smallest page a client may ask for; smaller wishes are raised, as a real org does.
  static let minimumPageSize = 200
  /// Bytes of one request body. A real org takes about 50 MB; a collection of 200 rows stays far below this.
  static let requestBodyBytes = 16 * 1024 * 1024
  /// Bytes of a request target. Salesforce answers 414 above it.
  static let requestTargetBytes = 16_384
  /// Characters of a SOQL statement, Salesforce's own limit.
  static let statementCharacters = 100_000
  /// Characters of one SOQL text literal, Salesforce's own limit.
  static let literalCharacters = 4_000
  /// Nested parentheses and NOTs in one condition: keeps recursion and SQLite's parser far from their ends.
  static let conditionDepth = 40
  /// Relationships one query may walk. Salesforce allows 55, SQLite joins at most 64 tables.
  static let relationshipsPerQuery = 55
  /// Relationship hops in one path.
  static let relationshipHops = 5
  /// Rows an OFFSET may skip.
  static let maximumOffset = 2_000
  /// Query locators kept open; the one unused for the longest time goes first. Each costs 8 bytes a row.
  static let openCursors = 50
  /// Terms in one flat AND or OR before they are grouped: SQLite's expression depth ends at 1,000.
  static let flatTerms = 200
  /// Records in one collection call, and ids in one collection retrieve.
  static let collectionRecords = 200, collectionRetrieveIds = 2_000
  /// Requests the log remembers, and bytes of each body it keeps: enough for tests, bounded for a long-lived server.
  static let loggedRequests = 5_000, loggedBodyBytes = 16 * 1024
  /// Calls a day the limits resource speaks of (Developer Edition).
  static let dailyCalls = 15_000
  /// Rows of a most-recently-used list.
  static let recentItems = 200
  /// Milliseconds to wait for another process on the same file: it may be seeding a large org.
  static let busyMilliseconds: Int32 = 30_000
  /// API versions answered.
  static let apiVersions = 31...67
}
