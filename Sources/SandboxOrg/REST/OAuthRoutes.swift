import Crypto
import FoundationEssentials
import JSON

/// `/services/oauth2` and `/id`: tokens and who they belong to.
enum OAuthRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("POST", "/services/oauth2/token", token)
    for method in ["GET", "POST"] {
      table.open(method, "/services/oauth2/revoke", revoke)
      table.open(method, "/services/oauth2/userinfo", userinfo)
      table.open(method, "/id/:organization/:user", identity)
    }
  }

  // MARK: Tokens

  /// What the token resource refuses with; not the array of the data API.
  private struct Refusal: Error {
    let error: String, description: String

    var reply: ServerReply {
      .json(400, .object(["error": .string(error), "error_description": .string(description)]))
    }
  }

  private static func token(_ call: Call) throws -> ServerReply {
    let form = Form(call.request)
    do {
      switch form["grant_type"] {
      case "password"?: return try passwordGrant(call, form)
      case "client_credentials"?: return try clientCredentialsGrant(call, form)
      case "refresh_token"?, "hybrid_refresh"?: return try refreshGrant(call, form)
      default: throw Refusal(error: "unsupported_grant_type", description: "grant type not supported")
      }
    } catch let refusal as Refusal {
      return refusal.reply
    }
  }

  private static func passwordGrant(_ call: Call, _ form: Form) throws -> ServerReply {
    try checkClient(call, form, needsSecret: true)
    let isKnown = form["username"]?.lowercased() == call.org.configuration.username.lowercased()
    guard isKnown, form["password"] == call.org.sessions.password else {
      throw Refusal(error: "invalid_grant", description: "authentication failure")
    }
    return try issue(call, user: Users.caller, scope: "api web")
  }

  private static func clientCredentialsGrant(_ call: Call, _ form: Form) throws -> ServerReply {
    try checkClient(call, form, needsSecret: true)
    return try issue(call, user: Users.caller, scope: "api")
  }

  private static func refreshGrant(_ call: Call, _ form: Form) throws -> ServerReply {
    // Public clients have no secret; one that is sent must be right.
    try checkClient(call, form, needsSecret: false)
    let token = form["refresh_token"] ?? ""
    guard let user = call.org.sessions.user(ofRefreshToken: token) else {
      throw Refusal(error: "invalid_grant", description: "expired access/refresh token")
    }
    return try issue(call, user: user, scope: "refresh_token api web", refreshToken: token)
  }

  private static func checkClient(_ call: Call, _ form: Form, needsSecret: Bool) throws(Refusal) {
    let (id, secret) = form.client
    guard id == call.org.configuration.clientId else {
      throw Refusal(error: "invalid_client_id", description: "client identifier invalid")
    }
    guard secret == call.org.sessions.clientSecret || (secret == nil && !needsSecret) else {
      throw Refusal(error: "invalid_client", description: "invalid client credentials")
    }
  }

  private static func issue(
    _ call: Call, user: String, scope: String, refreshToken: String? = nil
  ) throws -> ServerReply {
    let token = try call.org.sessions.issueAccessToken(
      user: user, organization: call.org.organizationId, refreshToken: refreshToken)
    let id = "\(call.origin)/id/\(call.org.organizationId)/\(user)"
    let issuedAt = "\(call.org.configuration.clock.now() * 1000)"
    let code = HMAC<SHA256>.authenticationCode(
      for: Array((id + issuedAt).utf8), using: SymmetricKey(data: Array(call.org.sessions.clientSecret.utf8)))
    return .json(
      200,
      .object([
        "access_token": .string(token), "signature": .string(Data(code).base64EncodedString()), "scope": .string(scope),
        "instance_url": .string(call.origin), "id": .string(id), "token_type": "Bearer", "issued_at": .string(issuedAt),
      ]), headers: [("Cache-Control", "no-store")])
  }

  private static func revoke(_ call: Call) throws -> ServerReply {
    guard try call.org.sessions.revoke(Form(call.request)["token"] ?? "") else {
      let body = "error=unsupported_token_type&error_description=this+token+type+is+not+supported"
      return ServerReply(
        status: 400, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8))
    }
    return .empty(200)
  }

  // MARK: Identity

  private static func identity(_ call: Call) throws -> ServerReply {
    guard try caller(call) != nil else { return refusedIdentity(call) }
    guard call.parameter("organization").hasPrefix(call.org.organizationId.prefix(15)) else {
      return .text(403, "Wrong_Org")
    }
    guard let id = RecordID.normalized(call.parameter("user")), let wanted = try User(id, call.org) else {
      return .text(404, "Bad_Id")
    }
    let data = "\(call.origin)/services/data/v{version}"
    return .json(
      200,
      .object([
        "id": .string("\(call.origin)/id/\(call.org.organizationId)/\(id)"), "asserted_user": true,
        "user_id": .string(id), "organization_id": .string(call.org.organizationId),
        "username": .string(wanted.username), "nick_name": .string(wanted.first), "display_name": .string(wanted.name),
        "email": .string(wanted.email), "email_verified": true, "first_name": .string(wanted.first),
        "last_name": .string(wanted.last), "timezone": "GMT", "active": true, "user_type": "STANDARD",
        "urls": .object([
          "rest": .string(data + "/"), "sobjects": .string(data + "/sobjects/"), "query": .string(data + "/query/"),
          "recent": .string(data + "/recent/"), "profile": .string("\(call.origin)/\(id)"),
          "custom_domain": .string(call.origin),
        ]),
        "language": "en_US", "locale": "en_US", "utcOffset": 0, "last_modified_date": .string(wanted.modified),
      ]))
  }

  private static func userinfo(_ call: Call) throws -> ServerReply {
    guard let id = try caller(call), let user = try User(id, call.org) else { return refusedIdentity(call) }
    return .json(
      200,
      .object([
        "sub": .string("\(call.origin)/id/\(call.org.organizationId)/\(id)"), "user_id": .string(id),
        "organization_id": .string(call.org.organizationId), "preferred_username": .string(user.username),
        "nickname": .string(user.first), "name": .string(user.name), "email": .string(user.email),
        "email_verified": true, "given_name": .string(user.first), "family_name": .string(user.last), "zoneinfo": "GMT",
        "active": true, "user_type": "STANDARD", "language": "en_US", "locale": "en_US", "utcOffset": 0,
        "updated_at": .string(user.modified),
      ]))
  }

  private static func caller(_ call: Call) throws -> String? {
    guard let token = bearerToken(call) else { return nil }
    return call.org.sessions.user(ofAccessToken: token)
  }

  private static func bearerToken(_ call: Call) -> String? {
    let parts = (call.request.header("authorization") ?? "").split(separator: " ", maxSplits: 1)
    if parts.count == 2 { return String(parts[1]) }
    return Form(call.request)["oauth_token"] ?? Form(call.request)["access_token"]
  }

  private static func refusedIdentity(_ call: Call) -> ServerReply {
    .text(403, bearerToken(call) == nil ? "Missing_OAuth_Token" : "Bad_OAuth_Token")
  }
}

