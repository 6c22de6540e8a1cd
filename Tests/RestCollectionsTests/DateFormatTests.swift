import Support
import TestSupport
import Testing

@testable import RestCollections

struct DateFormatTests {
  private func read(_ format: String, _ text: String, zone: TimeZoneRules = .utc) throws -> ServerDate? {
    try DateFormat(format).date(text.utf8, zone: zone)
  }

  @Test(
    arguments: [
      ("iso8601", "2015-02-05T21:12:03Z", 1_423_170_723_000, 0),
      ("iso8601", "2015-02-05T21:12:03.956+0000", 1_423_170_723_956, 0),
      ("iso8601", "2015-02-05T22:12:03.9561234+01:00", 1_423_170_723_956, 123_400),
      ("iso8601", "2015-02-05 21:12", 1_423_170_720_000, 0),
      ("iso8601", "2015-02-05", 1_423_094_400_000, 0), ("iso8601", "1969-12-31T23:59:59.999999999Z", -1, 999_999),
      ("iso8601", "2016-12-31T23:59:60Z", 1_483_228_800_000, 0), ("iso8601", "0000-02-29T00:00:00Z", -62_162_121_600_000, 0),
      ("iso8601", "2015-02-05T21:12:03-08", 1_423_199_523_000, 0), ("iso8601", "2015-02-05t21:12:03,5z", 1_423_170_723_500, 0),
      ("rfc1123", "Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000, 0),
      ("rfc1123", "Sun, 6 Nov 1994 09:49:37 +0100", 784_111_777_000, 0),
      ("epoch", "1700000000", 1_700_000_000_000, 0), ("epoch", "1700000000.0005", 1_700_000_000_000, 500_000),
      ("epoch", "-1.5", -1500, 0), ("epochMs", "1700000000123", 1_700_000_000_123, 0),
      ("integer", "2026112301", 2_026_112_301, 0),
      ("yyyy-MM-dd'T'HH:mm:ss'Z'", "2013-01-02T03:04:05Z", 1_357_095_845_000, 0), ("yyyyMMdd", "20130102", 1_357_084_800_000, 0),
      ("dd.MM.yyyy HH:mm:ss,SSS X", "02.01.2013 03:04:05,678 +02", 1_357_088_645_678, 0),
      ("yyyy-MM-dd'T'HH:mm:ss.SSSX", "2013-01-02T03:04:05.678Z", 1_357_095_845_678, 0),
      ("yyyy 'o''clock' MM", "2013 o'clock 02", 1_359_676_800_000, 0),
    ] as [(String, String, Int64, Int)])
  func date_isRead(format: String, text: String, position: Int64, nanoseconds: Int) throws {
    #expect(try read(format, text) == ServerDate(position: position, nanoseconds: nanoseconds))
  }

  @Test(arguments: [
    ("iso8601", "2015-02-30T00:00:00Z"), ("iso8601", "2015-02-05T24:00:00Z"), ("iso8601", "2015-02-05T21:12:03.Z"),
    ("iso8601", "2015-02-05T21:12:03.1234567890Z"), ("iso8601", "2015-02-05T21:12:03 Z"), ("iso8601", ""),
    ("iso8601", "1423170723"),
    ("rfc1123", "Sunday, 06-Nov-94 08:49:37 GMT"), ("rfc1123", "Sun, 31 Feb 1994 08:49:37 GMT"),
    ("rfc1123", "Sun, 06 Nov 1994 08:49:37"),
    ("epoch", "1.7e9"), ("epoch", "99999999999999999999"), ("epoch", "-9223372036854775808.5"), ("epoch", "9223372036854775807"),
    ("epochMs", "1.5"), ("integer", ""), ("integer", "-"), ("yyyy-MM-dd", "2015-2-05"),
    ("yyyy-MM-dd'T'HH:mm:ss'Z'", "2013-01-02T03:04:05+00:00"),
  ])
  func date_wrong_isNone(format: String, text: String) throws { #expect(try read(format, text) == nil) }

  @Test(arguments: [
    ("iso", "has 'i'; known: iso8601, rfc1123, epoch, epochMs, integer, or a pattern of yyyy MM dd HH mm ss SSS X 'text'"),
    (
      "yyyy-MM-DD",
      "has 'DD'; known: iso8601, rfc1123, epoch, epochMs, integer, or a pattern of yyyy MM dd HH mm ss SSS X 'text'"
    ),
    ("yy", "has 'yy'; known: iso8601, rfc1123, epoch, epochMs, integer, or a pattern of yyyy MM dd HH mm ss SSS X 'text'"),
    ("yyyy MM MM", "has 'MM' twice"), ("yyyy 'T", "has an unterminated quote"),
    (
      "HH:mm",
      "has no year 'yyyy'; known: iso8601, rfc1123, epoch, epochMs, integer, or a pattern of yyyy MM dd HH mm ss SSS X 'text'"
    ),
  ])
  func format_wrong_isRefused(text: String, complaint: String) {
    #expect(throws: DatePattern.Problem(description: complaint)) { try DateFormat(text) }
  }

  @Test(
    arguments: [
      ("iso8601", 1_423_170_723_000, "UTC", "2015-02-05T21:12:03Z"),
      ("iso8601", 1_423_170_723_956, "UTC", "2015-02-05T21:12:03.956Z"),
      ("iso8601", 1_423_170_723_000, "+05:30", "2015-02-06T02:42:03+05:30"), ("iso8601", -1, "UTC", "1969-12-31T23:59:59.999Z"),
      ("rfc1123", 784_111_777_999, "-08:00", "Sun, 06 Nov 1994 08:49:37 GMT"), ("epoch", 1_700_000_000_999, "UTC", "1700000000"),
      ("epoch", -1, "UTC", "-1"), ("epochMs", 1_700_000_000_999, "UTC", "1700000000999"),
      ("integer", 2_026_112_301, "UTC", "2026112301"),
      ("yyyy-MM-dd HH:mm", 1_423_170_779_999, "-08:00", "2015-02-05 13:12"),
      ("yyyy-MM-dd'T'HH:mm:ss.SSSX", 1_423_170_723_956, "UTC", "2015-02-05T21:12:03.956Z"),
      ("yyyy-MM-dd HH X", 1_423_170_723_956, "+05:30", "2015-02-06 02 +0530"),
      ("yyyy HH X", 1_423_170_723_956, "-08", "2015 13 -08"),
    ] as [(String, Int64, String, String)])
  func text_isRoundedDown(format: String, position: Int64, zone: String, expected: String) throws {
    #expect(try DateFormat(format).text(position, zone: #require(TimeZoneRules(zone))) == expected)
  }

  @Test(arguments: ["iso8601", "epochMs", "integer", "yyyy-MM-dd'T'HH:mm:ss.SSSX", "epoch", "rfc1123", "yyyyMMddHHmmss"])
  func text_readAgain_isNeverLater(format: String) throws {
    var random = SeededGenerator(state: 1123)
    let format = try DateFormat(format)
    for zone in [TimeZoneRules.utc, TimeZoneRules(offset: -30_600)] {
      for _ in 0..<500 {
        let position = Int64.random(in: -60_000_000_000_000...250_000_000_000_000, using: &random)
        let text = format.text(position, zone: zone)
        let again = try #require(format.date(text.utf8, zone: zone), "\(text)").position
        #expect(again <= position && position - again < 1000, "\(text)")
      }
    }
  }

  @Test func date_equalInstants_differentTexts_compareWithAllDigits() throws {
    let a = try #require(try read("iso8601", "2015-02-05T21:12:03.9561Z"))
    let b = try #require(try read("iso8601", "2015-02-05T22:12:03.9562+01:00"))
    #expect(a < b && a.position == b.position)
  }

  @Test(arguments: [
    ("2015-02-05T21:12:03Z", "2015-02-05T22:12:03.000+01:00", true),
    ("2015-02-05T21:12:03.1Z", "2015-02-05T21:12:03.10001Z", false),
    ("soon", "soon", true), ("soon", "later", false), ("soon", "2015-02-05T21:12:03Z", false),
  ])
  func isSame_textsFirst_thenInstants(a: String, b: String, expected: Bool) {
    #expect(DateFormat.iso8601.isSame(a, b, zone: .utc) == expected)
  }

  @Test func date_randomBytes_neverCrash() throws {
    var random = SeededGenerator(state: 77)
    let formats = try ["iso8601", "rfc1123", "epoch", "epochMs", "integer", "yyyy-MM-dd'T'HH:mm:ss.SSSX"].map {
      try DateFormat($0)
    }
    let pool = Array("0123456789-+:TZ., GMTSunNov".utf8) + [0xff]
    for _ in 0..<10_000 {
      let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in pool.randomElement(using: &random)! }
      for format in formats {
        if let date = format.date(bytes, zone: .utc) { _ = format.text(date.position, zone: TimeZoneRules(offset: 3600)) }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      _ = try? DateFormat(text)
      _ = YearlyRule(text)?.offset(at: 0)
      _ = TimeZoneRules("X") { _ in Array("TZif2".utf8) + bytes + bytes }
    }
  }
}

struct TimeZoneRulesTests {
  /// Makes a zone file whose footer contains the rule.
  private static func file(_ rule: String, transitions: [(Int64, UInt8)] = [], offsets: [Int32] = [0]) -> [UInt8] {
    func big<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
    func header(_ times: Int, _ types: Int) -> [UInt8] {
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + [0, 0, 0, times, types, 0].flatMap { big(Int32($0)) }
    }
    return header(0, 0) + header(transitions.count, offsets.count) + transitions.flatMap { big($0.0) } + transitions.map(\.1)
      + offsets.flatMap { big($0) + [0, 0] } + Array("\n\(rule)\n".utf8)
  }

  @Test(arguments: ["C25", "C255T,M3.5.0,M1.5.0", "C1:60", "C1D25,M3.5.0,M1.5.0", "C1D,M3.5.0/168,M1.5.0"])
  func yearlyRule_clockOutOfRange_isRefused(rule: String) { #expect(YearlyRule(rule) == nil) }

  @Test(
    arguments: [
      ("CET-1CEST,M3.5.0,M10.5.0/3", 1_711_846_799, 3600), ("CET-1CEST,M3.5.0,M10.5.0/3", 1_711_846_800, 7200),
      ("CET-1CEST,M3.5.0,M10.5.0/3", 1_729_990_799, 7200), ("CET-1CEST,M3.5.0,M10.5.0/3", 1_729_990_800, 3600),
      ("EST5EDT,M3.2.0,M11.1.0", 1_710_054_000, -14_400), ("EST5EDT,M3.2.0,M11.1.0", 1_730_613_600, -18_000),
      ("AEST-10AEDT,M10.1.0,M4.1.0/3", 1_704_067_200, 39_600), ("AEST-10AEDT,M10.1.0,M4.1.0/3", 1_719_792_000, 36_000),
      ("<+0330>-3:30", 0, 12_600), ("X0Y,J60,J300", 1_709_251_200, 0), ("X0Y,J60,J300", 1_709_258_400, 3600),
      ("X0Y,59/0,300", 1_709_164_800, 3600),
    ] as [(String, Int64, Int)])
  func offset_byTheYearlyRule(rule: String, seconds: Int64, offset: Int) throws {
    let zone = try #require(TimeZoneRules("X") { _ in Self.file(rule) })
    #expect(zone.offset(at: seconds) == offset)
  }

  @Test func offset_byTransitions_thenByTheRule() throws {
    let zone = try #require(
      TimeZoneRules("X") { _ in Self.file("A-3", transitions: [(100, 1), (200, 0)], offsets: [60, 7200]) })
    #expect([99, 100, 199, 200, 201].map { zone.offset(at: $0) } == [60, 7200, 7200, 10_800, 10_800])
  }

  @Test func seconds_clockThatGoesBack_isTheEarlierInstant_jumpedOverIsTheOffsetBefore() throws {
    let zone = try #require(TimeZoneRules("X") { _ in Self.file("CET-1CEST,M3.5.0,M10.5.0/3") })
    // 2024-10-27T02:30 occurs at 00:30 and at 01:30 UTC; 2024-03-31T02:30 never occurs.
    #expect(zone.seconds(ofLocal: 1_729_996_200) == 1_729_996_200 - 7200)
    #expect(zone.seconds(ofLocal: 1_711_852_200) == 1_711_852_200 - 3600)
    #expect(zone.seconds(ofLocal: 1_720_000_000) == 1_720_000_000 - 7200)
  }

  @Test(arguments: ["Mars/Olympus", "", "../passwd", "/etc/passwd", "+25:00", "Europe Berlin"])
  func zone_unknown_isNone(name: String) { #expect(TimeZoneRules(name) { _ in nil } == nil) }

  @Test func zone_namesOutsideTheFolder_areNeverAskedFor() {
    for name in ["../x", "/etc/passwd", "a b"] {
      _ = TimeZoneRules(name) { asked in
        Issue.record("asked for \(asked)")
        return nil
      }
    }
  }

  @Test(.enabled(if: FileSystem.exists(TimeZoneRules.folder + "/Europe/Berlin")))
  func zone_installed_isRead() throws {
    let zone = try #require(TimeZoneRules("Europe/Berlin"))
    #expect(
      zone.offset(at: 1_720_000_000) == 7200 && zone.offset(at: 1_705_000_000) == 3600 && zone.offset(at: 4_118_000_000) == 7200)
    #expect(try DateFormat("yyyy-MM-dd HH:mm").date("2024-07-03 11:46".utf8, zone: zone)?.position == 1_719_999_960_000)
  }
}

struct CivilDayTests {
  @Test func number_everyDayOfFourCenturies_isOneMore() throws {
    var number = try #require(CivilDay(year: 1799, month: 12, day: 31)).number
    for year in 1800..<2200 {
      for month in 1...12 {
        for day in 1...CivilDay.daysIn(month: month, of: year) {
          let date = try #require(CivilDay(year: year, month: month, day: day))
          #expect(date.number == number + 1 && CivilDay(number: date.number) == date)
          number = date.number
        }
      }
    }
    #expect(CivilDay(year: 2023, month: 2, day: 29) == nil && CivilDay(number: 0).weekday == 4)
  }
}
