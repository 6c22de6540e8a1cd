import TestSupport

extension SeededGenerator {
  /// True in so many of a hundred times.
  mutating func percent(_ percent: Int) -> Bool { below(100) < percent }

  mutating func list(_ range: ClosedRange<Int>, _ separator: String, _ item: (inout SeededGenerator) -> String) -> String {
    let count = Int.random(in: range, using: &self)
    return (0..<count).map { _ in item(&self) }.joined(separator: separator)
  }
}

/// Statements grown from SOQL's grammar; most are valid.
enum SOQLGrammar {
  private static let fields = [
    "Id", "Name", "LastName", "Title", "AccountId", "CreatedDate", "Birthdate", "DoNotCall", "YearsKnown__c", "Account.Name",
    "Account.Owner.Name", "Account.Parent.Industry", "Owner.Alias", "Description", "Email", "Nothing__c",
  ]
  private static let parts = ["CALENDAR_YEAR", "DAY_ONLY", "HOUR_IN_DAY", "WEEK_IN_YEAR", "DAY_IN_WEEK", "FISCAL_QUARTER"]

  static func statement(_ random: inout SeededGenerator) -> String {
    if random.percent(25) { return grouped(&random) }
    var items = random.list(1...4, ", ") { $0.pick(fields) }
    if random.percent(15) { items += ", FORMAT(YearsKnown__c) f, toLabel(LeadSource)" }
    if random.percent(10) { items = "FIELDS(\(random.pick(["ALL", "STANDARD", "CUSTOM"])))" }
    let source = random.pick(["Contact", "Contact c", "Contact c, c.Account a"])
    let start = random.pick(["SELECT \(items) FROM \(source)", "SELECT COUNT() FROM Contact", child(&random), poly(&random)])
    return start + filter(&random) + order(&random) + slice(&random) + random.pick(["", "", " FOR VIEW", " ALL ROWS"])
  }

  private static func grouped(_ random: inout SeededGenerator) -> String {
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

  private static func child(_ random: inout SeededGenerator) -> String {
    let inner = random.pick(["LastName", "Id, Account.Name", "Title, (SELECT Subject FROM Tasks)"])
    return "SELECT Name, (SELECT \(inner) FROM Contacts\(filter(&random))\(order(&random)) LIMIT 3) FROM Account"
  }

  private static func poly(_ random: inout SeededGenerator) -> String {
    random.pick([
      "SELECT Who.Name, What.Type FROM Task", "SELECT TYPEOF What WHEN Account THEN Phone ELSE Name END FROM Task",
      "SELECT Subject FROM Task",
    ])
  }

  private static func filter(_ random: inout SeededGenerator) -> String {
    random.percent(70) ? " WHERE " + condition(&random, depth: 0) : ""
  }

  private static func condition(_ random: inout SeededGenerator, depth: Int) -> String {
    if depth < 4, random.percent(30) {
      let word = random.pick([" AND ", " OR "])
      return random.list(2...3, word) { random in "(" + condition(&random, depth: depth + 1) + ")" }
    }
    if depth < 4, random.percent(10) { return "NOT " + condition(&random, depth: depth + 1) }
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

  private static func literal(_ random: inout SeededGenerator) -> String {
    random.pick([
      "'a'", "''", "null", "true", "5", "-1.5e3", "2026-01-01", "2026-01-01T00:00:00+01:00", "TOMORROW", "USD7", "'É%'",
    ])
  }

  private static func order(_ random: inout SeededGenerator) -> String {
    guard random.percent(40) else { return "" }
    return " ORDER BY " + random.list(1...2, ", ") { $0.pick(fields) + $0.pick(["", " DESC", " ASC NULLS LAST"]) }
  }

  private static func slice(_ random: inout SeededGenerator) -> String {
    random.pick(["", " LIMIT 5", " LIMIT 0", " LIMIT 10 OFFSET 3", " OFFSET 99999"])
  }
}
