import RecordScan

/// Locates values in JSON text that has already been parsed; it does not validate.
enum JSONLocator {
  /// Returns the offset of the value at a path; nil if there is none. Of duplicate members the last
  /// one is used.
  static func offset(at path: [PathStep], in text: [UInt8]) -> Int? {
    text.withUnsafeBytes { bytes in
      var walker = JSONWalker(bytes)
      guard let all = try? walker.skipValue(depth: 0) else { return nil }
      let root = ScannedValue(kind: all.kind, start: all.start, count: all.count)
      guard let found = try? root.value(at: path, in: bytes), found.kind != .missing else { return nil }
      // A string's range starts after its opening quote.
      return [.plainString, .escapedString].contains(found.kind) ? found.start - 1 : found.start
    }
  }
}

extension PathStep {
  static func member(_ key: String) -> PathStep { .member(Array(key.utf8), index: nil) }

  static func element(_ index: Int) -> PathStep { .member(Array(String(index).utf8), index: index) }
}
