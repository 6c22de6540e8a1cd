import JSON
import Salesforce
import Testing

/// Parses an org's API usage and tests the share that syncs leave to other programs.
@Suite struct ApiUsageTests {
  private func read(_ header: String) -> ApiUsage? { ApiUsage(header: header, seenAt: 7) }

  @Test func header_allParts_areRead() {
    let usage = read("api-usage=18/5000; per-app-api-usage=17/250(appName=sample-connected-app); api-bursts=1/750")
    #expect(
      usage?.json == [
        "used": 18, "max": 5000, "seenAt": 7,
        "perApp": ["used": 17, "max": 250, "appName": "sample-connected-app"],
      ])
  }

  @Test(arguments: [
    "api-usage=18/5000", "api-usage=18/5000;", " api-usage = 18 / 5000 ", "new-limit=1/2;api-usage=18/5000;other",
    "api-usage=18/5000; per-app-api-usage=x/250(appName=a)", "per-app-api-usage=;api-usage=18/5000",
  ])
  func header_partsMissingOrNew_givesTheUsage(header: String) {
    #expect(read(header)?.json == ["used": 18, "max": 5000, "seenAt": 7])
  }

  @Test(arguments: [
    "", "api-usage", "api-usage=", "api-usage=18", "api-usage=-1/5000", "api-usage=1/0", "api-usage=1/2/3",
    "api-usage=99999999999999999999/5000", "per-app-api-usage=17/250(appName=x)", "api-bursts=1/750", "(;=/)",
  ])
  func header_withoutTheUsage_isNone(header: String) { #expect(read(header) == nil) }

  @Test func json_roundTrip_isTheSame() throws {
    for header in [
      "api-usage=18/5000", "api-usage=18/5000;per-app-api-usage=1/2(appName=ö)", "api-usage=0/1;per-app-api-usage=1/2",
    ] {
      let usage = try #require(read(header))
      #expect(ApiUsage(json: try JSONValue(parsing: JSONValue.object(usage.json).serialized())) == usage)
    }
  }

  @Test(arguments: [
    "null", "[]", "{}", #"{"used":1,"max":2}"#, #"{"used":1,"max":0,"seenAt":1}"#, #"{"used":-1,"max":1,"seenAt":1}"#,
    #"{"used":"1","max":2,"seenAt":1}"#, #"{"used":1,"max":2,"seenAt":-5}"#,
  ])
  func json_damaged_isNone(text: String) throws { #expect(ApiUsage(json: try JSONValue(parsing: Array(text.utf8))) == nil) }

  @Test func reserve_callsAndPercent_areReachedAtTheirBound() throws {
    func isReached(_ reserve: JSONValue, _ used: Int64, of max: Int64) throws -> Bool {
      try #require(ApiReserve(reserve)).isReached(by: ApiUsage(used: used, max: max, seenAt: 0))
    }
    #expect(try !isReached(500, 4499, of: 5000))
    #expect(try isReached(500, 4500, of: 5000))
    #expect(try isReached("500", 4500, of: 5000))
    #expect(try !isReached("10%", 88, of: 99))
    #expect(try isReached("10%", 89, of: 99), "the tenth part of 99, rounded up, is 10")
    #expect(try isReached("100%", 0, of: 5000))
    #expect(try isReached(9000, 0, of: 5000))
    #expect(try !isReached(0, 6000, of: 5000))
    #expect(try !isReached("0%", 5000, of: 5000))
  }

  @Test(arguments: ["x", "10 %", "101%", "-1%", "%", "1.5%", "-5", ""] as [JSONValue] + [-1, 1.5, true, .null, []])
  func reserve_ofAnotherShape_isNone(value: JSONValue) { #expect(ApiReserve(value) == nil) }
}
