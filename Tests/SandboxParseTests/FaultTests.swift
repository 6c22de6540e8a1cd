import JSON
import SandboxParse
import Testing

/// Faults, the control interface and the library data: section 23.
@Suite struct FaultTests {
  private func call(_ server: ParseServer, _ action: String, _ body: JSONValue = [:]) async throws -> ParseClient.Answer {
    let client = ParseClient(port: server.port, keys: server.keys)
    return try await client.send(
      "POST", "/__sandbox/\(action)", [("Authorization", "Bearer \(server.controlToken)")], body.serialized())
  }

  @Test func lostAnswer_leavesTheObject() async throws {
    try await withParse { server, client, _ in
      try server.faults.add(.dropBeforeResponse(), path: "classes/A", method: "POST")
      await #expect(throws: ParseClient.NoAnswer.self) { _ = try await client.post("/classes/A", ["n": 1]) }
      server.faults.clear()
      #expect(try await client.get("/classes/A").results.map { $0["n"] } == [1])
    }
  }

  @Test func faultsOfAnyServer_speakParsesWords() async throws {
    try await withParse { server, client, _ in
      try server.faults.add(Fault("tooManyRequests", ["retryAfter": 2]), when: .nth(1))
      let limited = try await client.get("/classes/A")
      #expect(limited.status == 429 && limited.code == 100 && limited.header("retry-after") == "2")
      try server.faults.add(Fault("serverError"), when: .nth(1))
      #expect(try await client.get("/classes/A").text == #"{"code":1,"message":"Internal server error."}"#)
      try server.faults.add(.htmlPage(status: 502), when: .nth(1))
      let page = try await client.get("/classes/A")
      #expect(page.status == 502 && page.text.hasPrefix("<!DOCTYPE html>"))
    }
  }

  @Test func faultsOfTheParseServer() async throws {
    try await withParse { server, client, clock in
      let user = try await client.post("/users", ["username": "u", "password": "p"])
      let own = client.signedIn(user.json["sessionToken"]?.stringValue)
      try server.faults.add(Fault("invalidToken"), when: .nth(2))
      #expect(try await own.get("/classes/A").status == 200)
      #expect(try await client.get("/classes/A").status == 200, "a request without a token is not counted")
      #expect(try await own.get("/classes/A").code == 209)
      #expect(try await own.get("/classes/A").status == 200)
      try server.faults.add(Fault("lockedClass", ["className": "A"]), path: "/parse/classes/A", times: 1)
      #expect(try await client.get("/classes/A").error == "Permission denied for action find on class A.")
      try server.faults.add(Fault("staleStamps"), times: 1)
      clock.advance(by: 60)
      let late = try await client.post("/classes/A", ["n": 1])
      #expect(late.json["createdAt"] == "2026-03-02T09:00:50.000Z")
      #expect(try await client.post("/classes/A", ["n": 2]).json["createdAt"] == "2026-03-02T09:01:00.000Z")
      try server.faults.add(Fault("loweredLimit", ["limit": 1]), times: 1)
      #expect(try await client.find("/classes/A", ["limit": 50, "count": 1]).json["results"]?.arrayValue?.count == 1)
      #expect(try await client.get("/classes/A").results.count == 2)
    }
  }

  @Test func everyKind_canBeAddedWithItsSample() async throws {
    try await withParse { server, client, _ in
      let user = try await client.post("/users", ["username": "u", "password": "p"])
      let own = client.signedIn(user.json["sessionToken"]?.stringValue)
      for kind in server.faults.kinds where kind.name != "hang" {
        try server.faults.add(kind.sample, when: .nth(1))
        _ = try? await own.post("/batch", ["requests": []])
        #expect(server.faults.active.last?.fired == 1, "\(kind.name)")
        server.faults.clear()
      }
      #expect(try await own.get("/users/me").status == 200)
    }
  }

  // MARK: Control

  @Test func control_parse_tellsAndChangesSettings() async throws {
    try await withParse { server, _, _ in
      let told = try await call(server, "parse", ["maxLimit": 5])
      #expect(told.json["maxLimit"] == 5 && told.json["applicationId"] == "library")
      #expect(told.json["restAPIKey"] == .string(server.keys.restAPIKey) && told.json["allowCustomObjectId"] == false)
      #expect(told.json["masterKey"] == .string(server.keys.masterKey) && told.json["url"] == .string(server.url))
      #expect(server.settings.maxLimit == 5)
      for (body, part) in [
        (["maxLimit": -1], "0 to 1000000"), (["idempotency": 1], "true or false"),
        (["maxLimits": 1], "'maxLimits' is not a setting"),
      ] as [(JSONValue, String)] {
        let wrong = try await call(server, "parse", body)
        #expect(wrong.status == 400 && wrong.text.contains(part), "\(wrong.text)")
      }
    }
  }

  @Test func reset_leavesTheBuiltInClasses_withSeedTheLibrary() async throws {
    try await withParse(isSeeded: true) { server, client, _ in
      _ = try await client.post("/users", ["username": "u", "password": "p"])
      try server.faults.add(Fault("staleStamps"))
      server.settings.maxLimit = 7
      #expect(try await call(server, "reset").text == "\"OK\"")
      #expect(try await client.master.get("/schemas").column("className") == ["_Role", "_User"])
      #expect(try await client.master.get("/users").results.isEmpty)
      #expect(server.settings.maxLimit == 0 && server.faults.active.count == 1, "rules stay")
      #expect(try await call(server, "reset", ["seed": true]).text == "\"OK\"")
      #expect(try await client.find("/classes/Book", ["limit": 0, "count": 1]).json["count"] == 5_000)
      let refused = try await client.send("POST", "/__sandbox/reset", [], Array("{}".utf8))
      #expect(refused.status == 401)
    }
  }

  @Test func library_isTheSameEachTime() async throws {
    var texts: [String] = []
    for _ in 0..<2 {
      try await withParse(isSeeded: true) { server, client, _ in
        for (name, count) in [("Genre", 40), ("Publisher", 300), ("Author", 2_000), ("ISBN", 5_000), ("Book", 5_000)] {
          let answer = try await client.find("/classes/\(name)", ["limit": 0, "count": 1])
          #expect(answer.json["count"] == .integer(Int64(count)), "\(name)")
        }
        let page = try await client.find("/classes/Book", ["limit": 20, "order": "updatedAt,objectId", "include": "isbn,genre"])
        #expect(page.results.allSatisfy { $0["isbn"]?["value"]?.stringValue?.utf8.count == 13 && $0["genre"]?["name"] != nil })
        let book = try #require(page.column("objectId").first)
        for (key, target) in [("authors", "Author"), ("publishers", "Publisher")] {
          let related = try await client.find(
            target, where: ["$relatedTo": ["object": pointer("Book", book), "key": .string(key)]])
          #expect(!related.results.isEmpty, "\(key)")
        }
        texts.append(page.text)
      }
    }
    #expect(texts[0] == texts[1])
    #expect(Set(texts).count == 1)
  }
}
