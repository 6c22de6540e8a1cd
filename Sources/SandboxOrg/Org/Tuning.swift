/// Limits of the pretend org, each with its unit and its reason.
enum Tuning {
  /// Records a page holds at most, and without a `batchSize` header. Salesforce's own figure.
  static let maximumPageSize = 2_000
  /// Records: the smallest page a client may ask for; smaller wishes are raised, as a real org does.
  static let minimumPageSize = 200
  /// Characters of a SOQL statement, Salesforce's own limit.
  static let statementCharacters = 100_000
  /// Characters of one SOQL text literal, Salesforce's own limit.
  static let literalCharacters = 4_000
  /// Nested parentheses and NOTs in one condition: keeps recursion and SQLite's parser far from their ends.
  static let conditionDepth = 40
  /// Queries in queries, the outermost counted too: Salesforce's own figure. Child queries of one query likewise.
  static let childQueryDepth = 5, childQueries = 20
  /// API versions that brought child queries below child queries, and FIELDS().
  static let deepChildQueryVersion = 58, fieldsFunctionVersion = 51
  /// Rows a query with FIELDS(ALL) or FIELDS(CUSTOM) may ask for.
  static let fieldsFunctionRows = 200
  /// Fields of ROLLUP and CUBE: one CUBE makes two to their power of SELECTs.
  static let rollupFields = 3
  /// Characters of a search term above which its operators are plain words, and above which nothing is found.
  static let searchOperatorCharacters = 4_000, searchCharacters = 10_000
  /// Records of one search, and of one object among several or without a condition.
  static let searchRows = 2_000, searchRowsOfObject = 250
  /// Terms of the index that one word with wildcards may stand for: keeps the expression small.
  static let wildcardTerms = 500
  /// The API version from which search results are an object.
  static let wrappedSearchVersion = 37
  /// Relationships one query may walk. Salesforce allows 55, SQLite joins at most 64 tables.
  static let relationshipsPerQuery = 55
  /// Relationship hops in one path.
  static let relationshipHops = 5
  /// Rows an OFFSET may skip.
  static let maximumOffset = 2_000
  /// Query locators kept open; the one unused for the longest time goes first. Each costs 8 bytes a row.
  static let openCursors = 50
  /// The same for rows of child queries: a page of parents can open one for each.
  static let openNestedCursors = 2_000
  /// Seconds a locator is good for: two days.
  static let cursorSeconds: Int64 = 2 * 86_400
  /// Terms in one flat AND or OR before they are grouped: SQLite's expression depth ends at 1,000.
  static let flatTerms = 200
  /// Records in one collection call, and ids in one collection retrieve.
  static let collectionRecords = 200, collectionRetrieveIds = 2_000
  /// Calls a day, unless configured otherwise (Developer Edition).
  static let dailyCalls = 15_000
  /// Copies of what the org holds, in memory.
  static let snapshots = 10
  /// Rows of a most-recently-used list.
  static let recentItems = 200
  /// Milliseconds to wait for another process on the same file: it may be seeding a large org.
  static let busyMilliseconds: Int32 = 30_000
  /// API versions answered.
  static let apiVersions = 31...67
}
