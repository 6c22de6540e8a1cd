import Database
import Support

/// The full-text index of one object: an FTS5 table over its text columns, maintained by triggers.
///
/// It is built when the object is first searched, for all rows at once, so that orgs without
/// searches and large seeds pay nothing for it. Afterwards each write updates it in its own
/// transaction. On the org's queue.
struct SearchIndex {
  let connection: Connection
  let object: ObjectSchema

  /// The quoted name of the FTS5 table.
  var table: String { "\"search_\(object.name)\"" }
  private var vocabulary: String { "temp.\"terms_\(object.name)\"" }

  /// Returns the searchable fields: text that people write, but not values picked from a list.
  static func fields(of object: ObjectSchema) -> [FieldSchema] {
    object.fields.filter { $0.type.isText && ![.picklist, .multipicklist].contains($0.type) }
  }

  // MARK: Building

  /// Builds the index if it does not exist, or if the object's fields have changed.
  func prepare() throws {
    let wanted = Self.fields(of: object).map(\.name)
    guard try columns() != wanted else { return }
    if connection.isInTransaction { return try make(wanted) }
    try connection.transaction(.immediate) { try make(wanted) }
  }

  private func columns() throws(DatabaseError) -> [String] {
    let statement = try connection.prepare("SELECT name FROM pragma_table_info(?) ORDER BY cid")
    statement.bind(1, "search_\(object.name)")
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    return names
  }

  /// Drops the index; required before the object loses a column.
  func remove() throws(DatabaseError) {
    for event in ["insert", "update", "delete"] {
      try connection.execute("DROP TRIGGER IF EXISTS \"search_\(object.name)_\(event)\"")
    }
    try connection.execute("DROP TABLE IF EXISTS \(table)")
  }

  private func make(_ fields: [String]) throws(DatabaseError) {
    try remove()
    guard !fields.isEmpty else { return }
    let list = fields.map { "\"\($0)\"" }.joined(separator: ", ")
    // Accents are significant, as in comparisons.
    try connection.execute(
      "CREATE VIRTUAL TABLE \(table) USING fts5(\(list), content=\"\(object.name)\", content_rowid=\"rowid\", "
        + "tokenize=\"unicode61 remove_diacritics 0\")")
    try connection.execute("INSERT INTO \(table)(\(table)) VALUES ('rebuild')")
    func values(_ row: String) -> String { fields.map { "\(row).\"\($0)\"" }.joined(separator: ", ") }
    let add = "INSERT INTO \(table)(rowid, \(list)) VALUES (new.rowid, \(values("new")));"
    let remove = "INSERT INTO \(table)(\(table), rowid, \(list)) VALUES ('delete', old.rowid, \(values("old")));"
    // Generated columns change with others, so check every update.
    let differs = fields.map { "old.\"\($0)\" IS NOT new.\"\($0)\"" }.joined(separator: " OR ")
    try trigger("insert", "INSERT", "", add)
    try trigger("update", "UPDATE", " WHEN \(differs)", remove + " " + add)
    try trigger("delete", "DELETE", "", remove)
  }

  private func trigger(_ name: String, _ event: String, _ condition: String, _ body: String) throws(DatabaseError) {
    try connection.execute(
      "CREATE TRIGGER \"search_\(object.name)_\(name)\" AFTER \(event) ON \(object.table)\(condition) BEGIN \(body) END")
  }

  // MARK: Searching

