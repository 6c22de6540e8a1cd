import JSON
import TestSupport
import Testing

@testable import RestCollections

struct FirstRequestTests {
  private func request(_ text: String, _ scope: FirstRequest.Scope) throws -> PageRequest {
    try FirstRequest(target: target(text), base: "https://h/api/v1").request(scope)
  }

  private static let param =
    #"{"modificationDateField":"u","params":{"n":"5","since":"x"},"incremental":{"mode":"param","overlapMs":2000,"params":{"since":"{since}","q":"updated >= \"{since}\""}}}"#

  @Test(
    arguments: [
      (param, FirstRequest.Scope.all, "https://h/api/v1/items?n=5&since=x"),
      (
        param, .since(1_700_000_000_500),
        "https://h/api/v1/items?n=5&since=2023-11-14T22%3A13%3A18.500Z&q=updated%20%3E%3D%20%222023-11-14T22%3A13%3A18.500Z%22"
      ),
      (
        #"{"modificationDateField":"u","incremental":{"mode":"param","firstSince":"0","params":{"_since":"{since}"}}}"#, .all,
        "https://h/api/v1/items?_since=0"
      ),
      (
        #"{"modificationDateField":"u","incremental":{"mode":"param","format":"yyyy-MM-dd HH:mm","timeZone":"+01:00","overlapMs":0,"params":{"jql":"{since}"}}}"#,
        .since(1_700_000_059_999), "https://h/api/v1/items?jql=2023-11-14%2023%3A14"
      ),
      (
        #"{"modificationDateField":"u","dateFormat":"iso8601","incremental":{"mode":"param","timeZone":"+02:00","overlapMs":0,"params":{"s":"{since}/.."}}}"#,
        .since(0), "https://h/api/v1/items?s=1970-01-01T02%3A00%3A00%2B02%3A00%2F.."
      ),
      (
        #"{"modificationDateField":"u","params":{"sort":"name"},"incremental":{"mode":"sorted","params":{"sort":"updated"}}}"#,
        .since(5), "https://h/api/v1/items?sort=updated"
      ),
      (
        #"{"modificationDateField":"u","params":{"sort":"name"},"incremental":{"mode":"sorted","params":{"sort":"updated"}}}"#,
        .all, "https://h/api/v1/items?sort=name"
      ),
      (
        #"{"idField":"id","modificationDateField":"serial","dateFormat":"integer","incremental":{"mode":"param","overlapMs":1,"params":{"since":"{since}"}}}"#,
        .since(100), "https://h/api/v1/items?since=99"
      ),
      (
        #"{"incremental":{"mode":"token","tokenPath":"t","tokenParam":"sync","firstParams":{"initial":"true"}}}"#, .firstToken,
        "https://h/api/v1/items?initial=true"
      ),
      (
        #"{"incremental":{"mode":"token","tokenPath":"t","tokenParam":"sync","firstParams":{"initial":"true"}}}"#, .token("a b"),
        "https://h/api/v1/items?sync=a%20b"
      ),
      (#"{"incremental":{"mode":"token","tokenPath":"t"}}"#, .token("https://h/delta?x=1"), "https://h/delta?x=1"),
    ] as [(String, FirstRequest.Scope, String)])
  func request_ofScope(text: String, scope: FirstRequest.Scope, url: String) throws {
    #expect(try request(text, scope).url == url)
  }

  @Test func request_sinceInTheBody_isLaidOver() throws {
    let text =
      #"{"method":"POST","body":{"size":5,"filter":{"a":1}},"modificationDateField":"u","incremental":{"mode":"param","overlapMs":0,"body":{"filter":{"u":[{"gte":"{since}"},"{sinc"]}}}}"#
    #expect(
      try request(text, .since(0)).body?.text == #"{"size":5,"filter":{"a":1,"u":[{"gte":"1970-01-01T00:00:00Z"},"{sinc"]}}"#)
    #expect(try request(text, .all).body?.text == #"{"size":5,"filter":{"a":1}}"#)
  }

  @Test func request_tokenInBodyOrHeader() throws {
    let body = #"{"method":"POST","incremental":{"mode":"token","tokenPath":"t","tokenParam":"a.b","tokenIn":"body"}}"#
    #expect(try request(body, .token("x")).body?.text == #"{"a":{"b":"x"}}"#)
    let header = #"{"incremental":{"mode":"token","tokenPath":"t","tokenParam":"Sync","tokenIn":"header"}}"#
    #expect(try request(header, .token("x")).headers == [TextPair(name: "Sync", value: "x")])
  }
}

struct RunPlanTests {
  private func scope(_ text: String, _ known: RunPlan.Known, now: Int64 = 10_000_000) throws -> RunPlan {
    RunPlan(try target(text), known, nowMs: now)
  }

