import JSON

/// A class of a Parse server: a target of either direction. Keys beside those by name go into ``others``.
///
/// - Note: Source: `bridge-spec/parse.md`, where each key is explained.
public struct ParseClass: Sendable, Equatable {
  public var className: String
  /// nil: the only connection to a Parse server.
  public var connection: String?
  /// The constraints of the objects, in the wire form of a query's `where`.
  public var constraints: JSONObject?
  /// Fields to fetch; nil for all of them.
  public var keys: [String]?
  /// Pointers whose objects come along.
  public var include: [String]?
  public var pageSize: Int?
  /// Fields to send of new and of changed objects.
  public var createFieldlist: [String]?
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
