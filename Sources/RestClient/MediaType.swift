import Support

/// What the headers of a response say about its body.
package struct MediaType: Sendable {
  /// In lower case, without parameters.
  package let name: String
  /// In lower case; nil if it is not stated.
  package let charset: String?

  package init(_ header: String) {
    let parts = header.split(separator: ";", omittingEmptySubsequences: false).map { part in
      part.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.lowercased()
    }
    name = parts.first ?? ""
    charset = parts.dropFirst().first { $0.hasPrefix("charset=") }.map { String($0.dropFirst("charset=".count)) }
  }

  package var isJSON: Bool {
    ["application/json", "text/json", "application/x-json"].contains(name) || name.hasSuffix("+json")
  }

  /// Returns why a body may not be readable here, in words that follow a reason; an empty text if nothing is known.
  package static func doubts(_ headers: [(name: String, value: String)]) -> String {
    func value(_ name: String) -> String? { headers.first { $0.name.equalsIgnoringCase(name) }?.value }
    let read = ["utf-8", "utf8", "us-ascii", "ascii", "identity", "gzip", "x-gzip", "deflate"]
    if let coding = value("Content-Encoding")?.lowercased(), !read.contains(coding) {
      return "; its Content-Encoding is '\(coding)', which is not decoded"
    }
    if let charset = value("Content-Type").flatMap({ MediaType($0).charset }), !read.contains(charset) {
      return "; its charset is '\(charset)', and only UTF-8 is read"
    }
    return ""
  }
}
