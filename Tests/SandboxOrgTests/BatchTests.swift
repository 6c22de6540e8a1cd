import Foundation
import JSON
import SandboxOrg
import Testing

private let batch = "/services/data/v66.0/composite/batch"

@Suite struct BatchTests {
  private func statuses(_ answer: WireClient.Answer) -> [Int64?] {
    (answer.json["results"]?.arrayValue ?? []).map { $0["statusCode"]?.integerValue }
  }

  @Test(arguments: ["v66.0/", "/v66.0/", "/services/data/v66.0/"])
  func batch_everyFormOfURL_isTaken(prefix: String) async throws {
    try await withOrg { server, client in
      let id = try server.create("Account", fields: ["Name": "A"])
      let answer = try await client.json(
        "POST", batch,
        """
        {"batchRequests":[{"method":"PATCH","url":"\(prefix)sobjects/Account/\(id)","richInput":{"Name":"B"}},
        {"method":"get","url":"\(prefix)sobjects/Account/\(id)?fields=Name"},{"method":"GET","url":"\(prefix)sobjects/Account/001gL0000009999"}]}
        """)
      #expect(answer.status == 200 && answer.json["hasErrors"] == true)
      #expect(statuses(answer) == [204, 200, 404])
      let results = answer.json["results"]?.arrayValue ?? []
      #expect(results[0].objectValue?.keys == ["statusCode", "result"] && results[0]["result"] == .null)
      #expect(results[1]["result"]?["Name"] == "B")
      #expect(
        results[2]["result"] == [["message": "The requested resource does not exist", "errorCode": "NOT_FOUND"]])
      #expect(answer.headers["sforce-limit-info"]?.hasPrefix("api-usage=1/") == true)
    }
  }

  @Test func batch_haltOnError_skipsTheRest() async throws {
    try await withOrg { server, client in
      func body(_ halt: Bool) -> String {
        let create = #"{"method":"POST","url":"v66.0/sobjects/Account","richInput":{"Name":"A"}}"#
        let bad = #"{"method":"POST","url":"v66.0/sobjects/Account","richInput":{}}"#
        return "{\"haltOnError\":\(halt),\"batchRequests\":[\(create),\(bad),\(create),\(create)]}"
      }
      let halted = try await client.json("POST", batch, body(true))
      #expect(statuses(halted) == [201, 400, 412, 412])
      let error = halted.json["results"]?.arrayValue?.last?["result"]?.arrayValue?.first
      #expect(error == ["message": "Batch processing halted per request", "errorCode": "BATCH_PROCESSING_HALTED"])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
      #expect(statuses(try await client.json("POST", batch, body(false))) == [201, 400, 201, 201])
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 4)
    }
  }

  @Test(
    arguments: [
      ("v67.0/limits", 400), ("v66.0/limits", 200), ("v40.0/limits", 200), ("v66.0/composite", 400), ("v66.0/nowhere", 404),
      ("v66.0/jobs/query", 400), ("v66.0/query?q=SELECT+Id+FROM+User", 200), ("v66.0/query?q=SELEC", 400),
      ("v66.0/sobjects/Account/describe", 200),
    ])
  func batch_oneRequest_answersItsStatus(url: String, status: Int64) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", batch, "{\"batchRequests\":[{\"method\":\"GET\",\"url\":\"\(url)\"}]}")
      #expect(answer.status == 200 && statuses(answer) == [status] && answer.json["hasErrors"] == .bool(status >= 400))
    }
  }

  @Test(
    arguments: [
      ("{}", "JSON_PARSER_ERROR"), (#"{"batchRequests":[]}"#, "JSON_PARSER_ERROR"),
      (#"{"batchRequests":[1]}"#, "JSON_PARSER_ERROR"),
      (#"{"batchRequests":[{"url":"v66.0/limits"}]}"#, "INVALID_INPUT"),
      (#"{"batchRequests":[{"method":"GET"}]}"#, "INVALID_INPUT"),
      (#"{"batchRequests":[{"method":"GET","url":"limits"}]}"#, "INVALID_INPUT"),
    ])
  func batch_badCall_isRefusedWhole(body: String, code: String) async throws {
    try await withOrg { _, client in
      let answer = try await client.json("POST", batch, body)
      #expect(answer.status == 400 && answer.errorCode == code)
    }
  }

  @Test func batch_moreThan25_isRefusedWhole() async throws {
    try await withOrg { _, client in
      let one = #"{"method":"GET","url":"v66.0/limits"}"#
      func body(_ count: Int) -> String { "{\"batchRequests\":[\(Array(repeating: one, count: count).joined(separator: ","))]}" }
      let refused = try await client.json("POST", batch, body(26))
      #expect(refused.status == 400)
      #expect(statuses(try await client.json("POST", batch, body(25))).count == 25)
    }
  }
}
