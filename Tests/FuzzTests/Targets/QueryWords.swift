/// The words of the org's query languages.
enum QueryWords {
  static let soql = [
    "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "LIKE", "ORDER", "BY", "LIMIT", "OFFSET", "NULLS", "FIRST", "LAST",
    "ASC", "DESC", "COUNT", "COUNT()", "MAX", "GROUP BY", "HAVING", "ROLLUP(", "CUBE(", "GROUPING(", "TYPEOF", "WHEN", "THEN",
    "ELSE", "END", "FIELDS(ALL)", "INCLUDES", "EXCLUDES", "toLabel(", "FORMAT(", "CALENDAR_YEAR(", "DISTANCE(", "GEOLOCATION(",
    "(", ")", ",", ".", "=", "!=", "<", ">=", "-", ":", "'a'", "'\\'", "'a%'", "5", "1.5e3", "2026-01-01",
    "2026-01-01T00:00:00Z", "TODAY", "LAST_N_DAYS:3", "TRUE", "NULL", "USD5", "Contact", "Account", "Contacts", "Id", "LastName",
    "Account.Name", "Owner", "Who", "Title", "c", "USING", "SCOPE", "mine", "FOR", "VIEW", "ALL", "ROWS", "WITH", "é", "😀", "\0",
    "\n", "\"", ";", "*",
  ]
  static let sosl = [
    "FIND", "{", "}", "{ac*}", "{a b}", "IN", "ALL", "NAME", "FIELDS", "RETURNING", "Account", "Contact", "(", ")", "Id", "Name",
    "WHERE", "=", "'x'", "ORDER BY", "LIMIT", "OFFSET", "5", "USING", "ListView", "WITH", "SNIPPET", "METADATA", "UPDATE",
    "TRACKING", ",", "AND", "OR", "NOT", "\"", "\\", "*", "?", "é", "😀", "\0", "\n", "-", "^", "~", ":",
  ]
}
