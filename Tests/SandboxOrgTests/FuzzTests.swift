import SandboxOrg
import Testing

/// Statements made of SOQL's own words in random order, and good ones with damage. The seed is fixed.
@Suite struct FuzzTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private static let words = [
    "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "IN", "LIKE", "ORDER", "BY", "LIMIT", "OFFSET", "NULLS", "FIRST", "LAST",
    "ASC", "DESC", "COUNT", "COUNT()", "MAX", "(", ")", ",", ".", "=", "!=", "<", ">=", "-", ":", "'a'", "'\\'", "'a%'",
    "5", "1.5e3", "2026-01-01", "2026-01-01T00:00:00Z", "TODAY", "LAST_N_DAYS:3", "TRUE", "NULL", "Contact", "Account", "Id",
    "LastName", "Account.Name", "Owner", "Title", "c", "USING", "SCOPE", "mine", "FOR", "VIEW", "ALL", "ROWS", "WITH", "é", "😀",
    "\0", "\n", "\"", ";", "*",
  ]
  private static let good = [
    "SELECT Id, Account.Name FROM Contact WHERE (LastName LIKE 'a%' OR Title = null) AND CreatedDate > 2026-01-01T00:00:00Z "
      + "ORDER BY Account.Name DESC NULLS LAST, Id LIMIT 5 OFFSET 1",
    "SELECT Name FROM Account WHERE Id IN (SELECT AccountId FROM Contact WHERE DoNotCall = false) AND NOT Name = 'x'",
    "SELECT COUNT(Id) n, MAX(CreatedDate) FROM Task WHERE Who.Name = 'a' AND ActivityDate = NEXT_N_WEEKS:2",
  ]

  @Test func query_randomStatements_answerOrFailCleanly() async throws {
    try await withOrg(seed: .custom(accounts: 3, contacts: 20)) { server, _ in
      var random = Generator(state: 20_260_302)
      var answered = 0
      for round in 0..<6_000 {
        let statement = round % 2 == 0 ? Self.soup(&random) : Self.damaged(&random)
        do {
          let answer = try server.query(statement)
          #expect(answer["done"] == true)
          answered += 1
        } catch {
          let error = try #require(error as? SandboxError, "\(statement)")
          #expect(error.status == 400 && !error.code.isEmpty && error.code != "QUERY_TOO_COMPLICATED", "\(statement)")
        }
      }
      #expect(answered > 30)
    }
  }

  private static func soup(_ random: inout Generator) -> String {
    let start = Bool.random(using: &random) ? "SELECT Id FROM Contact WHERE " : ""
    return start
      + (0..<Int.random(in: 1...14, using: &random)).map { _ in words.randomElement(using: &random)! }
      .joined(separator: " ")
  }

  private static func damaged(_ random: inout Generator) -> String {
    var characters = Array(good.randomElement(using: &random)!.unicodeScalars)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let index = Int.random(in: 0..<characters.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: characters.remove(at: index)
      case 1: characters.insert(Unicode.Scalar(UInt8.random(in: 32..<127, using: &random)), at: index)
      default: characters.swapAt(index, Int.random(in: 0..<characters.count, using: &random))
      }
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: characters)
    return String(text)
  }
}
