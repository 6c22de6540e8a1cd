import Foundation
import JSON
import SandboxOrg
import Testing

private let composite = "/services/data/v66.0/composite"
private let data = "/services/data/v66.0"

/// Returns a subrequest as JSON text.
private func sub(_ id: String, _ method: String, _ path: String, _ body: String? = nil) -> String {
  "{\"referenceId\":\"\(id)\",\"method\":\"\(method)\",\"url\":\"\(data)/\(path)\"\(body.map { ",\"body\":" + $0 } ?? "")}"
}

@Suite struct CompositeTests {
  private func post(
    _ client: WireClient, _ subs: [String], allOrNone: Bool = false
  ) async throws -> (answer: WireClient.Answer, items: [JSONValue]) {
    let body = "{\"allOrNone\":\(allOrNone),\"compositeRequest\":[\(subs.joined(separator: ","))]}"
    let answer = try await client.json("POST", composite, body)
    return (answer, answer.json["compositeResponse"]?.arrayValue ?? [])
  }

  private func statuses(_ items: [JSONValue]) -> [Int64?] { items.map { $0["httpStatusCode"]?.integerValue } }
  private func codes(_ items: [JSONValue]) -> [String?] {
    items.map { $0["body"]?.arrayValue?.first?["errorCode"]?.stringValue }
  }

