import JSON
import MobileSync
import RestClient

/// A sync down target that reads a collection over HTTP.
struct RestSyncDownTarget: SyncDownTarget {
  let target: RestTarget
  let fields: TargetFields
  private let connections: RestConnections?
  private let assets: AssetFolder?

  /// Stands in for the date field of a target without one; no record has a member with this name.
  static let noDate = "__no_date__"

  /// - Throws: ``SyncError`` `.invalidTarget`, which names the key.
  init(_ json: JSONObject, _ connections: RestConnections?, _ assets: AssetFolder? = nil) throws(SyncError) {
    do throws(RestTargetError) {
      target = try RestTarget(json)
    } catch {
      throw SyncError(error)
    }
    fields = TargetFields(
      id: try RestSyncDownTarget.soupPath(target.items.idField, "idField"),
      modificationDate: try target.items.dateField.map { path throws(SyncError) in
        try RestSyncDownTarget.soupPath(path, "modificationDateField")
      } ?? RestSyncDownTarget.noDate,
      others: target.serverOwnMembers, dates: target.items.recordDates)
    try connections.check(target.connection, label: "rest target")
    if let name = target.up?.connection {
      do {
        try connections.check(name, label: "rest target, up")
      } catch {
        throw error.at(.key("up"))
      }
    }
    for asset in target.assets { _ = try RestSyncDownTarget.soupPath(asset.field, "assets") }
    self.connections = connections
    self.assets = assets
  }

  /// Returns the path in the form of a soup's index spec.
  private static func soupPath(_ path: ValuePath, _ key: String) throws(SyncError) -> String {
    let keys = path.steps?.compactMap { step -> String? in
      guard case .member(let name, _) = step, !name.contains(UInt8(ascii: ".")) else { return nil }
      return String(decoding: name, as: UTF8.self)
    }
    guard let keys, !keys.isEmpty, keys.count == path.steps?.count else {
      throw SyncError(
        .invalidTarget,
        "rest target: '\(key)' must be a path of members whose names have no dots, because soups index it that way; "
          + "got '\(path.text)'"
      ).at(.key(key))
    }
    return keys.joined(separator: ".")
  }

  var json: JSONObject { target.json }
  var isIncremental: Bool { true }
  var tracksOwnProgress: Bool { true }
  var longestRun: Int? { PageWalk.defaultMaxPages }
  var hasGhosts: Bool { target.ghosts.mode != .none }

  var hasAfterRows: Bool { assets != nil && !target.assets.isEmpty }

  // MARK: Fetching

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    try await CollectionRun(target, try connection(), context).page()
  }

  func afterRows(in context: FetchContext) async throws -> [String] {
    guard let assets else { return [] }
    return try await CollectionAssets(target: target, connection: try connection(), folder: assets, context: context).fetch()
  }

  func connection() throws -> RestConnection {
    try connections.connection(named: target.connection, label: "rest target")
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    [try await ghosts(context).remote(among: localIds[0])]
  }

  func existence(
    of ids: [String], type: String, mapping: Int, in context: FetchContext
  ) async throws -> [RecordExistence] { try await ghosts(context).existence(of: ids) }

  func ghosts(_ context: FetchContext) throws -> CollectionGhosts {
    let connection = try connection()
    // Single records are read over the connection that writes them.
    let records = try target.up?.connection.map { try connections.connection(named: $0, label: "rest target, up") } ?? connection
    return CollectionGhosts(target: target, connection: connection, records: records, context: context)
  }
}

extension SyncError {
  init(_ error: RestTargetError) {
    var made = SyncError(.invalidTarget, error.description)
    for step in error.place.reversed() { made = made.at(step) }
    self = made
  }

  init(_ error: RestPageError) { self.init(.unexpectedAnswer, error.description) }

  init(_ problem: URITemplate.Problem) { self.init(.invalidTarget, "rest target: 'url' \(problem.description)") }
}
