import JSON
import RecordScan

/// Scripts read numbers as integers of 64 bits and doubles. If a script saves an entry that it has read, the members that it
/// left alone keep the digits of the stored entry: `18446744073709551615` does not become `1.8446744073709552e+19`.
enum KeptNumbers {
  /// Whether a text may hold entries that were read here, with numbers that a script cannot hold. A script writes those with a
  /// fraction or an exponent; times in texts are none.
  static func mayMatter(in entries: [UInt8]) -> Bool {
    entries.withUnsafeBufferPointer { bytes in
      var isText = false, hasIds = false, hasFractions = false, i = 0
      while i < bytes.count, !(hasIds && hasFractions) {
        let byte = bytes[i]
        if byte == UInt8(ascii: "\"") {
          isText.toggle()
        } else if isText, byte == UInt8(ascii: "\\") {
          i += 1
        } else if isText, byte == UInt8(ascii: "_") {
          hasIds = hasIds || bytes[i...].starts(with: SoupField.entryId.utf8)
        } else if !isText, isFraction(byte), i > 0, bytes[i - 1].isASCIIDigit {
          hasFractions = true
        }
        i += 1
      }
      return hasIds && hasFractions
    }
  }

  private static func isFraction(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") || byte | UInt8.caseBit == UInt8(ascii: "e") }

  /// Whether a script may have written this number for a double that it has read: a fraction or an exponent, and no more digits
  /// than a double needs, apart from zeros at either end (`12345678901234568.0`). Other texts say all their digits.
  static func isOfDouble(_ text: String) -> Bool {
    var digits = text.utf8.prefix { $0 | UInt8.caseBit != UInt8(ascii: "e") }.filter(\.isASCIIDigit).drop {
      $0 == UInt8(ascii: "0")
    }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    return digits.count <= 17 && text.utf8.contains(where: isFraction)
  }

  /// Returns the saved value with the stored digits of each number that is the same double; nil if none was changed.
  static func restored(_ saved: JSONValue, from stored: JSONValue) -> JSONValue? {
    switch (saved, stored) {
    case (.integer, .decimal), (.number, .decimal), (.decimal, .decimal), (.decimal, .number):
      guard saved.text != stored.text, saved.isSameValue(as: stored) else { return nil }
      return stored
    case (.object(var object), .object(let before)):
      var isChanged = false
      for (key, value) in object {
        guard let old = before[key], let kept = restored(value, from: old) else { continue }
        object[key] = kept
        isChanged = true
      }
      guard isChanged else { return nil }
      return .object(object)
    case (.array(var list), .array(let before)) where list.count == before.count:
      var isChanged = false
      for i in list.indices {
        guard let kept = restored(list[i], from: before[i]) else { continue }
        list[i] = kept
        isChanged = true
      }
      guard isChanged else { return nil }
      return .array(list)
    default: return nil
    }
  }
}

extension StoreTransaction {
  /// Returns the entries that a script saves, with the digits of the numbers that it has read and left alone.
  /// - Parameter entries: The text of a JSON array; an invalid one is returned as it is.
  func keepingNumbers(of entries: [UInt8], in soup: String) throws -> [UInt8] {
    guard KeptNumbers.mayMatter(in: entries), try soupExists(soup),
      let saved = (try? JSONValue(parsing: entries))?.arrayValue
    else { return entries }
    let ids = saved.map { $0[SoupField.entryId]?.integerValue }
    var texts: [Int64: StoredEntry] = [:]
    for entry in try storedEntries(Set(ids.compactMap(\.self)).sorted(), in: soup) { texts[entry.id] = entry }
    var kept: [Int: JSONValue] = [:]
    for (i, id) in ids.enumerated() {
      guard let text = id.flatMap({ texts[$0]?.text }), let before = try? JSONValue(parsing: text) else { continue }
      kept[i] = KeptNumbers.restored(saved[i], from: before)
    }
    return kept.isEmpty ? entries : try KeptNumbers.replacing(kept, in: entries)
  }
}

extension KeptNumbers {
  /// Returns the text of an array with some of its elements replaced; the others keep their text.
  fileprivate static func replacing(_ kept: [Int: JSONValue], in entries: [UInt8]) throws -> [UInt8] {
    try entries.withUnsafeBytes { bytes in
      var walker = JSONWalker(bytes), out: [UInt8] = [], position = 0, from = 0
      walker.skipWhitespace()
      try walker.expect(UInt8(ascii: "["), "entries must be an array")
      repeat {
        walker.skipWhitespace()
        let start = walker.offset
        _ = try walker.skipValue(depth: 1)
        if let value = kept[position] {
          out.append(contentsOf: bytes[from..<start])
          value.append(to: &out)
          from = walker.offset
        }
        position += 1
        walker.skipWhitespace()
      } while hasNext(&walker)
      out.append(contentsOf: bytes[from...])
      return out
    }
  }

  /// Steps over a comma.
  private static func hasNext(_ walker: inout JSONWalker) -> Bool {
    guard walker.p < walker.end, walker.p.pointee == UInt8(ascii: ",") else { return false }
    walker.p += 1
    return true
  }
}
