import JSON
import MobileSync
import RecordScan
import RestClient

/// Follows the pages of a query and notices a server that never ends them: one whose pages form a
/// cycle, and one that names a new page each time although everything has arrived.
struct QueryTrail: Sendable {
  private var trail = PageTrail()
  private var received: Int64 = 0
  /// Pages that were empty, or were named after all announced records had arrived.
  private var idlePages = 0

  /// A page can come back empty if its records were deleted meanwhile; so many of them in one query
  /// are an error.
  private static let mostIdlePages = 10

  /// Call for each page that names another one.
  ///
  /// - Parameters:
  ///   - url: The URL of the next page.
  ///   - records: The number of records on this page.
  ///   - total: The number of records that the query announces; nil if unknown.
  /// - Throws: ``SyncError`` `.unexpectedAnswer`.
  mutating func follow(_ url: String, records: Int, total: Int64?) throws(SyncError) {
    try trail.follow(url)
    received += Int64(records)
    guard records == 0 || (total.map { $0 >= 0 && received >= $0 } ?? false) else { return }
    idlePages += 1
    guard idlePages <= QueryTrail.mostIdlePages else {
      throw SyncError(
        .unexpectedAnswer,
        "the server names further pages of a query without end: \(received) records arrived, and it announced "
          + "\(total.map { String($0) } ?? "no number"); this is an error of the server")
    }
  }
}

extension PageEnvelope {
  /// Returns the URL of the next page of a query; nil on the last one.
  ///
  /// - Throws: `RestError` `.invalidBody` if the answer does not say whether and where it goes on.
  static func next(_ url: JSONValue?, done: JSONValue?, _ response: RestResponse) throws(RestError) -> String? {
    switch url {
    case .string(let text)? where !text.isEmpty: return text
    case nil, .null?:
      guard done != .bool(false) else {
        throw response.invalidBody("'done' is false, but the answer has no '\(nextPage)'")
      }
      return nil
    case let other?: throw response.invalidBody("'\(nextPage)' is \(other.isNull ? "empty" : "a \(other.kindName)"), not a URL")
    }
  }
}

extension ScannedValue {
  /// A text, number, boolean or null as a value; nil if there is none. Containers become empty ones.
  func plain(in bytes: UnsafeRawBufferPointer) -> JSONValue? {
    switch kind {
    case .missing, .arrayStep: nil
    case .null: .null
    case .true: .bool(true)
    case .false: .bool(false)
    case .number: JSONValue.number(parsing: slice(in: bytes))
    case .plainString, .escapedString: .string(string(in: bytes) ?? "")
    case .object: .object([:])
    case .array: .array([])
    }
  }
}
