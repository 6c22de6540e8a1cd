import JSON
import SandboxParse
import Testing

/// Transport, and refusals before any object is accessed: sections 1 and 2.
@Suite struct TransportTests {
  @Test func keys_missingOrWrong_are403WithoutCodeAndType() async throws {
    try await withParse { server, client, _ in
      let id = server.keys.applicationId
      for headers in [
        [], [("X-Parse-Application-Id", "other"), ("X-Parse-REST-API-Key", server.keys.restAPIKey)],
        [("X-Parse-Application-Id", id)], [("X-Parse-Application-Id", id), ("X-Parse-REST-API-Key", "wrong")],
        [("X-Parse-Application-Id", id), ("X-Parse-Master-Key", "wrong")],
      ] {
        let answer = try await client.send("GET", "/parse/classes/A", headers)
        #expect(answer.status == 403 && answer.text == #"{"error":"unauthorized"}"#, "\(headers)")
        #expect(answer.header("content-type") == nil && answer.header("access-control-allow-origin") == "*")
      }
      let wrong = try await client.sdk("/classes/A", ["_ApplicationId": "other"], method: "GET")
      #expect(wrong.status == 200, "the client's own id takes its place")
    }
  }

  @Test func everyClientKey_opens() async throws {
    try await withParse { server, client, _ in
      for (name, key) in [
        ("X-Parse-REST-API-Key", server.keys.restAPIKey), ("X-Parse-Client-Key", server.keys.clientKey),
        ("X-Parse-Javascript-Key", server.keys.javascriptKey), ("X-Parse-Master-Key", server.keys.masterKey),
      ] {
        let headers = [("X-Parse-Application-Id", server.keys.applicationId), (name, key)]
        #expect(try await client.send("GET", "/parse/classes/A", headers).text == #"{"results":[]}"#, "\(name)")
      }
      let both = [
        ("X-Parse-Application-Id", server.keys.applicationId), ("X-Parse-REST-API-Key", server.keys.restAPIKey),
        ("X-Parse-Master-Key", "wrong"),
      ]
      let schemas = try await client.send("GET", "/parse/schemas", both)
      #expect(schemas.status == 403 && schemas.text == #"{"error":"unauthorized: master key is required"}"#)
      let readOnly = [
        ("X-Parse-Application-Id", server.keys.applicationId), ("X-Parse-Master-Key", server.keys.readOnlyMasterKey),
      ]
      #expect(try await client.send("GET", "/parse/schemas", readOnly).status == 200)
      let write = try await client.send("POST", "/parse/classes/A", readOnly, Array("{}".utf8))
      #expect(write.status == 400 && write.code == 119)
    }
  }

  @Test func body_thatIsNotJSON_is400BeforeTheKeys() async throws {
    try await withParse { _, client, _ in
      let broken = try await client.send("POST", "/parse/classes/A", [], Array("{\"a\":".utf8))
      #expect(broken.status == 400 && broken.code == nil && broken.error != nil)
      let large = try await client.send(
        "POST", "/parse/classes/A", [], Array("\"\(String(repeating: "x", count: 21 << 20))\"".utf8))
      #expect(large.status == 413 && large.text == #"{"error":"request entity too large"}"#)
    }
  }

