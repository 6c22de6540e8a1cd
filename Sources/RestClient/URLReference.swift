import Support

/// The parts of a URI reference, such as a `Location` or a next URL, in their original spelling.
///
/// - Note: Source: RFC 3986, sections 3, 5.2 and appendix B. Foundation's `URL` rejects an empty
///   reference and encodes brackets and lone percent signs, but a next URL must go back to its
///   server unchanged.
package struct URLReference: Sendable, Equatable {
  package var scheme: String?
  package var authority: String?
  package var path: String
  package var query: String?
  package var fragment: String?

  package init(_ text: String) {
    var text = text
    self = text.withUTF8 { URLReference(bytes: $0) }
  }

  private init(bytes: UnsafeBufferPointer<UInt8>) {
    func text(_ range: Range<Int>) -> String { String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self) }
    var start = 0, end = bytes.count
    if let mark = bytes.firstIndex(of: UInt8(ascii: "#")) {
      fragment = text(mark + 1..<end)
      end = mark
    }
    if let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) {
      query = text(mark + 1..<end)
      end = mark
    }
    if let mark = bytes[..<end].firstIndex(of: UInt8(ascii: ":")), URLReference.isScheme(bytes[..<mark]) {
      scheme = text(0..<mark)
      start = mark + 1
    }
    if end - start >= 2, bytes[start] == UInt8(ascii: "/"), bytes[start + 1] == UInt8(ascii: "/") {
      let slash = bytes[(start + 2)..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
      authority = text(start + 2..<slash)
      start = slash
    }
    path = text(start..<end)
  }

  private static func isScheme(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard let first = bytes.first, first.isASCIILetter else { return false }
    return bytes.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
  }

  /// The reassembled reference.
  package var text: String {
    var text = ""
    if let scheme { text += scheme + ":" }
    if let authority { text += "//" + authority }
    text += path
    if let query { text += "?" + query }
    if let fragment { text += "#" + fragment }
    return text
  }

  package var withoutFragment: URLReference {
    var reference = self
    reference.fragment = nil
    return reference
  }

  /// `scheme://authority` in lower case; nil for a relative reference.
  package var origin: String? {
    guard let scheme, let authority else { return nil }
    return scheme.lowercased() + "://" + authority.lowercased()
  }

  /// Resolves a reference found in the resource `base`. Keeps the fragment.
  package static func resolve(_ reference: String, against base: String) -> String {
    URLReference(reference).resolved(against: base).text
  }

  /// - Parameter base: Only evaluated for a relative reference.
  package func resolved(against base: @autoclosure () -> String) -> URLReference {
    var target = self
    if scheme == nil {
      let base = URLReference(base())
      target.scheme = base.scheme
      if authority == nil {
        target.authority = base.authority
        if path.isEmpty {
          target.path = base.path
          target.query = query ?? base.query
          return target
        }
        target.path = base.merged(with: path)
      }
    }
    target.path = URLReference.withoutDotSegments(target.path)
    return target
  }

  private func merged(with relative: String) -> String {
    if relative.hasPrefix("/") { return relative }
    if authority != nil && path.isEmpty { return "/" + relative }
    guard let slash = path.lastIndex(of: "/") else { return relative }
    return path[...slash] + relative
  }

  /// Removes dot segments as in RFC 3986, section 5.2.4, but segment by segment.
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

  /// Returns a URL as it is sent: what cannot stand in a request line is percent-encoded, as UTF-8, and a
  /// percent sign that begins no escape becomes `%25`. Everything else stays byte for byte: escapes, and
  /// brackets, braces and bars, which servers put into URLs although RFC 3986 forbids some of them.
  ///
  /// Applied wherever a URL comes from outside, so that the request log shows what is sent. The result stays
  /// the same when this is applied again.
  package static func repaired(_ text: String) -> String {
    guard text.utf8.contains(where: isSuspicious) else { return text }
    var out: [UInt8] = [], rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let isEscape = byte == UInt8(ascii: "%") && rest.count >= 2 && rest.prefix(2).allSatisfy { $0.hexDigitValue != nil }
      if isSuspicious(byte), !isEscape {
        out += PercentEncoding.escape(byte)
      } else {
        out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Whether it is encoded, or begins an escape.
  @inline(__always)
  private static func isSuspicious(_ byte: UInt8) -> Bool {
    switch byte {
    case let byte where !byte.isPrintableASCII: true
    case UInt8(ascii: "%"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
      UInt8(ascii: "^"), UInt8(ascii: "`"):
      true
    default: false
    }
  }
}
