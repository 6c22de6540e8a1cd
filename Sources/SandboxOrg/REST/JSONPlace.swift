import RecordScan

/// Finds values in a JSON text. The text has been parsed before: nothing is checked here.
enum JSONPlace {
  /// The offset of the value that the steps lead to; nil when there is none. Of members with one key the last one counts.
  static func value(at path: [PathStep], in text: [UInt8]) -> Int? {
    text.withUnsafeBytes { bytes in
      var walker = JSONWalker(bytes)
      guard let all = try? walker.skipValue(depth: 0) else { return nil }
      let root = ScannedValue(kind: all.kind, start: all.start, count: all.count)
      guard let found = try? root.value(at: path, in: bytes), found.kind != .missing else { return nil }
      // What lies between the quotes begins behind the first.
      return [.plainString, .escapedString].contains(found.kind) ? found.start - 1 : found.start
    }
  }
}

extension PathStep {
  static func member(_ key: String) -> PathStep { .member(Array(key.utf8), index: nil) }

  static func element(_ index: Int) -> PathStep { .member(Array(String(index).utf8), index: index) }
}
