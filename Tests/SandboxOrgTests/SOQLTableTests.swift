import Foundation
import JSON
import SandboxOrg
import Testing

/// Runs the tables in `Fixtures/soql.txt` and `Fixtures/sosl.txt`, each statement over HTTP.
@Suite struct SOQLTableTests {
  struct Case {
    let statement: String, kind: String, expectation: String, line: Int
  }

  @Test func query_everyStatementOfTheTable_answersAsListed() async throws {
    let cases = try Self.cases("soql.txt")
    #expect(cases.count >= 300)
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let ids = try Self.populate(server, clock)
      for item in cases {
        let statement = Self.filled(item.statement, ids)
        let answer = try await client.query(statement)
        let comment = Comment(rawValue: "soql.txt:\(item.line): \(statement)\n\(answer.text)")
        Self.check(item, Self.filled(item.expectation, ids), answer, comment)
      }
    }
  }

  @Test func search_everyStatementOfTheTable_answersAsListed() async throws {
    let cases = try Self.cases("sosl.txt")
    #expect(cases.count >= 60)
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      let ids = try Self.populate(server, clock)
      for item in cases {
        let statement = Self.filled(item.statement, ids)
        let answer = try await client.send("GET", "/services/data/v66.0/search?q=\(WireClient.encoded(statement))")
        let comment = Comment(rawValue: "sosl.txt:\(item.line): \(statement)\n\(answer.text)")
        Self.check(item, Self.filled(item.expectation, ids), answer, comment)
      }
    }
  }

  // MARK: The table

  static func cases(_ name: String) throws -> [Case] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures/\(name)")
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

  private static func check(
    _ item: Case, _ expectation: String, _ answer: WireClient.Answer, _ comment: Comment
  ) {
    let records = (answer.json["records"] ?? answer.json["searchRecords"])?.arrayValue ?? []
    let names = records.compactMap { ($0["LastName"] ?? $0["Name"] ?? $0["Subject"])?.stringValue }
    let expected = expectation.isEmpty ? [] : expectation.components(separatedBy: " | ")
    switch item.kind {
    case "rows":
      #expect(answer.status == 200 && names == expected, comment)
      #expect((answer.json["totalSize"]?.integerValue ?? Int64(records.count)) == Int64(expected.count), comment)
    case "set": #expect(answer.status == 200 && Set(names) == Set(expected) && names.count == expected.count, comment)
    case "total":
      #expect(answer.json["totalSize"]?.integerValue == Int64(expectation) && records.isEmpty, comment)
    case "json": #expect(JSONValue.array(records.map(withoutAttributes)).text == expectation, comment)
    case "error": checkError(expectation, answer, comment)
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
    if let list = value.arrayValue { return .array(list.map(withoutAttributes)) }
    guard let object = value.objectValue else { return value }
    return .object(JSONObject(object.filter { $0.key != "attributes" }.map { ($0.key, withoutAttributes($0.value)) }))
  }

  // MARK: The data

  /// Creates three accounts and seven contacts, one of which is deleted. Today is Monday, 2 March
  /// 2026, 9:00 UTC.
  static func populate(_ server: SandboxServer, _ clock: ManualSandboxClock) throws -> [String: String] {
    var ids: [String: String] = [:]
    clock.set(1_748_736_000)  // 2025-06-01
    ids["Acme"] = try server.create(
      "Account", fields: ["Name": "Acme", "Industry": "Energy", "NumberOfEmployees": 100, "AnnualRevenue": 1_000_000])
    ids["Beta"] = try server.create("Account", fields: ["Name": "Beta", "BillingLatitude": 53.55, "BillingLongitude": 9.99])
    ids["gamma"] = try server.create(
      "Account",
      fields: [
        "Name": "gamma", "Industry": "energy", "NumberOfEmployees": 5, "ParentId": .string(ids["Acme"]!),
        "BillingLatitude": 50.94,
        "BillingLongitude": 6.96,
      ])
    let contacts: [(Int64, String, String?, JSONObject)] = [
      (
        1_767_225_599, "Abel", "Acme",
        ["FirstName": "Ann", "Title": "CEO", "YearsKnown__c": 1.5, "Birthdate": "1980-01-15", "MailingStreet": "1 Main\nStreet"]
      ),
      (
        1_767_225_600, "Baker", "Acme",
        ["DoNotCall": true, "YearsKnown__c": 10, "Birthdate": "1990-06-30", "Interests__c": "Golf"]
      ),
      (1_772_280_000, "Clark", "Beta", ["Title": "cto", "Interests__c": "Chess;Golf"]),
      (
        1_772_323_200, "D'Arc", "gamma",
        ["FirstName": "Joan", "Title": "100% fun_x", "YearsKnown__c": 0, "Birthdate": "2000-12-31"]
      ),
      (1_772_438_400, "Evans", nil, ["Title": "a\\b", "YearsKnown__c": -3]),
      (1_772_442_000, "Émile", nil, ["Title": "ceo", "YearsKnown__c": 7, "Interests__c": "Sailing; Golf;Chess"]),
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
    try populateOthers(server, &ids)
    return ids
  }

  /// Creates four opportunities, three leads, a case and three tasks, at 9:00.
  private static func populateOthers(_ server: SandboxServer, _ ids: inout [String: String]) throws {
    let acme = JSONValue.string(ids["Acme"]!), beta = JSONValue.string(ids["Beta"]!), abel = JSONValue.string(ids["Abel"]!)
    let records: [(String, String, JSONObject)] = [
      ("Alpha deal", "Opportunity", ["StageName": "Closed Won", "CloseDate": "2026-01-10", "Amount": 1000.5, "AccountId": acme]),
      ("Beta deal", "Opportunity", ["StageName": "Prospecting", "CloseDate": "2026-03-31", "Amount": 250, "AccountId": beta]),
      ("Gamma deal", "Opportunity", ["StageName": "Prospecting", "CloseDate": "2025-11-05", "Amount": 99.5, "AccountId": acme]),
      ("Delta deal", "Opportunity", ["StageName": "Proposal", "CloseDate": "2026-03-15"]),
      ("Ünal", "Lead", ["Company": "Straße AG", "LeadSource": "Web"]),
      ("ünal", "Lead", ["Company": "ΟΔΟΣ", "LeadSource": "Web"]),
      (
        "Zhang", "Lead",
        ["Company": "x_y.z Ltd", "Email": "zhang.wei@mail.example", "Phone": "(415) 555-0101", "Title": "VP, Finance"]
      ),
    ]
    for (name, type, extra) in records {
      var fields = extra
      fields[type == "Lead" ? "LastName" : "Name"] = .string(name)
      ids[name] = try server.create(type, fields: fields)
    }
    _ = try server.create("Case", fields: ["Subject": "Broken", "ContactId": abel, "AccountId": acme])
    _ = try server.create(
      "Task", fields: ["Subject": "Call", "WhoId": abel, "WhatId": acme, "ActivityDate": "2026-03-02", "Priority": "High"])
    _ = try server.create(
      "Task",
      fields: [
        "Subject": "Mail", "WhoId": .string(ids["Zhang"]!), "WhatId": .string(ids["Alpha deal"]!), "Status": "Completed",
      ])
    _ = try server.create("Task", fields: ["Subject": "None"])
  }
}
