import JSON
import RestClient
import TestSupport
import Testing

@testable import Salesforce

@Suite(.timeLimit(.minutes(60))) struct ErrorTests {
  private let get = RestRequest(.GET, "/services/data/v66.0/query")
  private let page = "<html><head><title>Maintenance</title></head><body>\u{e9} &amp; so on</body></html>"

  private func error(of answer: ScriptedAnswer) async throws -> RestError {
    let server = try ScriptedServer(answer)
    return try await withClient(server) { client in try await failure { try await client.send(get) } }
  }

  @Test func error_malformedQuery_keepsTheServersWords() async throws {
    let body = #"[{"message":"\nSELECT Foo FROM\n       ^\nERROR","errorCode":"MALFORMED_QUERY"}]"#
    let error = try await error(of: .json(body, status: 400))
    #expect(error.code == .httpStatus && error.status == 400)
    #expect(error.body == body)
    #expect(error.message == "\nSELECT Foo FROM\n       ^\nERROR")
    #expect(error.serverCode == "MALFORMED_QUERY")
    #expect(!error.isRetryable && error.outcome == .answered)
  }

  @Test func error_severalErrors_areAllThere() async throws {
    let error = try await error(
      of: .json(
        #"[{"message":"a","errorCode":"A","fields":["Name"]},{"message":"b","errorCode":"B","fields":[]}]"#,
        status: 400))
    #expect(error.errors.count == 2)
    #expect(error.errors[0]["fields"] == ["Name"])
    #expect(error.message == "a")
  }

  @Test func error_htmlWithStatus503_keepsTheText() async throws {
    let error = try await error(of: .text(page, status: 503, type: "text/html;charset=UTF-8"))
    #expect(error.code == .httpStatus && error.status == 503)
    #expect(error.body == page)
    #expect(error.errors.isEmpty)
    #expect(error.message == "the server answered 503 with text/html;charset=UTF-8")
    #expect(error.isRetryable && error.outcome == .unknown)
  }

  @Test func json_htmlWithStatus200_isInvalidBodyWithTheText() async throws {
    let server = try ScriptedServer(.text(page, type: "text/html"))
    let response = try await withClient(server) { try await $0.send(get) }
    let error = #expect(throws: RestError.self) { try response.json() }
    #expect(error?.code == .invalidBody)
    #expect(error?.body == page)
    #expect(error?.message.contains("text/html") == true)
    #expect(error?.isRetryable == false)
  }

  @Test func error_emptyBody_saysSo() async throws {
    let error = try await error(of: .status(412))
    #expect(error.message == "the server answered 412 with an empty body")
    #expect(error.body == "")
  }

  @Test func error_emptyMessage_isReplaced() {
    func message(_ body: String) -> String {
      let response = RestResponse(
        status: 400, headers: [("Content-Type", "application/json")], body: ResponseBody(Array(body.utf8)))
      return RestError(refusal: response).message
    }
    #expect(message(#"{"error":""}"#) == "the server answered 400 with application/json")
    #expect(message(#"[{"message":"","error":"E"}]"#) == "E")
  }

  @Test func error_dailyLimit_isRequestLimitExceeded() async throws {
    let error = try await error(of: .restError(403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."))
    #expect(error.code == .requestLimitExceeded && error.status == 403)
    #expect(error.isRetryable)
  }

  @Test func error_rowLock_isRetryableAlthoughStatus400() async throws {
    let error = try await error(of: .restError(400, "UNABLE_TO_LOCK_ROW", "unable to obtain exclusive access"))
    #expect(error.isRetryable)
  }

  @Test func error_redirect_isNotFollowed() async throws {
    let server = try ScriptedServer(.status(302, headers: [("Location", "/elsewhere")]))
    let error = try await withClient(server) { client in try await failure { try await client.send(get) } }
    #expect(error.code == .httpStatus && error.status == 302)
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [300, 304])
  func send_choicesAndNotModified_areResponses(status: Int) async throws {
    let server = try ScriptedServer(.json("[]", status: status))
    #expect(try await withClient(server) { try await $0.send(get) }.status == status)
  }
}
