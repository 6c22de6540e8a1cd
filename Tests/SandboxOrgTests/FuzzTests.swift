import Foundation
import SandboxOrg
import Testing

/// Statements nobody wrote: words in random order, statements grown from the grammar, and good ones with damage.
///
/// `TUREEN_FUZZ_ROUNDS` asks for more than the usual few thousand; `TUREEN_FUZZ_SEED` starts elsewhere.
/// Every failure names the statement and the seed.
@Suite struct FuzzTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let rounds = environment["TUREEN_FUZZ_ROUNDS"].flatMap { Int($0) } ?? 3_000
  private static let seed = environment["TUREEN_FUZZ_SEED"].flatMap { UInt64($0) } ?? 4_242

  @Test func query_statementsNobodyWrote_answerOrFailCleanly() async throws {
    try await fuzz("SOQL", SOQLGrammar.statement, FuzzWords.soql) { try $0.query($1)["done"] == true }
  }

  @Test func search_statementsNobodyWrote_answerOrFailCleanly() async throws {
    try await fuzz("SOSL", SOSLGrammar.statement, FuzzWords.sosl) { try $0.search($1)["searchRecords"] != nil }
  }

  /// Statements of the grammar, damaged ones, and a soup of words, in turn. Some have to have an answer.
  private func fuzz(
    _ language: String, _ grammar: (inout FuzzRandom) -> String, _ words: [String],
    isAnswer: (SandboxServer, String) throws -> Bool
  ) async throws {
    print("fuzzing \(language): \(Self.rounds) rounds from seed \(Self.seed)")
    try await withOrg(seed: .custom(accounts: 3, contacts: 20)) { server, _ in
      var random = FuzzRandom(state: Self.seed)
      var answered = 0
      for round in 0..<Self.rounds {
        var statement = grammar(&random)
        if round % 3 == 1 { statement = FuzzWords.damaged(statement, &random) }
        if round % 3 == 2 { statement = FuzzWords.soup(words, &random) }
        let comment = Comment(rawValue: "seed \(Self.seed), round \(round): \(statement)")
        if try Self.isAnswered(comment, by: { try isAnswer(server, statement) }) { answered += 1 }
      }
      #expect(answered > Self.rounds / 10)
    }
  }

  /// An answer, or an error a client can read; nothing else.
  private static func isAnswered(_ comment: Comment, by run: () throws -> Bool) throws -> Bool {
    do {
      #expect(try run(), comment)
      return true
    } catch {
      let error = try #require(error as? SandboxError, comment)
      #expect(error.status == 400 && !error.code.isEmpty && error.code != "QUERY_TOO_COMPLICATED", comment)
      return false
    }
  }
}

struct FuzzRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &self)] }
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  mutating func list(_ range: ClosedRange<Int>, _ separator: String, _ item: (inout FuzzRandom) -> String) -> String {
    let count = Int.random(in: range, using: &self)
    return (0..<count).map { _ in item(&self) }.joined(separator: separator)
  }
}

enum FuzzWords {
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

  static func soup(_ words: [String], _ random: inout FuzzRandom) -> String {
    let start = random.pick(["", words[0] + " ", words == sosl ? "FIND {" : "SELECT Id FROM Contact WHERE "])
    return start + random.list(1...14, " ") { $0.pick(words) }
  }

  /// One to four characters taken out, put in or exchanged.
  static func damaged(_ text: String, _ random: inout FuzzRandom) -> String {
    var characters = Array(text.unicodeScalars)
    for _ in 0..<Int.random(in: 1...4, using: &random) where !characters.isEmpty {
      let index = Int.random(in: 0..<characters.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: characters.remove(at: index)
      case 1: characters.insert(Unicode.Scalar(UInt8.random(in: 0..<127, using: &random)), at: index)
      case 2: characters.swapAt(index, Int.random(in: 0..<characters.count, using: &random))
      default:
        let end = Int.random(in: index...min(index + 12, characters.count), using: &random)
        characters.insert(contentsOf: characters[index..<end], at: Int.random(in: 0...characters.count, using: &random))
      }
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: characters)
    return String(view)
  }
}

/// Statements grown from SOQL's grammar; most of them are good.
enum SOQLGrammar {
  private static let fields = [
    "Id", "Name", "LastName", "Title", "AccountId", "CreatedDate", "Birthdate", "DoNotCall", "YearsKnown__c", "Account.Name",
    "Account.Owner.Name", "Account.Parent.Industry", "Owner.Alias", "Description", "Email", "Nothing__c",
  ]
  private static let parts = ["CALENDAR_YEAR", "DAY_ONLY", "HOUR_IN_DAY", "WEEK_IN_YEAR", "DAY_IN_WEEK", "FISCAL_QUARTER"]

  static func statement(_ random: inout FuzzRandom) -> String {
    if random.chance(25) { return grouped(&random) }
    var items = random.list(1...4, ", ") { $0.pick(fields) }
    if random.chance(15) { items += ", FORMAT(YearsKnown__c) f, toLabel(LeadSource)" }
    if random.chance(10) { items = "FIELDS(\(random.pick(["ALL", "STANDARD", "CUSTOM"])))" }
    let source = random.pick(["Contact", "Contact c", "Contact c, c.Account a"])
    let start = random.pick(["SELECT \(items) FROM \(source)", "SELECT COUNT() FROM Contact", child(&random), poly(&random)])
    return start + filter(&random) + order(&random) + slice(&random) + random.pick(["", "", " FOR VIEW", " ALL ROWS"])
  }

