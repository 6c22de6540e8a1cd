import RestClient

/// What an answer says beside its body.
struct PageAnswer: Sendable {
  /// Where it came from, after redirects: links in it resolve against this.
  let url: String
  let status: Int
  let headers: [(name: String, value: String)]

  init(url: String, status: Int = 200, headers: [(name: String, value: String)] = []) {
    self.url = url
    self.status = status
    self.headers = headers
  }

  /// The first header of that name; case does not count.
  func header(_ name: String) -> String? { values(of: name).first }

  func values(of name: String) -> [String] {
    let wanted = name.lowercased()
    return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
  }

  /// The media type in lower case, without parameters.
  var mediaType: String? {
    header("Content-Type").map { type in
      String(type.prefix { $0 != ";" }).filter { $0 != " " && $0 != "\t" }.lowercased()
    }
  }

  var isJSON: Bool { mediaType.map { $0 == "application/json" || $0.hasSuffix("+json") } ?? true }

  /// Whether a status such as 404 means what it says: an HTML page comes from a wrong path or a proxy.
  func decides(bodyIsEmpty: Bool) -> Bool { bodyIsEmpty || isJSON || mediaType == "text/plain" }

  /// Whether an error is the server's own word about a cursor: JSON, or nothing.
  func isAboutTheCursor(bodyIsEmpty: Bool) -> Bool { bodyIsEmpty || (mediaType != nil && isJSON) }
}

/// Why a page cannot be used, or the pages after it not be reached.
struct RestPageError: Error, Sendable, Equatable, CustomStringConvertible {
  enum Code: String, CaseIterable, Sendable {
    /// HTML, cut off, nested too deeply, or not JSON at all.
    case notJSON
    /// JSON in which the items, or what a path leads to, are not what they must be.
    case wrongShape
    case tooManyItems
    /// A next URL or token came before.
    case loop
    /// A next URL leads to another server.
    case foreignOrigin
    /// The server gives only so many items of a list.
    case resultCap
    /// The list was cut: its total is above what came.
    case cutList
    /// An item or a template lacks a value that a request needs.
    case missingValue
  }

  let code: Code
  /// Names the target, the number of the page and the key.
  let description: String
}
