import JSON
import RestClient
import SmartStore
import Support

/// An org in a home.
public struct OrgEntry: Sendable, Equatable {
  /// The name for people.
  public var name: String
  /// The name of its folder under `orgs`. Never changes.
  public let folder: String
  public var loginURL: String?
  public var instanceURL: String?
  /// nil before the first sign-in.
  public var orgId: String?
  /// nil until the org was asked.
  public var isSandbox: Bool?
  /// The name of the user to use if none is named.
  public var user: String?
  public var isDefault = false
  /// True if there is an `org.json`. False for folders of early releases and for those created by hand.
  public let hasFile: Bool
  /// The users who have a folder, sorted.
  public let users: [OrgUser]
  /// Unknown members of `org.json`, which are preserved.
  private var others = JSONObject()

  init(folder: String, users: [OrgUser]) {
    self.folder = folder
    self.users = users
    name = OrgEntry.name(ofFolder: folder)
    hasFile = false
  }

  private static let keys = ["name", "loginUrl", "instanceUrl", "orgId", "isSandbox", "user"]

  /// Parses `org.json`.
  /// - Throws: `JSONFile.Problem` if the file does not describe an org.
  init(file: JSONFile, folder: String, users: [OrgUser]) throws(JSONFile.Problem) {
    guard let members = file.value.objectValue else { throw file.problem("must contain an object") }
    if let wrong = KnownKeys(Self.keys).misspelled(in: members) { throw file.problem(key: wrong.key, wrong.complaint) }
    func text(_ key: String) throws(JSONFile.Problem) -> String? {
      guard let value = members[key], !value.isNull else { return nil }
      guard let text = value.stringValue, !text.isEmpty else {
        throw file.problem(key: key, "must be a string that is not empty")
      }
      return text
    }
    self.folder = folder
    self.users = users
    name = try text("name") ?? OrgEntry.name(ofFolder: folder)
    loginURL = try text("loginUrl")
    instanceURL = try text("instanceUrl")
    orgId = try text("orgId")
    user = try text("user")
    if let value = members["isSandbox"], !value.isNull {
      guard let flag = value.boolValue else { throw file.problem(key: "isSandbox", "must be a boolean, not \(value.kindName)") }
      isSandbox = flag
    }
    hasFile = true
    others = members.filtered { !Self.keys.contains($0.key) }
  }

  /// The content of `org.json`.
  var json: JSONValue {
    var object: JSONObject = ["name": .string(name)]
    object["loginUrl"] = loginURL.map { .string($0) }
    object["instanceUrl"] = instanceURL.map { .string($0) }
    object["orgId"] = orgId.map { .string($0) }
    object["isSandbox"] = isSandbox.map { .bool($0) }
    object["user"] = user.map { .string($0) }
    return .object(object.replacing(with: others))
  }

  /// Returns the user with this name, ignoring case as Salesforce does.
  public func user(named name: String) -> OrgUser? {
    users.first { $0.name.hasSameBytes(as: name) } ?? users.first { $0.name.lowercased() == name.lowercased() }
  }

  /// Returns the user that a person names: by the user's name, else by the name that the org shows for the user's session. An
  /// app that signs in by itself has the client id for a name and acts as a user with another one.
  public func user(called name: String) -> OrgUser? {
    if let user = user(named: name) { return user }
    let acting = users.filter { $0.sessionName?.lowercased() == name.lowercased() }
    return acting.count == 1 ? acting[0] : nil
  }

  /// The names by which a person can name the users.
  var callableNames: [String] {
    users.flatMap { user in [user.name] + [user.sessionName].compactMap { $0 }.filter { !$0.hasSameBytes(as: user.name) } }
  }

  /// Decodes the name of a folder; returns the folder name itself if that is not possible.
  static func name(ofFolder folder: String) -> String { StoreRegistry.name(ofFolder: folder) ?? folder }
}

/// A user who has a folder in an org's folder.
public struct OrgUser: Sendable, Equatable {
  /// The user name, or the client id if an app signs in by itself.
  public let name: String
  /// The name of the user's folder.
  public let folder: String
  /// The user name in the stored session, which lists show; nil if there is none.
  var sessionName: String?

  init(name: String, folder: String, sessionName: String? = nil) {
    self.name = name
    self.folder = folder
    self.sessionName = sessionName
  }

  /// Sessions come and go; the user stays the same.
  public static func == (a: OrgUser, b: OrgUser) -> Bool { a.folder == b.folder && a.name.hasSameBytes(as: b.name) }
}
