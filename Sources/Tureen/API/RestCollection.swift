import JSON

/// A target for a JSON collection of a named connection, for sync down and sync up.
///
///     var issues = RestCollection("github", "/repos/acme/kiosk/issues", paging: .link())
///     issues.modificationDateField = "updated_at"
///     issues.incremental = .param(["since": "{since}"])
///     try await manager.syncDown(.rest(issues), into: "issues")
///
/// The properties cover the needs of most collections; ``others`` takes all other keys.
///
/// - Note: Source: `bridge-spec/guide/collections.md`, where each key is explained.
public struct RestCollection: Sendable, Equatable {
  /// The way to find the next page of the list.
  public enum Paging: Sendable, Equatable {
    /// The list has one page.
    case none
    /// The `Link` header contains the next page's URL.
    case link(rel: String? = nil)
    /// The answer contains the next page's URL.
    case bodyURL(nextPath: String)
    /// The answer contains a token, which the next request sends in a parameter.
    case cursor(path: String, param: String)
    /// Each request contains the page's number.
    case page(param: String, sizeParam: String? = nil, size: Int? = nil)
    /// Each request contains the number of items received so far.
    case offset(param: String, sizeParam: String? = nil, size: Int? = nil)
    /// Each request contains the id of the last received item.
    case keyset(afterParam: String, afterField: String? = nil)
    /// As scripts write it.
    case json(JSONObject)
  }

  /// The items that later runs fetch.
  public enum Incremental: Sendable, Equatable {
    /// Fetches all items and writes all of them.
    case full
    /// Fetches all items and writes those that differ.
    case hash
    /// Fetches only pages that have changed, by a conditional request for each page.
    case etag
    /// Sends parameters that select the items changed since the last run; `{since}` in the values stands for the date.
    case param([String: String])
    /// Fetches items sorted by modification date, the newest first, until one is already known. The values are parameters.
    case sorted([String: String])
    /// As scripts write it.
    case json(JSONObject)
  }

  /// The name of a connection in `connections.json`.
  public var connection: String
  /// The path, which is appended to the connection's `baseURL`; `{name}` stands for a value of ``vars``.
  public var url: String
  public var vars: [String: String] = [:]
  /// The query parameters of the first page.
  public var params: [String: String] = [:]
  /// The path of the array in a page; nil if the answer itself is the array.
  public var itemsPath: String?
  /// The name of the id field; nil for `id`.
  public var idField: String?
  public var modificationDateField: String?
  /// The format of modification dates; nil for `iso8601`.
  public var dateFormat: String?
  /// The way to find the next page; nil for a list of one page.
  public var paging: Paging?
  /// The items that later runs fetch; nil for ``Incremental/full``.
  public var incremental: Incremental?
  /// The requests that send edits, in the form of the key `up`; nil for a collection that is only read.
  public var up: JSONObject?
  /// Further keys of the target.
  public var others = JSONObject()

  public init(_ connection: String, _ url: String, paging: Paging? = nil, incremental: Incremental? = nil) {
    self.connection = connection
    self.url = url
    self.paging = paging
    self.incremental = incremental
  }

  var json: JSONObject {
    var json: JSONObject = ["type": "rest", "connection": .string(connection), "url": .string(url)]
    if !vars.isEmpty { json["vars"] = .object(Self.object(vars)) }
    if !params.isEmpty { json["params"] = .object(Self.object(params)) }
    json.set("itemsPath", itemsPath)
    json.set("idField", idField)
    json.set("modificationDateField", modificationDateField)
    json.set("dateFormat", dateFormat)
    json.set("paging", paging?.json)
    json.set("incremental", incremental?.json)
    json.set("up", up)
    for (key, value) in others { json[key] = value }
    return json
  }

  init?(_ members: inout TargetMembers) {
    guard let connection = members.text("connection"), let url = members.text("url") else { return nil }
    self.init(connection, url)
    vars = Self.texts(&members, "vars")
    params = Self.texts(&members, "params")
    itemsPath = members.text("itemsPath")
    idField = members.text("idField")
    modificationDateField = members.text("modificationDateField")
    dateFormat = members.text("dateFormat")
    paging = members.object("paging").map { Paging($0) }
    incremental = members.object("incremental").map { Incremental($0) }
    up = members.object("up")
    others = members.takeOthers()
  }

