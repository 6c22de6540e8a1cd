import Foundation
import JSON
import SandboxOrg
import Testing

private let jobs = "/services/data/v66.0/jobs/ingest"

@Suite struct BulkIngestTests {
  private func create(_ client: WireClient, _ operation: String, _ object: String, _ rest: String = "") async throws -> String {
    let body = "{\"operation\":\"\(operation)\",\"object\":\"\(object)\"\(rest)}"
    return try await client.json("POST", jobs, body).json["id"]?.stringValue ?? ""
  }

  private func upload(_ client: WireClient, _ id: String, _ csv: String) async throws -> WireClient.Answer {
    try await client.send("PUT", "\(jobs)/\(id)/batches", headers: [("Content-Type", "text/csv")], body: Array(csv.utf8))
  }

  /// Runs a job from its creation to its end.
  private func run(
    _ server: SandboxServer, _ client: WireClient, _ operation: String, _ object: String, _ csv: String, _ rest: String = ""
  ) async throws -> (id: String, job: JSONValue) {
    let id = try await create(client, operation, object, rest)
    #expect(try await upload(client, id, csv).status == 201)
    #expect(try await client.json("PATCH", "\(jobs)/\(id)", #"{"state":"UploadComplete"}"#).status == 200)
    await server.finishBulkJobs()
    return (id, try await client.send("GET", "\(jobs)/\(id)").json)
  }

  private func text(_ client: WireClient, _ id: String, _ results: String) async throws -> String {
    try await client.send("GET", "\(jobs)/\(id)/\(results)").text
  }

