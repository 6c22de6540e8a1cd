import CCurl

/// Decompresses a body part by part.
final class Inflater {
  private let inflater: OpaquePointer

  /// Fails if there is no memory or no zlib.
  init?() {
    guard let made = ccurl_inflater_make() else { return nil }
    inflater = made
  }

  deinit { ccurl_inflater_free(inflater) }

  /// False while the end is missing.
  var isComplete: Bool { ccurl_inflater_is_complete(inflater) != 0 }

  /// Appends the decompressed part to a body, but not more than one byte beyond the limit.
  ///
  /// - Returns: False if the part is damaged.
  func inflate(_ part: UnsafeRawBufferPointer, into body: inout BodyBuilder, limit: Int) -> Bool {
    var rest = part, isIntact = true
    while let data = rest.baseAddress, isIntact, body.count <= limit {
      var used = 0, written = 0, room = 0
      body.write(upTo: limit + 1 - body.count) { buffer in
        guard let start = buffer.baseAddress else { return 0 }
        room = buffer.count
        isIntact = ccurl_inflater_read(inflater, data, rest.count, &used, start, room, &written) != 0
        return written
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[used...])
      // A full buffer may mean that more of what was read already is to come.
      if rest.isEmpty, written < room { break }
      if used == 0, written == 0 { break }
    }
    return isIntact
  }
}
