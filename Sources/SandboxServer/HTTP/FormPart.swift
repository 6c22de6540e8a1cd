import Glibc

/// One part of a multipart body. Its bytes are a slice of the body, not a copy.
package struct FormPart: Sendable {
  package let name: String
  package let fileName: String?
  /// In lower case, without parameters; empty if the part does not declare one.
  package let contentType: String
  package let bytes: ArraySlice<UInt8>

  package init(name: String, fileName: String?, contentType: String, bytes: ArraySlice<UInt8>) {
    self.name = name
    self.fileName = fileName
    self.contentType = contentType
    self.bytes = bytes
  }

  /// True for the part that holds field values rather than a file.
  package var isJSON: Bool { contentType.contains("json") }
  package var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Splits a multipart body (RFC 7578). Accepts bare line feeds and unknown part headers as well.
package struct MultipartReader {
  /// Why a body is not valid multipart data.
  package struct Problem: Error { package let message: String }

  private let body: [UInt8]
  /// `--` and the boundary.
  private let mark: [UInt8]

  /// - Parameter contentType: The request's `Content-Type` header, with its `boundary`.
  package init(_ body: [UInt8], contentType: String) throws(Problem) {
    guard let boundary = Self.parameter("boundary", in: contentType), (1...200).contains(boundary.utf8.count) else {
      throw Problem(message: "the Content-Type of a multipart body must have a boundary parameter")
    }
    self.body = body
    mark = Array("--\(boundary)".utf8)
  }

  package func parts() throws(Problem) -> [FormPart] {
    var parts: [FormPart] = []
    guard var line = nextBoundary(from: 0) else {
      throw Problem(message: "the boundary of the multipart body never appears in it")
    }
    while !isLast(line) {
      guard let start = lineEnd(from: line.end), let next = nextBoundary(from: start) else {
        throw Problem(message: "the multipart body ends without its closing boundary")
      }
      guard parts.count < ServerTuning.formParts else {
        throw Problem(message: "a multipart body has at most \(ServerTuning.formParts) parts")
      }
      parts.append(try part(start, max(start, next.start)))
      line = next
    }
    return parts
  }

  // MARK: Boundaries

  /// A boundary in the body. `start` is the end of the content before it, without the line end
  /// between them.
  private struct Boundary {
    let start: Int, end: Int
  }

  private func isLast(_ mark: Boundary) -> Bool { body[mark.end...].starts(with: [UInt8(ascii: "-"), UInt8(ascii: "-")]) }

  /// Finds the next boundary at the start of a line.
  private func nextBoundary(from start: Int) -> Boundary? {
    var index = start
    while index + mark.count <= body.count {
      if body[index...].starts(with: mark) {
        var end = index
        if end > start, body[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > start, end < index, body[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return Boundary(start: end, end: index + mark.count)
      }
      guard let next = lineEnd(from: index) else { return nil }
      index = next
    }
    return nil
  }

  /// Returns the index after the next line feed.
  private func lineEnd(from start: Int) -> Int? {
    body.withUnsafeBytes { raw -> Int? in
      guard start < raw.count, let base = raw.baseAddress,
        let found = memchr(base + start, Int32(UInt8(ascii: "\n")), raw.count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base + 1
    }
  }

  // MARK: Parts

  private func part(_ start: Int, _ end: Int) throws(Problem) -> FormPart {
    var disposition = "", type = ""
    var index = start
    while let next = lineEnd(from: index), next <= end {
      guard next - start <= ServerTuning.partHeadBytes else { throw Problem(message: "the headers of a part are too long") }
      let line = body[index..<next].filter { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
      index = next
      if line.isEmpty { break }
      let pair = String(decoding: line, as: UTF8.self).split(separator: ":", maxSplits: 1)
      guard pair.count == 2 else { throw Problem(message: "a header of a part has no colon") }
      let value = String(pair[1].drop { $0 == " " })
      switch pair[0].lowercased() {
      case "content-disposition": disposition = value
      case "content-type": type = value
      default: break
      }
    }
    guard let name = Self.parameter("name", in: disposition) else {
      throw Problem(message: "every part needs a Content-Disposition with a name")
    }
    return FormPart(
      name: name, fileName: Self.parameter("filename", in: disposition),
      contentType: type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased(), bytes: body[min(index, end)..<end])
  }

  /// Returns a header parameter, written as `name="a"` or `name=a` after a semicolon.
  package static func parameter(_ name: String, in header: String) -> String? {
    var rest = header[...]
    while let semicolon = rest.firstIndex(of: ";") {
      rest = rest[rest.index(after: semicolon)...].drop { $0 == " " }
      guard let equals = rest.firstIndex(of: "=") else { return nil }
      let key = rest[..<equals].lowercased()
      let (value, behind) = Self.value(rest[rest.index(after: equals)...])
      if key == name { return value }
      rest = behind
    }
    return nil
  }

  private static func value(_ text: Substring) -> (String, Substring) {
    guard text.first == "\"" else {
      let value = text.prefix { $0 != ";" }
      return (value.filter { $0 != " " }, text[value.endIndex...])
    }
    var value = ""
    var index = text.index(after: text.startIndex)
    while index < text.endIndex, text[index] != "\"" {
      if text[index] == "\\", text.index(after: index) < text.endIndex { index = text.index(after: index) }
      value.append(text[index])
      index = text.index(after: index)
    }
    return (value, index < text.endIndex ? text[text.index(after: index)...] : "")
  }
}
