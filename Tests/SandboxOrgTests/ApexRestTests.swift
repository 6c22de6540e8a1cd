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
}
