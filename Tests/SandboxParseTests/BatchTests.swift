import JSON
import SandboxParse
import Testing

/// Batches: section 9.
@Suite struct BatchTests {
  private func item(_ method: String, _ path: String, _ body: JSONValue? = nil) -> JSONValue {
    var object: JSONObject = ["method": .string(method), "path": .string(path)]
    object["body"] = body
    return .object(object)
  }

  @Test func results_standInOrderWithStatus200() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", ["n": 1])
      let answer = try await client.post(
        "/batch",
        [
          "requests": [
            item("POST", "/parse/classes/A", ["n": 2]),
            item("PUT", "/parse/classes/A/\(id)", ["n": ["__op": "Increment", "amount": 1]]),
            item("DELETE", "/parse/classes/A/x9", [:]), item("DELETE", "/parse/classes/A/x9"),
            item("GET", "/parse/classes/A", ["where": ["n": 2], "limit": 1]),
          ]
        ])
      #expect(answer.status == 200 && answer.items.count == 5)
      #expect(answer.items[0]["success"]?["createdAt"] != nil && answer.items[1]["success"]?["n"] == 2)
      #expect(answer.items[2] == ["error": ["code": 101, "error": "Object not found."]] && answer.items[3] == answer.items[2])
      #expect(answer.items[4]["success"]?["results"]?.arrayValue?.count == 1)
    }
  }

  @Test func shapes_emptyMissingNestedAndReadsWithoutBody() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", [:])
      #expect(try await client.post("/batch", ["requests": []]).text == "[]")
      for body in [[:], ["requests": "x"]] as [JSONValue] {
        let answer = try await client.post("/batch", body)
        #expect(answer.status == 400 && answer.code == 107 && answer.error == "requests must be an array")
      }
      let failing = try await client.post(
        "/batch",
        [
          "requests": [
            item("POST", "/parse/batch", ["requests": []]), item("GET", "/parse/classes/A/\(id)"),
            item("PUT", "/parse/classes/A/\(id)", ["n": ["__op": "Double"]]), item("POST", "/parse/classes/A", [:]),
          ]
        ])
      for result in failing.items.prefix(3) {
        #expect(result["error"]?["code"] == nil && result["error"]?["error"]?.stringValue != nil, "\(result.text)")
      }
      #expect(failing.items.last?["success"] != nil)
    }
  }

  @Test func wrongPaths_failTheWholeCallAfterItemsHaveRun() async throws {
    try await withParse { _, client, _ in
      let prefix = try await client.post(
        "/batch", ["requests": [item("POST", "/parse/classes/A", ["n": 1]), item("POST", "/other/classes/A", ["n": 2])]])
      #expect(prefix.status == 400 && prefix.code == 107 && prefix.error == "cannot route batch path /other/classes/A")
      let route = try await client.post("/batch", ["requests": [item("POST", "/parse/x/y", [:])]])
      #expect(route.code == 107 && route.error == "cannot route POST /x/y")
      #expect(try await client.get("/classes/A").results.map { $0["n"] } == [1])
    }
  }

  @Test func transaction_anyFailure_rollsBack() async throws {
    try await withParse { _, client, _ in
      let good = item("POST", "/parse/classes/A", ["n": 1])
      let failed = try await client.post(
        "/batch", ["requests": [good, item("DELETE", "/parse/classes/A/none")], "transaction": true])
      #expect(failed.status == 500 && failed.text == #"{"code":1,"message":"Internal server error."}"#)
      #expect(try await client.get("/classes/A").results.isEmpty)
      let done = try await client.post("/batch", ["requests": [good, good], "transaction": true])
      #expect(done.items.count == 2)
      #expect(try await client.get("/classes/A").results.count == 2)
    }
  }

  @Test func byDefault_itemsRunInOrderAndNothingFails() async throws {
    try await withParse { server, client, _ in
      #expect(server.faults.active.isEmpty)
      let items = (0..<50).map { item("POST", "/parse/classes/A", ["n": .integer(Int64($0))]) }
      for _ in 0..<4 {
        let answer = try await client.post("/batch", ["requests": .array(items)])
        let stamps = answer.items.compactMap { $0["success"]?["createdAt"]?.stringValue }
        #expect(stamps.count == 50 && stamps == stamps.sorted())
      }
      #expect(try await client.find("/classes/A", ["limit": 1_000]).results.count == 200, "no limit is lowered")
    }
  }

  @Test func shuffled_executionChangesTheOrderOfStampsAlone() async throws {
    try await withParse { server, client, _ in
      try server.faults.add(Fault("shuffledBatch"))
      server.faults.reset(seed: 7)
      let items = (0..<20).map { item("POST", "/parse/classes/A", ["n": .integer(Int64($0))]) }
      let answer = try await client.post("/batch", ["requests": .array(items)])
      let stamps = answer.items.compactMap { $0["success"]?["createdAt"]?.stringValue }
      #expect(stamps.count == 20 && stamps != stamps.sorted())
      for (n, result) in answer.items.enumerated() {
        let id = result["success"]?["objectId"]?.stringValue ?? ""
        #expect(try await client.get("/classes/A/\(id)").json["n"] == .integer(Int64(n)))
      }
    }
  }
}
