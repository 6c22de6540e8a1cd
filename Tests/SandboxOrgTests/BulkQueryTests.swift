import Foundation
import JSON
import SandboxOrg
import Testing

private let jobs = "/services/data/v66.0/jobs/query"

@Suite struct BulkQueryTests {
  private func create(_ client: WireClient, _ query: String, _ rest: String = "") async throws -> WireClient.Answer {
    try await client.json("POST", jobs, "{\"operation\":\"query\",\"query\":\"\(query)\"\(rest)}")
  }

  @Test func query_fromCreationToResults_goesThroughItsStates() async throws {
    try await withOrg(seed: .custom(accounts: 3, contacts: 10)) { server, client in
      server.setBulkJobsPaused(true)
      let created = try await create(client, "SELECT Id, LastName, Account.Name FROM Contact ORDER BY Id")
      #expect(created.status == 200)
      #expect(
        created.json.objectValue?.keys == [
          "id", "operation", "object", "createdById", "createdDate", "systemModstamp", "state", "concurrencyMode",
          "contentType", "apiVersion", "lineEnding", "columnDelimiter",
        ])
      let id = created.json["id"]?.stringValue ?? ""
      #expect(id.hasPrefix("750") && id.count == 18 && created.json["state"] == "UploadComplete")
      #expect(created.json["object"] == "Contact" && created.json["apiVersion"] == 66.0)
      let early = try await client.send("GET", "\(jobs)/\(id)/results")
      #expect(early.status == 400 && early.errorCode == "INVALIDJOBSTATE")
      server.setBulkJobsPaused(false)
      await server.finishBulkJobs()
      let job = try await client.send("GET", "\(jobs)/\(id)")
      #expect(job.json["state"] == "JobComplete" && job.json["jobType"] == "V2Query")
      #expect(job.json["numberRecordsProcessed"] == 10 && job.json["retries"] == 0)
      let results = try await client.send("GET", "\(jobs)/\(id)/results")
      #expect(results.status == 200 && results.headers["content-type"] == "text/csv; charset=UTF-8")
      #expect(results.headers["sforce-locator"] == "null" && results.headers["sforce-numberofrecords"] == "10")
      let lines = results.text.split(separator: "\n")
      #expect(lines.count == 11 && lines[0] == #""Id","LastName","Account.Name""#)
      #expect(lines[1].hasPrefix("\"003") && results.text.hasSuffix("\"\n"))
    }
  }

  @Test func results_inPages_giveEveryRecordOnce() async throws {
    try await withOrg(seed: .custom(accounts: 1, contacts: 4_100)) { server, client in
      let id = try await create(client, "SELECT Id FROM Contact").json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      var found: Set<Substring> = []
      var counts: [String] = []
      var locator = ""
      repeat {
        let page = try await client.send("GET", "\(jobs)/\(id)/results?maxRecords=1500&locator=\(locator)")
        found.formUnion(page.text.split(separator: "\n").dropFirst())
        counts.append(page.headers["sforce-numberofrecords"] ?? "")
        locator = page.headers["sforce-locator"] ?? "null"
        #expect(locator == "null" || Int(locator) == nil)
      } while locator != "null" && counts.count < 9
      #expect(counts == ["1500", "1500", "1100"] && found.count == 4_100)
    }
  }

  @Test func results_oddValues_areQuotedAndNullsEmpty() async throws {
    try await withOrg { server, client in
      try server.create("Contact", fields: ["LastName": "A \"B\"; C", "Description": "two\nlines", "YearsKnown__c": 2])
      let query = "SELECT LastName, Description, Email, YearsKnown__c, DoNotCall, Account.Name FROM Contact"
      let options = #","columnDelimiter":"SEMICOLON","lineEnding":"CRLF""#
      let id = try await create(client, query, options).json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      let results = try await client.send("GET", "\(jobs)/\(id)/results")
      let header = #""LastName";"Description";"Email";"YearsKnown__c";"DoNotCall";"Account.Name""#
      #expect(results.text == header + "\r\n" + "\"A \"\"B\"\"; C\";\"two\nlines\";\"\";\"2.0\";\"false\";\"\"\r\n")
    }
  }

  @Test func query_ofNothing_hasItsHeaderOnly() async throws {
    try await withOrg { server, client in
      let id = try await create(client, "SELECT Id, Account.Owner.Name FROM Contact").json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      let results = try await client.send("GET", "\(jobs)/\(id)/results")
      #expect(results.text == "\"Id\",\"Account.Owner.Name\"\n" && results.headers["sforce-numberofrecords"] == "0")
    }
  }

  @Test func queryAll_seesDeletedRows() async throws {
    try await withOrg { server, client in
      let gone = try server.create("Account", fields: ["Name": "Gone"])
      try server.create("Account", fields: ["Name": "Here"])
      try server.delete("Account", id: gone)
      for (operation, count) in [("query", 1), ("queryAll", 2)] {
        let body = "{\"operation\":\"\(operation)\",\"query\":\"SELECT Name FROM Account\"}"
        let id = try await client.json("POST", jobs, body).json["id"]?.stringValue ?? ""
        await server.finishBulkJobs()
        #expect(try await client.send("GET", "\(jobs)/\(id)").json["numberRecordsProcessed"] == .integer(Int64(count)))
      }
    }
  }

  @Test(
    arguments: [
      ("{}", "API_ERROR"), (#"{"operation":"insert","query":"SELECT Id FROM Account"}"#, "API_ERROR"),
      (#"{"operation":"query"}"#, "INVALIDJOB"), (#"{"operation":"query","query":"SELECT"}"#, "MALFORMED_QUERY"),
      (#"{"operation":"query","query":"SELECT Id FROM Nope"}"#, "INVALID_TYPE"),
      (#"{"operation":"query","query":"SELECT Nope FROM Account"}"#, "INVALID_FIELD"),
      (#"{"operation":"query","query":"SELECT COUNT() FROM Account"}"#, "FUNCTIONALITY_NOT_ENABLED"),
      (#"{"operation":"query","query":"SELECT Id, (SELECT Id FROM Contacts) FROM Account"}"#, "FUNCTIONALITY_NOT_ENABLED"),
      (#"{"operation":"query","query":"SELECT BillingAddress FROM Account"}"#, "FUNCTIONALITY_NOT_ENABLED"),
      (#"{"operation":"query","query":"SELECT Id FROM Account","lineEnding":"CR"}"#, "INVALIDJOB"),
      (#"{"operation":"query","query":"SELECT Id FROM Account","columnDelimiter":";"}"#, "INVALIDJOB"),
      (#"{"operation":"query","query":"SELECT Id FROM Account","contentType":"JSON"}"#, "INVALIDJOB"),
    ])
  func create_badJob_isRefused(body: String, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", jobs, body)
      #expect(answer.status == 400 && answer.errorCode == code)
      let list = try await client.send("GET", jobs)
      #expect(list.json == ["done": true, "records": [], "nextRecordsUrl": nil])
    }
  }

  @Test func abort_andDelete_followTheStates() async throws {
    try await withOrg { server, client in
      server.setBulkJobsPaused(true)
      let id = try await create(client, "SELECT Id FROM Account").json["id"]?.stringValue ?? ""
      #expect(try await client.send("DELETE", "\(jobs)/\(id)").errorCode == "INVALIDJOBSTATE")
      let aborted = try await client.json("PATCH", "\(jobs)/\(id)", #"{"state":"Aborted"}"#)
      #expect(aborted.status == 200 && aborted.json["state"] == "Aborted")
      #expect(try await client.send("GET", "\(jobs)/\(id)/results").errorCode == "INVALIDJOBSTATE")
      #expect(try await client.send("DELETE", "\(jobs)/\(id)").status == 204)
      #expect(try await client.send("GET", "\(jobs)/\(id)").status == 404)
      server.setBulkJobsPaused(false)
      let done = try await create(client, "SELECT Id FROM Account").json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      #expect(done != id)
      let late = try await client.json("PATCH", "\(jobs)/\(done)", #"{"state":"Aborted"}"#)
      #expect(late.status == 400 && late.message == "Aborting already Completed Job not allowed")
      #expect(try await client.json("PATCH", "\(jobs)/\(done)", #"{"state":"Open"}"#).errorCode == "INVALIDJOB")
      let list = try await client.send("GET", jobs)
      #expect(list.json["records"]?.arrayValue?.map { $0["id"]?.stringValue } == [done])
    }
  }

  @Test func results_badRequests_areRefused() async throws {
    try await withOrg { server, client in
      let id = try await create(client, "SELECT Id FROM User").json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      for (path, status) in [
        ("\(jobs)/\(id)/results?maxRecords=0", 400), ("\(jobs)/\(id)/results?maxRecords=x", 400),
        ("\(jobs)/\(id)/results?locator=%21", 400), ("\(jobs)/750gL00000000zz/results", 404), ("\(jobs)/junk", 404),
        ("/services/data/v65.0/jobs/query/\(id)/results", 409), ("/services/data/v66.0/jobs/ingest/\(id)", 404),
      ] {
        let answer = try await client.send("GET", path)
        #expect(answer.status == status && answer.errorCode != nil, "\(path)")
      }
    }
  }
}