  private static let param =
    #"{"modificationDateField":"u","incremental":{"mode":"param","params":{"since":"{since}"},"fullEveryS":100,"tombstonesS":5000}}"#
  private static let token = #"{"incremental":{"mode":"token","tokenPath":"t","tombstonesS":100}}"#

  @Test func plan_firstRun_readsAll() throws {
    #expect(try scope(Self.param, .init()).scope == .all)
    #expect(try scope(Self.token, .init()).scope == .firstToken)
    for mode in ["etag", "hash", "full"] {
      #expect(try scope(#"{"incremental":{"mode":"\#(mode)"}}"#, .init(watermark: 5)).scope == .all)
    }
  }

  @Test func plan_laterRun_asksForWhatChanged_untilAFullWalkIsDue() throws {
    let recent = RunPlan.Known(watermark: 9_000_000, lastRunMs: 9_999_000, lastFullWalkMs: 9_950_000)
    #expect(try scope(Self.param, recent) == scope(Self.param, recent) && scope(Self.param, recent).scope == .since(9_000_000))
    var old = recent
    old.lastFullWalkMs = 9_899_999
    #expect(try scope(Self.param, old).scope == .all && !scope(Self.param, old).removesUnseen)
    var dateless = recent
    dateless.lacksDates = true
    #expect(try scope(Self.param, dateless).scope == .all)
  }

  @Test func plan_marksOfDeletionAreGone_removesWhatItDoesNotSee() throws {
    let old = RunPlan.Known(watermark: 4_000_000, lastRunMs: 4_999_999, lastFullWalkMs: 9_999_999)
    #expect(try scope(Self.param, old).scope == .all && scope(Self.param, old).removesUnseen)
    // On a quiet server the watermark is old; the time of the last run counts.
    #expect(
      try scope(Self.param, .init(watermark: 4_000_000, lastRunMs: 5_000_000, lastFullWalkMs: 9_999_999)).scope
        == .since(4_000_000))
    #expect(try scope(Self.token, .init(token: "t", lastRunMs: 9_899_999)).removesUnseen)
    #expect(try scope(Self.token, .init(token: "t", lastRunMs: 9_900_000)).scope == .token("t"))
  }

  @Test(arguments: [(410, true), (404, true), (400, true), (500, false), (403, false)])
  func afterExpiry_byStatus(status: Int, hasExpired: Bool) throws {
    let plan = RunPlan.afterExpiry(
      try target(Self.token), PageAnswer(url: "https://h/", status: status, headers: jsonType), bodyIsEmpty: false)
    #expect((plan?.scope == .firstToken && plan?.removesUnseen == true) == hasExpired && (plan != nil) == hasExpired)
    #expect(RunPlan.afterExpiry(try target(), PageAnswer(url: "https://h/", status: status), bodyIsEmpty: true) == nil)
    let html = PageAnswer(url: "https://h/", status: status, headers: [("Content-Type", "text/html")])
    #expect(RunPlan.afterExpiry(try target(Self.token), html, bodyIsEmpty: false) == nil)
  }

