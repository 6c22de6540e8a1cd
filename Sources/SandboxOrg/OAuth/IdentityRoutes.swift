import JSON
import Support

/// Serves the identity of a token's user: `/id/ORG/USER` and `/services/oauth2/userinfo`.
enum IdentityRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    for method in ["GET", "POST"] {
      table.open(method, "/services/oauth2/userinfo", userinfo)
      table.open(method, "/id/:organization/:user", identity)
    }
  }

  // MARK: The identity URL

  private static func identity(_ call: Call) throws -> ServerReply {
    guard caller(call) != nil else { return refused(call) }
    guard call.parameter("organization").hasPrefix(call.org.organizationId.prefix(15)) else {
      return .text(403, "Wrong_Org")
    }
    guard let id = RecordID.normalized(call.parameter("user")), let user = try UserRecord(id, call.org) else {
      return .text(404, "Bad_Id")
    }
    let fields = identity(of: user, id, call)
    switch format(call) {
    case "xml": return .text(200, xml(fields), type: "application/xml;charset=UTF-8")
    case "urlencoded": return .text(200, form(fields), type: "application/x-www-form-urlencoded;charset=UTF-8")
    default:
      let json = JSONValue.object(fields)
      guard let callback = Form(call.request)["callback"], isIdentifier(callback) else { return .json(200, json) }
      let script = "\(callback)(\(String(decoding: json.serialized(), as: UTF8.self)))"
      return .text(200, script, type: "application/javascript;charset=UTF-8")
    }
  }

  private static func identity(of user: UserRecord, _ id: String, _ call: Call) -> JSONObject {
    var fields: JSONObject = [
      "id": .string("\(call.origin)/id/\(call.org.organizationId)/\(id)"), "asserted_user": true,
      "user_id": .string(id), "organization_id": .string(call.org.organizationId), "username": .string(user.username),
      "nick_name": .string(user.nickname), "display_name": .string(user.name), "email": .string(user.email),
      "email_verified": true, "first_name": user.first.map { JSONValue.string($0) } ?? .null, "last_name": .string(user.last),
      "timezone": "GMT", "photos": photos(call),
    ]
    for name in ["street", "city", "state", "country", "zip"] { fields["addr_\(name)"] = .null }
    fields["mobile_phone"] = .null
    fields["mobile_phone_verified"] = false
    fields["is_lightning_login_user"] = false
    fields["status"] = ["created_date": .null, "body": .null]
    fields["urls"] = .object(urls(call, id))
    fields["active"] = .bool(user.isActive)
    fields["user_type"] = "STANDARD"
    fields["language"] = "en_US"
    fields["locale"] = "en_US"
    fields["utcOffset"] = 0
    fields["last_modified_date"] = .string(user.modified)
    fields["is_app_installed"] = true
    return fields
  }

  /// Returns the API URLs, with `{version}` as a placeholder unless the client names a version.
  private static func urls(_ call: Call, _ id: String) -> JSONObject {
    let wanted = Form(call.request)["version"] ?? ""
    let version = wanted == "latest" ? "\(Tuning.apiVersions.upperBound).0" : Double(wanted) != nil ? wanted : "{version}"
    let instance = call.instanceOrigin
    let data = "\(instance)/services/data/v\(version)"
    var urls: JSONObject = [:]
    for (name, path) in [("enterprise", "c"), ("metadata", "m"), ("partner", "u")] {
      urls[name] = .string("\(instance)/services/Soap/\(path)/\(version)/\(call.org.organizationId.prefix(15))")
    }
    urls["rest"] = .string("\(data)/")
    for name in ["sobjects", "search", "query", "recent"] { urls[name] = .string("\(data)/\(name)/") }
    urls["tooling_soap"] = .string("\(instance)/services/Soap/T/\(version)/\(call.org.organizationId.prefix(15))")
    urls["tooling_rest"] = .string("\(data)/tooling/")
    urls["profile"] = .string("\(instance)/\(id)")
    for name in ["feeds", "groups", "users"] { urls[name] = .string("\(data)/chatter/\(name)") }
    urls["feed_items"] = .string("\(data)/chatter/feed-items")
    urls["custom_domain"] = .string(instance)
    return urls
  }

  private static func photos(_ call: Call) -> JSONValue {
    ["picture": .string("\(call.origin)/profilephoto/005/F"), "thumbnail": .string("\(call.origin)/profilephoto/005/T")]
  }

  // MARK: Forms

  private static func format(_ call: Call) -> String {
    if let format = Form(call.request)["format"]?.lowercased() { return format }
    let accept = call.request.header("accept")?.lowercased() ?? ""
    if accept.contains("json") { return "json" }
    return accept.contains("application/xml") ? "xml" : accept.contains("urlencoded") ? "urlencoded" : "json"
  }

  private static func xml(_ fields: JSONObject) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<user xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">"
      + elements(fields) + "</user>"
  }

  private static func elements(_ fields: JSONObject) -> String {
    fields.map { name, value in
      if value.isNull { return "<\(name) xsi:nil=\"true\"/>" }
      if let inner = value.objectValue { return "<\(name)>\(elements(inner))</\(name)>" }
      return "<\(name)>\(XML.escaped(plain(value)))</\(name)>"
    }.joined()
  }

  private static func form(_ fields: JSONObject) -> String {
    URLCoding.form(
      fields.flatMap { name, value -> [(name: String, value: String)] in
        value.objectValue?.map { (name: "\(name).\($0.key)", value: plain($0.value)) } ?? [(name: name, value: plain(value))]
      })
  }

  private static func plain(_ value: JSONValue) -> String {
    value.isNull ? "" : value.stringValue ?? String(decoding: value.serialized(), as: UTF8.self)
  }

  /// Returns true if a text is safe as the callback name of a script.
  private static func isIdentifier(_ text: String) -> Bool {
    text.utf8.count <= 64 && !text.isEmpty
      && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
  }

  // MARK: userinfo

  private static func userinfo(_ call: Call) throws -> ServerReply {
    guard let id = caller(call), let user = try UserRecord(id, call.org) else { return refused(call) }
    return .json(
      200,
      .object([
        "sub": .string("\(call.origin)/id/\(call.org.organizationId)/\(id)"), "user_id": .string(id),
        "organization_id": .string(call.org.organizationId), "preferred_username": .string(user.username),
        "nickname": .string(user.nickname), "name": .string(user.name), "email": .string(user.email),
        "email_verified": true, "given_name": user.first.map { JSONValue.string($0) } ?? .null, "family_name": .string(user.last),
        "zoneinfo": "GMT", "photos": photos(call), "profile": .string("\(call.origin)/\(id)"),
        "picture": photos(call)["picture"] ?? .null, "address": [:], "urls": .object(urls(call, id)),
        "active": .bool(user.isActive), "user_type": "STANDARD", "language": "en_US", "locale": "en_US", "utcOffset": 0,
        "updated_at": .string(user.modified), "is_app_installed": true,
      ]))
  }

  // MARK: Caller

  /// Scopes that allow a client to identify its user: `id`, its components, and those that can read
  /// the user's record.
  private static let scopes: Set = ["id", "profile", "email", "address", "phone", "openid", "api", "full"]

  private static func caller(_ call: Call) -> String? {
    guard let token = token(call), let session = call.org.session(ofAccessToken: token, at: nil) else { return nil }
    let granted = session.grant.scope.split(separator: " ").map(String.init)
    return scopes.isDisjoint(with: granted) ? nil : session.grant.user
  }

  private static func token(_ call: Call) -> String? {
    let parts = (call.request.header("authorization") ?? "").split(separator: " ", maxSplits: 1)
    if parts.count == 2 { return String(parts[1]) }
    return Form(call.request)["oauth_token"] ?? Form(call.request)["access_token"]
  }

  private static func refused(_ call: Call) -> ServerReply {
    .text(403, token(call) == nil ? "Missing_OAuth_Token" : "Bad_OAuth_Token")
  }
}

/// The columns of a user that sign-in resources return.
struct UserRecord {
  let username: String, name: String, first: String?, last: String, email: String, modified: String
  let profileId: String, roleId: String?
  let isActive: Bool

  var nickname: String { first ?? last }

  /// - Returns: nil if there is no such user.
  init?(_ id: String, _ org: Org) throws {
    let statement = try org.connection.statement(
      "SELECT Username, Name, FirstName, LastName, Email, LastModifiedDate, IsActive, ProfileId, UserRoleId FROM \"User\" "
        + "WHERE Id = ?")
    try statement.bind([.text(id)])
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    username = statement.string(0)
    name = statement.string(1)
    first = statement.isNull(2) ? nil : statement.string(2)
    last = statement.string(3)
    email = statement.string(4)
    modified = statement.string(5)
    isActive = statement.int64(6) != 0
    profileId = statement.string(7)
    roleId = statement.isNull(8) ? nil : statement.string(8)
  }
}
