import JSON
import RestClient

extension SalesforceClient {
  /// Who the session in use belongs to, as the org says: asked at the path of its identity URL on the instance, then of
  /// `userinfo`, then of the record of `User`. A session that has ended is renewed first. An org that refuses all of them leaves
  /// the ids.
  ///
  /// - Throws: ``RestError`` when there is no session, or the org is away.
  public func identity() async throws -> (identity: UserIdentity, session: Session) {
    var session = try await session()
    if !session.identityURL.isEmpty, let page = try await answer(at: URLReference(session.identityURL).path),
      let found = UserIdentity(identity: page)
    {
      return try await (found, self.session())
    }
    if let found = try await answer(at: "/services/oauth2/userinfo").flatMap({ UserIdentity(userinfo: $0) }) {
      return try await (found, self.session())
    }
    // The session may have been renewed meanwhile, and a given token has no user id.
    session = try await self.session()
    let path = "/services/data/\(apiVersion)/sobjects/User/\(session.userId)?fields=Id,Username,Name,Email"
    let record = session.userId.isEmpty ? nil : try await answer(at: path)
    return (
      record.flatMap { UserIdentity(user: $0, orgId: session.orgId) } ?? UserIdentity(userId: session.userId, orgId: session.orgId),
      session
    )
  }

  /// Whether the org is a sandbox; nil where the user may not read it.
  public func isSandbox() async throws -> Bool? {
    try await answer(at: "/services/data/\(apiVersion)/query?q=SELECT+IsSandbox+FROM+Organization")?["records"]?.arrayValue?
      .first?["IsSandbox"]?.boolValue
  }

  /// What the instance has at a path; nil when it does not give it.
  private func answer(at path: String) async throws -> JSONValue? {
    do {
      let response = try await send(RestRequest(.GET, path))
      return try? response.json()
    } catch let error as RestError where error.code == .httpStatus && !error.isRetryable {
      return nil
    }
  }
}
