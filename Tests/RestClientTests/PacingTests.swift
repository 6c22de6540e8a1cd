import TestSupport
import Testing

@testable import RestClient

/// Tests quotas, `Retry-After`, back-off and limits as pure values.
@Suite struct PacingTests {
  private func quota(
    _ headers: [(name: String, value: String)], _ settings: ConnectionSettings.QuotaHeaders = .init(), now: Double = 1000
  ) -> Quota? {
    Quota(headers, settings, now: now)
  }

  @Test(arguments: [
    (
      [("X-RateLimit-Limit", "60"), ("X-RateLimit-Remaining", "59"), ("X-RateLimit-Reset", "1700000000")], 60, 59, 1_700_000_000.0
    ),
    ([("RateLimit-Limit", "100, 100;w=60"), ("RateLimit-Remaining", "7"), ("RateLimit-Reset", "30")], 100, 7, 1030),
    (
      [("X-Rate-Limit-Limit", "300"), ("X-Rate-Limit-Remaining", "0"), ("X-Rate-Limit-Reset", "2026-11-23T08:46:02.000Z")], 300,
      0, 1_795_423_562
    ),
    (
      [("x-ratelimit-limit", "5.0"), ("x-ratelimit-remaining", "4"), ("x-ratelimit-reset", "1700000000500")], 5, 4,
      1_700_000_000.5
    ),
  ])
  func quota_byForm(headers: [(String, String)], limit: Int, remaining: Int, resetAt: Double) throws {
    let found = try #require(quota(headers.map { (name: $0.0, value: $0.1) }))
    #expect(found.limit == limit && found.remaining == remaining && found.resetAt == resetAt)
  }

  @Test func quota_named_onlyTheNamedHeadersCount() throws {
    var settings = ConnectionSettings.QuotaHeaders()
    settings.remaining = "X-Left"
    settings.reset = "X-Again"
    settings.resetAs = .seconds
    let found = try #require(quota([("X-Left", "3"), ("X-Again", "1700000000"), ("X-RateLimit-Remaining", "9")], settings))
    #expect(found.remaining == 3 && found.resetAt == 1_700_001_000)
  }

  @Test func quota_nothingReadable_isNil() {
    #expect(quota([]) == nil)
    #expect(quota([("X-RateLimit-Remaining", "many"), ("X-RateLimit-Limit", "99999999999999999999999")]) == nil)
  }

  @Test(
    arguments: [
      (11, 60, nil, nil as Double?), (10, 60, nil, 1101), (0, 60, nil, 1101), (2, 4, nil, 1101), (3, 4, nil, nil),
      (10, 60, 5, nil),
      (5, 60, 5, 1101), (10, nil, nil, 1101),
    ] as [(Int, Int?, Int?, Double?)])
  func quota_blockedUntilTheResetAtOrBelowTheLeast(remaining: Int, limit: Int?, least: Int?, until: Double?) {
    let quota = Quota(limit: limit, remaining: remaining, resetAt: 1100)
    #expect(quota.blockedUntil(minRemaining: least, now: 1000) == until)
  }

  @Test func quota_resetPassedOrUnknown_doesNotBlock() {
    #expect(Quota(remaining: 0, resetAt: 900).blockedUntil(minRemaining: nil, now: 1000) == nil)
    #expect(Quota(remaining: 0).blockedUntil(minRemaining: nil, now: 1000) == nil)
  }

