import RestClient
import Salesforce
import Testing

@Suite struct RetryPolicyTests {
  private let policy = RetryPolicy.standard

  private func decide(
    _ error: RestError, attempt: Int = 1, repeatable: Bool = true, now: Double = 0, random: Double = 1
  ) -> RetryPolicy.Decision {
    policy.decide(afterAttempt: attempt, isRepeatable: repeatable, error: error, now: now, random: random)
  }

  private func answer(_ status: Int, retryAfter: String? = nil) -> RestError {
    RestError(
      code: .httpStatus, message: "", status: status, headers: retryAfter.map { [("retry-after", $0)] } ?? [],
      outcome: status >= 500 ? .unknown : .answered)
  }

  @Test func decide_bound_doublesAndStopsAfterFive() {
    #expect(decide(answer(503), attempt: 1) == .wait(seconds: 0.5))
    #expect(decide(answer(503), attempt: 2) == .wait(seconds: 1))
    #expect(decide(answer(503), attempt: 3) == .wait(seconds: 2))
    #expect(decide(answer(503), attempt: 4) == .wait(seconds: 4))
    #expect(decide(answer(503), attempt: 5) == .stop)
  }

  @Test func decide_bound_isCapped() {
    let patient = RetryPolicy(attempts: 100)
    #expect(
      patient.decide(afterAttempt: 90, isRepeatable: true, error: answer(503), now: 0, random: 1) == .wait(seconds: 30))
  }

  @Test func decide_jitter_isFull() {
    #expect(decide(answer(503), attempt: 3, random: 0) == .wait(seconds: 0))
    #expect(decide(answer(503), attempt: 3, random: 0.25) == .wait(seconds: 0.5))
  }

  @Test(arguments: [429, 500, 502, 503, 504])
  func decide_passingStatus_onlyForRepeatable(status: Int) {
    #expect(decide(answer(status)) == .wait(seconds: 0.5))
    #expect(decide(answer(status), repeatable: false) == .stop)
  }

  @Test(arguments: [301, 400, 401, 403, 404, 409, 412, 415])
  func decide_lastingStatus_stops(status: Int) {
    #expect(decide(answer(status)) == .stop)
  }

  @Test func decide_status420_isTriedTwiceMore() {
    #expect(decide(answer(420), attempt: 2) == .wait(seconds: 1))
    #expect(decide(answer(420), attempt: 3) == .stop)
  }

  @Test func decide_notSent_isRepeatableForAnyMethod() {
    let refused = RestError(code: .noResponse, message: "", outcome: .notSent)
    let cutOff = RestError(code: .noResponse, message: "", outcome: .unknown)
    #expect(decide(refused, repeatable: false) == .wait(seconds: 0.5))
    #expect(decide(cutOff, repeatable: false) == .stop)
    #expect(decide(cutOff) == .wait(seconds: 0.5))
  }

  @Test func decide_requestLimit_onlyTheConcurrentOnePasses() {
    func limit(_ text: String) -> RestError {
      let body = #"[{"errorCode":"REQUEST_LIMIT_EXCEEDED","message":"\#(text)"}]"#
      return RestError(refusal: RestResponse(status: 403, headers: [], body: ResponseBody(Array(body.utf8))), words: .salesforce)
    }
    #expect(decide(limit("TotalRequests Limit exceeded.")) == .stop)
    #expect(decide(limit("ConcurrentRequests (Concurrent API Requests) Limit exceeded.")) == .wait(seconds: 0.5))
    #expect(decide(limit("ConcurrentPerOrgLongTxn Limit exceeded.")) == .wait(seconds: 0.5))
  }

  @Test func decide_retryAfterSeconds_isTheLeast() {
    #expect(decide(answer(503, retryAfter: "7"), random: 0) == .wait(seconds: 7))
    #expect(decide(answer(503, retryAfter: "7"), random: 0.5) == .wait(seconds: 7.25))
    #expect(decide(answer(503, retryAfter: "30"), random: 1) == .wait(seconds: 30))
  }

  @Test func decide_retryAfterFraction_isWaitedFor() {
    #expect(decide(answer(503, retryAfter: "1.5"), random: 0) == .wait(seconds: 1.5))
    #expect(decide(answer(503, retryAfter: "2.0"), random: 0) == .wait(seconds: 2))
  }

  @Test func decide_retryAfterBeyondTheCap_stops() {
    #expect(decide(answer(503, retryAfter: "31")) == .stop)
  }

  @Test func decide_retryAfterDate_isMeasuredFromNow() {
    let header = "Sun, 06 Nov 1994 08:49:37 GMT"  // the example of RFC 9110
    #expect(decide(answer(503, retryAfter: header), now: 784_111_777 - 9, random: 0) == .wait(seconds: 9))
    #expect(decide(answer(503, retryAfter: header), now: 784_111_777 + 9, random: 0) == .wait(seconds: 0))
  }

  @Test func decide_retryAfterLeapDay_isCounted() {
    let header = "Tue, 29 Feb 2028 00:00:00 GMT"
    #expect(decide(answer(503, retryAfter: header), now: 1_835_395_200 - 3, random: 0) == .wait(seconds: 3))
  }

  @Test(arguments: ["soon", "-1", "", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "1.5 s"])
  func decide_retryAfterUnreadable_backsOff(header: String) {
    #expect(decide(answer(503, retryAfter: header)) == .wait(seconds: 0.5))
  }

  @Test(arguments: [RestError.Code.invalidBody, .cancelled, .shutDown, .notAuthenticated, .sessionExpired, .invalidURL])
  func decide_ownErrors_stop(code: RestError.Code) {
    #expect(decide(RestError(code: code, message: "")) == .stop)
  }
}
