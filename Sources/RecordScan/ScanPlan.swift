/// Which fields of each record are wanted: paths compiled once into a tree of byte keys.
public struct ScanPlan: Sendable {
  let tree: KeyTree
  /// How many values each record yields, one a path, in the order of `paths`.
  public let fieldCount: Int
  private let keys: [[[UInt8]]]
  private let ownedKeys: [String]

  /// - Parameters:
  ///   - paths: Dotted paths such as `Id` or `Owner.Name`. The same path twice fills both positions.
  ///   - ownedKeys: First-level keys that the caller writes itself and must know about, such as `_soupEntryId`; reported with
  ///     ``ScannedRecord/hasOwnedKey``.
  public init(paths: [String], ownedKeys: [String] = []) {
    self.init(
      keys: paths.map { $0.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) } }, ownedKeys: ownedKeys)
  }

  /// - Parameter keys: The keys of each path, outermost first. A path without keys leads nowhere.
  public init(keys: [[[UInt8]]], ownedKeys: [String] = []) {
    var roots: [KeyTree.Draft] = []
    for (field, path) in keys.enumerated() { ScanPlan.insert(path[...], field: field, into: &roots) }
    tree = KeyTree(roots, owned: ownedKeys.map { Array($0.utf8) })
    fieldCount = keys.count
    self.keys = keys
    self.ownedKeys = ownedKeys
  }

  /// The plan with the paths of another one, those that it lacks behind its own.
  /// - Returns: The plan, and where in it each path of the other one stands.
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
    // A path given twice gets a node of its own, so that both positions are filled.
    if let i = drafts.firstIndex(where: { $0.key == key && !(rest.isEmpty && $0.field >= 0) }) {
      if rest.isEmpty { drafts[i].field = field } else { insert(rest, field: field, into: &drafts[i].children) }
      return
    }
    var draft = KeyTree.Draft(key: key)
    if rest.isEmpty { draft.field = field } else { insert(rest, field: field, into: &draft.children) }
    drafts.append(draft)
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
  /// What it is: an object, unless the scan took every element of an array.
  public var kind = ValueKind.object
}
