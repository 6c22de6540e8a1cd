import RecordScan

/// A decoded value from a page or header that determines the next request.
enum FactValue: Sendable, Equatable {
  case missing, null
  case flag(Bool)
  case text(String)
  /// The number's digits.
  case number(String)
  /// An array or an object.
  case other

  init(_ value: ScannedValue, in bytes: UnsafeRawBufferPointer) {
    switch value.kind {
    case .missing, .arrayStep: self = .missing
    case .null: self = .null
    case .true: self = .flag(true)
    case .false: self = .flag(false)
    case .number: self = .number(value.scalarText(in: bytes) ?? "")
    case .plainString, .escapedString: self = .text(value.string(in: bytes) ?? "")
    case .object, .array: self = .other
    }
  }

  /// Headers contain text; an empty one counts as missing.
  init(header: String?) { self = header.map { .text($0) } ?? .missing }

  /// A non-empty text or a number. nil for missing, null, false and empty values, which all mean
  /// the end of the list.
  var continuation: String? {
    switch self {
    case .text(let text): text.isEmpty ? nil : text
    case .number(let digits): digits
    default: nil
    }
  }

  /// The value as an integer; also parses the text of a header.
  var integer: Int64? {
    switch self {
    case .text(let text): Int64(text)
    case .number(let digits): Int64(digits) ?? Double(digits).flatMap { Int64(exactly: $0) }
    default: nil
    }
  }

  /// What a value says as a boolean.
  enum Flag: Equatable {
    case says(Bool)
    /// Missing, null or empty.
    case silent
    case unreadable
  }

  /// The value as a boolean: true, false, a number, of which 0 is false, or one of these as text.
  var flag: Flag {
    switch self {
    case .missing, .null, .text(""): .silent
    case .flag(let flag): .says(flag)
    case .number(let digits): .says(!FactValue.isZero(digits))
    case .text(let text): FactValue.flag(text)
    case .other: .unreadable
    }
  }

  private static func flag(_ text: String) -> Flag {
    switch text.lowercased() {
    case "true": .says(true)
    case "false": .says(false)
    case let digits where !digits.isEmpty && digits.utf8.allSatisfy(\.isASCIIDigit): .says(!isZero(digits))
    default: .unreadable
    }
  }

  /// Whether a number in JSON's form is 0, as in `0`, `-0.0` and `0e5`.
  static func isZero(_ number: String) -> Bool {
    number.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.allSatisfy { !(UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
  }
}

/// What a page says about the whole list.
struct PageFacts: Sendable, Equatable {
  var next = FactValue.missing
  var cursor = FactValue.missing
  /// The total number of items; nil (unknown) if it is missing, null or negative.
  var total: Int64?
  /// The number of the last page.
  var totalPages: Int64?
  var hasMore: Bool?
  var isEnd: Bool?
  /// The token with which a later run continues.
  var token: String?
  /// The text at `watermarkPath`.
  var watermark: String?
  /// The `afterField` of the last item.
  var after = FactValue.missing
  /// The dates of items before `where` applies, without tombstones. The newest one is not later
  /// than the clock: a date in the future, often a mistake, would hide all changes until then.
  var newestDate: ServerDate?
  /// The newest date of all, even in the future.
  var newestStatedDate: ServerDate?
  var oldestDate: ServerDate?
  var lastDate: ServerDate?
  /// Whether an item other than a tombstone lacks its date.
  var lacksDate = false
}
