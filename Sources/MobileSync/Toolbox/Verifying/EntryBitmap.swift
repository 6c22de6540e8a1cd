/// A set of entry ids that takes one bit for each of them where they lie close to one another.
struct EntryBitmap: Sendable {
  private static let blockBits: Int64 = 4096
  private var blocks: [Int64: [UInt64]] = [:]

  /// - Returns: Whether the id was not in the set.
  @discardableResult
  mutating func insert(_ id: Int64) -> Bool {
    let (block, word, bit) = Self.place(of: id)
    var words = blocks.removeValue(forKey: block) ?? [UInt64](repeating: 0, count: Int(Self.blockBits / 64))
    let isNew = words[word] & bit == 0
    words[word] |= bit
    blocks[block] = words
    return isNew
  }

  func contains(_ id: Int64) -> Bool {
    let (block, word, bit) = Self.place(of: id)
    return blocks[block].map { $0[word] & bit != 0 } ?? false
  }

  private static func place(of id: Int64) -> (block: Int64, word: Int, bit: UInt64) {
    let rest = Int(id & (blockBits - 1))
    return (id >> 12, rest / 64, 1 << UInt64(rest % 64))
  }
}