  private static func grouped(_ random: inout FuzzRandom) -> String {
    let key = random.pick([
      "Title", "Account.Name", "LeadSource", "DAY_ONLY(CreatedDate)", "CALENDAR_YEAR(Birthdate)", "DoNotCall",
    ])
    let clause = random.pick(["\(key)", "ROLLUP(\(key), LastName)", "CUBE(\(key), LastName)"])
    let aggregate = random.pick([
      "COUNT(Id)", "MAX(CreatedDate)", "SUM(YearsKnown__c)", "COUNT_DISTINCT(Title)", "AVG(YearsKnown__c)",
    ])
    let having = random.pick(["", " HAVING COUNT(Id) > 1", " HAVING \(key) != null OR \(aggregate) = null"])
    return "SELECT \(key), \(aggregate)\(random.pick(["", " x"])) FROM Contact\(filter(&random)) GROUP BY \(clause)\(having)"
      + random.pick(["", " ORDER BY \(aggregate) DESC NULLS LAST", " ORDER BY \(key)"]) + slice(&random)
  }

  private static func child(_ random: inout FuzzRandom) -> String {
    let inner = random.pick(["LastName", "Id, Account.Name", "Title, (SELECT Subject FROM Tasks)"])
    return "SELECT Name, (SELECT \(inner) FROM Contacts\(filter(&random))\(order(&random)) LIMIT 3) FROM Account"
  }

  private static func poly(_ random: inout FuzzRandom) -> String {
    random.pick([
      "SELECT Who.Name, What.Type FROM Task", "SELECT TYPEOF What WHEN Account THEN Phone ELSE Name END FROM Task",
      "SELECT Subject FROM Task",
    ])
  }

  private static func filter(_ random: inout FuzzRandom) -> String {
    random.chance(70) ? " WHERE " + condition(&random, depth: 0) : ""
  }

  private static func condition(_ random: inout FuzzRandom, depth: Int) -> String {
    if depth < 4, random.chance(30) {
      let word = random.pick([" AND ", " OR "])
      return random.list(2...3, word) { random in "(" + condition(&random, depth: depth + 1) + ")" }
    }
    if depth < 4, random.chance(10) { return "NOT " + condition(&random, depth: depth + 1) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return "\(random.pick(fields)) \(random.pick(["=", "!=", "<", ">=", "LIKE"])) \(literal(&random))"
    case 1: return "LastName \(random.pick(["IN", "NOT IN"])) (\(random.list(1...4, ",") { literal(&$0) }))"
    case 2:
      return "CreatedDate \(random.pick(["=", "<", ">", "!="])) \(random.pick(["TODAY", "LAST_N_WEEKS:3", "N_YEARS_AGO:1"]))"
    case 3: return "\(random.pick(parts))(CreatedDate) > \(Int.random(in: 0..<400, using: &random))"
    case 4: return "AccountId \(random.pick(["IN", "NOT IN"])) (SELECT Id FROM Account WHERE Name LIKE 'a%')"
    case 5: return "Email LIKE '%é\(random.pick(["%", "_", "\\\\_"]))'"
    case 6: return "DISTANCE(BillingAddress, GEOLOCATION(1.5, -2), 'km') < 50"
    default: return "LastName \(random.pick(["=", ">", "LIKE"])) 'a\(random.pick(["", "%", "\\'", "\\u00e9"]))'"
    }
  }

  private static func literal(_ random: inout FuzzRandom) -> String {
    random.pick([
      "'a'", "''", "null", "true", "5", "-1.5e3", "2026-01-01", "2026-01-01T00:00:00+01:00", "TOMORROW", "USD7", "'É%'",
    ])
  }

  private static func order(_ random: inout FuzzRandom) -> String {
    guard random.chance(40) else { return "" }
    return " ORDER BY " + random.list(1...2, ", ") { $0.pick(fields) + $0.pick(["", " DESC", " ASC NULLS LAST"]) }
  }

  private static func slice(_ random: inout FuzzRandom) -> String {
    random.pick(["", " LIMIT 5", " LIMIT 0", " LIMIT 10 OFFSET 3", " OFFSET 99999"])
  }
}

/// Statements grown from SOSL's grammar.
enum SOSLGrammar {
  static func statement(_ random: inout FuzzRandom) -> String {
    let scope = random.pick(["", "", " IN NAME FIELDS", " IN EMAIL FIELDS", " IN PHONE FIELDS", " IN ALL FIELDS"])
    let returning = random.pick([
      "", " RETURNING Account", " RETURNING Account(Id, Name WHERE Name LIKE 'a%' ORDER BY Name LIMIT 2), Contact(LastName)",
      " RETURNING Contact(Id, Account.Name LIMIT 3 OFFSET 1)", " RETURNING Nothing(Id)",
    ])
    return "FIND {\(term(&random, depth: 0))}\(scope)\(returning)\(random.pick(["", " LIMIT 4", " WITH METADATA = 'LABELS'"]))"
  }

  private static func term(_ random: inout FuzzRandom, depth: Int) -> String {
    guard depth < 4, random.chance(45) else {
      return random.pick([
        "ann", "a*", "ac?e", "*", "?", "\"new york\"", "\"\"", "x_y.z", "4155550101", "Ü*l", "no\\-one", "日本", "-", "''", "*a*b*",
        "\\{", "and", "ab\0c",
      ])
    }
    let word = random.pick([" ", " AND ", " OR ", " AND NOT "])
    return random.list(2...3, word) { random in
      let inner = term(&random, depth: depth + 1)
      return random.chance(50) ? "(\(inner))" : inner
    }
  }
}
