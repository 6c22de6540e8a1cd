import FoundationEssentials
import JSON
import Support

/// OpenID Connect: Id tokens signed with the org's own key, and the metadata by which clients find
/// that key.
enum OpenID {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.open("GET", "/.well-known/openid-configuration", configuration)
    table.open("GET", "/.well-known/auth-configuration", loginOptions)
    table.open("GET", "/id/keys", keys)
  }

  /// Creates a JWT about the signed-in user.
  static func token(
    _ call: Call, subject: String, client: String, accessToken: String, nonce: String?, now: Int64
  ) throws -> String {
    // Half of the hash binds the Id token to the access token.
    let hash = try Digest.sha256(accessToken.utf8).prefix(16)
    var claims: JSONObject = [
      "at_hash": .string(Base64.urlText(hash)), "sub": .string(subject), "aud": .string(client),
      "iss": .string(call.origin), "exp": .integer(now + Tuning.idTokenSeconds), "iat": .integer(now),
    ]
    if let nonce { claims["nonce"] = .string(nonce) }
    let header: JSONValue = ["kid": .string(keyId), "typ": "JWT", "alg": "RS256"]
    let text = "\(Base64.urlText(header.serialized())).\(Base64.urlText(JSONValue.object(claims).serialized()))"
    return "\(text).\(Base64.urlText(try key(call.org).signature(of: Array(text.utf8))))"
  }

  private static let keyId = "1"

  /// Generated on first use and stored with the org.
  private static func key(_ org: Org) throws -> PrivateKey {
    try PrivateKey(pem: try org.sessions.keptText("id_token_key") { try PrivateKey.makeRSA().pem() })
  }

  private static func keys(_ call: Call) throws -> ServerReply {
    let numbers = try key(call.org).publicNumbers()
    return .json(
      200,
      [
        "keys": [
          [
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(keyId),
            "n": .string(Base64.urlText(numbers.modulus)), "e": .string(Base64.urlText(numbers.exponent)),
          ]
        ]
      ])
  }

  private static func configuration(_ call: Call) -> ServerReply {
    let oauth = "\(call.base)/services/oauth2"
    return .json(
      200,
      [
        "issuer": .string(call.origin), "authorization_endpoint": .string("\(oauth)/authorize"),
        "token_endpoint": .string("\(oauth)/token"), "revocation_endpoint": .string("\(oauth)/revoke"),
        "userinfo_endpoint": .string("\(oauth)/userinfo"), "introspection_endpoint": .string("\(oauth)/introspect"),
        "jwks_uri": .string("\(call.origin)/id/keys"),
        "scopes_supported": .array(AuthorizeRoutes.scopes.map { .string($0) }),
        "response_types_supported": ["code", "token", "hybrid_token"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"], "display_values_supported": ["page", "popup", "touch"],
        "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
      ])
  }

  private static func loginOptions(_ call: Call) -> ServerReply {
    .json(
      200,
      [
        "OrgId": .string(call.org.organizationId), "Url": .string(call.origin), "SamlProviders": [], "AuthProviders": [],
        "LoginPage": ["UsePasswordAuth": true],
        "MobileSDK": ["UseAndroidNativeBrowserForAuthentication": false, "UseiOSNativeBrowserForAuthentication": false],
      ])
  }
}
