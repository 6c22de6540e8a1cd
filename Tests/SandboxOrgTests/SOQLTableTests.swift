import Foundation
import JSON
import SandboxOrg
import Testing

/// The table in `Fixtures/soql.txt`, each statement sent over HTTP.
@Suite struct SOQLTableTests {
  struct Case {
    let statement: String, kind: String, expectation: String, line: Int
  }

  @Test func query_everyStatementOfTheTable_answersAsListed() async throws {
    let cases = try Self.cases()
    #expect(cases.count >= 120)
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let ids = try Self.populate(server, clock)
      for item in cases {
        let statement = Self.filled(item.statement, ids)
        let answer = try await client.query(statement)
        let comment = Comment(rawValue: "soql.txt:\(item.line): \(statement)\n\(answer.text)")
        Self.check(item, answer, comment)
      }
    }
  }

  // MARK: The table

  static func cases() throws -> [Case] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/soql.txt")
    var cases: [Case] = []
    var statement: String?
    for (index, line) in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").enumerated() {
      if line.hasPrefix("q: ") {
        // `\n` and the like stand for white space between words; inside quotes they belong to SOQL.
        statement = unescaped(String(line.dropFirst(3)))
      } else if let found = statement, let colon = line.firstIndex(of: ":"), !line.hasPrefix("#") {
        let expectation = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        cases.append(Case(statement: found, kind: String(line[..<colon]), expectation: expectation, line: index + 1))
        statement = nil
      }
    }
    return cases
  }

  private static func unescaped(_ text: String) -> String {
    guard !text.contains("'") else { return text }
    return text.replacingOccurrences(of: "\\n", with: "\n").replacingOccurrences(of: "\\t", with: "\t")
      .replacingOccurrences(of: "\\r", with: "\r")
  }

  private static func filled(_ text: String, _ ids: [String: String]) -> String {
    ids.reduce(text) { text, entry in
      text.replacingOccurrences(of: "{\(entry.key)}", with: entry.value)
        .replacingOccurrences(of: "{\(entry.key):15}", with: String(entry.value.prefix(15)))
    }
  }

  private static func check(_ item: Case, _ answer: WireClient.Answer, _ comment: Comment) {
    let records = answer.json["records"]?.arrayValue ?? []
    let names = records.compactMap { $0["LastName"]?.stringValue ?? $0["Name"]?.stringValue }
    let expected = item.expectation.isEmpty ? [] : item.expectation.components(separatedBy: " | ")
    switch item.kind {
    case "rows":
      #expect(answer.status == 200 && names == expected, comment)
      #expect(answer.json["totalSize"]?.integerValue == Int64(expected.count), comment)
    case "set": #expect(answer.status == 200 && Set(names) == Set(expected) && names.count == expected.count, comment)
    case "total":
      #expect(answer.json["totalSize"]?.integerValue == Int64(item.expectation) && records.isEmpty, comment)
    case "json": #expect(JSONValue.array(records.map(withoutAttributes)).text == item.expectation, comment)
    case "error": checkError(item.expectation, answer, comment)
    default: Issue.record(comment)
    }
  }

  private static func checkError(_ expectation: String, _ answer: WireClient.Answer, _ comment: Comment) {
    let parts = expectation.split(separator: " ", maxSplits: 2).map(String.init)
    #expect(answer.status == 400, comment)
    #expect(answer.errorCode == parts[0], comment)
    #expect(answer.message?.hasSuffix(parts[2]) == true, comment)
    let place = parts[1].split(separator: ":")
    if place.count == 2 {
      #expect(answer.message?.contains("\nERROR at Row:\(place[0]):Column:\(place[1])\n") == true, comment)
      // The snippet of a long line starts 80 characters before the caret.
      let lines = (answer.message ?? "").components(separatedBy: "\n")
      #expect(lines.count > 2 && lines[2].count == min(Int(place[1]) ?? 0, 81), comment)
    } else {
      #expect(answer.message?.contains("ERROR at Row") == false, comment)
    }
  }

  private static func withoutAttributes(_ value: JSONValue) -> JSONValue {
    guard let object = value.objectValue else { return value }
    return .object(JSONObject(object.filter { $0.key != "attributes" }.map { ($0.key, withoutAttributes($0.value)) }))
  }

  // MARK: The data

  /// Three accounts and seven contacts, one of them deleted. Today is Monday, 2 March 2026, 9:00 UTC.
  static func populate(_ server: SandboxServer, _ clock: ManualSandboxClock) throws -> [String: String] {
    var ids: [String: String] = [:]
    clock.set(1_748_736_000)  // 2025-06-01
    ids["Acme"] = try server.create(
      "Account", fields: ["Name": "Acme", "Industry": "Energy", "NumberOfEmployees": 100, "AnnualRevenue": 1_000_000])
    ids["Beta"] = try server.create("Account", fields: ["Name": "Beta"])
    ids["gamma"] = try server.create(
      "Account",
      fields: ["Name": "gamma", "Industry": "energy", "NumberOfEmployees": 5, "ParentId": .string(ids["Acme"]!)])
    let contacts: [(Int64, String, String?, JSONObject)] = [
      (
        1_767_225_599, "Abel", "Acme",
        ["FirstName": "Ann", "Title": "CEO", "YearsKnown__c": 1.5, "Birthdate": "1980-01-15", "MailingStreet": "1 Main\nStreet"]
      ),
      (1_767_225_600, "Baker", "Acme", ["DoNotCall": true, "YearsKnown__c": 10, "Birthdate": "1990-06-30"]),
      (1_772_280_000, "Clark", "Beta", ["Title": "cto"]),
      (
        1_772_323_200, "D'Arc", "gamma",
        ["FirstName": "Joan", "Title": "100% fun_x", "YearsKnown__c": 0, "Birthdate": "2000-12-31"]
      ),
      (1_772_438_400, "Evans", nil, ["Title": "a\\b", "YearsKnown__c": -3]),
      (1_772_442_000, "Émile", nil, ["Title": "ceo", "YearsKnown__c": 7]),
      (1_772_442_000, "Frank", "Acme", ["Title": "gone"]),
    ]
    for (seconds, name, account, extra) in contacts {
      clock.set(seconds)
      var fields = extra
      fields["LastName"] = .string(name)
      if let account { fields["AccountId"] = .string(ids[account]!) }
      ids[name] = try server.create("Contact", fields: fields)
    }
    try server.delete("Contact", id: ids["Frank"]!)
    return ids
  }
}
