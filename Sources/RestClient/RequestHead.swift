/// Validates the URL and headers of a request before it is sent.
enum RequestHead {
  /// - Throws: ``RestError`` `.requestTooLarge`, `.invalidHeader`. Messages show no values: they
  ///   may be tokens.
  static func check(url: String, headers: [(name: String, value: String)]) throws(RestError) {
    var bytes = url.utf8.count, hasHost = false
    for header in headers {
      bytes += header.name.utf8.count + header.value.utf8.count + 4  // ": " and the line break
      guard bytes <= Tuning.largestRequestHead else { break }
      guard !header.name.isEmpty, header.name.utf8.allSatisfy(isTokenByte) else {
        throw .invalidHeader("'\(shown(header.name))' is not a valid header name")
      }
      guard header.value.utf8.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
        throw .invalidHeader("the header '\(shown(header.name))' contains a line break or another control character")
      }
      guard header.name.utf8.count == 4, header.name.lowercased() == "host" else { continue }
      // Servers and proxies may each believe another one.
      guard !hasHost else { throw .invalidHeader("the header 'Host' is given twice") }
      hasHost = true
    }
    guard bytes <= Tuning.largestRequestHead else {
      let limit = Tuning.largestRequestHead
      let what =
        url.utf8.count > limit ? "the URL has \(url.utf8.count) bytes" : "the URL and the headers have \(bytes) bytes or more"
      throw RestError(
        code: .requestTooLarge,
        message: "\(what); at most \(limit) bytes can be sent; put long values in the body", outcome: .notSent)
    }
  }

  /// Source: RFC 9110, section 5.6.2.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static func shown(_ name: String) -> String { String(name.prefix(Tuning.shownCharacters)) }
}

extension RestError {
  fileprivate static func invalidHeader(_ message: String) -> RestError {
    RestError(code: .invalidHeader, message: message, outcome: .notSent)
  }
}