  /// Returns the FTS5 expression for a search; nil if nothing can match.
  func match(_ expression: SearchExpression, in scope: SearchStatement.Scope) throws -> String? {
    let fields = Self.fields(of: object).filter { scope == .ALL || Self.scopes(of: $0, in: object).contains(scope) }
    guard !fields.isEmpty, let text = try fts(expression) else { return nil }
    if scope == .ALL { return text }
    return "{\(fields.map { "\"\($0.name)\"" }.joined(separator: " "))} : (\(text))"
  }

  private static func scopes(of field: FieldSchema, in object: ObjectSchema) -> [SearchStatement.Scope] {
    switch field.type {
    case .email: return [.EMAIL, .SIDEBAR]
    case .phone: return [.PHONE, .SIDEBAR]
    default: return field.isNameField || nameExtras[object.name]?.contains(field.name) == true ? [.NAME, .SIDEBAR] : []
    }
  }

  /// Fields that `IN NAME FIELDS` covers in addition to the name. Source: Salesforce's SOSL
  /// reference.
  private static let nameExtras: [String: Set<String>] = [
    "Account": ["Website", "Site"], "Case": ["Subject", "SuppliedName", "SuppliedCompany", "SuppliedEmail"],
    "Contact": ["FirstName", "LastName"], "Lead": ["FirstName", "LastName", "Company"], "Task": ["Subject"],
    "Event": ["Subject"], "User": ["FirstName", "LastName", "CommunityNickname"],
  ]

  private func fts(_ expression: SearchExpression) throws -> String? {
    switch expression {
    case .nothing: return nil
    case .phrase(let text): return Self.quoted(text)
    case .word(let word): return try self.word(word)
    case .all(let terms):
      var parts: [String] = []
      for term in terms {
        guard let part = try fts(term) else { return nil }
        parts.append(part)
      }
      return joined(parts, "AND")
    case .any(let terms): return joined(try terms.compactMap(fts), "OR")
    case .except(let term, let excluded):
      guard let found = try fts(term) else { return nil }
      return try fts(excluded).map { "(\(found) NOT \($0))" } ?? found
    }
  }

  private func joined(_ parts: [String], _ word: String) -> String? {
    parts.count < 2 ? parts.first : "(" + parts.joined(separator: " \(word) ") + ")"
  }

  /// Quotes text as a phrase; nil without letters or digits, for which FTS5 has no phrase.
  private static func quoted(_ text: String) -> String? {
    guard text.unicodeScalars.contains(where: SearchTokens.isTokenCharacter) else { return nil }
    // FTS5 reads expressions as C strings.
    return "\"\(text.replacingBytes("\"", with: " ").replacing("\0", with: " "))\""
  }

  private func word(_ word: String) throws -> String? {
    guard word.contains(where: { $0 == "*" || $0 == "?" }) else { return Self.telephone(word) ?? Self.quoted(word) }
    var parts: [String] = []
    for token in word.unicodeScalars.split(whereSeparator: { !SearchTokens.isTokenCharacter($0) && $0 != "*" && $0 != "?" }) {
      guard let part = try pattern(String(token)) else { return nil }
      parts.append(part)
    }
    return joined(parts, "AND")
  }

  /// Returns the ways to write a telephone number: stored ones contain blanks and dashes, so ten
  /// digits are also searched in groups.
  private static func telephone(_ word: String) -> String? {
    guard word.count == 10, word.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return "(\"\(word)\" OR \"\(word.prefix(3)) \(word.dropFirst(3).prefix(3)) \(word.suffix(4))\")"
  }

  /// Matches a token with wildcards: as a prefix if possible, else by the index terms that match.
  private func pattern(_ token: String) throws -> String? {
    let stem = token.prefix { $0 != "*" && $0 != "?" }
    if !stem.isEmpty, token.dropFirst(stem.count).allSatisfy({ $0 == "*" }), stem.count < token.count { return "\"\(stem)\" *" }
    if stem.count == token.count { return "\"\(token)\"" }
    try connection.execute(
      "CREATE VIRTUAL TABLE IF NOT EXISTS \(vocabulary) USING fts5vocab('main', 'search_\(object.name)', 'row')")
    let statement = try connection.prepare("SELECT term FROM \(vocabulary) WHERE term GLOB ? LIMIT \(Tuning.wildcardTerms)")
    statement.bind(1, token.lowercased())
    var terms: [String] = []
    while try statement.step() { terms.append("\"\(statement.string(0))\"") }
    return joined(terms, "OR")
  }
}
