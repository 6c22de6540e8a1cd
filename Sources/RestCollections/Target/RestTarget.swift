import JSON
import Support

/// A collection over HTTP as the source and destination of a soup, as defined in a sync: `{"type":
/// "rest", ...}`.
///
/// Parsed and validated as a whole: an invalid path, template or combination is an error here,
/// before the first request.
///
/// - Note: Source: the reference of link-paged and generic JSON REST collections, section 9.
struct RestTarget: Sendable, Equatable {
  /// The definition, with the main name of each key that has two, as stored in the sync state.
  /// Contains no secrets, only their sources.
  let json: JSONObject
  /// Changes whenever the definition changes.
  let fingerprint: Int64
  /// The name of a connection.
  let connection: String
  /// The URL of the list. All values of its template come from ``vars``.
  let url: URITemplate
  let vars: [String: String]
  let method: Method
  /// The JSON body of a list requested with POST.
  let body: JSONObject?
  /// The query of the first page.
  let params: [TextPair]
  let headers: [HeaderField]
  let items: ItemRules
  let paging: PagingRules
  let incremental: IncrementalRules
  let ghosts: GhostRules
  let assets: [Asset]
  let detail: Detail?
  /// Whether items contain only changed members, which are merged into the row.
  let isPartial: Bool
  /// The Lua function `module.name` that computes members.
  let transform: String?
  /// nil: pages are always validated and only stored in the soup, without the response cache.
  let cache: CacheMode?
  /// If false, URLs of other origins are followed, without credentials.
  let staysOnOrigin: Bool
  /// nil if the collection is read-only.
  let up: UploadRules?

  enum Method: String, CaseIterable, Sendable { case get = "GET", post = "POST" }
  enum CacheMode: String, CaseIterable, Sendable { case standard = "default", revalidate, reload, bypass, offline }

  /// URLs to download after the rows are stored.
  struct Asset: Sendable, Equatable {
    let field: ValuePath
    let store: String
  }

  /// One GET for each changed item.
  struct Detail: Sendable, Equatable {
    let url: URITemplate
    let itemPath: ValuePath?
    /// Requests in flight.
    let parallel: Int
  }

  /// - Parameter zoneFile: See ``TimeZoneRules``.
  /// - Throws: ``RestTargetError``, which names the key.
  init(
    _ json: JSONObject, zoneFile: (String) -> [UInt8]? = TimeZoneRules.installedFile
  ) throws(RestTargetError) {
    let reader = try TargetReader(
      RestTarget.resolvingAliases(json), label: "rest target", known: RestTarget.keys)
    self.json = reader.json
    fingerprint = Int64(bitPattern: StableHash.of(reader.json.serialized()))
    let type = try reader.required("type", reader.text("type"))
    guard type == "rest" else { throw reader.error("type", "must be 'rest', not '\(type)'") }
    connection = try RestTarget.connectionName("connection", reader)
    url = try reader.required("url", reader.template("url"))
    vars = try RestTarget.vars(reader)
    method = try reader.choice("method") ?? .get
    body = try reader.object("body")
    params = try reader.pairs("params") ?? []
    headers = try HeaderField.read("headers", reader)
    items = try ItemRules(reader, zoneFile: zoneFile)
    incremental = try IncrementalRules(reader, items: items, zoneFile: zoneFile)
    paging = try PagingRules(reader, idField: items.idField)
    assets = try RestTarget.assets(reader)
    detail = try RestTarget.detail(reader)
    isPartial = try reader.flag("partial") ?? false
    transform = try RestTarget.transform(reader)
    cache = try reader.choice("cache")
    staysOnOrigin = try reader.flag("sameOrigin") ?? true
    up = try UploadRules(reader)
    ghosts = try GhostRules(reader, canRead: up?.hasRead ?? false)
    try checkCombinations(reader)
  }

  static let keys = [
    "type", "connection", "url", "vars", "method", "body", "params", "headers", "itemsPath", "itemsMissing", "itemPath",
    "idField",
    "idFieldName", "modificationDateField", "modificationDateFieldName", "dateFormat", "totalPath", "paging", "incremental",
    "where", "map", "transform", "omit", "assets", "detail", "partial", "deletedPath", "deletedValue", "deletedIdPath",
    "deletedItemsPath", "ghosts", "cache", "sameOrigin", "up",
  ]

  private static func resolvingAliases(_ json: JSONObject) throws(RestTargetError) -> JSONObject {
    let aliases = ["idFieldName": "idField", "modificationDateFieldName": "modificationDateField"]
    var named = JSONObject()
    for (key, value) in json {
      let name = aliases[key] ?? key
      guard named[name] == nil else {
        throw RestTargetError(description: "rest target: '\(key)' is given twice, once under its other name", place: [.key(key)])
      }
      named[name] = value
    }
    return named
  }

