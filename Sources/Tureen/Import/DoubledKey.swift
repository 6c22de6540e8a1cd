import JSON
import RecordScan

/// Finds a member that an object of a file has twice, so that the file says two things about it.
struct DoubledKey {
  private var walker: JSONWalker

  /// - Parameter text: Valid JSON.
  static func find(in text: [UInt8]) -> String? {
    text.withUnsafeBytes { bytes in
      var search = DoubledKey(walker: JSONWalker(bytes))
      return (try? search.value()) ?? nil
    }
  }

  private mutating func value() throws -> String? {
    walker.skipWhitespace()
    guard walker.p < walker.end else { return nil }
    switch walker.p.pointee {
    case UInt8(ascii: "{"): return try members()
    case UInt8(ascii: "["): return try elements()
    default:
      _ = try walker.skipValue(depth: 0)
      return nil
    }
  }

  private mutating func members() throws -> String? {
    var seen: Set<[UInt8]> = []
    walker.p += 1
    while !isAtEnd(UInt8(ascii: "}")) {
      let key = try walker.key().meaning
      guard seen.insert(Array(key)).inserted else { return String(decoding: key, as: UTF8.self) }
      if let found = try value() { return found }
    }
    return nil
  }

  private mutating func elements() throws -> String? {
    walker.p += 1
    while !isAtEnd(UInt8(ascii: "]")) {
      if let found = try value() { return found }
    }
    return nil
  }

  /// Steps over a comma, or the end of the container.
  private mutating func isAtEnd(_ close: UInt8) -> Bool {
    walker.skipWhitespace()
    guard walker.p < walker.end else { return true }
    let byte = walker.p.pointee
    if byte == close || byte == UInt8(ascii: ",") { walker.p += 1 }
    walker.skipWhitespace()
    return byte == close
  }
}