  @Test func health_answersEveryMethodWithoutKeys() async throws {
    try await withParse { _, client, _ in
      for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
        let answer = try await client.send(method, "/parse/health", [], method == "GET" ? nil : Array("{}".utf8))
        #expect(answer.status == 200 && answer.text == #"{"status":"ok"}"#, "\(method)")
      }
    }
  }

  @Test func options_anyPath_isOKWithoutKeys() async throws {
    try await withParse { _, client, _ in
      let answer = try await client.send("OPTIONS", "/parse/classes/Whatever/x")
      #expect(answer.status == 200 && answer.text == "OK")
      #expect(answer.header("access-control-allow-methods") == "GET,PUT,POST,DELETE,OPTIONS")
      #expect(answer.header("access-control-allow-headers")?.contains("X-Parse-Session-Token") == true)
      #expect(answer.header("access-control-expose-headers") == "X-Parse-Job-Status-Id, X-Parse-Push-Status-Id")
    }
  }

  @Test func crossOriginHeaders_standOnEveryAnswer() async throws {
    try await withParse { server, client, _ in
      let id = try await client.create("A", [:])
      let file = try await client.sdk("/files/a.txt", ["base64": "aGk=", "_ContentType": "text/plain"])
      let path = try #require(file.json["url"]?.stringValue?.dropFirst(server.url.count))
      try server.faults.add(Fault("serverError"), path: "/parse/classes/Down")
      for answer in [
        try await client.get("/classes/A"), try await client.get("/classes/A/none"), try await client.delete("/classes/A/\(id)"),
        try await client.post("/batch", ["requests": []]), try await client.get("/health"), try await client.get("/nothing"),
        try await client.send("GET", "/parse/classes/A"), try await client.send("GET", String(path)),
        try await client.send("GET", "/parse/files/library/none"), try await client.get("/classes/Down"), file,
        try await client.send("POST", "/parse/classes/A", [], Array("{".utf8)),
      ] {
        let seen = "\(answer.status) \(answer.text.prefix(80))"
        #expect(answer.header("access-control-allow-origin") == "*", "\(seen)")
        #expect(answer.header("access-control-allow-methods") == "GET,PUT,POST,DELETE,OPTIONS", "\(seen)")
        #expect(answer.header("access-control-allow-headers")?.contains("X-Parse-Application-Id") == true, "\(seen)")
        #expect(answer.header("access-control-expose-headers")?.isEmpty == false, "\(seen)")
      }
    }
  }

  @Test func unknownRoutes_areHTMLWithKeysElse403() async throws {
    try await withParse { _, client, _ in
      let patch = try await client.json("PATCH", "/classes/A/x", [:])
      #expect(patch.status == 404 && patch.header("content-type")?.hasPrefix("text/html") == true)
      #expect(patch.text.contains("<pre>Cannot PATCH /parse/classes/A/x</pre>"))
      #expect(try await client.get("/nothing").status == 404)
      #expect(try await client.send("GET", "/parse/nothing").status == 403)
    }
  }

  @Test func context_thatIsNotAnObject_is107() async throws {
    try await withParse { _, client, _ in
      let wrong = try await client.json("POST", "/classes/A", [:], [("X-Parse-Cloud-Context", "[1]")])
      #expect(wrong.status == 400 && wrong.code == 107)
      #expect(try await client.json("POST", "/classes/A", [:], [("X-Parse-Cloud-Context", #"{"a":1}"#)]).status == 201)
      #expect(try await client.sdk("/classes/A", ["_context": "x"]).code == 107)
      #expect(try await client.sdk("/classes/A", ["_context": #"{"a":1}"#]).status == 201)
    }
  }

  @Test func mountPaths_allAnswer() async throws {
    try await withParse { server, client, _ in
      for mount in ["/parse", "/1", ""] {
        var client = client
        client.mount = mount
        let made = try await client.post("/classes/A", ["n": 1])
        #expect(made.header("location") == "\(server.url)\(mount)/classes/A/\(made.id)")
        let batch = try await client.post(
          "/batch", ["requests": [["method": "PUT", "path": .string("\(mount)/classes/A/\(made.id)"), "body": ["n": 2]]]])
        #expect(batch.items.first?["success"]?["updatedAt"] != nil, "\(mount): \(batch.text)")
      }
    }
  }

  @Test func get_sameAnswer_is304() async throws {
    try await withParse { _, client, _ in
      try await client.create("A", ["n": 1])
      let first = try await client.get("/classes/A")
      let tag = try #require(first.header("etag"))
      #expect(tag.hasPrefix("W/\""))
      let keys = [("X-Parse-Application-Id", client.keys.applicationId), ("X-Parse-REST-API-Key", client.keys.restAPIKey)]
      let again = try await client.send("GET", "/parse/classes/A", keys + [("If-None-Match", tag)])
      #expect(again.status == 304 && again.body.isEmpty)
    }
  }

  // MARK: Keys in the body

  @Test func sdkTransport_everyCallWorksAndKeysAreNotStored() async throws {
    try await withParse { _, client, _ in
      let made = try await client.sdk("/classes/A", ["n": 1, "_context": ["by": "test"]])
      #expect(made.status == 201)
      let found = try await client.sdk("/classes/A", ["where": ["n": 1], "limit": 5], method: "GET")
      #expect(found.results.count == 1 && found.results[0].objectValue?.keys.contains { $0.hasPrefix("_") } == false)
      #expect(try await client.sdk("/classes/A/\(made.id)", ["n": 2], method: "PUT").json["updatedAt"] != nil)
      #expect(try await client.sdk("/classes/A/\(made.id)", [:], method: "GET").json["n"] == 2)
      let batch = try await client.sdk(
        "/batch", ["requests": [["method": "DELETE", "path": .string("/parse/classes/A/\(made.id)"), "body": [:]]]])
      #expect(batch.text == #"[{"success":{}}]"#)
      #expect(try await client.sdk("/health", [:], method: "GET").text == #"{"status":"ok"}"#)
      #expect(try await client.master.sdk("/schemas", [:], method: "GET").results.isEmpty == false)
    }
  }

  @Test func sdkKeys_besideAKnownIdInTheHeaders_areRefused() async throws {
    try await withParse { _, client, _ async throws in
      for name in ["_SessionToken", "_ApplicationId", "_x"] {
        let body = JSONValue.object(JSONObject([("n", 1), (name, "a")]))
        #expect(try await client.post("/classes/A", body).code == 105, "\(name)")
        let query = JSONValue.object(JSONObject([("_method", "GET"), (name, "a")]))
        #expect(try await client.post("/classes/A", query).code == 102, "\(name)")
      }
      #expect(try await client.post("/classes/A", ["_method": "GET"]).status == 200)
      #expect(try await client.post("/classes/A", ["_noBody": true]).status == 201)
    }
  }

  @Test func contentType_doesNotMatter() async throws {
    try await withParse { _, client, _ async throws in
      let headers = [
        ("X-Parse-Application-Id", client.keys.applicationId), ("X-Parse-Client-Key", client.keys.clientKey),
        ("Content-Type", "application/x-www-form-urlencoded"), ("X-Parse-Request-Id", "one"),
      ]
      for _ in 0..<2 {
        #expect(try await client.send("POST", "/parse/classes/A", headers, Array(#"{"a":1}"#.utf8)).status == 201)
      }
    }
  }

  @Test func requestId_whereItIsLookedAt_isTakenOnce() async throws {
    var settings = ParseSettings()
    settings.idempotency = true
    try await withParse(settings) { _, client, clock in
      #expect(try await client.json("POST", "/classes/A", [:], [("X-Parse-Request-Id", "one")]).status == 201)
      let again = try await client.json("POST", "/classes/A", [:], [("X-Parse-Request-Id", "one")])
      #expect(again.status == 400 && again.code == 159)
      clock.advance(by: 301)
      #expect(try await client.json("POST", "/classes/A", [:], [("X-Parse-Request-Id", "one")]).status == 201)
    }
  }
}
