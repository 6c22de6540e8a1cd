import RestClient

/// The URL, status and headers of a response.
struct PageAnswer: Sendable {
  /// The URL after redirects, the base of relative links.
  let url: String
  let status: Int
  let headers: [(name: String, value: String)]

  init(url: String, status: Int = 200, headers: [(name: String, value: String)] = []) {
    self.url = url
    self.status = status
    self.headers = headers
  }

  /// Returns the first header with the given name, ignoring case.
  func header(_ name: String) -> String? { values(of: name).first }

  func values(of name: String) -> [String] {
    let wanted = name.lowercased()
    return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
  }

  /// The server's clock when it answered, in ms since 1970 UTC: the end of the second in `Date`.
  var serverTime: Int64? {
    header("Date").flatMap { DateFormat.rfc1123.date($0.utf8, zone: .utc)?.position }.map { $0 + 999 }
  }

  /// The media type in lower case, without parameters.
  var mediaType: String? { header("Content-Type").map { MediaType($0).name } }

  var isJSON: Bool { header("Content-Type").map { MediaType($0).isJSON } ?? true }

  /// Whether a status such as 404 can be taken at its word. An HTML page comes from a wrong path or
  /// a proxy.
  func decides(bodyIsEmpty: Bool) -> Bool { bodyIsEmpty || isJSON || mediaType == "text/plain" }

  /// Whether an error comes from the API itself and refers to a cursor: the body is JSON or empty.
  func isAboutTheCursor(bodyIsEmpty: Bool) -> Bool { bodyIsEmpty || (mediaType != nil && isJSON) }
}

/// Why a page, or the page after it, cannot be read.
struct RestPageError: Error, Sendable, Equatable, CustomStringConvertible {
  enum Code: String, CaseIterable, Sendable {
    /// The body is HTML, truncated, nested too deeply or otherwise not valid JSON.
    case notJSON
    /// The items, or a value at one of the paths, have the wrong type.
    case wrongShape
    case tooManyItems
    /// A next URL or token repeats an earlier one.
    case loop
    /// A next URL points to another server.
    case foreignOrigin
    /// The server returns only a limited number of items of a list.
    case resultCap
    /// The list is truncated: its total exceeds the number of items received.
    case cutList
    /// An item or a template lacks a value needed for a request.
    case missingValue
  }

  let code: Code
  /// Names the target, the page number and the key.
  let description: String
}