  @Test func insert_goodAndBadRecords_areListedApart() async throws {
    try await withOrg { server, client in
      let csv = "LastName,Email,YearsKnown__c,Birthdate\nA,a@b.example,2.5,2000-01-02\n,,,\nC,nowhere,,\n\"D, \"\"d\"\"\",,x,\n"
      let (id, job) = try await run(server, client, "insert", "Contact", csv)
      #expect(job["state"] == "JobComplete" && job["jobType"] == "V2Ingest")
      #expect(job["numberRecordsProcessed"] == 4 && job["numberRecordsFailed"] == 3)
      let found = try server.query("SELECT Id, LastName, YearsKnown__c, Birthdate FROM Contact")["records"]?.arrayValue ?? []
      #expect(found.count == 1 && found[0]["YearsKnown__c"] == 2.5 && found[0]["Birthdate"] == "2000-01-02")
      let good = try await text(client, id, "successfulResults")
      #expect(
        good == """
          "sf__Id","sf__Created","LastName","Email","YearsKnown__c","Birthdate"
          "\(found[0]["Id"]?.stringValue ?? "")","true","A","a@b.example","2.5","2000-01-02"

          """)
      let bad = try await text(client, id, "failedResults/")
      #expect(
        bad == """
          "sf__Id","sf__Error","LastName","Email","YearsKnown__c","Birthdate"
          "","REQUIRED_FIELD_MISSING:Required fields are missing: [LastName]:LastName --","","","",""
          "","INVALID_EMAIL_ADDRESS:Email: invalid email address: nowhere:Email --","C","nowhere","",""
          "","INVALID_TYPE_ON_FIELD_IN_RECORD:Years Known: value not of required type: x:YearsKnown__c --","D, ""d""\","","x",""

          """)
      #expect(try await text(client, id, "unprocessedrecords") == "\"LastName\",\"Email\",\"YearsKnown__c\",\"Birthdate\"\n")
    }
  }

  @Test func insert_emptyLines_areSkippedButEmptyCellsAreRecords() async throws {
    try await withOrg { server, client in
      let (id, job) = try await run(server, client, "insert", "Contact", "LastName\n\nA\n\"\"\n\n\"\"")
      #expect(job["state"] == "JobComplete" && job["numberRecordsProcessed"] == 3 && job["numberRecordsFailed"] == 2)
      #expect(try await text(client, id, "failedResults").components(separatedBy: "REQUIRED_FIELD_MISSING").count == 3)
    }
  }

  @Test func create_answersWithTheContentURL() async throws {
    try await withOrg { _, client in
      let body = #"{"operation":"upsert","object":"account","externalIdFieldName":"External_Id__c","columnDelimiter":"TAB"}"#
      let answer = try await client.json("POST", jobs, body)
      let id = answer.json["id"]?.stringValue ?? ""
      #expect(answer.status == 200 && answer.json["state"] == "Open" && answer.json["object"] == "Account")
      #expect(answer.json["contentUrl"] == .string("services/data/v66.0/jobs/ingest/\(id)/batches"))
      #expect(answer.json["externalIdFieldName"] == "External_Id__c" && answer.json["columnDelimiter"] == "TAB")
      let info = try await client.send("GET", "\(jobs)/\(id)")
      #expect(info.json["numberRecordsProcessed"] == 0 && info.json["state"] == "Open")
    }
  }

  @Test func update_emptyCellsStay_andMarkersClear() async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "A", "Phone": "1", "Fax": "2", "External_Id__c": "x"])
      let csv = "Id,Name,Phone,Fax\n\(id),,#N/A,3\n001gL0000009999,B,,\njunk,C,,\n"
      let (job, info) = try await run(server, client, "update", "Account", csv)
      #expect(info["numberRecordsFailed"] == 2)
      let row = try server.query("SELECT Name, Phone, Fax FROM Account")["records"]?.arrayValue?.first
      #expect(row?["Name"] == "A" && row?["Phone"] == .null && row?["Fax"] == "3")
      let failed = try await text(client, job, "failedResults")
      #expect(failed.contains("\"001gL0000009999\",\"INVALID_CROSS_REFERENCE_KEY:invalid cross reference id: --\""))
      #expect(failed.contains("\"junk\",\"MALFORMED_ID:"))
    }
  }

  @Test func upsert_byExternalId_reportsWhatIsNew() async throws {
    try await withOrg { server, client in
      let known = try server.create("Account", fields: ["Name": "A", "External_Id__c": "x"])
      let csv = "External_Id__c;Name\r\nx;A2\r\ny;B\r\n;C\r\n"
      let options = #","externalIdFieldName":"External_Id__c","columnDelimiter":"SEMICOLON","lineEnding":"CRLF""#
      let (id, job) = try await run(server, client, "upsert", "Account", csv, options)
      #expect(job["state"] == "JobComplete" && job["numberRecordsFailed"] == 1)
      let lines = try await text(client, id, "successfulResults").components(separatedBy: "\r\n")
      #expect(lines[0] == #""sf__Id";"sf__Created";"External_Id__c";"Name""#)
      #expect(lines[1] == "\"\(known)\";\"false\";\"x\";\"A2\"" && lines[2].hasSuffix(";\"true\";\"y\";\"B\""))
      #expect(try await text(client, id, "failedResults").contains("MISSING_ARGUMENT"))
    }
  }

  @Test func insert_parentByExternalId_isLinked() async throws {
    try await withOrg { server, client in
      try server.create("Account", fields: ["Name": "A", "External_Id__c": "x"])
      let csv = "LastName,Account.External_Id__c\nB,x\nC,y\n"
      let (id, job) = try await run(server, client, "insert", "Contact", csv)
      #expect(job["numberRecordsFailed"] == 1)
      #expect(try server.query("SELECT COUNT() FROM Contact WHERE Account.Name = 'A'")["totalSize"] == 1)
      #expect(try await text(client, id, "failedResults").contains("Foreign key external ID: y not found"))
    }
  }

  @Test func delete_softAndHard_leaveWhatTheySay() async throws {
    try await withOrg { server, client in
      let ids = try ["A", "B", "C"].map { try server.create("Account", fields: ["Name": .string($0)]) }
      let (soft, _) = try await run(server, client, "delete", "Account", "Id\n\(ids[0])\n\(ids[0])\n")
      #expect(try await text(client, soft, "failedResults").contains("ENTITY_IS_DELETED:entity is deleted: --"))
      let (_, hard) = try await run(server, client, "hardDelete", "Account", "Id\n\(ids[1])\n")
      #expect(hard["numberRecordsFailed"] == 0)
      #expect(try server.query("SELECT COUNT() FROM Account", includeDeleted: true)["totalSize"] == 2)
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
    }
  }

  @Test(
    arguments: [
      ("", "InvalidBatch : the data has no header line", ""),
      ("Foo\n1\n", "InvalidBatch : Field name not found : Foo", "Foo\n1\n"),
      ("Name,Owner.Nope\n1,2\n", "InvalidBatch : Field name not found : Owner.Nope", "Name,Owner.Nope\n1,2\n"),
      ("Name,name\n1,2\n", "InvalidBatch : Duplicate field name : name", "Name,name\n1,2\n"),
      ("Name,Phone\nA,1\nB\n", "InvalidBatch : record 2: it has 1 fields, the header has 2", "\"Name\",\"Phone\"\nB\n"),
      ("Name\nA\n\"B\n", "InvalidBatch : record 2: a quote is not closed", "\"Name\"\n\"B\n"),
      (
        "Name\r\nA\r\n", "ClientInputError : LineEnding is invalid on user data. Current LineEnding setting is LF",
        "Name\r\nA\r\n"
      ),
    ])
  func insert_malformedData_failsTheJob(csv: String, message: String, unprocessed: String) async throws {
    try await withOrg { server, client in
      let (id, job) = try await run(server, client, "insert", "Account", csv)
      #expect(job["state"] == "Failed" && job["errorMessage"] == .string(message))
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == job["numberRecordsProcessed"])
      #expect(try await text(client, id, "unprocessedRecords") == unprocessed)
    }
  }

  @Test func update_withoutIds_failsTheJob() async throws {
    try await withOrg { server, client in
      let (_, job) = try await run(server, client, "update", "Account", "Name\nA\n")
      #expect(job["errorMessage"] == "InvalidBatch : the header lacks the column Id")
    }
  }

  @Test func insert_manyRecords_areProcessedInSlices() async throws {
    try await withOrg { server, client in
      let text = String(repeating: "long text ", count: 100)
      let csv = "Name,Description\n\n" + (0..<1_501).map { "Company \($0),\"\(text)\n\($0)\"\n" }.joined()
      let (id, job) = try await run(server, client, "insert", "Account", csv)
      #expect(job["state"] == "JobComplete" && job["numberRecordsProcessed"] == 1_501 && job["numberRecordsFailed"] == 0)
      #expect(try server.query("SELECT COUNT() FROM Account WHERE Name LIKE 'Company %'")["totalSize"] == 1_501)
      #expect(try await self.text(client, id, "successfulResults").components(separatedBy: "\"001").count == 1_502)
    }
  }

  @Test func abort_keepsUnprocessedRecords() async throws {
    try await withOrg { server, client in
      server.setBulkJobsPaused(true)
      let id = try await create(client, "insert", "Account")
      #expect(try await upload(client, id, "Name\nA\n").status == 201)
      _ = try await client.json("PATCH", "\(jobs)/\(id)", #"{"state":"UploadComplete"}"#)
      _ = try await client.json("PATCH", "\(jobs)/\(id)", #"{"state":"Aborted"}"#)
      server.setBulkJobsPaused(false)
      await server.finishBulkJobs()
      #expect(try await client.send("GET", "\(jobs)/\(id)").json["state"] == "Aborted")
      #expect(try await text(client, id, "unprocessedRecords") == "Name\nA\n")
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 0)
    }
  }

  @Test func upload_wrongStateOrType_isRefused() async throws {
    try await withOrg { _, client in
      let id = try await create(client, "insert", "Account")
      let json = try await client.json("PUT", "\(jobs)/\(id)/batches", "{}")
      #expect(json.status == 415 && json.errorCode == "UNSUPPORTED_MEDIA_TYPE")
      #expect(try await upload(client, id, "Name\nA\n").status == 201)
      #expect(try await upload(client, id, "Name\nB\n").errorCode == "INVALIDJOBSTATE")
      #expect(try await client.send("GET", "\(jobs)/\(id)/failedResults").errorCode == "INVALIDJOBSTATE")
      #expect(try await client.send("DELETE", "\(jobs)/\(id)").errorCode == "INVALIDJOBSTATE")
      for (body, code) in [(#"{"state":"JobComplete"}"#, "INVALIDJOB"), (#"{}"#, "INVALIDJOB"), ("[]", "JSON_PARSER_ERROR")] {
        #expect(try await client.json("PATCH", "\(jobs)/\(id)", body).errorCode == code)
      }
    }
  }

  @Test(
    arguments: [
      (#"{"operation":"query","object":"Account"}"#, "API_ERROR"), (#"{"operation":"merge","object":"Account"}"#, "API_ERROR"),
      (#"{"operation":"insert","object":"Nope"}"#, "INVALIDENTITY"), (#"{"operation":"insert"}"#, "INVALIDENTITY"),
      (#"{"operation":"upsert","object":"Account"}"#, "INVALIDJOB"),
      (#"{"operation":"upsert","object":"Account","externalIdFieldName":"Fax"}"#, "INVALIDJOB"),
    ])
  func create_badJob_isRefused(body: String, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", jobs, body)
      #expect(answer.status == 400 && answer.errorCode == code)
    }
  }
}
