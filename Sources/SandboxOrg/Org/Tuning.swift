/// Limits of the pretend org, each with its unit and its reason.
enum Tuning {
  /// Maximum records per page, and the default without a `batchSize` header. Salesforce's value.
  static let maximumPageSize = 2_000
  /// Minimum records per page that a client can request; smaller values are raised, as in a real
  /// org.
  static let minimumPageSize = 200
  /// Characters of a SOQL statement; Salesforce's limit.
  static let statementCharacters = 100_000
  /// Characters of a SOQL text literal; Salesforce's limit.
  static let literalCharacters = 4_000
  /// Nested parentheses and NOTs in a condition; stays far below the limits of recursion and of
  /// SQLite's parser.
  static let conditionDepth = 40
  /// Depth of nested queries, including the outermost one, and child queries per query;
  /// Salesforce's values.
  static let childQueryDepth = 5, childQueries = 20
  /// API versions that introduced nested child queries and FIELDS().
  static let deepChildQueryVersion = 58, fieldsFunctionVersion = 51
  /// Rows that a query with FIELDS(ALL) or FIELDS(CUSTOM) may request.
  static let fieldsFunctionRows = 200
  /// Fields of ROLLUP and CUBE: a CUBE of n fields needs 2^n SELECTs.
  static let rollupFields = 3
  /// Characters of a search term above which its operators are treated as words, and above which
  /// nothing is found.
  static let searchOperatorCharacters = 4_000, searchCharacters = 10_000
  /// Symbols that a search may need on the stack of FTS5's parser, which holds 100 before SQLite
  /// 3.46; the column filter and the start need the rest.
  static let searchParserDepth = 90
  /// Records of a search, and of one object when several are searched or it has no condition.
  static let searchRows = 2_000, searchRowsOfObject = 250
  /// Index terms that a word with wildcards can match; limits the size of the expression.
  static let wildcardTerms = 500
  /// The API version from which search results are an object.
  static let wrappedSearchVersion = 37
  /// Relationships that a query can follow. Salesforce allows 55; SQLite joins at most 64 tables.
  static let relationshipsPerQuery = 55
  /// Relationship hops in one path.
  static let relationshipHops = 5
  /// Maximum OFFSET.
  static let maximumOffset = 2_000
  /// Query locators kept open; the least recently used one is dropped first. Each costs 8 bytes per
  /// row.
  static let openCursors = 50
  /// The same for rows of child queries, of which a page of parents can open one each.
  static let openNestedCursors = 2_000
  /// Seconds for which a locator is valid: two days.
  static let cursorSeconds: Int64 = 2 * 86_400
  /// Terms in a flat AND or OR before they are grouped; SQLite's expression depth is limited to
  /// 1,000.
  static let flatTerms = 200
  /// Records in a collection call, and ids in a collection retrieve.
  static let collectionRecords = 200, collectionRetrieveIds = 2_000
  /// Default calls per day (Developer Edition).
  static let dailyCalls = 15_000
  /// Snapshots in memory.
  static let snapshots = 10
  /// Rows of a most-recently-used list.
  static let recentItems = 200
  /// Milliseconds to wait for another process on the same file, which may be seeding a large org.
  static let busyMilliseconds: Int32 = 30_000
  /// Supported API versions.
  static let apiVersions = 31...67
}