  @Test func newStart_onlyOfTheSameOrigin() {
    func start(_ status: Int, _ location: String) -> String? {
      RunPlan.newStart(PageAnswer(url: "https://h/delta?x=1", status: status, headers: [("location", location)]))
    }
    #expect(start(410, "/fresh#x") == "https://h/fresh" && start(410, "https://H/fresh") == "https://H/fresh")
    #expect(start(410, "https://other/fresh") == nil && start(410, "http://h/fresh") == nil && start(404, "/fresh") == nil)
  }
}

struct WatermarkTrackerTests {
  private func tracker(_ incremental: String, start: Int64? = nil, format: String = "iso8601") throws -> WatermarkTracker {
    let target = try target(#"{"modificationDateField":"u","dateFormat":"\#(format)","incremental":\#(incremental)}"#)
    return WatermarkTracker(target, start: start, isIncremental: start != nil)
  }

  private func dated(_ positions: Int64...) -> CollectionPage {
    page(Array(positions.indices)) { facts in
      facts.newestDate = positions.max().map { ServerDate(position: $0) }
      facts.oldestDate = positions.min().map { ServerDate(position: $0) }
    }
  }

  private static let ascending = #"{"mode":"param","order":"ascending","params":{"s":"{since}"}}"#

  @Test func ascending_movesPageByPage_unlessPagingShifts() throws {
    var tracker = try tracker(Self.ascending, start: 50)
    tracker.note(dated(100, 110))
    #expect(tracker.afterPage(shifts: false) == 110 && tracker.afterPage(shifts: true) == 50)
    tracker.note(dated(120))
    #expect(tracker.atEnd(shifts: false, isIncomplete: false, elapsedMs: 7) == 120)
    #expect(tracker.atEnd(shifts: true, isIncomplete: false, elapsedMs: 7) == 113)
    #expect(tracker.atEnd(shifts: false, isIncomplete: true, elapsedMs: 7) == 50)
  }

  @Test func descending_isOfTheFirstPage() throws {
    var tracker = try tracker(#"{"mode":"param","order":"descending","params":{"s":"{since}"}}"#)
    tracker.note(dated(100, 90))
    tracker.note(dated(200, 80))
    #expect(tracker.afterPage(shifts: false) == nil && tracker.atEnd(shifts: false, isIncomplete: false, elapsedMs: 5) == 100)
    #expect(tracker.atEnd(shifts: true, isIncomplete: false, elapsedMs: 5) == 195)
  }

  @Test func unordered_takesTheTimeOfTheWalkOff_neverGoesBack() throws {
    var tracker = try tracker(#"{"mode":"param","params":{"s":"{since}"}}"#, start: 1000)
    tracker.note(dated(1500, 1200))
    #expect(tracker.atEnd(shifts: false, isIncomplete: false, elapsedMs: 100) == 1400)
    #expect(tracker.atEnd(shifts: false, isIncomplete: false, elapsedMs: 9000) == 1000)
    var serial = try WatermarkTrackerTests.serial()
    serial.note(dated(77))
    #expect(serial.atEnd(shifts: false, isIncomplete: false, elapsedMs: 50) == 77)
  }

  private static func serial() throws -> WatermarkTracker {
    try WatermarkTrackerTests().tracker(#"{"mode":"param","params":{"s":"{since}"}}"#, format: "integer")
  }

  @Test func sorted_firstRunIsUnordered_laterStopAtTheWatermark() throws {
    var first = try tracker(#"{"mode":"sorted"}"#)
    first.note(dated(5000, 100))
    #expect(first.atEnd(shifts: false, isIncomplete: false, elapsedMs: 10) == 4990 && !first.hasReachedWatermark(dated(1)))
    let later = try tracker(#"{"mode":"sorted","overlapMs":50}"#, start: 5000)
    #expect(
      later.hasReachedWatermark(dated(6000, 4950)) && !later.hasReachedWatermark(dated(6000, 4951))
        && !later.hasReachedWatermark(dated()))
  }

  @Test func missingDate_leavesTheWatermark() throws {
    var tracker = try tracker(Self.ascending, start: 50)
    var page = dated(100)
    page.facts.lacksDate = true
    tracker.note(page)
    #expect(tracker.lacksDates && tracker.atEnd(shifts: false, isIncomplete: false, elapsedMs: 0) == 50)
  }

  @Test(
    arguments: [
      ("header:ETag", "epochMs", "\"1533762576015\"", 1_533_762_576_015), ("header:ETag", "epochMs", "W/\"77\"", 77),
      ("header:Date", "iso8601", "Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000),
      ("meta.now", "iso8601", "2024-01-01T00:00:00Z", 1_704_067_200_000),
      ("meta.now", "iso8601", "soon", 50),
    ] as [(String, String, String, Int64)])
  func watermarkPath_ofTheFirstPageOnly(path: String, format: String, text: String, expected: Int64) throws {
    var tracker = try tracker(#"{"mode":"param","watermarkPath":"\#(path)","params":{"s":"{since}"}}"#, start: 50, format: format)
    var first = dated(9_999_999_999_999), second = dated()
    (first.facts.watermark, second.facts.watermark) = (text, "9999999999998")
    tracker.note(first)
    tracker.note(second)
    #expect(tracker.afterPage(shifts: false) == 50 && tracker.atEnd(shifts: true, isIncomplete: false, elapsedMs: 99) == expected)
  }

  @Test func json_resumes() throws {
    var tracker = try tracker(Self.ascending, start: 50), again = try tracker2()
    tracker.note(dated(100))
    again.resume(tracker.json)
    #expect(again == tracker)
    again.note(dated(200))
    #expect(again.atEnd(shifts: false, isIncomplete: false, elapsedMs: 0) == 200)
  }

  private func tracker2() throws -> WatermarkTracker { try tracker(Self.ascending, start: 50) }
}

struct PageValidatorTests {
  private static let tag = [(name: "ETag", value: "\"a\"")]

  @Test func validator_isKeptAsReceived_withoutSecrets() throws {
    let target = try target(#"{"params":{"key":"s3cret"}}"#)
    let headers = [(name: "etag", value: "W/\"a\""), (name: "Last-Modified", value: "Sun, 06 Nov 1994 08:49:37 GMT")]
    let known = try #require(PageValidator(page([1, 2], headers: headers), next: "https://h/i?key=s3cret&p=2"))
    let json = JSONValue.object(known.json(target)), name = PageValidator.name("https://h/i?key=s3cret", target)
    #expect(!json.text.contains("s3cret") && !name.contains("s3cret"))
    #expect(PageValidator(try JSONValue(parsing: json.text), target) == known)
    #expect(
      known.conditions == [
        TextPair(name: "If-None-Match", value: "W/\"a\""), TextPair(name: "If-Modified-Since", value: headers[1].value),
      ])
    #expect(known.items == 2)
  }

  @Test func validator_ofAPageWithoutTagAndDate_isNone() throws {
    #expect(PageValidator(page([1]), next: nil) == nil)
    for text in [#""x""#, "{}", #"{"items":1}"#, #"{"etag":"\"a\""}"#] {
      #expect(PageValidator(try JSONValue(parsing: text), try target("{}")) == nil)
    }
  }

  @Test func endsRun_sortedAlways_paramWithOnePage() throws {
    let only = try #require(PageValidator(page([1], headers: Self.tag), next: nil))
    #expect(only.endsRun(.sorted) && only.endsRun(.param) && !only.endsRun(.etag) && !only.endsRun(.full))
    let first = try #require(PageValidator(page([1], headers: Self.tag), next: "b"))
    #expect(first.endsRun(.sorted) && !first.endsRun(.param))
  }
}
