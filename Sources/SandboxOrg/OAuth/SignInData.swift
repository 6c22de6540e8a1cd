import JSON

/// A user who may sign in. One without a record of `User` gets one.
public struct SandboxUser: Sendable, Equatable {
  public var username: String
  public var password: String
  /// What password sign-ins append to the password; empty when the user's network is trusted.
  public var securityToken = ""
  public var firstName = ""
  public var lastName: String
  public var email: String
  public var isActive = true

  public init(username: String, password: String) {
    self.username = username
    self.password = password
    lastName = String(username.prefix { $0 != "@" })
    email = username
  }
}

/// An application that may sign users in: what Salesforce calls a connected app.
public struct SandboxClient: Sendable, Equatable {
  public enum Approval: Sendable, Equatable {
    /// Each user allows it, once.
    case byUser
    /// Nobody is asked; only these users may use it, all of them when nil.
    case byAdministrator(usernames: [String]?)
  }

  public var id: String
  /// nil for an application that can keep none, such as one on a phone.
  public var secret: String?
  /// Whether the secret is wanted for authorization codes and refresh tokens too, not only where there is no user.
  public var requiresSecret = false
  /// Compared as they are: no wildcards, no prefixes.
  public var redirectURIs: [String] = []
  public var scopes = ["api", "web", "refresh_token", "openid", "id"]
  /// Refuses authorization requests without a code challenge.
  public var requiresPKCE = false
  /// Each refresh gives a new refresh token and ends the old one; using an old one ends them all.
  public var rotatesRefreshTokens = false
  /// Whose rights the client credentials flow has; nil turns that flow off.
  public var runsAs: String?
  /// PEM of a certificate or public key (RSA) that signs JWT assertions; nil turns that flow off.
  public var certificate: String?
  /// Refuses assertions that are good for more than the three minutes Salesforce documents; real orgs take them.
  public var strictAssertions = false
  /// False refuses user names with passwords, as orgs made since Summer '23 do, in the words for a wrong password.
  public var passwordFlow = true
  public var approval = Approval.byUser

  public init(id: String, secret: String? = nil) {
    self.id = id
    self.secret = secret
  }
}

/// Users and clients as a file has them: `{"users":[{"username",…}],"clients":[{"id",…}]}`, the keys named as the
/// properties above; `approval` is `"user"`, `"administrator"` or a list of user names.
public struct SandboxSignInData: Sendable, Equatable {
  public var users: [SandboxUser] = []
  public var clients: [SandboxClient] = []

  public init() {}

  /// Reads a file. Blocks.
  /// - Throws: As below, naming the file.
  public init(file path: String) throws(SandboxError) {
    let bytes: [UInt8], json: JSONValue
    do {
      bytes = try SmallFile.read(path, upTo: Tuning.signInDataBytes)
    } catch {
      throw SandboxError(status: 0, code: "BAD_SIGN_IN_DATA", message: "\(path): \(error.reason)")
    }
    do {
      json = try JSONValue(parsing: bytes)
    } catch {
      let place = error.position(in: bytes)
      let text = "\(path):\(place.line):\(place.column): \(error.message)"
      throw SandboxError(status: 0, code: "BAD_SIGN_IN_DATA", message: text)
    }
    try self.init(json)
  }

  /// - Throws: ``SandboxError`` `BAD_SIGN_IN_DATA`, naming the key and what is wrong with it.
  public init(_ json: JSONValue) throws(SandboxError) {
    let fields = try SignInFields(json, "the sign-in data", ["users", "clients"])
    for (index, value) in try fields.array("users").enumerated() { users.append(try Self.user(value, index)) }
    for (index, value) in try fields.array("clients").enumerated() { clients.append(try Self.client(value, index)) }
  }

  private static func user(_ json: JSONValue, _ index: Int) throws(SandboxError) -> SandboxUser {
    let known = ["username", "password", "securityToken", "firstName", "lastName", "email", "isActive"]
    let fields = try SignInFields(json, "users[\(index)]", known)
    var user = SandboxUser(username: try fields.required("username"), password: try fields.required("password"))
    user.securityToken = try fields.text("securityToken") ?? ""
    user.firstName = try fields.text("firstName") ?? ""
    user.lastName = try fields.text("lastName") ?? user.lastName
    user.email = try fields.text("email") ?? user.email
    user.isActive = try fields.flag("isActive") ?? true
    return user
  }

  private static func client(_ json: JSONValue, _ index: Int) throws(SandboxError) -> SandboxClient {
    let known = [
      "id", "secret", "requiresSecret", "redirectURIs", "scopes", "requiresPKCE", "rotatesRefreshTokens", "runsAs",
      "certificate", "strictAssertions", "passwordFlow", "approval",
    ]
    let fields = try SignInFields(json, "clients[\(index)]", known)
    var client = SandboxClient(id: try fields.required("id"), secret: try fields.text("secret"))
    client.requiresSecret = try fields.flag("requiresSecret") ?? false
    client.redirectURIs = try fields.texts("redirectURIs") ?? []
    client.scopes = try fields.texts("scopes") ?? client.scopes
    client.requiresPKCE = try fields.flag("requiresPKCE") ?? false
    client.rotatesRefreshTokens = try fields.flag("rotatesRefreshTokens") ?? false
    client.runsAs = try fields.text("runsAs")
    client.certificate = try fields.text("certificate")
    client.strictAssertions = try fields.flag("strictAssertions") ?? false
    client.passwordFlow = try fields.flag("passwordFlow") ?? true
    switch fields.object["approval"] {
    case nil, "user"?: break
    case "administrator"?: client.approval = .byAdministrator(usernames: nil)
    case .array?: client.approval = .byAdministrator(usernames: try fields.texts("approval"))
    default: throw fields.wrong("approval", "must be \"user\", \"administrator\" or a list of user names")
    }
    return client
  }
}

/// Typed access to the members of an object; a mistake is named with its place.
private struct SignInFields {
  let object: JSONObject
  private let place: String

  init(_ json: JSONValue, _ place: String, _ known: [String]) throws(SandboxError) {
    self.place = place
    guard let object = json.objectValue else { throw Self.error("\(place) must be an object") }
    self.object = object
    for member in object where !known.contains(member.key) {
      throw Self.error("\(place) has an unknown key '\(member.key)'; known are \(known.joined(separator: ", "))")
    }
  }

  func array(_ key: String) throws(SandboxError) -> [JSONValue] {
    guard let value = object[key] else { return [] }
    guard let array = value.arrayValue else { throw wrong(key, "must be a list") }
    return array
  }

  func text(_ key: String) throws(SandboxError) -> String? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw wrong(key, "must be a string") }
    return text
  }

  func required(_ key: String) throws(SandboxError) -> String {
    guard let text = try text(key), !text.isEmpty else { throw wrong(key, "is missing") }
    return text
  }

  func flag(_ key: String) throws(SandboxError) -> Bool? {
    guard let value = object[key] else { return nil }
    guard let flag = value.boolValue else { throw wrong(key, "must be true or false") }
    return flag
  }

  func texts(_ key: String) throws(SandboxError) -> [String]? {
    guard object[key] != nil else { return nil }
    var texts: [String] = []
    for value in try array(key) {
      guard let text = value.stringValue else { throw wrong(key, "must be a list of strings") }
      texts.append(text)
    }
    return texts
  }

  func wrong(_ key: String, _ reason: String) -> SandboxError { Self.error("\(place): '\(key)' \(reason)") }

  private static func error(_ message: String) -> SandboxError {
    SandboxError(status: 0, code: "BAD_SIGN_IN_DATA", message: message)
  }
}
