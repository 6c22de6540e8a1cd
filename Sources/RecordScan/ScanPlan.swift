/// Which fields of each record are wanted: paths compiled once into a tree of byte keys.
public struct ScanPlan: Sendable {
  /// One key on the way to a wanted field.
  struct Node: Sendable {
    var key: [UInt8]
    /// Position in the record's values when the path ends here, else -1.
    var field = -1
    var children: [Node] = []
  }

  let roots: [Node]
  /// Keys on a record's first level that the scan reports with ``ScannedRecord/hasOwnedKey``.
  let ownedKeys: [[UInt8]]
  /// One bit for the first byte of each owned key, modulo 64: most keys are told apart by it.
  private let ownedStarts: UInt64
  /// How many values each record yields, one a path, in the order of `paths`.
  public let fieldCount: Int

  /// - Parameters:
  ///   - paths: Dotted paths such as `Id` or `Owner.Name`. The same path twice fills both positions.
  ///   - ownedKeys: First-level keys that the caller writes itself and must know about, such as `_soupEntryId`.
  public init(paths: [String], ownedKeys: [String] = []) {
    var roots: [Node] = []
    for (field, path) in paths.enumerated() {
      let keys = path.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
      ScanPlan.insert(keys[...], field: field, into: &roots)
    }
    self.roots = roots
    self.ownedKeys = ownedKeys.map { Array($0.utf8) }
    ownedStarts = self.ownedKeys.reduce(0) { $0 | ($1.first.map { 1 << UInt64($0 & 63) } ?? .max) }
    fieldCount = paths.count
  }

  /// False when `key` is certainly none of ``ownedKeys``.
  @inline(__always)
  func mayOwn(_ key: ScannedKey) -> Bool {
    guard !key.isEscaped, let first = key.raw.first else { return ownedStarts != 0 }
    return ownedStarts >> UInt64(first & 63) & 1 == 1
  }

  private static func insert(_ keys: ArraySlice<[UInt8]>, field: Int, into nodes: inout [Node]) {
    guard let key = keys.first else { return }
    let rest = keys.dropFirst()
    // A path given twice gets a node of its own, so that both positions are filled.
    if let i = nodes.firstIndex(where: { $0.key == key && !(rest.isEmpty && $0.field >= 0) }) {
      if rest.isEmpty { nodes[i].field = field } else { insert(rest, field: field, into: &nodes[i].children) }
      return
    }
    var node = Node(key: key)
    if rest.isEmpty { node.field = field } else { insert(rest, field: field, into: &node.children) }
    nodes.append(node)
  }
}

/// A field of a record: where its text lies in the page.
public struct ScannedValue: Sendable, Equatable {
  public var kind: ValueKind
  /// Offset in the page, in bytes.
  public var start: Int
  /// Length in bytes.
  public var count: Int

  public static let missing = ScannedValue(kind: .missing, start: 0, count: 0)

  public init(kind: ValueKind, start: Int, count: Int) {
    self.kind = kind
    self.start = start
    self.count = count
  }
}

/// One record: where its object lies in the page, braces included.
public struct ScannedRecord: Sendable, Equatable {
  public var start: Int
  public var count: Int
  /// One of the plan's `ownedKeys` stands on its first level.
  public var hasOwnedKey: Bool
  /// It has no member at all: `{}`.
  public var isEmpty: Bool
}
