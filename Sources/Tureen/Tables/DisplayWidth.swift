/// Measures how many columns of a terminal a text takes.
package enum DisplayWidth {
  package static func of(_ text: String) -> Int {
    // Most texts are ASCII.
    if text.utf8.allSatisfy({ (UInt8(ascii: " ")...UInt8(ascii: "~")).contains($0) }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  package static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    if scalars.count > 1, scalars.contains(where: { $0.value == 0xFE0F || $0.properties.isEmojiPresentation }) { return 2 }
    return scalars.reduce(0) { max($0, of($1)) }
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    if isInvisible(scalar) { return 0 }
    return isWide(scalar) ? 2 : 1
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: true
    default: false
    }
  }

  /// The blocks of wide and fullwidth characters. Source: UAX #11.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
    0x20000...0x3FFFD,
  ]

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x1100 && (scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) })
  }

  /// Returns the text shortened to at most `width` columns; `…` replaces the rest.
  package static func shortened(_ text: String, to width: Int) -> String {
    guard of(text) > width else { return text }
    var result = "", used = 0
    for character in text {
      let size = of(character)
      guard used + size < width else { break }
      result.append(character)
      used += size
    }
    return result + "…"
  }
}
