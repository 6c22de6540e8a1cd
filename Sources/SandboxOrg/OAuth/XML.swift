import Support

/// A minimal XML reader: elements and text, for requests of a few kilobytes. It refuses document
/// types and custom entities, so that nothing is expanded or fetched.
struct XML: Equatable {
  /// Without its prefix.
  let name: String
  var text = ""
  var children: [XML] = []
  /// True for `xsi:nil="true"`.
  var isNil = false

  struct Failure: Error, Equatable { let message: String }

  init(name: String) { self.name = name }

  /// - Throws: ``Failure`` unless the text is one well-formed element, at most `Tuning.xmlDepth`
  ///   deep.
  static func parse(_ bytes: [UInt8], limit: Int = Tuning.xmlBytes) throws(Failure) -> XML {
    guard bytes.count <= limit else { throw Failure(message: "the document is too large") }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Failure(message: "the document is not UTF-8") }
    var parser = XMLParser(rest: Substring(text).utf8)
    return try parser.document()
  }

  func first(_ name: String) -> XML? { children.first { $0.name == name } }

  static func escaped(_ text: String) -> String { AuthorizePages.escaped(text) }
}

private struct XMLParser {
  var rest: Substring.UTF8View

  mutating func document() throws(XML.Failure) -> XML {
    if rest.starts(with: "\u{FEFF}".utf8) { rest = rest.dropFirst(3) }
    try skipMisc()
    let root = try element(depth: 0)
    try skipMisc()
    guard rest.isEmpty else { throw .init(message: "there is something after the document") }
    return root
  }

  /// Skips white space, comments, and processing instructions such as the XML declaration.
  private mutating func skipMisc() throws(XML.Failure) {
    while true {
      skipSpace()
      if take("<?") {
        _ = try until("?>")
      } else if take("<!--") {
        _ = try until("-->")
      } else {
        return
      }
    }
  }

  private mutating func element(depth: Int) throws(XML.Failure) -> XML {
    guard depth < Tuning.xmlDepth else { throw .init(message: "the document is nested too deeply") }
    guard !rest.starts(with: "<!".utf8) else { throw .init(message: "document types are not accepted") }
    guard take("<") else { throw .init(message: "an element was expected") }
    let qualified = try name()
    var element = XML(name: String(qualified.split(separator: ":", maxSplits: 1).last ?? ""))
    if try skipAttributes(&element.isNil) { return element }
    try content(of: &element, depth)
    guard try name() == qualified else { throw .init(message: "the end of <\(qualified)> is missing") }
    skipSpace()
    guard take(">") else { throw .init(message: "the end of <\(qualified)> is broken") }
    return element
  }

  /// - Returns: True if the element is empty.
  private mutating func skipAttributes(_ isNil: inout Bool) throws(XML.Failure) -> Bool {
    while true {
      skipSpace()
      if take("/>") { return true }
      if take(">") { return false }
      let attribute = try name()
      skipSpace()
      guard take("=") else { throw .init(message: "an attribute has no value") }
      skipSpace()
      guard let quote = rest.first, "\"'".utf8.contains(quote) else { throw .init(message: "an attribute has no quotes") }
      rest = rest.dropFirst()
      let value = try until(quote == UInt8(ascii: "\"") ? "\"" : "'")
      guard !value.utf8.contains(UInt8(ascii: "<")) else { throw .init(message: "an attribute has a '<' in it") }
      if attribute.hasSuffix(":nil"), value == "true" { isNil = true }
    }
  }

  /// Reads content up to and including `</`.
  private mutating func content(of element: inout XML, _ depth: Int) throws(XML.Failure) {
    while let byte = rest.first {
      if take("</") { return }
      if take("<!--") {
        _ = try until("-->")
      } else if take("<![CDATA[") {
        element.text += try until("]]>")
      } else if take("<?") {
        _ = try until("?>")
      } else if byte == UInt8(ascii: "<") {
        element.children.append(try self.element(depth: depth + 1))
      } else {
        let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
        element.text += try Self.resolved(Substring(rest[..<end]))
        rest = rest[end...]
      }
    }
    throw .init(message: "the end of <\(element.name)> is missing")
  }

  /// Resolves numeric references and the five predefined entities; there are no others.
  private static func resolved(_ text: Substring) throws(XML.Failure) -> String {
    guard text.utf8.contains(UInt8(ascii: "&")) else { return String(text) }
    var out = "", rest = text
    while let mark = rest.firstIndex(of: "&") {
      out += rest[..<mark]
      guard let end = rest[mark...].firstIndex(of: ";") else { throw .init(message: "a reference has no end") }
      let reference = rest[rest.index(after: mark)..<end]
      let named: [Substring: Character] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
      guard let character = named[reference] ?? numeric(reference) else {
        throw .init(message: "the entity &\(reference.prefix(20)); is not known")
      }
      out.append(character)
      rest = rest[rest.index(after: end)...]
    }
    return out + rest
  }

  private static func numeric(_ reference: Substring) -> Character? {
    guard reference.first == "#", reference.utf8.count <= 9 else { return nil }
    let digits = reference.dropFirst()
    let number = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let number, number == 9 || number == 10 || number == 13 || number >= 32 else { return nil }
    return Unicode.Scalar(number).map { Character($0) }
  }

  private mutating func name() throws(XML.Failure) -> Substring {
    let stop = Array("<>/=\"'& \t\r\n!?".utf8)
    let end = rest.firstIndex { stop.contains($0) } ?? rest.endIndex
    guard end > rest.startIndex, end != rest.endIndex else { throw .init(message: "a name was expected") }
    defer { rest = rest[end...] }
    return Substring(rest[..<end])
  }

  private mutating func until(_ mark: String) throws(XML.Failure) -> String {
    let bytes = Array(mark.utf8)
    var index = rest.startIndex
    while index < rest.endIndex {
      if rest[index] == bytes[0], rest[index...].starts(with: bytes) {
        let found = String(Substring(rest[..<index]))
        rest = rest[index...].dropFirst(bytes.count)
        return found
      }
      index = rest.index(after: index)
    }
    throw .init(message: "'\(mark)' is missing")
  }

  private mutating func skipSpace() { rest = rest.drop { $0.isASCIIWhitespace } }

  private mutating func take(_ mark: String) -> Bool {
    guard rest.starts(with: mark.utf8) else { return false }
    rest = rest.dropFirst(mark.utf8.count)
    return true
  }
}
