/// The keys of a plan in a flat layout, so that a scan neither counts references nor copies arrays.
///
/// Immutable after initialization. A scan uses plain pointers, which are valid as long as the plan
/// lives.
final class KeyTree: @unchecked Sendable {
  /// One key on the path to a wanted field.
  struct Node {
    let key: UnsafePointer<UInt8>
    let count: Int
    /// The position in the record's values if the path ends here; else -1.
    let field: Int
    let children: Level
  }

  /// The keys wanted at one level of a record.
  struct Level {
    let nodes: UnsafePointer<Node>?
    let count: Int
    /// A bit set of the key lengths modulo 64, which rules out most keys of a record.
    let lengths: UInt64

    var isEmpty: Bool { count == 0 }

    /// Returns the first position of `key`; -1 if it is not wanted.
    @inline(__always)
    func find(_ key: ScannedKey) -> Int {
      guard key.isEscaped || lengths >> UInt64(key.raw.count & 63) & 1 == 1 else { return -1 }
      for i in 0..<count where nodes![i].isNamed(key) { return i }
      return -1
    }
  }

  /// One key of a level before the layout.
  struct Draft {
    var key: [UInt8]
    var field = -1
    private(set) var children: [Draft] = []
    /// The first child of each key.
    private var places: [[UInt8]: Int] = [:]

    init(key: [UInt8]) { self.key = key }

    /// Adds the path of a field below this key.
    mutating func insert(_ keys: ArraySlice<[UInt8]>, field: Int) {
      guard let key = keys.first else { return }
      let rest = keys.dropFirst()
      // A path that occurs twice gets a second node, so that both positions are filled.
      if let i = places[key], !(rest.isEmpty && children[i].field >= 0) {
        if rest.isEmpty { children[i].field = field } else { children[i].insert(rest, field: field) }
        return
      }
      var draft = Draft(key: key)
      if rest.isEmpty { draft.field = field } else { draft.insert(rest, field: field) }
      if places[key] == nil { places[key] = children.count }
      children.append(draft)
    }
  }

  private(set) var roots = Level(nodes: nil, count: 0, lengths: 0)
  /// First-level keys that the scan reports if a record has them.
  private(set) var owned = Level(nodes: nil, count: 0, lengths: 0)
  private var keys: [UnsafeMutableBufferPointer<UInt8>] = []
  private var levels: [UnsafeMutableBufferPointer<Node>] = []

  init(_ drafts: [Draft], owned: [[UInt8]]) {
    roots = layOut(drafts)
    self.owned = layOut(owned.map { Draft(key: $0) })
  }

  deinit {
    for key in keys { key.deallocate() }
    for level in levels { level.deallocate() }
  }

  private func layOut(_ drafts: [Draft]) -> Level {
    guard !drafts.isEmpty else { return Level(nodes: nil, count: 0, lengths: 0) }
    let nodes = UnsafeMutableBufferPointer<Node>.allocate(capacity: drafts.count)
    levels.append(nodes)
    var lengths: UInt64 = 0
    for (i, draft) in drafts.enumerated() {
      let key = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, draft.key.count))
      _ = key.initialize(from: draft.key)
      keys.append(key)
      lengths |= 1 << UInt64(draft.key.count & 63)
      nodes.initializeElement(
        at: i,
        to: Node(
          key: UnsafePointer(key.baseAddress!), count: draft.key.count, field: draft.field,
          children: layOut(draft.children)))
    }
    return Level(nodes: UnsafePointer(nodes.baseAddress!), count: drafts.count, lengths: lengths)
  }
}

extension KeyTree.Node {
  /// Returns whether the key, with its escapes resolved, is this one.
  @inline(__always)
  func isNamed(_ key: ScannedKey) -> Bool {
    if key.isEscaped { return key.meaning.elementsEqual(UnsafeBufferPointer(start: self.key, count: count)) }
    guard key.raw.count == count, let raw = key.raw.baseAddress else { return key.raw.count == count }
    for i in 0..<count where raw[i] != self.key[i] { return false }
    return true
  }
}
