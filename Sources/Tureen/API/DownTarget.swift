import JSON

/// The target of a sync down, which describes the records to fetch.
///
///     try await manager.syncDown(.soql("SELECT Id, Name FROM Account"), into: "accounts")
///
/// ``json`` is the form used by scripts, configuration files and stored syncs. A value is checked only when a sync is created
/// with it: ``MobileSync/SyncError`` `.invalidTarget` then names the key.
///
/// - Note: Source: the native SDK's sync down targets, by the names of their JSON form.
public enum DownTarget: Sendable, Equatable {
  /// The records of a SOQL query. A page has `maxBatchSize` records, 200 to 2,000.
  case soql(_ query: String, maxBatchSize: Int? = nil)
  /// The records of a SOSL search, in one request.
  case sosl(_ query: String)
  /// The records of a type that the user has viewed recently.
  case mru(_ sobjectType: String, fieldlist: [String])
  /// The current versions of the records in a soup.
  case refresh(_ sobjectType: String, fieldlist: [String], soupName: String, countIdsPerSoql: Int? = nil)
  /// The page layout of a type.
  case layout(
    _ sobjectType: String, formFactor: String? = nil, layoutType: String? = nil, mode: String? = nil, recordTypeId: String? = nil)
  /// The metadata of a type: its fields and more.
  case metadata(_ sobjectType: String)
  /// Parents with their children, in two soups.
  case parentChildren(ParentChildren)
  /// The records selected by Briefcase rules. A request contains `countIdsPerRetrieve` ids, at most 2,000.
  case briefcase(_ infos: [BriefcaseInfo], countIdsPerRetrieve: Int? = nil)
  /// A JSON collection of a named connection.
  case rest(RestCollection)
  /// A class of a Parse server.
  case parse(ParseClass)
  /// Any other target in the form used by scripts: custom targets, and keys that the other cases do not have.
  case json(JSONObject)

  /// The target in the form used by scripts.
  public var json: JSONObject {
    var json = JSONObject()
    switch self {
    case .soql(let query, let maxBatchSize):
      json = ["type": "soql", "query": .string(query)]
      json.set("maxBatchSize", maxBatchSize)
    case .sosl(let query): json = ["type": "sosl", "query": .string(query)]
    case .mru(let type, let fieldlist):
      json = ["type": "mru", "sobjectType": .string(type)]
      json.set("fieldlist", fieldlist)
    case .refresh(let type, let fieldlist, let soup, let count):
      json = ["type": "refresh", "sobjectType": .string(type), "soupName": .string(soup)]
      json.set("fieldlist", fieldlist)
      json.set("countIdsPerSoql", count)
    case .layout(let type, let formFactor, let layoutType, let mode, let recordTypeId):
      json = ["type": "layout", "sobjectType": .string(type)]
      json.set("formFactor", formFactor)
      json.set("layoutType", layoutType)
      json.set("mode", mode)
      json.set("recordTypeId", recordTypeId)
    case .metadata(let type): json = ["type": "metadata", "sobjectType": .string(type)]
    case .parentChildren(let family): json = family.json
    case .briefcase(let infos, let count):
      json = ["type": "briefcase", "infos": .array(infos.map { .object($0.json) })]
      json.set("countIdsPerRetrieve", count)
    case .rest(let collection): json = collection.json
    case .parse(let target): json = target.json
    case .json(let given): json = given
    }
    return json
  }

  /// Reads the form used by scripts. A target that no other case can represent completely becomes ``json(_:)``.
  public init(_ json: JSONObject) { self = DownTarget.typed(json) ?? .json(json) }

  private static func typed(_ json: JSONObject) -> DownTarget? {
    var members = TargetMembers(json)
    let made = members.text("type").flatMap { typed($0, &members) }
    return members.isEmpty ? made : nil
  }

  private static func typed(_ type: String, _ members: inout TargetMembers) -> DownTarget? {
    switch type {
    case "soql": return members.text("query").map { .soql($0, maxBatchSize: members.int("maxBatchSize")) }
    case "sosl": return members.text("query").map { .sosl($0) }
    case "mru":
      guard let type = members.text("sobjectType"), let fields = members.texts("fieldlist") else { return nil }
      return .mru(type, fieldlist: fields)
    case "refresh":
      guard let type = members.text("sobjectType"), let fields = members.texts("fieldlist"), let soup = members.text("soupName")
      else { return nil }
      return .refresh(type, fieldlist: fields, soupName: soup, countIdsPerSoql: members.int("countIdsPerSoql"))
    case "layout":
      return members.text("sobjectType").map {
        .layout(
          $0, formFactor: members.text("formFactor"), layoutType: members.text("layoutType"), mode: members.text("mode"),
          recordTypeId: members.text("recordTypeId"))
      }
    case "metadata": return members.text("sobjectType").map { .metadata($0) }
    case "parent_children": return ParentChildren(&members).map { .parentChildren($0) }
    case "briefcase":
      guard let given = members.array("infos") else { return nil }
      let infos = given.compactMap { $0.objectValue.flatMap(BriefcaseInfo.init) }
      guard infos.count == given.count else { return nil }
      return .briefcase(infos, countIdsPerRetrieve: members.int("countIdsPerRetrieve"))
    case "rest": return RestCollection(&members).map { .rest($0) }
    case "parse": return ParseClass(&members).map { .parse($0) }
    default: return nil
    }
  }
}

/// A type of a briefcase target, and the soup for its records.
public struct BriefcaseInfo: Sendable, Equatable {
  public var sobjectType: String
  public var soupName: String
  public var fieldlist: [String]

  public init(_ sobjectType: String, into soupName: String, fieldlist: [String]) {
    self.sobjectType = sobjectType
    self.soupName = soupName
    self.fieldlist = fieldlist
  }

  var json: JSONObject {
    var json: JSONObject = ["sobjectType": .string(sobjectType), "soupName": .string(soupName)]
    json.set("fieldlist", fieldlist)
    return json
  }

  init?(_ json: JSONObject) {
    var members = TargetMembers(json)
    guard let type = members.text("sobjectType"), let soup = members.text("soupName"), let fields = members.texts("fieldlist"),
      members.isEmpty
    else { return nil }
    self.init(type, into: soup, fieldlist: fields)
  }
}
