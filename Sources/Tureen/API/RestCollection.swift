import JSON

/// A JSON collection of a named connection: a target of either direction.
///
///     var issues = RestCollection("github", "/repos/acme/kiosk/issues", paging: .link())
///     issues.modificationDateField = "updated_at"
///     issues.incremental = .param(["since": "{since}"])
///     try await manager.syncDown(.rest(issues), into: "issues")
///
/// It has what most collections need by name, and takes everything else in ``others``.
///
/// - Note: Source: `bridge-spec/collections.md`, where each key is explained.
public struct RestCollection: Sendable, Equatable {
  /// How the list says where it goes on.
  public enum Paging: Sendable, Equatable {
    /// There is one page.
    case none
    /// By the `Link` header.
    case link(rel: String? = nil)
    /// By a URL in the answer.
    case bodyURL(nextPath: String)
    /// By a token in the answer, which the next request sends in a parameter.
    case cursor(path: String, param: String)
    /// By numbers of pages.
    case page(param: String, sizeParam: String? = nil, size: Int? = nil)
    /// By the number of items so far.
    case offset(param: String, sizeParam: String? = nil, size: Int? = nil)
    /// By the id of the last item.
    case keyset(afterParam: String, afterField: String? = nil)
    /// As scripts write it.
    case json(JSONObject)
  }

  /// What a further run asks for.
  public enum Incremental: Sendable, Equatable {
    /// Everything, which is written again.
    case full
    /// Everything; differences are written.
    case hash
    /// Each page on the condition that it has changed.
    case etag
    /// What has changed since then: `{since}` in the values stands for the date.
    case param([String: String])
    /// Items in the order of their modification, the newest first, up to one that is known.
    case sorted([String: String])
    /// As scripts write it.
    case json(JSONObject)
  }

  /// A name of `connections.json`.
  public var connection: String
  /// Appended to the connection's `baseURL`; `{name}` stands for a value of ``vars``.
  public var url: String
  public var vars: [String: String] = [:]
  /// Query of the first page.
  public var params: [String: String] = [:]
  /// The array of a page; nil where the answer is the array.
  public var itemsPath: String?
  /// nil: `id`.
  public var idField: String?
  public var modificationDateField: String?
  /// nil: `iso8601`.
  public var dateFormat: String?
  /// nil: one page.
  public var paging: Paging?
  /// nil: ``Incremental/full``.
  public var incremental: Incremental?
  /// How edits are sent, as scripts write `up`; nil for a collection that is only read.
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

  /// Values that are no texts stay with the others.
  private static func texts(_ members: inout TargetMembers, _ key: String) -> [String: String] {
    guard let found = members.others[key]?.objectValue, found.allSatisfy({ $0.value.stringValue != nil }), !found.isEmpty else {
      return [:]
    }
    _ = members.object(key)
    return Dictionary(found.map { ($0.key, $0.value.stringValue ?? "") }) { $1 }
  }

  /// In the order of the names, so that the same value has the same text.
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
