import Support

/// Resolves references of servers, such as a `Location` or a `Link`, against the URL of the answer they came with.
///
/// - Note: RFC 3986, section 5.2. Texts stay as they are: nothing is decoded or encoded, but see ``repaired(_:)``.
package struct URLReference: Sendable, Equatable {
  package var scheme: String?
  package var authority: String?
  package var path: String
  package var query: String?
  package var fragment: String?

  package init(_ text: String) {
    var rest = text[...]
    if let mark = rest.firstIndex(of: "#") {
      fragment = String(rest[rest.index(after: mark)...])
      rest = rest[..<mark]
    }
    if let mark = rest.firstIndex(of: "?") {
      query = String(rest[rest.index(after: mark)...])
      rest = rest[..<mark]
    }
    if let mark = rest.firstIndex(of: ":"), URLReference.isScheme(rest[..<mark]) {
      scheme = String(rest[..<mark])
      rest = rest[rest.index(after: mark)...]
    }
    if rest.hasPrefix("//") {
      rest = rest.dropFirst(2)
      let end = rest.firstIndex(of: "/") ?? rest.endIndex
      authority = String(rest[..<end])
      rest = rest[end...]
    }
    path = String(rest)
  }

  /// The absolute URL that `reference` means in an answer from `base`, without a fragment.
  package static func resolve(_ reference: String, against base: String) -> String {
    URLReference(reference).resolved(against: URLReference(base)).text
  }

  package var text: String {
    (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
      + (fragment.map { "#" + $0 } ?? "")
  }

  /// Percent-encodes what may not stand in a URI: controls, blanks, ``"<>\^`{|}`` and bytes above 127. What is encoded stays.
  package static func repaired(_ text: String) -> String {
    guard text.utf8.contains(where: isForbidden) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isForbidden(byte) {
        bytes += PercentEncoding.escape(byte)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func resolved(against base: URLReference) -> URLReference {
    var result = self
    result.fragment = nil
    if scheme == nil {
      result.scheme = base.scheme
      if authority == nil {
        result.authority = base.authority
        if path.isEmpty {
          result.path = base.path
          result.query = query ?? base.query
          return result
        }
        if !path.hasPrefix("/") { result.path = base.merged(with: path) }
      }
    }
    result.path = URLReference.withoutDots(result.path)
    return result
  }

  private func merged(with relative: String) -> String {
    if authority != nil, path.isEmpty { return "/" + relative }
    guard let slash = path.lastIndex(of: "/") else { return relative }
    return path[...slash] + relative
  }

  /// RFC 3986, section 5.2.4.
  private static func withoutDots(_ path: String) -> String {
    var result: [Substring] = [], segments = path.split(separator: "/", omittingEmptySubsequences: false)
    let isAbsolute = path.hasPrefix("/")
    if isAbsolute { segments.removeFirst() }
    for (i, segment) in segments.enumerated() {
      let isLast = i == segments.count - 1
      switch segment {
      case ".": if isLast { result.append("") }
      case "..":
        _ = result.popLast()
        if isLast { result.append("") }
      default: result.append(segment)
      }
    }
    return (isAbsolute ? "/" : "") + result.joined(separator: "/")
  }

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, first.isASCIILetter else { return false }
    return text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
  }

  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte >= 0x7F || #""<>\^`{|}"#.utf8.contains(byte)
  }
}
