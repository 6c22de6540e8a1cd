/// Timestamps in the HTTP format: `Tue, 10 Aug 2027 08:00:00 GMT`.
package enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Parameter seconds: Seconds since 1970 UTC.
  package static func text(_ seconds: Int64) -> String {
    let iso = Timestamp.text(seconds)
    let day = Int((seconds >= 0 ? seconds : seconds - 86_399) / 86_400)
    let date = CivilDate(dayNumber: day)
    let weekday = days[((day % 7) + 7) % 7]
    return "\(weekday), \(iso.dropFirst(8).prefix(2)) \(months[date.month - 1]) \(iso.prefix(4)) "
      + "\(iso.dropFirst(11).prefix(8)) GMT"
  }

  /// Returns seconds since 1970 UTC, or nil for any other text. The day of the week is not checked.
  package static func seconds(parsing text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT" || words[5] == "UTC",
      let month = months.firstIndex(of: String(words[2])), words[1].count == 2, words[3].count == 4, words[4].count == 8
    else { return nil }
    let number = month + 1
    let iso = "\(words[3])-\(number < 10 ? "0" : "")\(number)-\(words[1])T\(words[4])Z"
    return Timestamp.milliseconds(parsing: iso).map { $0 / 1000 }
  }
}