/// Parameters of a form body or, where there is none, of the query.
struct Form {
  private let fields: [(name: String, value: String)]
  private let authorization: String?

  init(_ request: ServerRequest) {
    fields = URLCoding.fields(String(decoding: request.body, as: UTF8.self)) + request.query
    authorization = request.header("authorization")
  }

  subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Client id and secret: from HTTP Basic, else from the form.
  var client: (id: String?, secret: String?) {
    if let authorization, authorization.lowercased().hasPrefix("basic "),
      let data = Data(base64Encoded: String(authorization.dropFirst(6)))
    {
      let parts = String(decoding: data, as: UTF8.self).split(separator: ":", maxSplits: 1)
      if parts.count == 2 { return (String(parts[0]), String(parts[1])) }
    }
    return (self["client_id"], self["client_secret"])
  }
}

/// The columns of a user that identity resources show.
private struct User {
  let username: String, name: String, first: String, last: String, email: String, modified: String

  /// - Returns: nil when there is no such user.
  init?(_ id: String, _ org: Org) throws {
    let statement = try org.connection.statement(
      "SELECT Username, Name, FirstName, LastName, Email, LastModifiedDate FROM \"User\" WHERE Id = ?")
    try statement.bind([.text(id)])
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    username = statement.string(0)
    name = statement.string(1)
    first = statement.string(2)
    last = statement.string(3)
    email = statement.string(4)
    modified = statement.string(5)
  }
}
