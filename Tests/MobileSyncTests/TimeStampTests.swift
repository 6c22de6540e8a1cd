import Foundation
import Testing

@testable import MobileSync

@Suite struct TimeStampTests {
  @Test(
    arguments: [
      ("2015-02-05T21:12:03.000+0000", 1_423_170_723_000), ("2015-02-05T21:12:03.956+0000", 1_423_170_723_956),
      ("2015-02-05T21:12:03Z", 1_423_170_723_000), ("2015-02-05T21:12:03.956Z", 1_423_170_723_956),
      ("2015-02-05T22:12:03.956+01:00", 1_423_170_723_956), ("2015-02-05T15:42:03.956-0530", 1_423_170_723_956),
      ("2015-02-05T21:12:03.9561234Z", 1_423_170_723_956), ("2015-02-05T21:12:03.9Z", 1_423_170_723_900),
      ("1970-01-01T00:00:00.000+0000", 0), ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000),
    ] as [(String, Int64)])
  func milliseconds_forms_areRead(text: String, expected: Int64) {
    #expect(TimeStamp.milliseconds(text) == expected)
  }

  @Test(arguments: [
    "", "x", "2015-02-05", "2015-02-05T21:12:03", "2015-02-05T21:12:03.Z", "2015-13-05T21:12:03Z", "2015-02-30T21:12:03Z",
    "2015-02-05T24:12:03Z", "2015-02-05T21:12:03Zx", "2015-02-05 21:12:03Z", "1900-02-29T00:00:00Z", "2015-02-05T21:12:03+",
    "2015-13-05T21:12:03.956+0000", "2015-02-30T21:12:03.956+0000", "2015-02-05T24:12:03.956+0000",
    "2015-02-05T21:60:03.956+0000", "2015-02-05T21:12:61.956+0000", "2015-02-05T21:12:0x.956+0000",
    "/015-02-05T21:12:03.956+0000", "2015-02-05T21:12:03.956+0:00", "2015-02-05T21:12:03,956+0000",
  ])
  func milliseconds_otherTexts_giveNil(text: String) {
    #expect(TimeStamp.milliseconds(text) == nil)
  }

  @Test func text_everyDayOfManyYears_agreesWithFoundation() {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime]
    for day in stride(from: -140_000, through: 200_000, by: 997) {
      let milliseconds = Int64(day) * 86_400_000 + 45_296_000
      let expected = formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds / 1000)))
      let text = TimeStamp.text(milliseconds)
      #expect(text.hasPrefix(expected.dropLast()))
      #expect(TimeStamp.milliseconds(text) == milliseconds)
    }
    #expect(TimeStamp.text(1_704_103_204_999) == "2024-01-01T10:00:04.999+0000")
  }

  @Test func milliseconds_httpDate() {
    #expect(TimeStamp.milliseconds(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777_000)
    #expect(TimeStamp.milliseconds(httpDate: "Sunday, 06-Nov-94 08:49:37 GMT") == nil)
    #expect(TimeStamp.milliseconds(httpDate: "Sun, 06 Nov 1994 08:49:37 +0100") == nil)
  }
}
