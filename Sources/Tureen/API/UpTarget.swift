import JSON

/// Where a sync up sends a soup's changes, as a value.
///
///     try await manager.syncUp(.collection(), from: "accounts", options: SyncOptions(fieldlist: ["Name"]))
///
/// ``json`` is the form that scripts, configuration files and stored syncs have.
///
/// - Note: Source: the native SDK's sync up targets.
public enum UpTarget: Sendable, Equatable {
  /// 200 records a request: the fastest.
  case collection(UploadFields = UploadFields())
  /// 25 records a request; the server compares an update with what it has.
  case batch(UploadFields = UploadFields())
  /// One record a request; the server compares an update with what it has.
  case plain(UploadFields = UploadFields())
  /// Parents with their children, a family a request.
  case parentChildren(ParentChildren)
  /// A JSON collection of a named connection, with ``RestCollection/up``.
  case rest(RestCollection)
  /// A class of a Parse server.
  case parse(ParseClass)
  /// Anything else, in the form that scripts use.
  case json(JSONObject)

  /// As scripts write it.
  public var json: JSONObject {
    switch self {
    case .collection(let fields): fields.json("collection")
    case .batch(let fields): fields.json("batch")
    case .plain(let fields): fields.json("plain")
    case .parentChildren(let family): family.json
    case .rest(let collection): collection.json
    case .parse(let target): target.json
    case .json(let given): given
    }
  }

  /// Reads the form that scripts use. What no case says in full becomes ``json(_:)``, so nothing is lost.
  public init(_ json: JSONObject) { self = UpTarget.typed(json) ?? .json(json) }

  private static func typed(_ json: JSONObject) -> UpTarget? {
    var members = TargetMembers(json)
    let made: UpTarget? =
      switch members.text("type") {
      case "collection": .collection(UploadFields(&members))
      case "batch": .batch(UploadFields(&members))
      case "plain": .plain(UploadFields(&members))
      case "parent_children": ParentChildren(&members).map { .parentChildren($0) }
      case "rest": RestCollection(&members).map { .rest($0) }
      case "parse": ParseClass(&members).map { .parse($0) }
      default: Optional.none
      }
    return members.isEmpty ? made : nil
  }
}

/// What a target sends of each record, where the sync's options do not say it.
public struct UploadFields: Sendable, Equatable {
  /// nil: the options' `fieldlist`.
  public var create: [String]?
  /// nil: the options' `fieldlist`.
  public var update: [String]?
  /// New records with a value in this field are upserted by it.
  public var externalIdFieldName: String?
  /// Records a request, where fewer are wanted than the target's own number.
  public var maxBatchSize: Int?

  public init(
    create: [String]? = nil, update: [String]? = nil, externalIdFieldName: String? = nil, maxBatchSize: Int? = nil
  ) {
    self.create = create
    self.update = update
    self.externalIdFieldName = externalIdFieldName
    self.maxBatchSize = maxBatchSize
  }

  func json(_ type: String) -> JSONObject {
    var json: JSONObject = ["type": .string(type)]
    json.set("createFieldlist", create)
    json.set("updateFieldlist", update)
    json.set("externalIdFieldName", externalIdFieldName)
    json.set("maxBatchSize", maxBatchSize)
    return json
  }

  init(_ members: inout TargetMembers) {
    self.init(
      create: members.texts("createFieldlist"), update: members.texts("updateFieldlist"),
      externalIdFieldName: members.text("externalIdFieldName"), maxBatchSize: members.int("maxBatchSize"))
  }
}
