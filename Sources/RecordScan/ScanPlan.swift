/// The fields that a scan extracts from each record: paths compiled once into a tree of byte keys.
public struct ScanPlan: Sendable {
  let tree: KeyTree
  /// The number of values for each record: one for each path, in the order of `paths`.
  public let fieldCount: Int
  private let keys: [[[UInt8]]]
  private let ownedKeys: [String]

  /// - Parameters:
  ///   - paths: Dotted paths such as `Id` or `Owner.Name`. A path may occur more than once; each
  ///     position is filled.
  ///   - ownedKeys: First-level keys that the caller writes itself and must know about, such as
  ///     `_soupEntryId`; ``ScannedRecord/hasOwnedKey`` reports them.
  public init(paths: [String], ownedKeys: [String] = []) {
    self.init(
      keys: paths.map { $0.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) } }, ownedKeys: ownedKeys)
  }

  /// - Parameter keys: The keys of each path, outermost first. A path without keys, or with more of
  ///   them than text may be nested, never finds a value.
  public init(keys: [[[UInt8]]], ownedKeys: [String] = []) {
    let keys = keys.map { $0.count <= JSONWalker.maximumDepth ? $0 : [] }
    var root = KeyTree.Draft(key: [])
    for (field, path) in keys.enumerated() { root.insert(path[...], field: field) }
    tree = KeyTree(root.children, owned: ownedKeys.map { Array($0.utf8) })
    fieldCount = keys.count
    self.keys = keys
    self.ownedKeys = ownedKeys
  }

  /// Returns a plan with the paths of both plans; paths that this one lacks are appended.
  /// - Returns: The plan, and the position in it of each path of the other one.
  public func adding(_ other: ScanPlan) -> (plan: ScanPlan, positions: [Int]) {
    var all = keys
    let positions = other.keys.map { path in
      if let known = all.firstIndex(of: path) { return known }
      all.append(path)
      return all.count - 1
    }
    return (ScanPlan(keys: all, ownedKeys: ownedKeys + other.ownedKeys), positions)
  }
}

extension JSONWalker {
  /// Returns whether a path of names has more of them than text may be nested, so that it never finds
  /// a value. - Parameter separators: The bytes between two names.
  public static func isTooDeep(_ path: String, separators: String = ".") -> Bool {
    path.utf8.count(where: { separators.utf8.contains($0) }) >= maximumDepth
  }
}

/// A field of a record: the slice of the page that holds its text.
public struct ScannedValue: Sendable, Equatable {
  public var kind: ValueKind
  /// The byte offset in the page.
  public var start: Int
  /// The length in bytes.
  public var count: Int

  public static let missing = ScannedValue(kind: .missing, start: 0, count: 0)

  public init(kind: ValueKind, start: Int, count: Int) {
    self.kind = kind
    self.start = start
    self.count = count
  }
}

/// One record: the slice of the page that holds its object, braces included.
public struct ScannedRecord: Sendable, Equatable {
  public var start: Int
  public var count: Int
  /// Whether the first level has one of the plan's `ownedKeys`.
  public var hasOwnedKey: Bool
  /// Whether the record has no members: `{}`.
  public var isEmpty: Bool
  /// The kind of the element: an object, unless the scan accepts every element of an array.
  public var kind = ValueKind.object
}
