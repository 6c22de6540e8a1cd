import JSON

/// A target for a class of a Parse server, for sync down and sync up. Keys without a property here go into ``others``.
///
/// - Note: Source: `bridge-spec/guide/parse.md`, where each key is explained.
public struct ParseClass: Sendable, Equatable {
  public var className: String
  /// A connection of `connections.json`; nil for the only connection to a Parse server.
  public var connection: String?
  /// The constraints of the objects, in the wire form of a query's `where`.
  public var constraints: JSONObject?
  /// The fields to fetch; nil for all fields.
  public var keys: [String]?
  /// The pointer fields whose objects are included.
  public var include: [String]?
  public var pageSize: Int?
  /// The fields to send for new objects.
  public var createFieldlist: [String]?
  /// The fields to send for changed objects.
  public var updateFieldlist: [String]?
  /// Further keys of the target.
  public var others = JSONObject()

  public init(_ className: String, on connection: String? = nil) {
    self.className = className
    self.connection = connection
  }

  var json: JSONObject {
    var json: JSONObject = ["type": "parse", "className": .string(className)]
    json.set("connection", connection)
    json.set("where", constraints)
    json.set("keys", keys)
    json.set("include", include)
    json.set("pageSize", pageSize)
    json.set("createFieldlist", createFieldlist)
    json.set("updateFieldlist", updateFieldlist)
    for (key, value) in others { json[key] = value }
    return json
  }

  init?(_ members: inout TargetMembers) {
    guard let name = members.text("className") else { return nil }
    self.init(name, on: members.text("connection"))
    constraints = members.object("where")
    keys = members.texts("keys")
    include = members.texts("include")
    pageSize = members.int("pageSize")
    createFieldlist = members.texts("createFieldlist")
    updateFieldlist = members.texts("updateFieldlist")
    others = members.takeOthers()
  }
}
