import Support

/// The parts of a URI reference, spelled as they came.
///
/// - Note: Source: RFC 3986 sections 3, 5.2 and appendix B. Foundation's `URL` knows no empty reference, and it
///   encodes brackets and lone percent signs; a next URL must go back to its server as it came.
struct URIReference: Sendable, Equatable {
  var scheme: String?
  var authority: String?
  var path: String
  var query: String?
  var fragment: String?

  init(_ text: String) {
    var rest = Substring(text)
    if let mark = rest.firstIndex(of: "#") {
      fragment = String(rest[rest.index(after: mark)...])
      rest = rest[..<mark]
    }
    if let mark = rest.firstIndex(of: "?") {
      query = String(rest[rest.index(after: mark)...])
      rest = rest[..<mark]
    }
    if let mark = rest.firstIndex(of: ":"), URIReference.isScheme(rest[..<mark]) {
      scheme = String(rest[..<mark])
      rest = rest[rest.index(after: mark)...]
    }
    if rest.hasPrefix("//") {
      let afterSlashes = rest.dropFirst(2)
      let end = afterSlashes.firstIndex(of: "/") ?? afterSlashes.endIndex
      authority = String(afterSlashes[..<end])
      rest = afterSlashes[end...]
    }
    path = String(rest)
  }

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, first.isASCIILetter else { return false }
    return text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
  }

  /// The reference put together again.
  var text: String {
    (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
      + (fragment.map { "#" + $0 } ?? "")
  }

  var withoutFragment: URIReference {
    var reference = self
    reference.fragment = nil
    return reference
  }

  /// `scheme://authority` in lower case; nil for a relative reference.
  var origin: String? {
    guard let scheme, let authority else { return nil }
    return scheme.lowercased() + "://" + authority.lowercased()
  }

  /// The absolute form of a reference that was found in the resource `base`.
  static func resolve(_ reference: String, against base: String) -> String {
    let reference = URIReference(reference), base = URIReference(base)
    var target = reference
    if reference.scheme == nil {
      target.scheme = base.scheme
      if reference.authority == nil {
        target.authority = base.authority
        if reference.path.isEmpty {
          target.path = base.path
          target.query = reference.query ?? base.query
          return target.text
        }
        target.path = merged(reference.path, base)
      }
    }
    target.path = withoutDotSegments(target.path)
    return target.text
  }

  private static func merged(_ path: String, _ base: URIReference) -> String {
    if path.hasPrefix("/") { return path }
    if base.authority != nil && base.path.isEmpty { return "/" + path }
    guard let slash = base.path.lastIndex(of: "/") else { return path }
    return base.path[...slash] + path
  }

  /// RFC 3986 section 5.2.4, on whole segments.
  private static func withoutDotSegments(_ path: String) -> String {
    guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
    let isRooted = path.hasPrefix("/")
    let segments = path.dropFirst(isRooted ? 1 : 0).split(separator: "/", omittingEmptySubsequences: false)
    var kept: [Substring] = []
    for (i, segment) in segments.enumerated() {
      let isLast = i == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        if !kept.isEmpty { kept.removeLast() }
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return (isRooted ? "/" : "") + kept.joined(separator: "/")
  }

  /// The text with the characters that cannot stand in a URI percent-encoded as UTF-8. What is encoded already stays.
  /// - Note: Servers put raw blanks and letters into next URLs.
  static func repaired(_ text: String) -> String {
    guard text.utf8.contains(where: isForbidden) else { return text }
    var out: [UInt8] = []
    for byte in text.utf8 {
      if isForbidden(byte) {
        out.append(UInt8(ascii: "%"))
        out.append(hexDigits[Int(byte >> 4)])
        out.append(hexDigits[Int(byte & 15)])
      } else {
        out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)

  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte >= 0x7f || "\"<>\\^`{|}".utf8.contains(byte)
  }
}
