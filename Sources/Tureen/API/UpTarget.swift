import JSON

/// The target of a sync up, which describes how to send a soup's changes.
///
///     try await manager.syncUp(.collection(), from: "accounts", options: SyncOptions(fieldlist: ["Name"]))
///
/// ``json`` is the form used by scripts, configuration files and stored syncs.
///
/// - Note: Source: the native SDK's sync up targets.
public enum UpTarget: Sendable, Equatable {
  /// Sends up to 200 records in a request, which is the fastest way.
  case collection(UploadFields = UploadFields())
  /// Sends up to 25 records in a request; the server checks each update against its current version.
  case batch(UploadFields = UploadFields())
  /// Sends one record in each request; the server checks each update against its current version.
  case plain(UploadFields = UploadFields())
  /// Sends each parent together with its children in one request.
  case parentChildren(ParentChildren)
  /// A JSON collection of a named connection, with ``RestCollection/up``.
  case rest(RestCollection)
  /// A class of a Parse server.
  case parse(ParseClass)
  /// Any other target in the form used by scripts.
  case json(JSONObject)

  /// The target in the form used by scripts.
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

  /// Reads the form used by scripts. A target that no other case can represent completely becomes ``json(_:)``.
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

/// The fields that a target sends, and its other settings.
public struct UploadFields: Sendable, Equatable {
  /// The fields to send for new records; nil for the options' `fieldlist`.
  public var create: [String]?
  /// The fields to send for changed records; nil for the options' `fieldlist`.
  public var update: [String]?
  /// The external id field by which new records are upserted if it has a value.
  public var externalIdFieldName: String?
  /// The number of records in a request; nil for the target's maximum.
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
