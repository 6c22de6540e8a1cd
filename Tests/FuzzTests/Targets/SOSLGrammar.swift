import TestSupport

/// Statements grown from SOSL's grammar.
enum SOSLGrammar {
  static func statement(_ random: inout SeededGenerator) -> String {
    let scope = random.pick(["", "", " IN NAME FIELDS", " IN EMAIL FIELDS", " IN PHONE FIELDS", " IN ALL FIELDS"])
    let returning = random.pick([
      "", " RETURNING Account", " RETURNING Account(Id, Name WHERE Name LIKE 'a%' ORDER BY Name LIMIT 2), Contact(LastName)",
      " RETURNING Contact(Id, Account.Name LIMIT 3 OFFSET 1)", " RETURNING Nothing(Id)",
    ])
    return "FIND {\(term(&random, depth: 0))}\(scope)\(returning)\(random.pick(["", " LIMIT 4", " WITH METADATA = 'LABELS'"]))"
  }

  private static func term(_ random: inout SeededGenerator, depth: Int) -> String {
    guard depth < 4, random.percent(45) else {
      return random.pick([
        "ann", "a*", "ac?e", "*", "?", "\"new york\"", "\"\"", "x_y.z", "4155550101", "Ü*l", "no\\-one", "日本", "-", "''", "*a*b*",
        "\\{", "and", "ab\0c",
      ])
    }
    let word = random.pick([" ", " AND ", " OR ", " AND NOT "])
    return random.list(2...3, word) { random in
      let inner = term(&random, depth: depth + 1)
      return random.percent(50) ? "(\(inner))" : inner
    }
  }
}
