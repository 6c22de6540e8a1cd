import JSON
import MobileSync
import SmartStore
import Support

/// Copies a store to another home, another engine or another name, for the command.
public struct StoreTransfer: Sendable {
  public let source: StoreAddress
  public let target: StoreAddress

  /// How far it is.
  public struct Progress: Sendable, Equatable {
    /// `copying`, `indexing` or `comparing`.
    public let phase: String
    /// The soup; nil for the data that belongs to none.
    public let soup: String?
    public let done: Int64, total: Int64

    public var json: JSONObject {
      [
        "event": "storeCopy", "phase": .string(phase), "soup": soup.map { .string($0) } ?? .null, "done": .integer(done),
        "total": .integer(total),
      ]
    }
  }

  public struct Result: Sendable {
    /// The soups, without the one of the syncs, and their entries.
    public let soups: Int
    public let entries: Int64
    /// The rows of all tables, and those of them that an earlier run had copied.
    public let rows: Int64, found: Int64
  }

  /// - Parameters:
  ///   - source: An existing store.
  ///   - place: Where the copy goes.
  ///   - org: The org of the copy; nil for that of the source.
  ///   - user: The user of the copy; nil for that of the source.
  ///   - name: The name of the copy; nil for that of the source.
  /// - Throws: ``StorePlace/Problem`` if both are the same store, or if a global store is given an owner.
  public init(
    from source: StoreAddress, to place: StorePlace, org: String? = nil, user: String? = nil, name: String? = nil
  ) throws {
    guard !source.isGlobal || org == nil && user == nil else {
      throw StorePlace.Problem(description: "a global store has neither an org nor a user: leave out --to-org and --to-user")
    }
    self.source = source
    let name = name ?? source.name
    guard !name.isEmpty else { throw StorePlace.Problem(description: "--to-store-name: a store name must not be empty") }
    target = StoreAddress(
      place: place, org: org.map(StoreRegistry.folderName) ?? source.org, user: user.map(StoreRegistry.folderName) ?? source.user,
      name: name)
    let isSameOwner = target.org.hasSameBytes(as: source.org) && target.user.hasSameBytes(as: source.user)
    if isSameOwner, name.hasSameBytes(as: source.name), place.isSame(as: source.place) {
      throw StorePlace.Problem(description: "FROM and TO are the same: \(source)")
    }
  }

  /// Copies the store, or continues an interrupted copy. Blocks.
  /// - Parameter report: Called after each batch. An error that it throws ends the copy, which can be continued.
  /// - Throws: ``SmartStore/StoreError`` if the store cannot be copied, was written to meanwhile, or differs from its copy.
  public func run(report: @escaping (Progress) throws -> Void) throws -> Result {
    let sources = try source.engines(), targets = try target.engines()
    defer {
      sources.close()
      targets.close()
    }
    if case .home(let home) = target.place { try HostSettings.checkHome(home) }
    let original = Store(
      name: source.name, isGlobal: source.isGlobal, engine: try sources.open(source.name, isGlobal: source.isGlobal))
    defer { original.close() }
    let isNew = try !targets.unfinishedCopies(isGlobal: target.isGlobal).contains { $0.hasSameBytes(as: target.name) }
    let copy = Store(
      name: target.name, isGlobal: target.isGlobal,
      engine: try targets.openCopy(target.name, isGlobal: target.isGlobal, of: "\(source)"))
    defer { copy.close() }
    var hasBegun = false
    let summary: StoreCopy.Summary
    do {
      summary = try StoreCopy(from: original, to: copy, isRunning: RunningSyncs.isRunning) { progress in
        hasBegun = true
        try report(
          Progress(phase: progress.phase.rawValue, soup: progress.soup, done: progress.done, total: progress.total))
      }.run()
    } catch {
      // A store that cannot be copied, or not now, leaves nothing behind.
      if isNew, !hasBegun {
        copy.close()
        try? targets.remove(target.name, isGlobal: target.isGlobal)
      }
      throw error
    }
    let soups = summary.soups.filter { $0.name != RunningSyncs.soup }
    return Result(
      soups: soups.count, entries: soups.map(\.entries).reduce(0, +), rows: summary.rows, found: summary.found)
  }
}
