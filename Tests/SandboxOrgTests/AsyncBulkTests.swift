import Foundation
import JSON
import SandboxOrg
import Testing

private let root = "/services/async/59.0/job"

/// Bulk API 1.0: jobs of batches in the three formats.
@Suite struct AsyncBulkTests {
  private func send(
    _ client: WireClient, _ method: String, _ path: String, _ body: String = "", type: String = "application/xml"
  ) async throws -> WireClient.Answer {
    let headers = [("X-SFDC-Session", client.token ?? ""), ("Content-Type", type)]
    return try await WireClient(port: client.port).send(method, root + path, headers: headers, body: Array(body.utf8))
  }

  private func jobXML(_ operation: String, _ content: String, _ rest: String = "", object: String = "Contact") -> String {
    "<?xml version='1.0'?><jobInfo xmlns=\"http://www.force.com/2009/06/asyncapi/dataload\"><operation>\(operation)</operation>"
      + "<object>\(object)</object>\(rest)<contentType>\(content)</contentType></jobInfo>"
  }

  private func value(_ name: String, _ answer: WireClient.Answer) -> String {
    let parts = answer.text.components(separatedBy: "<\(name)>")
    return parts.count > 1 ? parts[1].components(separatedBy: "</")[0] : ""
  }

  @Test func insert_csvOverXML_answersALineForEachRecord() async throws {
    try await withOrg { server, client in
      let made = try await send(client, "POST", "", jobXML("insert", "CSV"))
      let job = value("id", made)
      #expect(made.status == 201 && job.hasPrefix("750") && value("state", made) == "Open" && value("apiVersion", made) == "59.0")
      let batch = try await send(
        client, "POST", "/\(job)/batch", "LastName,Email\r\nA,a@b.example\r\n,\r\nC,x\r\n", type: "text/csv")
      let id = value("id", batch)
      #expect(batch.status == 201 && id.hasPrefix("751") && value("jobId", batch) == job)
      await server.finishBulkJobs()
      let done = try await send(client, "GET", "/\(job)/batch/\(id)")
      #expect(
        value("state", done) == "Completed" && value("numberRecordsProcessed", done) == "3"
          && value("numberRecordsFailed", done) == "2")
      let results = try await send(client, "GET", "/\(job)/batch/\(id)/result")
      let contact = try server.query("SELECT Id FROM Contact")["records"]?.arrayValue?.first?["Id"]?.stringValue ?? ""
      #expect(results.headers["content-type"] == "text/csv")
      #expect(
        results.text == """
          "Id","Success","Created","Error"
          "\(contact)","true","true",""
          "","false","false","REQUIRED_FIELD_MISSING:Required fields are missing: [LastName]:LastName --"
          "","false","false","INVALID_EMAIL_ADDRESS:Email: invalid email address: x:Email --"

          """)
      #expect(try await send(client, "GET", "/\(job)/batch/\(id)/request").text.hasPrefix("LastName,Email\r\nA,"))
      let closed = try await send(client, "POST", "/\(job)", "<jobInfo><state>Closed</state></jobInfo>")
      #expect(value("state", closed) == "Closed" && value("numberBatchesCompleted", closed) == "1")
      let late = try await send(client, "POST", "/\(job)/batch", "LastName\nB\n", type: "text/csv")
      #expect(late.status == 400 && value("exceptionCode", late) == "InvalidJobState")
      // Bulk API 2.0 does not list them.
      let other = try await client.send("GET", "/services/data/v66.0/jobs/ingest")
      #expect(other.json["records"] == [])
    }
  }

  @Test(arguments: [("CSV", "application/json", "LastName\nA\n"), ("JSON", "text/csv", #"[{"LastName":"A"}]"#)])
  func batches_areDescribedInTheContentTypeOfTheJob(content: String, type: String, records: String) async throws {
    try await withOrg { _, client in
      let job = value("id", try await send(client, "POST", "", jobXML("insert", content)))
      let form = content == "JSON" ? "application/json" : "application/xml"
      let made = try await send(client, "POST", "/\(job)/batch", records, type: type)
      let id = content == "JSON" ? made.json["id"]?.stringValue ?? "" : value("id", made)
      #expect(made.status == 201 && made.headers["content-type"] == form && id.hasPrefix("751"))
      for path in ["/\(job)/batch", "/\(job)/batch/\(id)"] {
        #expect(try await send(client, "GET", path, type: type).headers["content-type"] == form, "\(path)")
      }
    }
  }

  @Test func upsertAndDelete_json_areTypedRecords() async throws {
    try await withOrg { server, client in
      try server.create("Account", fields: ["Name": "Acme", "External_Id__c": "acme"])
      let json = "application/json"
      let body = #"{"operation":"upsert","object":"Contact","contentType":"JSON","externalIdFieldName":"External_Id__c"}"#
      let made = try await send(client, "POST", "", body, type: json)
      let job = made.json["id"]?.stringValue ?? ""
      #expect(made.status == 201 && made.headers["content-type"] == json && made.json["contentType"] == "JSON")
      let records = """
        [{"External_Id__c":"1","LastName":"A \\"q\\", é","DoNotCall":true,"YearsKnown__c":2.5,"Account":{"External_Id__c":"acme"}},
         {"External_Id__c":"2","LastName":"B","Phone":null},{"External_Id__c":"3"}]
        """
      let id = try await send(client, "POST", "/\(job)/batch", records, type: json).json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      let results = try await send(client, "GET", "/\(job)/batch/\(id)/result", type: json).json.arrayValue ?? []
      #expect(results.map { $0["success"] } == [true, true, false] && results.map { $0["created"] } == [true, true, false])
      #expect(results[2]["errors"]?.arrayValue?.first?["statusCode"] == "REQUIRED_FIELD_MISSING" && results[2]["id"] == .null)
      let found = try server.query("SELECT LastName, DoNotCall, YearsKnown__c, Account.Name FROM Contact ORDER BY LastName")
      let first = found["records"]?.arrayValue?.first
      #expect(first?["LastName"] == "A \"q\", é" && first?["DoNotCall"] == true && first?["Account"]?["Name"] == "Acme")
      let again = try await send(client, "POST", "/\(job)/batch", #"[{"External_Id__c":"1","Phone":"5"}]"#, type: json)
      await server.finishBulkJobs()
      let updated = try await send(client, "GET", "/\(job)/batch/\(again.json["id"]?.stringValue ?? "")/result", type: json).json
      #expect(updated.arrayValue?.first?["created"] == false && updated.arrayValue?.first?["success"] == true)
      let insert = try await send(
        client, "POST", "", #"{"operation":"insert","object":"Contact","contentType":"JSON"}"#, type: json)
      let plain = insert.json["id"]?.stringValue ?? ""
      let empty = try await send(client, "POST", "/\(plain)/batch", "[{}]", type: json).json["id"]?.stringValue ?? ""
      await server.finishBulkJobs()
      let missing = try await send(client, "GET", "/\(plain)/batch/\(empty)/result", type: json).json.arrayValue ?? []
      #expect(missing.map { $0["errors"]?.arrayValue?.first?["statusCode"] } == ["REQUIRED_FIELD_MISSING"])
      let list = try await send(client, "GET", "/\(job)/batch", type: json).json["batchInfo"]?.arrayValue
      #expect(list?.map { $0["state"] } == ["Completed", "Completed"])
    }
  }

  @Test func update_xml_takesNilAndExternalIds() async throws {
    try await withOrg { server, client in
      let id = try server.create("Contact", fields: ["LastName": "A", "Phone": "1", "Title": "T"])
      try server.create("Account", fields: ["Name": "Acme", "External_Id__c": "acme"])
      let job = value("id", try await send(client, "POST", "", jobXML("update", "XML")))
      let batch = """
        <sObjects xmlns="http://www.force.com/2009/06/asyncapi/dataload" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
        <sObject><Id>\(id)</Id><Phone xsi:nil="true"/><LastName>B &amp; C</LastName>
        <Account><sObject><External_Id__c>acme</External_Id__c></sObject></Account></sObject>
        <sObject><Id>003gL0000009999</Id><Phone>2</Phone></sObject></sObjects>
        """
      let made = value("id", try await send(client, "POST", "/\(job)/batch", batch))
      await server.finishBulkJobs()
      let results = try await send(client, "GET", "/\(job)/batch/\(made)/result")
      #expect(
        results.text.contains("<result><id>\(id)</id><success>true</success><created>false</created></result>"), "\(results.text)"
      )
      #expect(results.text.contains("<success>false</success>") && results.text.contains("<statusCode>"))
      let row = try server.query("SELECT LastName, Phone, Title, Account.Name FROM Contact")["records"]?.arrayValue?.first
      #expect(row?["LastName"] == "B & C" && row?["Phone"] == .null && row?["Title"] == "T" && row?["Account"]?["Name"] == "Acme")
    }
  }

  @Test(arguments: ["CSV", "JSON", "XML"])
  func query_eachForm_bringsTheRecords(content: String) async throws {
    try await withOrg { server, client in
      for name in ["A", "B \"b\""] { try server.create("Account", fields: ["Name": .string(name), "NumberOfEmployees": 3]) }
      let job = value("id", try await send(client, "POST", "", jobXML("query", content, object: "Account")))
      let soql = "SELECT Name, NumberOfEmployees, Phone FROM Account ORDER BY Name"
      let made = try await send(client, "POST", "/\(job)/batch", soql, type: "text/csv")
      let id = content == "JSON" ? made.json["id"]?.stringValue ?? "" : value("id", made)
      await server.finishBulkJobs()
      let list = try await send(client, "GET", "/\(job)/batch/\(id)/result")
      let result = content == "JSON" ? list.json.arrayValue?.first?.stringValue ?? "" : value("result", list)
      #expect(result.hasPrefix("752"), "\(list.text)")
      let answer = try await send(client, "GET", "/\(job)/batch/\(id)/result/\(result)")
      switch content {
      case "CSV":
        #expect(answer.text == "\"Name\",\"NumberOfEmployees\",\"Phone\"\n\"A\",\"3\",\"\"\n\"B \"\"b\"\"\",\"3\",\"\"\n")
      case "JSON":
        #expect(
          answer.json.arrayValue?.map { $0["Name"] } == ["A", "B \"b\""] && answer.json.arrayValue?[0]["NumberOfEmployees"] == 3)
      default:
        #expect(answer.text.contains("<records xsi:type=\"sObject\"><type>Account</type><Name>A</Name><NumberOfEmployees>3<"))
        #expect(answer.text.contains("<Phone xsi:nil=\"true\"/>"))
      }
      #expect(try await send(client, "GET", "/\(job)/batch/\(id)/result/752000000000000").status == 400)
    }
  }

  @Test func abort_leavesWaitingBatchesUnprocessed() async throws {
    try await withOrg { server, client in
      server.setBulkJobsPaused(true)
      let job = value("id", try await send(client, "POST", "", jobXML("insert", "CSV")))
      let id = value("id", try await send(client, "POST", "/\(job)/batch", "LastName\nA\n", type: "text/csv"))
      #expect(value("state", try await send(client, "GET", "/\(job)/batch/\(id)")) == "Queued")
      let early = try await send(client, "GET", "/\(job)/batch/\(id)/result")
      #expect(early.status == 400 && value("exceptionCode", early) == "InvalidBatch")
      #expect(value("state", try await send(client, "POST", "/\(job)", "<jobInfo><state>Aborted</state></jobInfo>")) == "Aborted")
      server.setBulkJobsPaused(false)
      await server.finishBulkJobs()
      #expect(value("state", try await send(client, "GET", "/\(job)/batch/\(id)")) == "NotProcessed")
      #expect(try server.query("SELECT COUNT() FROM Contact")["totalSize"] == 0)
    }
  }

  @Test(arguments: [
    ("POST", "", "<jobInfo><operation>fly</operation><object>Contact</object></jobInfo>", "InvalidJob"),
    ("POST", "", "<jobInfo><operation>insert</operation><object>Nope</object></jobInfo>", "InvalidEntity"),
    ("POST", "", "<jobInfo><operation>upsert</operation><object>Contact</object></jobInfo>", "InvalidJob"),
    ("POST", "", "no xml", "InvalidJob"), ("GET", "/750gL0000000001", "", "InvalidJob"), ("GET", "/x", "", "InvalidJob"),
  ])
  func call_refused_saysWhyInTheClientsForm(method: String, path: String, body: String, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await send(client, method, path, body)
      #expect(answer.status == 400 && value("exceptionCode", answer) == code, "\(answer.text)")
      #expect(answer.headers["content-type"] == "application/xml")
      let other = try await send(client, "GET", "/750gL0000000001", type: "application/json")
      #expect(other.json["exceptionCode"] == "InvalidJob")
      let expired = try await send(WireClient(port: client.port, token: "junk"), "GET", "/750gL0000000001")
      #expect(expired.status == 400 && value("exceptionCode", expired) == "InvalidSessionId")
    }
  }
}
