import JSON
import SandboxOrg
import Testing

private let data = "/services/data/v66.0"

/// The fault `failItems` in every call with several records or requests, and locks on parents.
@Suite struct ItemFaultTests {
  private func create(_ name: String, _ extra: String = "") -> String {
    "{\"method\":\"POST\",\"url\":\"\(data)/sobjects/Account\",\"referenceId\":\"\(name)\",\"body\":{\"Name\":\"\(name)\"}\(extra)}"
  }

  /// Returns the names of the current accounts and deletes them.
  private func taken(_ server: SandboxServer) throws -> [String] {
    let rows = try server.query("SELECT Id, Name FROM Account ORDER BY Name")["records"]?.arrayValue ?? []
    for row in rows { try server.delete("Account", id: row["Id"]?.stringValue ?? "") }
    return rows.compactMap { $0["Name"]?.stringValue }
  }

  @Test func failItems_ofAComposite_failRequestsAndNotWhatIsInThem() async throws {
    try await withOrg { server, client in
      try server.faults.add(.failItems([0, 2], code: "LIMIT_EXCEEDED", message: "no"))
      let inner = ["X", "Y", "Z"].map { "{\"attributes\":{\"type\":\"Account\"},\"Name\":\"\($0)\"}" }.joined(separator: ",")
      let collection =
        "{\"method\":\"POST\",\"url\":\"\(data)/composite/sobjects\",\"referenceId\":\"all\",\"body\":{\"records\":[\(inner)]}}"
      for _ in 0..<2 {
        let requests = [create("A"), collection, create("C"), create("D")].joined(separator: ",")
        let answer = try await client.json("POST", "\(data)/composite", "{\"compositeRequest\":[\(requests)]}")
        let parts = answer.json["compositeResponse"]?.arrayValue ?? []
        #expect(parts.map { $0["httpStatusCode"] } == [400, 200, 400, 201])
        #expect(parts.first?["body"]?.arrayValue?.first == ["message": "no", "errorCode": "LIMIT_EXCEEDED", "fields": []])
        #expect(try taken(server) == ["D", "X", "Y", "Z"])
      }
    }
  }

  @Test func failItems_ofGraphs_countThroughAllOfThem() async throws {
    try await withOrg { server, client in
      try server.faults.add(.failItems([2]))
      for _ in 0..<2 {
        let graphs = [("one", ["A"]), ("two", ["B", "C"]), ("three", ["D"])].map { id, names in
          "{\"graphId\":\"\(id)\",\"compositeRequest\":[\(names.map { create($0) }.joined(separator: ","))]}"
        }
        let answer = try await client.json("POST", "\(data)/composite/graph", "{\"graphs\":[\(graphs.joined(separator: ","))]}")
        #expect((answer.json["graphs"]?.arrayValue ?? []).map { $0["isSuccessful"] } == [true, false, true])
        #expect(try taken(server) == ["A", "D"])
      }
    }
  }

  @Test func failItems_ofABatch_failRequests() async throws {
    try await withOrg { server, client in
      try server.faults.add(.failItems([1]))
      for _ in 0..<2 {
        let requests = ["A", "B", "C"].map {
          "{\"method\":\"POST\",\"url\":\"v66.0/sobjects/Account\",\"richInput\":{\"Name\":\"\($0)\"}}"
        }
        let answer = try await client.json(
          "POST", "\(data)/composite/batch", "{\"batchRequests\":[\(requests.joined(separator: ","))]}")
        #expect(answer.json["hasErrors"] == true)
        #expect((answer.json["results"]?.arrayValue ?? []).map { $0["statusCode"] } == [201, 400, 201])
        #expect(try taken(server) == ["A", "C"])
      }
    }
  }

  @Test func failItems_ofATree_failTheWhole() async throws {
    try await withOrg { server, client in
      try server.faults.add(.failItems([1], code: "DUPLICATES_DETECTED"), when: .first(2))
      let records = ["a", "b"].map {
        "{\"attributes\":{\"type\":\"Account\",\"referenceId\":\"\($0)\"},\"Name\":\"\($0)\"}"
      }
      let body = "{\"records\":[\(records.joined(separator: ","))]}"
      for _ in 0..<2 {
        let refused = try await client.json("POST", "\(data)/composite/tree/Account", body)
        let results = refused.json["results"]?.arrayValue ?? []
        #expect(refused.status == 400 && results.map { $0["referenceId"] } == ["b"])
        #expect(results.first?["errors"]?.arrayValue?.first?["statusCode"] == "DUPLICATES_DETECTED")
        #expect(try taken(server) == [])
      }
      #expect(try await client.json("POST", "\(data)/composite/tree/Account", body).status == 201)
    }
  }

  @Test func failItems_ofABulkJob_areListedAsFailed() async throws {
    try await withOrg { server, client in
      try server.faults.add(.failItems([1, 3], code: "DUPLICATES_DETECTED", message: "no"))
      for _ in 0..<2 {
        let jobs = "\(data)/jobs/ingest"
        let made = try await client.json("POST", jobs, #"{"operation":"insert","object":"Account"}"#)
        let id = made.json["id"]?.stringValue ?? ""
        _ = try await client.send(
          "PUT", "\(jobs)/\(id)/batches", headers: [("Content-Type", "text/csv")], body: Array("Name\nA\nB\nC\nD\nE\n".utf8))
        #expect(try await client.json("PATCH", "\(jobs)/\(id)", #"{"state":"UploadComplete"}"#).status == 200)
        await server.finishBulkJobs()
        let job = try await client.send("GET", "\(jobs)/\(id)").json
        #expect(job["numberRecordsProcessed"] == 5 && job["numberRecordsFailed"] == 2)
        let failed = try await client.send("GET", "\(jobs)/\(id)/failedResults").text
        #expect(failed.contains("DUPLICATES_DETECTED:no: --\",\"B\"") && failed.contains("\",\"D\""), "\(failed)")
        #expect(try taken(server) == ["A", "C", "E"])
      }
      // Only the call that starts a job holds items.
      #expect(server.faults.active.map(\.matched) == [2])
    }
  }

  @Test func lockRows_ofAParent_refusesItsChildrenToo() async throws {
    try await withOrg { server, client in
      let locked = try server.create("Account", fields: ["Name": "A"]), free = try server.create("Account", fields: ["Name": "B"])
      let contact = try server.create("Contact", fields: ["LastName": "C"])
      try server.faults.add(.lockRows(ids: [locked]))
      for _ in 0..<2 {
        var statuses: [Int] = []
        for account in [locked, free] {
          let body = "{\"LastName\":\"D\",\"AccountId\":\"\(account)\"}"
          let made = try await client.json("POST", "\(data)/sobjects/Contact", body)
          let moved = try await client.json("PATCH", "\(data)/sobjects/Contact/\(contact)", "{\"AccountId\":\"\(account)\"}")
          statuses += [made.status, moved.status]
          if account == locked { #expect(made.errorCode == "UNABLE_TO_LOCK_ROW" && made.message?.contains(locked) == true) }
        }
        #expect(statuses == [400, 400, 201, 204])
      }
      // Locked owners do not block their rows.
      server.faults.clear()
      try server.faults.add(.lockRows(objects: ["User"]))
      #expect(try await client.json("POST", "\(data)/sobjects/Account", #"{"Name":"C"}"#).status == 201)
    }
  }
}
