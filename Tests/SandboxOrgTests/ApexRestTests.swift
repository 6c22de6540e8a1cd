import Foundation
import JSON
import SandboxOrg
import Testing

private let root = "/services/apexrest"

@Suite struct ApexRestTests {
  @Test func handlers_ofATest_answerWithTheOrgsRecords() async throws {
    try await withOrg { server, client in
      try server.setApexRest("POST", "/visits/:name") { call in
        let id = try call.create("Account", fields: ["Name": .string(call.parameters["name"] ?? "")])
        try call.update("Account", id: id, fields: ["Site": try call.json()["site"] ?? .null])
        return ApexAnswer(status: 201, body: ["id": .string(id), "by": .string(call.userId)])
      }
      try server.setApexRest("GET", "visits") { call in
        ApexAnswer(body: try call.query("SELECT Name, Site FROM Account WHERE Site = '\(call.queryParameters["site"] ?? "")'"))
      }
      let made = try await client.json("POST", "\(root)/Visits/Oslo", #"{"site":"north"}"#)
      #expect(made.status == 201 && made.json["by"]?.stringValue?.hasPrefix("005") == true)
      let found = try await client.send("GET", "\(root)/visits?site=north")
      #expect(found.json["records"]?.arrayValue?.map { $0["Name"] } == ["Oslo"])
      let wrong = try await client.send("DELETE", "\(root)/visits")
      #expect(wrong.status == 405 && wrong.headers["allow"] == "HEAD,GET")
      #expect(try await client.send("GET", "\(root)/visits/a/b").message == "Could not find a match for URL")
      #expect(try await WireClient(port: server.port).send("GET", "\(root)/visits").status == 401)
    }
  }

  @Test func handler_thatThrows_writesNothing() async throws {
    struct Odd: Error {}
    try await withOrg { server, client in
      try server.setApexRest("POST", "odd") { call in
        try call.create("Account", fields: ["Name": "A"])
        throw Odd()
      }
      try server.setApexRest("POST", "teapot") { call in
        try call.create("Account", fields: ["Name": "A"])
        throw SandboxError(status: 418, code: "TEAPOT", message: "short and stout")
      }
      try server.setApexRest("DELETE", "all") { call in
        for row in try call.query("SELECT Id FROM Account")["records"]?.arrayValue ?? [] {
          try call.delete("Account", id: row["Id"]?.stringValue ?? "")
        }
        return ApexAnswer(status: 204, body: nil)
      }
      let cases: [(String, Int, String)] = [("odd", 500, "APEX_ERROR"), ("teapot", 418, "TEAPOT")]
      for (path, status, code) in cases {
        let answer = try await client.json("POST", "\(root)/\(path)", "{}")
        #expect(answer.status == status && answer.errorCode == code)
      }
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
      try server.create("Account", fields: ["Name": "B"])
      let gone = try await client.send("DELETE", "\(root)/all")
      #expect(gone.status == 204 && gone.body.isEmpty)
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
    }
  }

  /// The limit is that of a transaction, over all queries of a request.
  @Test func handler_queriesFindMoreThan50000Rows_isAnErrorAndWritesNothing() async throws {
    try await withOrg { server, client in
      for index in 0..<1000 { try server.create("Account", fields: ["Name": .string("A\(index)")]) }
      try server.setApexRest("POST", "greedy/:times") { call in
        try call.create("Contact", fields: ["LastName": "B"])
        var rows = 0
        for _ in 0..<(Int(call.parameters["times"] ?? "") ?? 0) {
          rows += try call.query("SELECT Id FROM Account")["records"]?.arrayValue?.count ?? 0
        }
        return ApexAnswer(body: ["rows": .integer(Int64(rows))])
      }
      #expect(try await client.json("POST", "\(root)/greedy/50", "{}").json["rows"] == 50_000)
      let refused = try await client.json("POST", "\(root)/greedy/51", "{}")
      #expect(refused.status == 500 && refused.errorCode == "APEX_ERROR")
      #expect(refused.message == "System.LimitException: Too many query rows: 50001")
      #expect(try server.query("SELECT COUNT() FROM Contact")["totalSize"] == 1)
    }
  }

  @Test func handler_headersAndBytes_areSentAsTheyAre() async throws {
    try await withOrg { server, client in
      try server.setApexRest("GET", "/picture") { call in
        ApexAnswer(
          status: 203, body: nil, bytes: [0xFF, 0x00], headers: [("content-type", "image/x"), ("X-Path", call.path)])
      }
      try server.setApexRest("GET", "/seen") { call in
        ApexAnswer(body: .array(call.headers.keys.sorted().map { .string($0) }))
      }
      let picture = try await client.send("GET", "\(root)/picture")
      #expect(picture.status == 203 && picture.body == [0xFF, 0x00] && picture.headers["content-type"] == "image/x")
      #expect(picture.headers["x-path"] == "\(root)/picture")
      let seen = try await client.send("GET", "\(root)/seen").json.arrayValue ?? []
      #expect(seen.contains("host") && !seen.contains("authorization"))
    }
  }

  @Test func handler_answerThatCannotBeSent_isAnErrorAndWritesNothing() async throws {
    try await withOrg { server, client in
      let wrong: [(ApexAnswer, String)] = [
        (ApexAnswer(status: 99, body: nil), "the status 99"), (ApexAnswer(status: 204, body: 1), "status 204 cannot have a body"),
        (ApexAnswer(body: nil, headers: [("X-A", "b\r\nSet-Cookie: c")]), "'X-A' contains a line break"),
        (ApexAnswer(body: nil, headers: [("X A", "b")]), "'X A' is not a valid header name"),
        (ApexAnswer(body: nil, headers: [("Content-Length", "1")]), "sets the header 'Content-Length' itself"),
      ]
      for (number, (answer, problem)) in wrong.enumerated() {
        try server.setApexRest("POST", "wrong/\(number)") { call in
          try call.create("Account", fields: ["Name": "A"])
          return answer
        }
        let refused = try await client.json("POST", "\(root)/wrong/\(number)", "{}")
        #expect(refused.status == 500 && refused.errorCode == "APEX_ERROR", "\(problem)")
        #expect(refused.message?.contains(problem) == true, "\(refused.message ?? "")")
      }
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
    }
  }

  @Test func handler_catchesAFailedDelete_itsChangesAreUndone() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      try server.setApexRest("DELETE", "some") { call in
        do {
          try call.delete("Account", id: account)
          try call.create("Account", fields: [:])
        } catch let error as SandboxError {
          return ApexAnswer(body: [.string(error.code), try call.records("SELECT COUNT() FROM Account")])
        }
        return ApexAnswer(body: nil)
      }
      #expect(try await client.send("DELETE", "\(root)/some").json == ["REQUIRED_FIELD_MISSING", 0])
    }
  }

  @Test func handler_onThePathOfTheOrgsClass_isRefused() async throws {
    try await withOrg { server, _ in
      #expect(throws: SandboxError.self) { try server.setApexRest("GET", "/SimpleAccount/x") { _ in ApexAnswer(body: nil) } }
    }
  }
}
