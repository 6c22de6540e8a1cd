import Testing

@testable import RestClient

/// Tests freshness, reuse and renewal of stored responses (RFC 9111, 5861) without a clock, a disk
/// or a network.
@Suite struct CacheDecisionTests {
  /// The `Date` of all responses here, unless given: Sun, 06 Nov 1994 08:49:37 GMT.
  private static let t0 = 784_111_777.0
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private func stored(
    _ headers: [(name: String, value: String)], status: Int = 200, date: String? = date, took: Double = 0, at t: Double = 0
  ) -> CachedResponse {
    CachedResponse(
      status: status, headers: (date.map { [(name: "Date", value: $0)] } ?? []) + headers, body: [],
      requestTime: Self.t0 + t, responseTime: Self.t0 + t + took)
  }

  /// Test vectors of freshness: headers, seconds after t=0, and whether the response is fresh then.
  static let vectors: [(line: Int, headers: [(name: String, value: String)], at: Double, isFresh: Bool)] = [
    (1, [("Cache-Control", "max-age=60")], 30, true), (1, [("Cache-Control", "max-age=60")], 60, false),
    (2, [("Cache-Control", "private, max-age=60, s-maxage=600")], 61, false),
    (3, [("Expires", "Sun, 06 Nov 1994 08:51:37 GMT")], 119, true),
    (3, [("Expires", "Sun, 06 Nov 1994 08:51:37 GMT")], 120, false),
    (4, [("Cache-Control", "max-age=0"), ("Expires", "Sun, 06 Nov 1994 09:49:37 GMT")], 0, false),
    (5, [("Expires", "0")], 0, false), (6, [("Last-Modified", "Sun, 06 Nov 1994 08:32:57 GMT")], 99, true),
    (6, [("Last-Modified", "Sun, 06 Nov 1994 08:32:57 GMT")], 101, false), (7, [], 0, false),
    (11, [("Cache-Control", "max-age=\"60\"")], 30, true), (11, [("Cache-Control", "max-age=abc")], 0, false),
  ]

  @Test(arguments: vectors.indices)
  func freshness_vector(index: Int) {
    let vector = Self.vectors[index]
    #expect(stored(vector.headers).isFresh(at: Self.t0 + vector.at) == vector.isFresh, "vector \(vector.line)")
  }

  @Test func freshness_vector8_noCacheMustBeValidated() {
    let answer = stored([("Cache-Control", "no-cache, max-age=600"), ("ETag", "\"a\"")])
    #expect(decide(answer, at: 1) == .validate)
  }

  @Test func freshness_vector9_ageOfCachesOnTheWayCounts() {
    let answer = stored([("Cache-Control", "max-age=60"), ("Age", "50")], took: 2)
    #expect(answer.age(at: Self.t0 + 7) == 57 && answer.isFresh(at: Self.t0 + 7))
    #expect(answer.age(at: Self.t0 + 10) == 60 && !answer.isFresh(at: Self.t0 + 10))
  }

  @Test func freshness_vector10_dateBeforeReceptionCounts() {
    let answer = stored([("Cache-Control", "max-age=60")], at: 40)
    #expect(answer.age(at: Self.t0 + 50) == 50 && answer.isFresh(at: Self.t0 + 50))
    #expect(answer.age(at: Self.t0 + 61) == 61 && !answer.isFresh(at: Self.t0 + 61))
  }

  @Test func storing_vector12_noStoreIsNotStored() {
    #expect(storing(200, [("Cache-Control", "no-store")]) == nil)
    #expect(storing(200, [("Cache-Control", "max-age=60")], request: CacheControl(["no-store"])) == nil)
  }

  @Test func freshness_noDate_countsFromReception() {
    #expect(stored([("Cache-Control", "max-age=60")], date: nil, at: 1000).isFresh(at: Self.t0 + 1059))
  }

  @Test func freshness_heuristic_isAtMostADay() {
    let old = stored([("Last-Modified", "Sat, 06 Nov 1993 08:49:37 GMT")])
    #expect(old.lifetime == 86_400)
  }

  @Test(arguments: [
    ("max-age=60, max-age=10", 10.0), ("MAX-AGE=60", 60), ("max-age = 60", 60), ("max-age=99999999999999", 2_147_483_648),
    ("max-age=-5", 0), ("max-age=1.5", 0), ("foo=\"a, max-age=5\", max-age=7", 7), ("max-age", 0), (",, ,max-age=3,,", 3),
  ])
  func control_maxAge(text: String, seconds: Double) {
    #expect(CacheControl([text]).maxAge == seconds)
  }

