import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"
/// The start of the manual clock.
private let now = "Mon, 02 Mar 2026 09:00:00 GMT"
private let before = "Mon, 02 Mar 2026 08:59:59 GMT"

/// Conditional headers, and the paths after an id.
@Suite struct ConditionTests {
  @Test(arguments: [
    ("GET", "If-Modified-Since", now, 304), ("GET", "If-Modified-Since", before, 200), ("HEAD", "If-Modified-Since", now, 304),
    ("GET", "If-Modified-Since", "yesterday", 200), ("GET", "If-Unmodified-Since", now, 200),
    ("GET", "If-Unmodified-Since", before, 412), ("PATCH", "If-Unmodified-Since", now, 204),
    ("PATCH", "If-Unmodified-Since", before, 412), ("PATCH", "If-Unmodified-Since", "2026-03-02", 400),
    ("PATCH", "If-Modified-Since", now, 204), ("DELETE", "If-Unmodified-Since", before, 204),
  ])
  func row_timeCondition_answersAsTheVerbAsks(method: String, header: String, value: String, status: Int) async throws {
    try await withOrg { server, client in
      let id = try server.create("Contact", fields: ["LastName": "A"])
      let answer = try await client.send(
        method, "\(rows)/Contact/\(id)", headers: [(header, value), ("Content-Type", "application/json")],
        body: method == "PATCH" ? Array(#"{"LastName":"B"}"#.utf8) : nil)
      #expect(answer.status == status)
      if status == 304 { #expect(answer.body.isEmpty && answer.headers["last-modified"] == now) }
      if status == 412 { #expect(answer.errorCode == "PRECONDITION_FAILED") }
      let name = try server.query("SELECT LastName FROM Contact", includeDeleted: true)["records"]?.arrayValue?.first?["LastName"]
      #expect(name == (status == 204 && method == "PATCH" ? "B" : "A"))
    }
  }

  @Test func account_entityTag_changesWithTheRow() async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "A"])
      func send(_ method: String, _ header: String, _ value: String) async throws -> Int {
        try await client.send(
          method, "\(rows)/Account/\(id)", headers: [(header, value), ("Content-Type", "application/json")],
          body: method == "PATCH" ? Array(#"{"Site":"S"}"#.utf8) : nil
        ).status
      }
      let tag = try await client.send("GET", "\(rows)/Account/\(id)?fields=Id").headers["etag"] ?? ""
      #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
      #expect(try await send("GET", "If-None-Match", tag) == 304)
      #expect(try await send("GET", "If-None-Match", tag.dropLast() + "-gzip\"") == 304)
      #expect(try await send("GET", "If-None-Match", "\"other\", \(tag)") == 304)
      #expect(try await send("GET", "If-Match", "\"other\"") == 412)
      #expect(try await send("PATCH", "If-Match", "\"other\"") == 412)
      #expect(try await send("PATCH", "If-None-Match", tag) == 412)
      #expect(try await send("PATCH", "If-Match", "other") == 400)
      #expect(try await send("PATCH", "If-Match", tag) == 204)
      #expect(try await send("GET", "If-None-Match", tag) == 200)
      let contact = try server.create("Contact", fields: ["LastName": "A"])
      #expect(try await client.send("GET", "\(rows)/Contact/\(contact)").headers["etag"] == nil)
    }
  }

  @Test func describe_sinceItsLastChange_answers304() async throws {
    try await withOrg { _, client in
      for path in ["\(rows)", "\(rows)/Account/describe"] {
        let first = try await client.send("GET", path)
        let stamp = first.headers["last-modified"] ?? ""
        #expect(first.headers["etag"]?.hasPrefix("\"") == true)
        let again = try await client.send("GET", path, headers: [("If-Modified-Since", stamp)])
        #expect(again.status == 304 && again.body.isEmpty)
        let older = try await client.send("GET", path, headers: [("If-Modified-Since", "Thu, 01 Jan 2015 00:00:00 GMT")])
        #expect(older.status == 200)
      }
    }
  }

  // MARK: Relationships

  @Test func path_behindAnId_walksRelationships() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "Acme"])
      let contact = try server.create("Contact", fields: ["LastName": "A", "AccountId": .string(account)])
      let lonely = try server.create("Contact", fields: ["LastName": "B"])
      let parent = try await client.send("GET", "\(rows)/Contact/\(contact)/account?fields=Name")
      #expect(parent.json["Name"] == "Acme" && parent.json["attributes"]?["type"] == "Account")
      let children = try await client.send("GET", "\(rows)/Account/\(account)/Contacts?fields=LastName")
      #expect(children.json["totalSize"] == 1 && children.json["records"]?.arrayValue?.first?["LastName"] == "A")
      #expect(try await client.send("GET", "\(rows)/Contact/\(lonely)/Account").status == 404)
      #expect(try await client.send("GET", "\(rows)/Contact/\(contact)/Nonsense").status == 404)
      #expect(try await client.json("PATCH", "\(rows)/Contact/\(contact)/Account", #"{"Name":"New"}"#).status == 204)
      #expect(try await client.send("DELETE", "\(rows)/Contact/\(contact)/Account").status == 204)
      #expect(try await client.send("GET", "\(rows)/Account/\(account)").errorCode == "ENTITY_IS_DELETED")
      #expect(try await client.send("GET", "\(rows)/Contact/\(contact)/Account").errorCode == "ENTITY_IS_DELETED")
    }
  }

  @Test func bytes_ofAnAttachment_comeWithTheirType() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "Acme"])
      let data = Data((0..<1000).map { UInt8($0 % 256) })
      let made = try await client.json(
        "POST", "\(rows)/Attachment",
        "{\"ParentId\":\"\(account)\",\"Name\":\"a.bin\",\"ContentType\":\"image/x\",\"Body\":\"\(data.base64EncodedString())\"}")
      let id = made.json["id"]?.stringValue ?? ""
      let row = try await client.send("GET", "\(rows)/Attachment/\(id)?fields=Body,BodyLength")
      #expect(row.json["Body"] == .string("\(rows)/Attachment/\(id)/Body") && row.json["BodyLength"] == 1000)
      let body = try await client.send("GET", "\(rows)/Attachment/\(id)/Body")
      #expect(body.status == 200 && Data(body.body) == data && body.headers["content-type"] == "image/x")
    }
  }

  @Test func retrieve_withMruHeader_leavesTheListAlone() async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "Acme"])
      _ = try await client.send("GET", "\(rows)/Account/\(id)", headers: [("Sforce-Mru", "updateMru=false")])
      #expect(try await client.send("GET", "\(rows)/Account").json["recentItems"] == [])
      _ = try await client.send("GET", "\(rows)/Account/\(id)")
      #expect(try await client.send("GET", "\(rows)/Account").json["recentItems"]?.arrayValue?.count == 1)
    }
  }
}
