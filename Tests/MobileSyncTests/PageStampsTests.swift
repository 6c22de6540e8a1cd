import SmartStore
import TestSupport
import Testing

@testable import MobileSync

/// The newest date on a page is found by comparing bytes; the result equals that of parsing every
/// date.
@Suite struct PageStampsTests {
  private static func page(_ stamps: [String]) throws -> ScannedPage {
    let temporary = try TemporaryStore(soup: "s", [IndexSpec(path: "Id", type: .string)])
    let plan = try temporary.store.readBlocking {
      try $0.pagePlan(soup: "s", idPath: "Id", extraPaths: ["at"], ownedKeys: [])
    }
    let records = stamps.enumerated().map { #"{"Id":"\#($0)","at":\#($1)}"# }
    return try plan.scan(ByteArrayPage(Array("[\(records.joined(separator: ","))]".utf8)), recordsKey: nil)
  }

  private static let early = #""2015-02-05T21:12:03.956+0000""#, late = #""2026-11-22T08:00:00.001+0000""#

  @Test(arguments: [
    [], [early], [early, late], [late, early], ["null", early], [#""""#, "7", early],
    [#""2030-01-01T00:00:00Z""#, late], [late, #""2030-01-01T00:00:00+01:00""#, early],
    // Not dates, but of the same form: greater than any date, or less.
    [late, #""9999-99-99T99:99:99.999+0000""#, early], [#""zzzz-zz-zzTzz:zz:zz.zzz+0000""#, early],
    [early, #""0000-00-00T00:00:00.000+0000""#], [#""9999-99-99T99:99:99.999+0000""#],
    [#""2026-11-22T08:00:00.001\u002b0000""#, early],
  ])
  func newest_anyStamps_isWhatReadingThemGives(_ stamps: [String]) throws {
    let page = try Self.page(stamps)
    var read: Int64?
    page.forEachRawText(extra: 0) { _, text in
      guard let time = text.flatMap({ TimeStamp.milliseconds($0) }) else { return }
      read = max(read ?? time, time)
    }
    #expect(PageStamps.newest(on: page) == read)
  }

  @Test func limit_stampsAround_onlyWhatIsLaterIsRuledOut() throws {
    let limit = PageStamps.Limit(try #require(TimeStamp.milliseconds("2015-02-05T21:12:03.956Z")))
    let cases = [
      ("2015-02-05T21:12:03.955+0000", true), ("2015-02-05T21:12:03.956+0000", true), ("2015-02-05T21:12:03.957+0000", false),
      ("2016-02-05T21:12:03.956Z", true), ("2015-02-05", true), ("", true), ("9999-99-99T99:99:99.999+0000", false),
    ]
    for (text, expected) in cases {
      #expect(Array(text.utf8).withUnsafeBytes { limit.mayReach($0) } == expected, "\(text)")
    }
  }
}
