import Foundation
import JSON
import SandboxOrg
import Testing

private let data = "/services/data/v66.0"

@Suite struct SearchTests {
  private static func names(_ answer: WireClient.Answer) -> [String] {
    answer.json["searchRecords"]?.arrayValue?.compactMap { ($0["Name"] ?? $0["LastName"])?.stringValue } ?? []
  }

  private static func find(_ statement: String, _ client: WireClient) async throws -> [String] {
    names(try await client.send("GET", "\(data)/search/?q=\(WireClient.encoded(statement))"))
  }

  @Test func search_afterEachWrite_findsWhatIsThere() async throws {
    try await withOrg { _, client in
      let statement = "FIND {walrus} RETURNING Account(Name)"
      #expect(try await Self.find(statement, client) == [])
      let created = try await client.json("POST", "\(data)/sobjects/Account", #"{"Name":"Walrus Ltd"}"#)
      let row = "\(data)/sobjects/Account/\(created.json["id"]?.stringValue ?? "")"
      #expect(try await Self.find(statement, client) == ["Walrus Ltd"])
      _ = try await client.json("PATCH", row, #"{"Phone":"1"}"#)
      #expect(try await Self.find(statement, client) == ["Walrus Ltd"])
      _ = try await client.json("PATCH", row, #"{"Name":"Seal Ltd","Description":"once a walrus"}"#)
      #expect(try await Self.find("FIND {walrus} IN NAME FIELDS RETURNING Account(Name)", client) == [])
      #expect(try await Self.find(statement, client) == ["Seal Ltd"])
      _ = try await client.send("DELETE", row)
      #expect(try await Self.find(statement, client) == [])
    }
  }

  @Test func search_calculatedName_isFoundAndKeptInStep() async throws {
    try await withOrg { server, _ in
      let id = try server.create("Contact", fields: ["FirstName": "Ann", "LastName": "Abel"])
      let phrase = "FIND {\"ann abel\"} IN NAME FIELDS RETURNING Contact(Name)"
      #expect(try server.search(phrase)["searchRecords"]?.arrayValue?.count == 1)
      try server.update("Contact", id: id, fields: ["LastName": "Baker"])
      #expect(try server.search(phrase)["searchRecords"]?.arrayValue?.count == 0)
      #expect(try server.search("FIND {\"ann baker\"} RETURNING Contact(Id)")["searchRecords"]?.arrayValue?.count == 1)
    }
  }

  @Test func search_oldVersion_answersABareArray() async throws {
    try await withOrg { server, client in
      try server.create("Account", fields: ["Name": "Walrus"])
      let target = "/search?q=\(WireClient.encoded("FIND {walrus} RETURNING Account(Name)"))"
      let old = try await client.send("GET", "/services/data/v36.0\(target)")
      #expect(old.json.arrayValue?.first?["Name"] == "Walrus")
      #expect(old.json.arrayValue?.first?["attributes"]?["type"] == "Account")
      let new = try await client.send("GET", "/services/data/v37.0\(target)")
      #expect(new.json["searchRecords"]?.arrayValue?.count == 1 && new.json["metadata"] == nil)
    }
  }

  @Test func search_withMetadata_addsLabels() async throws {
    try await withOrg { server, _ in
      let answer = try server.search("FIND {nobody} RETURNING Account(Id, Name) WITH METADATA = 'LABELS'")
      let entity = answer["metadata"]?["entityetadata"]?.arrayValue?.first
      #expect(entity?["entityName"] == "Account")
      #expect(entity?["fieldMetadata"]?.arrayValue?.last == ["name": "Name", "label": "Account Name"])
    }
  }

  @Test func search_manyMatches_endsAtTheCapOfItsKind() async throws {
    try await withOrg(seed: .custom(accounts: 0, contacts: 600)) { server, _ in
      let cases = [
        ("FIND {mail.example} RETURNING Contact", 250), ("FIND {mail.example} RETURNING Contact(Id ORDER BY Id)", 600),
        ("FIND {mail.example} RETURNING Contact LIMIT 400", 400), ("FIND {mail.example} RETURNING Contact(Id LIMIT 7)", 7),
        ("FIND {mail.example} RETURNING Contact, Account", 250),
        ("FIND {mail.example} RETURNING Contact(Id), Account LIMIT 3", 3),
      ]
      for (statement, count) in cases {
        let answer = try server.search(statement)
        #expect(answer["searchRecords"]?.arrayValue?.count == count, "\(statement)")
      }
    }
  }

  @Test func search_hugeTerms_loseTheirOperatorsThenTheirMeaning() async throws {
    try await withOrg { server, _ in
      try server.create("Account", fields: ["Name": "walrus OR seal"])
      try server.create("Account", fields: ["Name": "seal"])
      func count(_ term: String) throws -> Int? {
        try server.search("FIND {\(term)} RETURNING Account(Name)")["searchRecords"]?.arrayValue?.count
      }
      let long = String(repeating: "seal OR ", count: 510) + "walrus"
      #expect(try count("walrus OR seal") == 2)
      #expect(try count(long) == 1)
      #expect(try count(String(repeating: "seal ", count: 2_100)) == 0)
      #expect(try count(String(repeating: "?e*", count: 1_000)) == 0)
      #expect(throws: SandboxError.self) { try count(String(repeating: "(", count: 3_000)) }
      #expect(throws: SandboxError.self) { try server.search("FIND {a" + String(repeating: " b", count: 60_000)) }
    }
  }

  /// FTS5 parses with a stack of 100 symbols; expressions that need more are refused, with an answer of the service.
  @Test func search_deeplyNestedTerms_areAnsweredOrMalformed() async throws {
    try await withOrg { server, _ in
      try server.create("Account", fields: ["Name": "walrus"])
      func code(_ term: String) throws -> String? {
        do {
          let answer = try server.search("FIND {\(term)} IN NAME FIELDS RETURNING Account(Name)")
          return answer["searchRecords"]?.arrayValue?.count == 1 ? nil : "\(answer.text)"
        } catch let error as SandboxError { return error.code }
      }
      for wrap in ["(walrus AND (seal OR #))", "(# OR seal)", "(walrus AND NOT (seal AND #))", "(w?lrus* (seal OR x_w*s OR #))"] {
        var term = "walrus", codes: [String?] = []
        for _ in 0..<40 {
          codes.append(try code(term))
          term = wrap.replacing("#", with: term)
        }
        let answered = codes.prefix { $0 == nil }
        #expect(answered.count >= 8, "\(wrap): \(codes)")
        #expect(codes[answered.count...].allSatisfy { $0 == "MALFORMED_SEARCH" }, "\(wrap): \(codes)")
      }
      #expect(try code("walrus" + String(repeating: " AND NOT seal walrus", count: 190)) == nil)
      #expect(try code("walrus" + String(repeating: " AND NOT seal", count: 280)) == nil)
    }
  }

  // MARK: Parameters instead of a statement

  @Test func parameterizedSearch_getAndPost_answerAlike() async throws {
    try await withOrg { server, client in
      for name in ["Walrus B", "Walrus A", "Walrus C"] { try server.create("Account", fields: ["Name": .string(name)]) }
      try server.create("Contact", fields: ["LastName": "Walrus"])
      let target =
        "\(data)/parameterizedSearch/?q=walrus&sobject=Account&Account.fields=Id,Name&Account.limit=2"
        + "&Account.orderBy=Name%20DESC&sobject=Contact&Contact.fields=LastName&in=NAME"
      let get = try await client.send("GET", target)
      #expect(get.status == 200 && Self.names(get) == ["Walrus C", "Walrus B", "Walrus"])
      let body = #"""
        {"q":"walrus","in":"NAME","defaultLimit":1,"sobjects":[
          {"name":"Account","fields":["Name"],"where":"Name > 'Walrus A'","orderBy":"Name","limit":5},
          {"name":"Contact","fields":["LastName"]}]}
        """#
      #expect(
        Self.names(try await client.json("POST", "\(data)/parameterizedSearch", body)) == ["Walrus B", "Walrus C", "Walrus"])
      let all = try await client.json("POST", "\(data)/parameterizedSearch", #"{"q":"walrus","overallLimit":2}"#)
      #expect(all.json["searchRecords"]?.arrayValue?.count == 2)
    }
  }

  @Test(
    arguments: [
      (#"{}"#, "MALFORMED_SEARCH"), (#"{"q":"a"}"#, "MALFORMED_SEARCH"), (#"{"q":"walrus","in":"SOME"}"#, "MALFORMED_SEARCH"),
      (#"{"q":"walrus","sobjects":[{"name":"Nowhere"}]}"#, "INVALID_TYPE"),
      (#"{"q":"walrus","sobjects":[{"name":"Account","fields":["Foo"]}]}"#, "INVALID_FIELD"),
      (#"{"q":"walrus","sobjects":[{"name":"Account","where":"Name ="}]}"#, "MALFORMED_SEARCH"),
      (#"{"q":"walrus","sobjects":[{"name":"Account","where":"Name = 'x') , Contact("}]}"#, "MALFORMED_SEARCH"),
      (#"{"q":"walrus","sobjects":["Account"]}"#, "JSON_PARSER_ERROR"),
      (#"{"q":"walrus","overallLimit":"x"}"#, "JSON_PARSER_ERROR"), (#"[]"#, "JSON_PARSER_ERROR"),
    ])
  func parameterizedSearch_badParameters_answer400(_ body: String, _ code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", "\(data)/parameterizedSearch", body)
      #expect(answer.status == 400 && answer.errorCode == code, "\(answer.text)")
    }
  }

  @Test func scopeOrderAndLayout_answerForTheObjectsInUse() async throws {
    try await withOrg { server, client in
      #expect(try await client.send("GET", "\(data)/search/scopeOrder").text == "[]")
      _ = try await client.json("POST", "\(data)/sobjects/Account", #"{"Name":"Walrus"}"#)
      let order = try await client.send("GET", "\(data)/search/scopeOrder")
      #expect(order.text == "[{\"type\":\"Account\",\"url\":\"\(data)/sobjects/Account/describe\"}]")
      let layouts = try await client.send("GET", "\(data)/search/layout?q=Contact,account")
      #expect(layouts.json.arrayValue?.compactMap { $0["objectType"]?.stringValue } == ["Contact", "Account"])
      let column = layouts.json.arrayValue?.last?["searchColumns"]?.arrayValue?.first
      #expect(column == ["field": "Account.Name", "format": nil, "label": "Account Name", "name": "Name"])
      #expect(try await client.send("GET", "\(data)/search/layout?q=Nowhere").errorCode == "INVALID_TYPE")
      #expect(try await client.send("GET", "\(data)/search").errorCode == "MALFORMED_SEARCH")
    }
  }
}
