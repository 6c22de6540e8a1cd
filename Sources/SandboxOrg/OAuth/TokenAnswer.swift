import JSON
import Support

/// A response of the token resource with new tokens.
struct TokenAnswer {
  private(set) var fields: JSONObject
  /// The tokens in the response.
  let tokens: [String]

  /// - Parameter isNew: True if the client does not have the refresh token yet.
  init(
    _ call: Call, _ client: SandboxClient, _ grant: SessionRegistry.Grant, refreshToken: String?, isNew: Bool,
    _ nonce: String? = nil
  ) throws {
    let org = call.org
    let token = try org.sessions.issueAccessToken(grant, organization: org.organizationId, refreshToken: refreshToken)
    let id = "\(call.origin)/id/\(org.organizationId)/\(grant.user)"
    let now = org.configuration.clock.now()
    let code = try Digest.hmacSHA256("\(id)\(now * 1000)".utf8, key: Array((client.secret ?? "").utf8))
    fields = ["access_token": .string(token)]
    if let refreshToken, isNew { fields["refresh_token"] = .string(refreshToken) }
    fields["signature"] = .string(Base64.text(code))
    fields["scope"] = .string(grant.scope)
    if grant.scope.split(separator: " ").contains("openid") {
      fields["id_token"] = .string(
        try OpenID.token(call, subject: id, client: client.id, accessToken: token, nonce: nonce, now: now))
    }
    fields["instance_url"] = .string(call.instanceOrigin)
    fields["id"] = .string(id)
    fields["token_type"] = "Bearer"
    if let path = org.directory.person(id: grant.user)?.sitePath, let community = org.directory.communityId(of: path) {
      fields["sfdc_community_url"] = .string(call.instanceOrigin + path)
      fields["sfdc_community_id"] = .string(community)
    }
    fields["issued_at"] = .string("\(now * 1000)")
    tokens = [token] + (isNew ? [refreshToken].compactMap { $0 } : [])
  }

  var reply: ServerReply { .json(200, .object(fields), headers: [("Cache-Control", "no-store")]) }
}
