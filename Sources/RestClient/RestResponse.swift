import JSON

/// A server's response. A ``RestClient`` returns only 2xx, 300 and 304 as a response, and throws a
/// ``RestError`` otherwise.
public struct RestResponse: Sendable {
  public let status: Int
  public let headers: [(name: String, value: String)]
  public let body: ResponseBody
  /// Whether an earlier attempt of the request may have been executed.
  package var followsLostAttempt = false

  public init(status: Int, headers: [(name: String, value: String)] = [], body: ResponseBody = ResponseBody([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the first header with the given name, ignoring case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.equalsIgnoringCase(name) }?.value
  }

  /// Parses the body.
  ///
  /// - Throws: ``RestError`` `.invalidBody` with the offset in its message and the body's text.
  public func json() throws(RestError) -> JSONValue {
    do {
      return try body.parsed()
    } catch {
      throw invalidBody("\(error.message) at byte \(error.offset)\(MediaType.doubts(headers))")
    }
  }

  /// Makes the error for a complete body with a success status that does not have the expected
  /// form.
  ///
  /// - Parameter reason: What is wrong with the body. The message also gives the content type,
  ///   because the usual cause is an HTML page from a gateway.
  public func invalidBody(_ reason: String) -> RestError {
    let type = header("Content-Type") ?? "no content type"
    return RestError(
      code: .invalidBody, message: "the server answered \(status) with a body that cannot be used (\(type)): \(reason)",
      status: status, headers: headers, body: body.text, outcome: .answered)
  }
}

extension String {
  /// Compares ASCII text such as header names and URL schemes, ignoring case.
  package func equalsIgnoringCase(_ other: String) -> Bool {
    utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension UInt8 {
  var lowercasedASCII: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
