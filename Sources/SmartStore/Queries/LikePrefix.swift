import Database
import Support

/// The ranges of an index that a LIKE pattern's fixed beginning can lie in.
///
/// LIKE takes ASCII letters of either case for the same, an index does not: "Ab%" is looked for under AB, Ab, aB and ab.
/// SQLite itself uses an index for LIKE only when that has the same idea of letters, which would be one index more to write.
struct LikePrefix {
  /// Beginnings in ascending order of their bytes, none the beginning of another.
  let beginnings: [[UInt8]]

  /// Letters that count: two ranges each. What follows them is left to LIKE.
  private static let letters = 3

  /// - Returns: nil when the pattern has no fixed beginning.
  init?(pattern: String) {
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

  /// From each beginning to the first text behind all that begin with it.
  var ranges: [RowRange] {
    beginnings.map { low in
      var high = low
      high[high.count - 1] += 1  // at most 0x7e: still ASCII
      return RowRange(
        low: .text(String(decoding: low, as: UTF8.self)), high: .text(String(decoding: high, as: UTF8.self)), isOpen: true)
    }
  }
}