  @Test func composite_references_reachIntoEarlierAnswers() async throws {
    try await withOrg { server, client in
      let (answer, items) = try await post(
        client,
        [
          sub("a", "POST", "sobjects/Account", #"{"Name":"Acme","NumberOfEmployees":7}"#),
          sub("c", "POST", "sobjects/Contact", #"{"LastName":"X @{a.id} @{a.success}","AccountId":"@{a.id}"}"#),
          sub("r", "GET", "sobjects/Account/@{a.id}?fields=Id,Name,NumberOfEmployees"),
          sub("q", "GET", "query?q=SELECT+Id,Account.Name+FROM+Contact+WHERE+Id='@%7Bc.id%7D'"),
          sub("d", "POST", "sobjects/Contact", #"{"LastName":"@{q.records[0].Account.Name}","Title":"@{r.NumberOfEmployees}"}"#),
          sub("e", "DELETE", "sobjects/Contact/@{q.records[0].Id}"),
        ])
      #expect(answer.status == 200)
      #expect(statuses(items) == [201, 201, 200, 200, 201, 204])
      #expect(items.map { $0["referenceId"]?.stringValue } == ["a", "c", "r", "q", "d", "e"])
      let id = items[0]["body"]?["id"]?.stringValue ?? ""
      #expect(items[0].objectValue?.keys == ["body", "httpHeaders", "httpStatusCode", "referenceId"])
      #expect(items[0]["httpHeaders"]?["Location"] == .string("\(data)/sobjects/Account/\(id)"))
      #expect(items[5]["body"] == .null)
      let rows = try server.query("SELECT LastName, Title FROM Contact")["records"]?.arrayValue
      #expect(rows?.count == 1 && rows?[0]["LastName"] == "Acme" && rows?[0]["Title"] == "7")
      // The whole call counts once.
      #expect(answer.headers["sforce-limit-info"]?.hasPrefix("api-usage=1/") == true)
    }
  }

  @Test func composite_referencesIntoCollections_takeElements() async throws {
    try await withOrg { server, client in
      let records = #"{"records":[{"attributes":{"type":"Account"},"Name":"A"},{"attributes":{"type":"Account"},"Name":"B"}]}"#
      let (_, items) = try await post(
        client,
        [
          sub("many", "POST", "composite/sobjects", records),
          sub("one", "POST", "sobjects/Contact", #"{"LastName":"X","AccountId":"@{many[1].id}"}"#),
        ])
      #expect(statuses(items) == [200, 201])
      let rows = try server.query("SELECT Account.Name FROM Contact")["records"]?.arrayValue
      #expect(rows?.first?["Account"]?["Name"] == "B")
    }
  }

  @Test(
    arguments: [
      ("@{nobody.id}", "No value for nobody.id found in nobody"), ("@{a.Id}", "No value for a.Id found in a"),
      ("@{a}", "No value for a found in a"), ("@{a.errors}", "No value for a.errors found in a"),
      ("@{a.errors[0]}", "No value for a.errors[0] found in a"), ("@{a[0].id}", "No value for a[0].id found in a"),
      ("@{a.}", "No value for a. found in a"), ("@{a[x]}", "No value for a[x] found in a"), ("@{}", "No value for  found in "),
      ("@{b.id}", "No value for b.id found in b"),
    ])
  func composite_brokenReference_haltsThatRequestOnly(reference: String, message: String) async throws {
    try await withOrg { server, client in
      let (answer, items) = try await post(
        client,
        [
          sub("a", "POST", "sobjects/Account", #"{"Name":"Acme"}"#), sub("b", "POST", "sobjects/Account", "{}"),
          sub("c", "POST", "sobjects/Contact", "{\"LastName\":\"\(reference)\"}"),
        ])
      #expect(answer.status == 200)
      #expect(statuses(items).prefix(3) == [201, 400, 400])
      #expect(codes(items)[2] == "PROCESSING_HALTED")
      #expect(items[2]["body"]?.arrayValue?.first?["message"] == .string("Invalid reference specified. " + message))
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
    }
  }

  @Test func composite_anOpeningWithoutAnEnd_isOrdinaryText() async throws {
    try await withOrg { server, client in
      let (_, items) = try await post(client, [sub("a", "POST", "sobjects/Account", #"{"Name":"me@{here @ x"}"#)])
      #expect(statuses(items) == [201])
      #expect(try server.query("SELECT Name FROM Account")["records"]?.arrayValue?.first?["Name"] == "me@{here @ x")
    }
  }

  @Test func composite_allOrNone_undoesEverythingAndNamesTheCulprit() async throws {
    try await withOrg { server, client in
      let made = try await client.json("POST", "\(data)/sobjects/Account", #"{"Name":"Kept"}"#)
      let kept = made.json["id"]?.stringValue ?? ""
      let before = try server.query("SELECT Id, Name, LastModifiedDate FROM Account", includeDeleted: true).text
      let (answer, items) = try await post(
        client,
        [
          sub("a", "POST", "sobjects/Account", #"{"Name":"Acme"}"#),
          sub("u", "PATCH", "sobjects/Account/\(kept)", #"{"Name":"Changed"}"#),
          sub("k", "DELETE", "sobjects/Account/\(kept)"), sub("bad", "POST", "sobjects/Contact", "{}"),
          sub("later", "POST", "sobjects/Account", #"{"Name":"Later"}"#),
        ], allOrNone: true)
      #expect(answer.status == 200)
      #expect(statuses(items) == [400, 400, 400, 400, 400])
      #expect(
        codes(items) == [
          "PROCESSING_HALTED", "PROCESSING_HALTED", "PROCESSING_HALTED", "REQUIRED_FIELD_MISSING", "PROCESSING_HALTED",
        ])
      let text = "The transaction was rolled back since another operation in the same transaction failed."
      #expect(items[0]["body"]?.arrayValue?.first?["message"] == .string(text))
      #expect(try server.query("SELECT Id, Name, LastModifiedDate FROM Account", includeDeleted: true).text == before)
      let recent = try await client.send("GET", "\(data)/sobjects/Account")
      #expect(recent.json["recentItems"]?.arrayValue?.compactMap { $0["Name"]?.stringValue } == ["Kept"])
    }
  }

  @Test func composite_allOrNone_countsFailedReadsAndFailedCollectionItems() async throws {
    try await withOrg { server, client in
      let account = sub("a", "POST", "sobjects/Account", #"{"Name":"Acme"}"#)
      let (_, read) = try await post(client, [account, sub("g", "GET", "sobjects/Account/001gL0000009999")], allOrNone: true)
      #expect(statuses(read) == [400, 404] && codes(read)[0] == "PROCESSING_HALTED")
      let records =
        #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Name":"B"},{"attributes":{"type":"Account"}}]}"#
      let (_, items) = try await post(client, [account, sub("m", "POST", "composite/sobjects", records)], allOrNone: true)
      #expect(statuses(items) == [400, 200])
      let inner = items[1]["body"]?.arrayValue?.map { $0["errors"]?.arrayValue?.first?["statusCode"]?.stringValue }
      #expect(inner == ["ALL_OR_NONE_OPERATION_ROLLED_BACK", "REQUIRED_FIELD_MISSING"])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
      let (_, good) = try await post(client, [account, sub("g", "GET", "sobjects/Account/@{a.id}")], allOrNone: true)
      #expect(statuses(good) == [201, 200])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
    }
  }

  @Test func composite_withoutAllOrNone_keepsWhatWorked() async throws {
    try await withOrg { server, client in
      let (_, items) = try await post(
        client,
        [
          sub("a", "POST", "sobjects/Account", #"{"Name":"A"}"#), sub("b", "POST", "sobjects/Account", "{}"),
          sub("n", "GET", "nowhere"), sub("m", "PATCH", "sobjects/Account", "{}"),
          sub("c", "POST", "sobjects/Account", #"{"Name":"C"}"#),
        ])
      #expect(statuses(items) == [201, 400, 404, 405, 201])
      #expect(codes(items) == [nil, "REQUIRED_FIELD_MISSING", "NOT_FOUND", "METHOD_NOT_ALLOWED", nil])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 2)
    }
  }

  @Test func composite_headersOfASubrequest_reachItsRoute() async throws {
    try await withOrg(seed: .custom(accounts: 1, contacts: 450)) { _, client in
      let query = #"{"referenceId":"q","method":"GET","url":"\#(data)/query?q=SELECT+Id+FROM+Contact","httpHeaders":"#
      let (_, items) = try await post(client, [query + #"{"Sforce-Query-Options":"batchSize=200"}}"#])
      #expect(items.first?["body"]?["records"]?.arrayValue?.count == 200)
      for name in ["Accept", "authorization", "Content-Type"] {
        let (answer, _) = try await post(client, [query + "{\"\(name)\":\"x\"}}"])
        #expect(answer.status == 400 && answer.errorCode == "INVALID_INPUT" && answer.message?.contains(name) == true)
      }
    }
  }

  @Test(
    arguments: [
      ("{}", "JSON_PARSER_ERROR"), (#"{"compositeRequest":[]}"#, "JSON_PARSER_ERROR"),
      (#"{"compositeRequest":[7]}"#, "JSON_PARSER_ERROR"),
      (#"{"compositeRequest":[{"method":"GET","url":"/services/data/v66.0/limits"}]}"#, "INVALID_INPUT"),
      (#"{"compositeRequest":[{"referenceId":"1a","method":"GET","url":"/services/data/v66.0/limits"}]}"#, "INVALID_INPUT"),
      (#"{"compositeRequest":[{"referenceId":"a-b","method":"GET","url":"/services/data/v66.0/limits"}]}"#, "INVALID_INPUT"),
      (#"{"compositeRequest":[{"referenceId":"a","method":"BREW","url":"/services/data/v66.0/limits"}]}"#, "INVALID_INPUT"),
      (#"{"compositeRequest":[{"referenceId":"a","method":"GET","url":"v66.0/limits"}]}"#, "INVALID_INPUT"),
      (#"{"compositeRequest":[{"referenceId":"a","method":"GET"}]}"#, "INVALID_INPUT"),
      (
        #"{"compositeRequest":[{"referenceId":"a","method":"POST","url":"/services/data/v66.0/composite/batch"}]}"#,
        "INVALID_INPUT"
      ),
      (
        #"{"compositeRequest":[{"referenceId":"a","method":"GET","url":"/services/data/v66.0/limits"},"#
          + #"{"referenceId":"a","method":"GET","url":"/services/data/v66.0/limits"}]}"#, "INVALID_INPUT"
      ),
    ])
  func composite_badCall_isRefusedWhole(body: String, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", composite, body)
      #expect(answer.status == 400 && answer.errorCode == code)
    }
  }

  @Test func composite_tooManyRequests_areRefusedWhole() async throws {
    try await withOrg { server, client in
      let creates = (0..<26).map { sub("a\($0)", "POST", "sobjects/Account", #"{"Name":"A"}"#) }
      let refused = try await post(client, creates).answer
      #expect(refused.errorCode == "INVALID_INPUT")
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
      #expect(statuses(try await post(client, Array(creates.dropLast())).items) == Array(repeating: 201, count: 25))
      let queries = (0..<6).map { sub("q\($0)", "GET", "query?q=SELECT+Id+FROM+User") }
      #expect(try await post(client, queries).answer.errorCode == "INVALID_INPUT")
      #expect(statuses(try await post(client, Array(queries.dropLast())).items) == Array(repeating: 200, count: 5))
    }
  }

  @Test func composite_theResource_listsItsRelations() async throws {
    try await withOrg { _, client in
      let list = try await client.send("GET", composite)
      #expect(list.json["tree"] == .string("\(composite)/tree"))
      let answer = try await client.send("DELETE", composite)
      #expect(answer.status == 405 && answer.headers["allow"] == "HEAD,GET,POST")
    }
  }

  // MARK: Graphs

  @Test func graph_oneFails_theOthersStay() async throws {
    try await withOrg { server, client in
      func graph(_ id: String, _ subs: [String]) -> String {
        "{\"graphId\":\"\(id)\",\"compositeRequest\":[\(subs.joined(separator: ","))]}"
      }
      let good = graph(
        "g1",
        [
          sub("a", "POST", "sobjects/Account", #"{"Name":"A"}"#),
          sub("c", "POST", "sobjects/Contact", #"{"LastName":"C","AccountId":"@{a.id}"}"#),
        ])
      let bad = graph(
        "g2", [sub("a", "POST", "sobjects/Account", #"{"Name":"B"}"#), sub("c", "POST", "sobjects/Contact", "{}")])
      let answer = try await client.json("POST", "\(composite)/graph", "{\"graphs\":[\(good),\(bad)]}")
      let graphs = answer.json["graphs"]?.arrayValue ?? []
      #expect(answer.status == 200 && graphs.map { $0["isSuccessful"] } == [true, false])
      #expect(graphs.map { $0["graphId"] } == ["g1", "g2"])
      #expect(
        codes(graphs[1]["graphResponse"]?["compositeResponse"]?.arrayValue ?? []) == [
          "PROCESSING_HALTED", "REQUIRED_FIELD_MISSING",
        ])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
      let twice = try await client.json("POST", "\(composite)/graph", "{\"graphs\":[\(good),\(good)]}")
      #expect(twice.errorCode == "INVALID_INPUT")
      let query = graph("g", [sub("q", "GET", "query?q=SELECT+Id+FROM+User")])
      #expect(try await client.json("POST", "\(composite)/graph", "{\"graphs\":[\(query)]}").errorCode == "INVALID_INPUT")
      let failing = (0..<16).map { graph("f\($0)", [sub("x", "POST", "sobjects/Account", $0 < 15 ? "{}" : #"{"Name":"Z"}"#)]) }
      let many = try await client.json("POST", "\(composite)/graph", "{\"graphs\":[\(failing.joined(separator: ","))]}")
      let last = many.json["graphs"]?.arrayValue?.last
      #expect(codes(last?["graphResponse"]?["compositeResponse"]?.arrayValue ?? []) == ["PROCESSING_HALTED"])
    }
  }
}
