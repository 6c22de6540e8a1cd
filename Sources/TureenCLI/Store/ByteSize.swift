/// Sizes for people.
enum ByteSize {
  /// `3.8 MB`
  static func text(_ bytes: Int64) -> String {
    for (unit, size) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)] as [(String, Int64)] where bytes >= size {
      return "\(bytes / size).\(bytes % size * 10 / size) \(unit)"
    }
    return "\(bytes) bytes"
  }
}