  /// Takes an object whose values are all strings. Other objects stay in ``others``.
  private static func texts(_ members: inout TargetMembers, _ key: String) -> [String: String] {
    guard let found = members.others[key]?.objectValue, found.allSatisfy({ $0.value.stringValue != nil }), !found.isEmpty else {
      return [:]
    }
    _ = members.object(key)
    return Dictionary(found.map { ($0.key, $0.value.stringValue ?? "") }) { $1 }
  }

  /// Converts a dictionary to an object sorted by name, so that equal values have equal texts.
  fileprivate static func object(_ texts: [String: String]) -> JSONObject {
    JSONObject(texts.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
  }
}

extension RestCollection.Paging {
  var json: JSONObject {
    var json = JSONObject()
    switch self {
    case .none: json = ["style": "none"]
    case .link(let rel):
      json = ["style": "link"]
      json.set("rel", rel)
    case .bodyURL(let path): json = ["style": "bodyUrl", "nextPath": .string(path)]
    case .cursor(let path, let param):
      json = ["style": "cursor", "cursorPath": .string(path), "cursorParam": .string(param)]
    case .page(let param, let sizeParam, let size):
      json = ["style": "page", "pageParam": .string(param)]
      json.set("sizeParam", sizeParam)
      json.set("pageSize", size)
    case .offset(let param, let sizeParam, let size):
      json = ["style": "offset", "offsetParam": .string(param)]
      json.set("sizeParam", sizeParam)
      json.set("pageSize", size)
    case .keyset(let param, let field):
      json = ["style": "keyset", "afterParam": .string(param)]
      json.set("afterField", field)
    case .json(let given): json = given
    }
    return json
  }

  init(_ json: JSONObject) {
    var members = TargetMembers(json)
    let made: Self? =
      switch members.text("style") {
      case "none": Self.none
      case "link": .link(rel: members.text("rel"))
      case "bodyUrl": members.text("nextPath").map { .bodyURL(nextPath: $0) }
      case "cursor":
        members.text("cursorPath").flatMap { path in members.text("cursorParam").map { .cursor(path: path, param: $0) } }
      case "page":
        members.text("pageParam").map { .page(param: $0, sizeParam: members.text("sizeParam"), size: members.int("pageSize")) }
      case "offset":
        members.text("offsetParam").map {
          .offset(param: $0, sizeParam: members.text("sizeParam"), size: members.int("pageSize"))
        }
      case "keyset": members.text("afterParam").map { .keyset(afterParam: $0, afterField: members.text("afterField")) }
      default: Optional.none
      }
    self = members.isEmpty ? made ?? .json(json) : .json(json)
  }
}

extension RestCollection.Incremental {
  var json: JSONObject {
    switch self {
    case .full: ["mode": "full"]
    case .hash: ["mode": "hash"]
    case .etag: ["mode": "etag"]
    case .param(let params): ["mode": "param", "params": .object(RestCollection.object(params))]
    case .sorted(let params): ["mode": "sorted", "params": .object(RestCollection.object(params))]
    case .json(let given): given
    }
  }

  init(_ json: JSONObject) {
    var members = TargetMembers(json)
    let mode = members.text("mode"), params = members.object("params")
    let texts = params.map { Dictionary($0.compactMap { pair in pair.value.stringValue.map { (pair.key, $0) } }) { $1 } }
    let isWhole = texts?.count == params?.count && members.isEmpty
    switch (mode, texts) {
    case ("full", nil) where isWhole: self = .full
    case ("hash", nil) where isWhole: self = .hash
    case ("etag", nil) where isWhole: self = .etag
    case ("param", let texts?) where isWhole: self = .param(texts)
    case ("sorted", let texts?) where isWhole: self = .sorted(texts)
    default: self = .json(json)
    }
  }
}
