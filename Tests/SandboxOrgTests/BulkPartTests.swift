import Foundation
import JSON
import SandboxOrg
import Testing

private let jobs = "/services/data/v66.0/jobs"

@Suite struct BulkPartTests {
  @Test func ingestJob_asForm_runsWithoutFurtherCalls() async throws {
    try await withOrg { server, client in
      var form = TestForm()
      form.add("job", type: "application/json", Array(#"{"object":"Account","operation":"insert"}"#.utf8))
      form.add("content", fileName: "content", type: "text/csv", Array("Name\nA\nB\n".utf8))
      let made = try await form.send(to: "\(jobs)/ingest", by: client)
      #expect(made.status == 200 && made.json["state"] == "UploadComplete" && made.json["contentUrl"] == nil)
      await server.finishBulkJobs()
      let job = try await client.send("GET", "\(jobs)/ingest/\(made.json["id"]?.stringValue ?? "")").json
      #expect(job["state"] == "JobComplete" && job["numberRecordsProcessed"] == 2)
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 2)
      var empty = TestForm()
      empty.add("job", type: "application/json", Array(#"{"object":"Account","operation":"insert"}"#.utf8))
      let refused = try await empty.send(to: "\(jobs)/ingest", by: client)
      #expect(refused.status == 400 && refused.errorCode == "INVALID_MULTIPART_REQUEST")
    }
  }

  @Test(arguments: [(0, 1), (5, 1)])
  func resultPages_ofAShortResult_areOne(accounts: Int, pages: Int) async throws {
    try await withOrg { server, client in
      for number in 0..<accounts { try server.create("Account", fields: ["Name": .string("A\(number)")]) }
      let made = try await client.json(
        "POST", "\(jobs)/query", #"{"operation":"query","query":"SELECT Name FROM Account ORDER BY Name"}"#)
      let id = made.json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      let answer = try await client.send("GET", "\(jobs)/query/\(id)/resultPages")
      #expect(answer.json["done"] == true && answer.json["nextRecordsUrl"] == .null)
      let urls = answer.json["resultPages"]?.arrayValue?.compactMap { $0["resultUrl"]?.stringValue } ?? []
      #expect(urls == ["\(jobs)/query/\(id)/results"] && urls.count == pages)
      let csv = try await client.send("GET", urls.first ?? "")
      #expect(csv.text.split(separator: "\n").count == accounts + 1)
    }
  }

  @Test func resultPages_ofALongResult_tellItsPartsFiveAtATime() async throws {
    try await withOrg { server, client in
      for number in 10..<21 { try server.create("Account", fields: ["Name": .string("A\(number)")]) }
      let made = try await client.json(
        "POST", "\(jobs)/query", #"{"operation":"query","query":"SELECT Name FROM Account ORDER BY Name"}"#)
      let root = "\(jobs)/query/\(made.json["id"]?.stringValue ?? "")"
      await server.finishBulkJobs()
      var next: String? = "\(root)/resultPages?maxRecords=2"
      var counts: [Int] = []
      var names: [String] = []
      while let target = next {
        let answer = try await client.send("GET", target).json
        let urls = answer["resultPages"]?.arrayValue?.compactMap { $0["resultUrl"]?.stringValue } ?? []
        counts.append(urls.count)
        for url in urls {
          let lines = try await client.send("GET", url).text.split(separator: "\n").map(String.init)
          #expect(lines.first == "\"Name\"" && lines.count <= 3)
          names += lines.dropFirst()
        }
        next = answer["nextRecordsUrl"]?.stringValue
        #expect(answer["done"] == .bool(next == nil))
      }
      #expect(counts == [5, 1] && names == (10..<21).map { "\"A\($0)\"" })
    }
  }

  @Test func hardDelete_ofTheNewestRow_doesNotGiveItsIdAgain() async throws {
    try await withOrg { server, client in
      let old = try server.create("Account", fields: ["Name": "A"])
      var form = TestForm()
      form.add("job", type: "application/json", Array(#"{"object":"Account","operation":"hardDelete"}"#.utf8))
      form.add("content", type: "text/csv", Array("Id\n\(old)\n".utf8))
      #expect(try await form.send(to: "\(jobs)/ingest", by: client).status == 200)
      await server.finishBulkJobs()
      #expect(try server.query("SELECT Id FROM Account", includeDeleted: true)["totalSize"] == 0)
      let new = try server.create("Account", fields: ["Name": "B"])
      #expect(new != old && new > old)
    }
  }
}
