import JSON

/// What a server answered. A ``RestClient`` returns only 2xx, 300 and 304 as a response; the rest is a ``RestError``.
public struct RestResponse: Sendable {
  public let status: Int
  public let headers: [(name: String, value: String)]
  public let body: ResponseBody

  public init(status: Int, headers: [(name: String, value: String)] = [], body: ResponseBody = ResponseBody([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of that name; names are compared without case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.equalsIgnoringCase(name) }?.value
  }

  /// The body as a value.
  /// - Throws: ``RestError`` `.invalidBody` that names the offset and keeps the body's text.
  public func json() throws(RestError) -> JSONValue {
    do {
      return try body.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws(JSONError) in
        try JSONValue(parsing: bytes)
      }
    } catch {
      throw invalidBody("\(error.message) at byte \(error.offset)")
    }
  }

  /// The error for a body that arrived whole with a good status and still is not what was asked for.
  ///
  /// - Parameter reason: What is wrong with it; the message says the content type too, because an HTML page of a
  ///   gateway is the usual cause.
  public func invalidBody(_ reason: String) -> RestError {
    let type = header("Content-Type") ?? "no content type"
    return RestError(
      code: .invalidBody, message: "the server answered \(status) with a body that cannot be used (\(type)): \(reason)",
      status: status, headers: headers, body: body.text, outcome: .answered)
  }
}

extension String {
  /// ASCII only: header names and URL schemes are.
  package func equalsIgnoringCase(_ other: String) -> Bool {
    utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
  }
}

extension UInt8 {
  var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
