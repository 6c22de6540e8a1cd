import RestClient
import Support

/// A template in the subset of RFC 6570 that targets use.
///
/// `{x}` is one encoded segment, `{+x}` keeps reserved characters such as `/`, and `{?a,b}` and
/// `{&a,b}` form queries.
struct URITemplate: Sendable, Equatable {
  /// The template as written.
  let text: String
  private let parts: [Part]

  private enum Part: Sendable, Equatable {
    case literal(String)
    case expression(Operator, [String])
  }

  private enum Operator: Sendable { case segment, reserved, query, continuedQuery }

  /// Where the result is used. Only in a URL are invalid characters encoded, but not in a header or
  /// a JSON body.
  enum Place: Sendable { case url, text }

  /// Why a template is invalid or cannot be expanded: a phrase to append to the template.
  struct Problem: Error, Sendable, Equatable {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private let place: Place

  /// - Throws: ``Problem`` for unbalanced braces and for operators outside of the subset.
  init(_ text: String, for place: Place) throws(Problem) {
    self.text = text
    self.place = place
    var parts: [Part] = [], rest = Substring(text)
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[brace] == "{" else { throw Problem("has a '}' without '{'") }
      if brace > rest.startIndex { parts.append(.literal(String(rest[..<brace]))) }
      let inside = rest[rest.index(after: brace)...]
      guard let end = inside.firstIndex(where: { $0 == "}" || $0 == "{" }), inside[end] == "}" else {
        throw Problem("has a '{' without '}'")
      }
      parts.append(try URITemplate.expression(String(inside[..<end]), for: place))
      rest = inside[inside.index(after: end)...]
    }
    if !rest.isEmpty { parts.append(.literal(String(rest))) }
    self.parts = parts
  }

  private static func expression(_ inside: String, for place: Place) throws(Problem) -> Part {
    var kind = Operator.segment, list = Substring(inside)
    switch inside.first {
    case "+": kind = .reserved
    case "?": kind = .query
    case "&": kind = .continuedQuery
    case "#", ".", ";", "=", "!", "@", "|", ",":
      throw Problem("has '{\(inside)}': only {x}, {+x}, {?a,b} and {&a,b} are known")
    default: break
    }
    if kind != .segment { list = list.dropFirst() }
    if place == .text, kind == .query || kind == .continuedQuery {
      throw Problem("has '{\(inside)}', which belongs in a URL")
    }
    let isList = kind == .query || kind == .continuedQuery
    let names = list.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard isList || names.count == 1 else { throw Problem("has '{\(inside)}': several values are for {?a,b} only") }
    for name in names {
      guard !name.isEmpty else { throw Problem("has '{\(inside)}', where a name is empty") }
      guard name.last != "*", !endsInLength(name) else { throw Problem("has '{\(inside)}': modifiers are not known") }
      // A name is a path in the record; `vars` may define any name.
      do { _ = try ValuePath(name) } catch { throw Problem("has '{\(inside)}', whose path \(error.description)") }
    }
    return .expression(kind, names)
  }

  /// Whether a name ends in a prefix modifier, such as `x:3`.
  private static func endsInLength(_ name: String) -> Bool {
    guard let colon = name.lastIndex(of: ":") else { return false }
    let length = name[name.index(after: colon)...]
    return !length.isEmpty && length.allSatisfy(\.isNumber)
  }

  /// The names in the template, in order.
  var names: [String] {
    parts.flatMap { part in if case .expression(_, let names) = part { names } else { [String]() } }
  }

  /// Whether the template consists of one `{+x}`. Its value is a reference from the server, which
  /// is resolved instead of appended.
  var isWholeReference: Bool {
    if parts.count == 1, case .expression(.reserved, _) = parts[0] { true } else { false }
  }

  /// Returns the text with all values filled in.
  ///
  /// - Throws: ``Problem`` for the first name without a value.
  func expanded(_ value: (String) -> String?) throws(Problem) -> String {
    var out = ""
    for part in parts {
      switch part {
      case .literal(let text): out += place == .url ? URLReference.repaired(text) : text
      case .expression(let kind, let names):
        var values: [(name: String, value: String)] = []
        for name in names {
          guard let found = value(name) else { throw Problem("needs a value for '\(name)', but there is none") }
          values.append((name, found))
        }
        out += expansion(kind, values)
      }
    }
    return out
  }

  private func expansion(_ kind: Operator, _ values: [(name: String, value: String)]) -> String {
    switch kind {
    case .segment: place == .url ? PercentEncoding.encode(values[0].value) : values[0].value
    // A reference from the server is sent as given.
    case .reserved where isWholeReference && place == .url: URLReference.repaired(values[0].value)
    case .reserved: place == .url ? URITemplate.reserved(values[0].value) : values[0].value
    case .query: "?" + PercentEncoding.form(values)
    case .continuedQuery: "&" + PercentEncoding.form(values)
    }
  }

  /// Encodes everything but reserved and unreserved characters and existing escapes (RFC 6570,
  /// section 3.2.3).
  private static func reserved(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var out = "", rest = bytes[...]
    while let byte = rest.popFirst() {
      let isEncoded = byte == UInt8(ascii: "%") && rest.count >= 2 && rest.prefix(2).allSatisfy { $0.hexDigitValue != nil }
      if isEncoded || ":/?#[]@!$&'()*+,;=".utf8.contains(byte) {
        out.unicodeScalars.append(UnicodeScalar(byte))
      } else if byte < 0x80 {
        out += PercentEncoding.encode(String(UnicodeScalar(byte)))
      } else {
        out += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return out
  }
}
