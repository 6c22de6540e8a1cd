import RestClient

/// One link of a `Link` header.
struct WebLink: Sendable, Equatable {
  /// The URI reference in angle brackets, as written.
  let target: String
  /// The relation types of the first `rel`, in lower case because registered types are
  /// case-insensitive.
  let relations: [String]
  /// The first `anchor`: the resource that the link refers to, if it is not the response itself.
  let anchor: String?
}

/// Parses `Link` headers (RFC 8288). A malformed header is never an error: the links before the
/// damage are used.
struct LinkHeader: Sendable, Equatable {
  private(set) var links: [WebLink] = []
  /// The text ended in something that is not a link, which deserves a warning.
  private(set) var isDamaged = false

  /// - Parameter lines: The values of all `Link` headers of a response, in order; they form one
  ///   list.
  init(_ lines: [String]) {
    var reader = LinkReader(bytes: Array(lines.joined(separator: ", ").utf8))
    while let link = reader.next() {
      if !link.relations.isEmpty { links.append(link) }
    }
    isDamaged = reader.isDamaged
  }

  /// Returns the target of the first link with a relation that refers to the response itself.
  ///
  /// - Parameters:
  ///   - relation: Such as `next`.
  ///   - responseURL: The URL of the response after redirects, the base of relative targets and
  ///     anchors.
  /// - Returns: An absolute URL without a fragment; nil if there is no such link.
  func target(of relation: String, responseURL: String) -> String? {
    let wanted = relation.lowercased()
    for link in links where link.relations.contains(wanted) {
      if let anchor = link.anchor, !LinkHeader.isAbout(anchor, responseURL) { continue }
      return URLReference(URLReference.repaired(link.target)).resolved(against: responseURL).withoutFragment.text
    }
    return nil
  }

  /// Whether an anchor refers to the response itself.
  private static func isAbout(_ anchor: String, _ responseURL: String) -> Bool {
    URLReference.resolve(anchor, against: responseURL) == URLReference(responseURL).withoutFragment.text
  }
}

/// Scans the text of a `Link` header once.
private struct LinkReader {
  let bytes: [UInt8]
  var position = 0
  var isDamaged = false

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skip(while isSkipped: (UInt8) -> Bool) {
    while let byte = current, isSkipped(byte) { position += 1 }
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    position += 1
    return true
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  private mutating func text(until isEnd: (UInt8) -> Bool) -> String {
    let start = position
    skip { !isEnd($0) }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Returns the next link; nil at the end, and at anything that is not a link.
  mutating func next() -> WebLink? {
    skip { LinkReader.isBlank($0) || $0 == UInt8(ascii: ",") }
    guard position < bytes.count else { return nil }
    guard skip(UInt8(ascii: "<")), bytes[position...].contains(UInt8(ascii: ">")) else {
      isDamaged = true
      return nil
    }
    let target = text { $0 == UInt8(ascii: ">") }
    position += 1
    var relation: String?, anchor: String?
    while let parameter = nextParameter() {
      switch parameter.name.lowercased() {
      case "rel": relation = relation ?? parameter.value ?? ""
      case "anchor": anchor = anchor ?? parameter.value
      default: continue
      }
    }
    skip { $0 != UInt8(ascii: ",") }
    let relations = (relation ?? "").split { $0 == " " || $0 == "\t" }.map { $0.lowercased() }
    return WebLink(target: target, relations: relations, anchor: anchor)
  }

  /// Reads the parameter after the next semicolon; nil if there is none.
  private mutating func nextParameter() -> (name: String, value: String?)? {
    skip(while: LinkReader.isBlank)
    guard skip(UInt8(ascii: ";")) else { return nil }
    skip(while: LinkReader.isBlank)
    let name = text { LinkReader.isBlank($0) || $0 == UInt8(ascii: "=") || LinkReader.endsValue($0) }
    skip(while: LinkReader.isBlank)
    guard skip(UInt8(ascii: "=")) else { return (name, nil) }
    skip(while: LinkReader.isBlank)
    if skip(UInt8(ascii: "\"")) { return (name, quotedText()) }
    let value = text(until: LinkReader.endsValue)
    return (name, String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed()))
  }

  private static func endsValue(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") }

  /// Reads a quoted string after its opening quote. Without a closing quote it extends to the end.
  private mutating func quotedText() -> String {
    var text: [UInt8] = []
    while let byte = current {
      position += 1
      if byte == UInt8(ascii: "\"") { break }
      guard byte == UInt8(ascii: "\\"), let escaped = current else {
        text.append(byte)
        continue
      }
      text.append(escaped)
      position += 1
    }
    return String(decoding: text, as: UTF8.self)
  }
}
