import Support

/// The index ranges that can hold matches of a LIKE pattern with a fixed prefix.
///
/// LIKE ignores the case of ASCII letters, an index does not: "Ab%" is looked up under AB, Ab, aB
/// and ab. SQLite itself uses an index for LIKE only if its collation ignores case as well, and a
/// second index would slow down writes.
package struct LikePrefix {
  /// Prefixes in ascending byte order; none is a prefix of another.
  let beginnings: [[UInt8]]

  /// The number of leading letters that are looked up in both cases. LIKE checks the rest.
  private static let letters = 3

  /// - Returns: nil if the pattern has no fixed prefix.
  package init?(pattern: String) {
    var found: [[UInt8]] = [[]], letters = 0
    for byte in pattern.utf8 {
      guard (UInt8(ascii: " ")...UInt8(ascii: "}")).contains(byte), !"%_".utf8.contains(byte) else { break }
      let upper = byte & ~UInt8.caseBit
      guard upper.isASCIIUppercase else {
        found = found.map { $0 + [byte] }
        continue
      }
      guard letters < LikePrefix.letters else { break }
      letters += 1
      found = found.flatMap { [$0 + [upper], $0 + [upper | UInt8.caseBit]] }
    }
    guard !found[0].isEmpty else { return nil }
    beginnings = found
  }

  /// Ranges from each prefix to the first text after all texts that start with it.
  package var bounds: [KeyBounds] {
    beginnings.map { low in
      var high = low
      high[high.count - 1] += 1  // at most 0x7e: still ASCII
      return KeyBounds(
        low: .text(String(decoding: low, as: UTF8.self)), high: .text(String(decoding: high, as: UTF8.self)), isOpen: true)
    }
  }
}
