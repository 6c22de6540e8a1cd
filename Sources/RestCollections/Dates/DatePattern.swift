import Support

/// A date pattern with the fields `yyyy MM dd HH mm ss SSS X 'text'`. All characters except letters
/// are literal.
struct DatePattern: Sendable, Equatable {
  /// The pattern as written.
  let text: String
  private let parts: [Part]

  private enum Part: Sendable, Equatable {
    case field(Field)
    case literal([UInt8])
  }

  private enum Field: String, CaseIterable, Sendable {
    case year = "yyyy", month = "MM", day = "dd", hour = "HH", minute = "mm", second = "ss", millisecond = "SSS", offset = "X"
  }

  /// Why a text is not a valid pattern: a phrase to append to the text.
  struct Problem: Error, Sendable, Equatable { let description: String }

  /// - Throws: ``Problem`` for an unknown letter, an unterminated quote, a repeated field or a
  ///   missing year.
  init(_ text: String) throws(Problem) {
    self.text = text
    var parts: [Part] = [], rest = Array(text.utf8)[...], fields = Set<Field>()
    while let byte = rest.first {
      if byte == UInt8(ascii: "'") {
        parts.append(.literal(try DatePattern.quoted(&rest)))
      } else if byte.isASCIILetter {
        let run = rest.prefix { $0 == byte }
        rest = rest.dropFirst(run.count)
        let letters = String(decoding: run, as: UTF8.self)
        guard let field = Field(rawValue: letters) else { throw DatePattern.unknown(letters) }
        guard fields.insert(field).inserted else { throw Problem(description: "has '\(letters)' twice") }
        parts.append(.field(field))
      } else {
        parts.append(.literal([byte]))
        rest = rest.dropFirst()
      }
    }
    guard fields.contains(.year) else { throw DatePattern.unknown(nil) }
    self.parts = parts
  }

  private static func unknown(_ letters: String?) -> Problem {
    let names = "iso8601, rfc1123, epoch, epochMs, integer, or a pattern of yyyy MM dd HH mm ss SSS X 'text'"
    return Problem(description: (letters.map { "has '\($0)'" } ?? "has no year 'yyyy'") + "; known: \(names)")
  }

  /// Reads the text between quotes; two quotes stand for one.
  private static func quoted(_ rest: inout ArraySlice<UInt8>) throws(Problem) -> [UInt8] {
    rest = rest.dropFirst()
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "'") else {
        text.append(byte)
        continue
      }
      guard rest.first == UInt8(ascii: "'") else { return text.isEmpty ? [byte] : text }
      text.append(byte)
      rest = rest.dropFirst()
    }
    throw Problem(description: "has an unterminated quote")
  }

  /// Parses a date. Without a month or day in the pattern the date has the first one; without a
  /// time field it has zero.
  func read(_ reader: inout DateReader, zone: TimeZoneRules) -> ServerDate? {
    var numbers: [Field: Int] = [:]
    for part in parts {
      switch part {
      case .literal(let text): guard reader.skip(text) else { return nil }
      case .field(let field):
        guard let number = field == .offset ? reader.offset() : reader.number(field.rawValue.utf8.count) else { return nil }
        numbers[field] = number
      }
    }
    guard let date = CivilDay(year: numbers[.year] ?? 1970, month: numbers[.month] ?? 1, day: numbers[.day] ?? 1) else {
      return nil
    }
    let clock = (numbers[.hour] ?? 0, numbers[.minute] ?? 0, numbers[.second] ?? 0)
    return DateReader.instant(date, clock, (numbers[.millisecond] ?? 0) * 1_000_000, offset: numbers[.offset], zone)
  }

  /// Formats a moment. Fields that the pattern lacks are omitted, which rounds down.
  func text(_ time: CivilTime) -> String {
    parts.map { part in
      switch part {
      case .literal(let text): String(decoding: text, as: UTF8.self)
      case .field(let field): DatePattern.text(field, time)
      }
    }.joined()
  }

  private static func text(_ field: Field, _ time: CivilTime) -> String {
    switch field {
    case .year: DateFormat.padded(time.day.year, 4)
    case .month: DateFormat.padded(time.day.month, 2)
    case .day: DateFormat.padded(time.day.day, 2)
    case .hour: DateFormat.padded(time.hour, 2)
    case .minute: DateFormat.padded(time.minute, 2)
    case .second: DateFormat.padded(time.second, 2)
    case .millisecond: DateFormat.padded(time.millisecond, 3)
    case .offset:
      time.offset % 3600 == 0 && !time.isUTC
        ? String(time.offsetText(separator: "").prefix(3)) : time.offsetText(separator: "")
    }
  }
}
