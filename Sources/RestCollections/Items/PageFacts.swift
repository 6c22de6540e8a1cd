import RecordScan

/// A value of a page or a header that decides what comes next, decoded.
enum FactValue: Sendable, Equatable {
  case missing, null
  case flag(Bool)
  case text(String)
  /// As it is spelled.
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

  /// Headers hold text; an empty one is as good as none.
  init(header: String?) { self = header.map { .text($0) } ?? .missing }

  /// A text or a number that is there; nil for missing, null, false and empty, which all mean "nothing further".
  var continuation: String? {
    switch self {
    case .text(let text): text.isEmpty ? nil : text
    case .number(let digits): digits
    default: nil
    }
  }

  /// Also of a header, where numbers are text.
  var integer: Int64? {
    switch self {
    case .text(let text): Int64(text)
    case .number(let digits): Int64(digits) ?? Double(digits).flatMap { Int64(exactly: $0) }
    default: nil
    }
  }

  /// Also of a header, where booleans are text.
  var flag: Bool? {
    switch self {
    case .flag(let flag): flag
    case .text("true"): true
    case .text("false"): false
    default: nil
    }
  }
}

/// What a page says about the whole list.
struct PageFacts: Sendable, Equatable {
  var next = FactValue.missing
  var cursor = FactValue.missing
  /// Of all items; nil when it is missing, null or negative: unknown then.
  var total: Int64?
  /// The number of the last page.
  var totalPages: Int64?
  var hasMore: Bool?
  var isEnd: Bool?
  /// Where a later run goes on.
  var token: String?
  /// The text that `watermarkPath` leads to.
  var watermark: String?
  /// `afterField` of the last item.
  var after = FactValue.missing
  /// Of the items before `where`, marks of deletion not counted.
  var newestDate: ServerDate?
  var oldestDate: ServerDate?
  var lastDate: ServerDate?
  /// An item that is not a mark of deletion lacks its date.
  var lacksDate = false
}