  @Test(
    arguments: [
      ("2", 2.0), ("2.0", 2), ("0.25", 0.25), ("0", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("-1", nil), ("soon", nil),
      ("", nil), ("Infinity", nil), ("nan", nil),
    ] as [(String, Double?)])
  func retryAfter_secondsFractionsAndDates(text: String, seconds: Double?) {
    #expect(RetryAfter.seconds(text, now: 784_111_740) == seconds)
  }

  @Test(
    arguments: [
      ("2026-11-23T08:46:02Z", 1_795_423_562.0), ("2026-11-23T09:46:02+01:00", 1_795_423_562),
      ("2026-11-23T08:46:02.5", 1_795_423_562.5),
      ("2026-11-23 08:46:02Z", nil), ("2026-13-23T08:46:02Z", nil), ("yesterday", nil),
    ] as [(String, Double?)])
  func isoDate_forms(text: String, seconds: Double?) {
    #expect(ISODate.secondsSince1970(text) == seconds)
  }

  // MARK: Retry

  private func retry(isRepeatable: Bool = true, maxWaitS: Double = 900) -> ConnectionRetry {
    ConnectionRetry(isRepeatable: isRepeatable, maxWaitS: maxWaitS, quota: .init())
  }

  private func answer(_ status: Int, _ headers: [(name: String, value: String)] = [], _ body: String = "") -> RestResponse {
    RestResponse(status: status, headers: headers, body: ResponseBody(Array(body.utf8)))
  }

  @Test func retry_passingStatuses_backOffAndEndAfterFiveTries() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
      var retry = retry()
      let waits = (0..<5).map { _ in retry.step(after: answer(status), now: 0, random: 0) }
      #expect(waits == [.wait(seconds: 0.5), .wait(seconds: 1), .wait(seconds: 2), .wait(seconds: 4), .stop], "\(status)")
    }
  }

  @Test func retry_random_isHalfToWhole() {
    var low = retry(), high = retry()
    #expect(low.step(after: answer(500), now: 0, random: 0) == .wait(seconds: 0.5))
    #expect(high.step(after: answer(500), now: 0, random: 1) == .wait(seconds: 1))
  }

  @Test func retry_otherStatuses_stop() {
    for status in [200, 304, 400, 401, 403, 404, 409, 410, 422, 501] {
      var retry = retry()
      #expect(retry.step(after: answer(status), now: 0, random: 0) == .stop, "\(status)")
    }
  }

  @Test func retry_write_onlyWhenTheServerCertainlyDidNothing() {
    var retry = retry(isRepeatable: false)
    #expect(retry.step(after: answer(500), now: 0, random: 0) == .stop)
    #expect(retry.step(after: answer(503), now: 0, random: 0) == .stop)
    #expect(retry.step(after: answer(503, [("Retry-After", "3")]), now: 0, random: 0) == .wait(seconds: 3))
    #expect(retry.step(after: answer(429, [("Retry-After", "4")]), now: 0, random: 0) == .wait(seconds: 4))
    let lost = RestError(code: .noResponse, message: "", outcome: .unknown)
    let refused = RestError(code: .noResponse, message: "", outcome: .notSent)
    #expect(retry.step(after: lost, random: 0) == .stop)
    #expect(retry.step(after: refused, random: 0) == .wait(seconds: 4))
  }

  @Test func retry_limits_areDecidedInOrder() {
    var retry = retry()
    let body = "You have exceeded a secondary rate limit"
    let empty = [(name: "x-ratelimit-remaining", value: "0"), (name: "x-ratelimit-reset", value: "1000000100")]
    let now = 1_000_000_000.0
    #expect(retry.step(after: answer(403, empty + [("Retry-After", "7")], body), now: now, random: 0) == .wait(seconds: 7))
    #expect(retry.step(after: answer(403, empty, body), now: now, random: 0) == .wait(seconds: 101))
    #expect(retry.step(after: answer(403, [], body), now: now, random: 0) == .wait(seconds: 60))
  }

  /// Row 24.
  @Test func retry_secondaryLimit_doublesFiveTimesAndAPlain403IsNone() {
    var retry = retry(maxWaitS: 3600)
    let limited = answer(403, [], #"{"message":"You have exceeded a secondary rate limit"}"#)
    let waits = (0..<6).map { _ in retry.step(after: limited, now: 0, random: 0) }
    #expect(waits == [60, 120, 240, 480, 960].map { .wait(seconds: $0) } + [.stop])
    var plain = self.retry()
    #expect(plain.step(after: answer(403, [], #"{"message":"Resource not accessible"}"#), now: 0, random: 0) == .stop)
  }

  @Test func retry_beyondMaxWait_saysUntilWhen() {
    var retry = retry(maxWaitS: 10)
    #expect(retry.step(after: answer(429, [("Retry-After", "11")]), now: 500, random: 0) == .tooLong(until: 511))
    #expect(retry.step(after: answer(503, [("Retry-After", "10")]), now: 500, random: 0) == .wait(seconds: 10))
  }
}