  @Test func control_quotedDirectives_areNotSeparated() {
    let control = CacheControl([#"private="set-cookie, no-store", no-cache="x", must-revalidate"#])
    #expect(!control.noStore && control.noCache && control.mustRevalidate)
  }

  @Test func control_pragma_countsOnlyAlone() {
    #expect(CacheControl(headers: [("Pragma", "no-cache")]).noCache)
    #expect(!CacheControl(headers: [("Pragma", "no-cache"), ("Cache-Control", "max-age=5")]).noCache)
  }

  // MARK: Decisions

  private func decide(
    _ stored: CachedResponse?, mode: CacheMode = .default, request: String = "", at t: Double
  ) -> CacheDecision {
    CacheDecision.of(stored: stored, mode: mode, request: CacheControl(request.isEmpty ? [] : [request]), now: Self.t0 + t)
  }

  private var tagged: CachedResponse { stored([("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]) }

  @Test(arguments: [
    (CacheMode.default, 30.0, CacheDecision.serve(isStale: false, refresh: false)), (.default, 60, .validate),
    (.revalidate, 30, .validate), (.reload, 30, .fetch), (.bypass, 30, .fetch),
    (.offline, 30, .serve(isStale: false, refresh: false)), (.offline, 90, .serve(isStale: true, refresh: false)),
  ])
  func decision_byMode(mode: CacheMode, at: Double, decision: CacheDecision) {
    #expect(decide(tagged, mode: mode, at: at) == decision)
  }

  @Test func decision_nothingStored_fetchesOrIsUnavailable() {
    for mode in [CacheMode.default, .revalidate, .reload, .bypass] { #expect(decide(nil, mode: mode, at: 0) == .fetch) }
    #expect(decide(nil, mode: .offline, at: 0) == .unavailable)
    #expect(decide(nil, request: "only-if-cached", at: 0) == .unavailable)
  }

  @Test func decision_staleWithoutValidator_fetches() {
    #expect(decide(stored([("Cache-Control", "max-age=60")]), at: 61) == .fetch)
  }

  @Test(arguments: [
    ("no-cache", 1.0, CacheDecision.validate), ("no-store", 1, .fetch), ("max-age=0", 1, .validate),
    ("max-age=10", 5, .serve(isStale: false, refresh: false)), ("max-age=10", 10, .validate),
    ("min-fresh=20", 30, .serve(isStale: false, refresh: false)), ("min-fresh=40", 30, .validate),
    ("max-stale=10", 69, .serve(isStale: true, refresh: false)), ("max-stale=10", 71, .validate),
    ("max-stale", 7000, .serve(isStale: true, refresh: false)),
  ])
  func decision_byRequestDirective(directive: String, at: Double, decision: CacheDecision) {
    #expect(decide(tagged, request: directive, at: at) == decision)
  }

  @Test func decision_mustRevalidate_isNeverStale() {
    let answer = stored([("Cache-Control", "max-age=60, must-revalidate, stale-if-error=600"), ("ETag", "\"a\"")])
    #expect(decide(answer, request: "max-stale", at: 61) == .validate)
    #expect(decide(answer, mode: .offline, at: 61) == .unavailable)
    #expect(decide(answer, mode: .offline, at: 59) == .serve(isStale: false, refresh: false))
    #expect(!mayServe(answer, status: 503, at: 61))
  }

  @Test func decision_noCache_isUnavailableOffline() {
    #expect(decide(stored([("Cache-Control", "no-cache, max-age=60")]), mode: .offline, at: 1) == .unavailable)
  }

  @Test func decision_staleWhileRevalidate_countsForGetsOfScriptsOnly() {
    let answer = stored([("Cache-Control", "max-age=60, stale-while-revalidate=30"), ("ETag", "\"a\"")])
    #expect(decide(answer, at: 80) == .serve(isStale: true, refresh: true))
    #expect(decide(answer, at: 90) == .validate)
    #expect(decide(answer, mode: .revalidate, at: 80) == .validate)
  }

  private func mayServe(_ answer: CachedResponse, mode: CacheMode = .default, request: String = "", status: Int?, at t: Double)
    -> Bool
  {
    CacheDecision.mayServeStale(
      answer, mode: mode, request: CacheControl(request.isEmpty ? [] : [request]), status: status, now: Self.t0 + t)
  }

  @Test func staleIfError_withinItsTimeForTheRightFailures() {
    let answer = stored([("Cache-Control", "max-age=60, stale-if-error=100")])
    for status in [nil, 500, 502, 503, 504] { #expect(mayServe(answer, status: status, at: 159)) }
    #expect(!mayServe(answer, status: 503, at: 160))
    for status in [400, 404, 429, 501] { #expect(!mayServe(answer, status: status, at: 61)) }
    #expect(!mayServe(answer, mode: .revalidate, status: 503, at: 61))
    #expect(!mayServe(tagged, status: 503, at: 61))
    #expect(mayServe(tagged, request: "stale-if-error=10", status: 503, at: 65))
  }

  // MARK: Storing and renewing

  private func storing(
    _ status: Int, _ headers: [(name: String, value: String)], body: Int = 1, request: CacheControl = CacheControl()
  ) -> CachedResponse? {
    let response = RestResponse(status: status, headers: headers, body: ResponseBody([UInt8](repeating: 0x20, count: body)))
    return CachedResponse(storing: response, request: request, requestTime: 0, responseTime: 0)
  }

  @Test func storing_byStatusSizeAndVary() {
    for status in [200, 204, 301, 308, 404, 410] { #expect(storing(status, []) != nil) }
    for status in [201, 206, 302, 304, 400, 401, 500, 503] { #expect(storing(status, []) == nil) }
    #expect(storing(200, [], body: 2 * 1024 * 1024) != nil && storing(200, [], body: 2 * 1024 * 1024 + 1) == nil)
    #expect(storing(200, [("Vary", "Accept, *")]) == nil)
  }

  @Test func storing_headersOfOneHopAndCookies_areDropped() throws {
    let kept = try #require(
      storing(
        200,
        [
          ("Connection", "X-Hop, close"), ("X-Hop", "1"), ("Keep-Alive", "5"), ("Transfer-Encoding", "chunked"),
          ("Set-Cookie", "a=b"),
          ("Content-Encoding", "gzip"), ("Content-Length", "9"), ("Link", "<x>; rel=next"), ("ETag", "W/\"1\""),
        ]))
    #expect(kept.headers.map(\.name) == ["Link", "ETag"])
  }

  private func renewed(_ old: String?, by new: String?) -> CachedResponse? {
    let answer = stored(
      (old.map { [("ETag", $0)] } ?? []) + [("Link", "<p2>; rel=next"), ("X-Kept", "1"), ("Cache-Control", "max-age=5")])
    let headers = (new.map { [(name: "ETag", value: $0)] } ?? []) + [(name: "Cache-Control", value: "max-age=60")]
    return answer.renewed(
      by: RestResponse(status: 304, headers: headers), requestTime: Self.t0 + 100, responseTime: Self.t0 + 101)
  }

  @Test func renewed_sameTag_keepsBodyAndMissingHeadersAndRestartsTheAge() throws {
    let fresh = try #require(renewed("\"a\"", by: "\"a\""))
    #expect(fresh.values("Link") == ["<p2>; rel=next"] && fresh.values("X-Kept") == ["1"])
    #expect(fresh.values("Cache-Control") == ["max-age=60"] && fresh.isFresh(at: Self.t0 + 150))
  }

  @Test func renewed_byTag_strongAndWeak() {
    #expect(renewed("\"a\"", by: nil) != nil)
    #expect(renewed("W/\"a\"", by: "W/\"a\"") != nil)
    #expect(renewed("\"a\"", by: "W/\"a\"") != nil)
    #expect(renewed("W/\"a\"", by: "\"a\"") == nil)
    #expect(renewed("\"a\"", by: "\"b\"") == nil)
  }

  // MARK: Vary

  private func variant(_ vary: String, _ request: [(name: String, value: String)]) -> String {
    CacheVariant(vary: [vary], request: request) { "#\($0.count)" }.text
  }

  private func matches(_ text: String, _ request: [(name: String, value: String)]) -> Bool {
    CacheVariant.matches(text, request: request) { "#\($0.count)" }
  }

  @Test func vary_allNamedValuesMustBeEqual() {
    let text = variant("Accept-Language, ACCEPT", [("accept", " a/b "), ("X", "1")])
    #expect(text == "accept:a/b\naccept-language")
    #expect(matches(text, [("Accept", "a/b")]))
    #expect(!matches(text, [("Accept", "a/c")]))
    #expect(!matches(text, [("Accept", "a/b"), ("Accept-Language", "de")]))
    #expect(!matches(text, []))
  }

  @Test func vary_absentEqualsOnlyAbsent_emptyIsAValue() {
    let text = variant("X-A", [("X-A", "")])
    #expect(matches(text, [("X-A", "")]) && !matches(text, []))
  }

  @Test func vary_secrets_areStoredAsDigestsOnly() {
    let text = variant("Authorization, Cookie", [("Authorization", "Bearer CANARY"), ("Cookie", "CANARY2")])
    #expect(!text.contains("CANARY") && text == "authorization:#13\ncookie:#7")
  }
}
