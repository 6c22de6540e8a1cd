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
    var roots: [KeyTree.Draft] = []
    for (field, path) in keys.enumerated() { ScanPlan.insert(path[...], field: field, into: &roots) }
    tree = KeyTree(roots, owned: ownedKeys.map { Array($0.utf8) })
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

  private static func insert(_ keys: ArraySlice<[UInt8]>, field: Int, into drafts: inout [KeyTree.Draft]) {
    guard let key = keys.first else { return }
    let rest = keys.dropFirst()
    // A path that occurs twice gets a second node, so that both positions are filled.
    if let i = drafts.firstIndex(where: { $0.key == key && !(rest.isEmpty && $0.field >= 0) }) {
      if rest.isEmpty { drafts[i].field = field } else { insert(rest, field: field, into: &drafts[i].children) }
      return
    }
    var draft = KeyTree.Draft(key: key)
    if rest.isEmpty { draft.field = field } else { insert(rest, field: field, into: &draft.children) }
    drafts.append(draft)
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