  static func connectionName(_ key: String, _ reader: TargetReader) throws(RestTargetError) -> String {
    let name = try reader.required(key, reader.text(key))
    let isName = name.utf8.allSatisfy { byte in
      byte.isASCIILetter || byte.isASCIIDigit || "._-".utf8.contains(byte)
    }
    guard isName, (1...64).contains(name.utf8.count) else {
      throw reader.error(key, "must be a name of 1 to 64 letters, digits, '.', '_' and '-'")
    }
    return name
  }

  private static func vars(_ reader: TargetReader) throws(RestTargetError) -> [String: String] {
    var vars: [String: String] = [:]
    for (name, value) in try reader.object("vars") ?? [:] {
      switch value {
      case .string(let text): vars[name] = text
      case .integer(let number): vars[name] = String(number)
      case .bool(let flag): vars[name] = String(flag)
      default: throw reader.error("vars", "must hold texts; '\(name)' is \(TargetReader.article(value.kindName))")
      }
    }
    return vars
  }

  private static func assets(_ reader: TargetReader) throws(RestTargetError) -> [Asset] {
    var assets: [Asset] = []
    for asset in try reader.insideEach("assets", known: ["field", "store"]) {
      let store = try asset.required("store", asset.text("store"))
      guard store == "files" else { throw asset.error("store", "must be 'files', not '\(store)'") }
      assets.append(Asset(field: try asset.required("field", asset.path("field")), store: store))
    }
    return assets
  }

  private static func detail(_ reader: TargetReader) throws(RestTargetError) -> Detail? {
    guard let detail = try reader.inside("detail", known: ["url", "itemPath", "parallel"]) else { return nil }
    return Detail(
      url: try detail.required("url", detail.template("url")), itemPath: try detail.path("itemPath"),
      parallel: try detail.count("parallel", atLeast: 1) ?? 1)
  }

  private static func transform(_ reader: TargetReader) throws(RestTargetError) -> String? {
    guard let name = try reader.text("transform") else { return nil }
    guard name.split(separator: ".", omittingEmptySubsequences: false).count >= 2, !name.hasPrefix("."), !name.hasSuffix(".")
    else { throw reader.error("transform", "must name a Lua function as 'module.name', not '\(name)'") }
    return name
  }

  private func checkCombinations(_ reader: TargetReader) throws(RestTargetError) {
    for name in url.names where vars[name] == nil {
      throw reader.error("url", "needs a value for '\(name)', but 'vars' has none")
    }
    if method == .get {
      if body != nil { throw reader.error("body", "is for lists with \"method\": \"POST\"") }
      if incremental.body != nil {
        throw reader.error("incremental", "has a 'body', which is for lists with \"method\": \"POST\"")
      }
      if paging.place == .body || incremental.tokenPlace == .body {
        throw reader.error("method", "must be POST for parameters in the body")
      }
    } else if incremental.mode == .etag {
      throw reader.error("incremental", "cannot have the mode 'etag' with POST: such answers have no validators")
    }
    if up?.precondition == .ifUnmodifiedSince, items.dateField == nil || items.dateFormat == .integer {
      throw reader.error("up", "has the precondition 'ifUnmodifiedSince', which needs 'modificationDateField' with a time")
    }
    if incremental.mode == .etag, paging.place == .header {
      throw reader.error("paging", "cannot have 'in' 'header' with the mode 'etag': validators belong to URLs")
    }
    if paging.maxItems != nil, incremental.mode != .param || incremental.order != .ascending || items.dateField == nil {
      throw reader.error(
        "paging",
        "has 'maxItems', which needs 'modificationDateField' and 'incremental' with the mode 'param' and the order 'ascending'")
    }
  }
}

extension RestTarget {
  /// Members that only the server sets: the tag, and objects that contain the tag, the id or the date
  /// if no upload sends any part of them. If one does, the path of the tag in it.
  var serverOwnMembers: [String] {
    let tag = up?.tag.path
    var names = [items.idField, items.dateField, tag].compactMap { path -> String? in
      guard let name = path?.firstMember, (path?.memberNames?.count ?? 2) > 1, !(up?.sends(name) ?? false) else { return nil }
      return name
    }
    if let name = tag?.singleKey { names.append(name) }
    if let path = tag?.memberNames, path.count > 1, !names.contains(path[0]) { names.append(path.joined(separator: ".")) }
    return names.reduce(into: []) { list, name in if !list.contains(name) { list.append(name) } }
  }
}

extension UploadRules {
  fileprivate func sends(_ member: String) -> Bool {
    [create, update].contains { operation in
      switch operation?.content {
      case .everything?: true
      case .fields(let fields)?:
        fields.contains { field in if case .path(let path) = field.source { path.firstMember == member } else { false } }
      case .body?, nil: false
      }
    }
  }
}
