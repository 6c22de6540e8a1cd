import JSON
import SandboxServer

/// Starts, finds and ends sessions.
struct Sessions {
  let call: ParseCall

  /// Returns the caller with this session token.
  ///
  /// - Throws: ``ParseError`` 209 if the token is unknown or expired, or its user is gone.
  static func caller(_ token: String, _ installationId: String?, _ state: ParseState, at now: Int64) throws(ParseError) -> Caller
  {
    guard let session = session(token, state), let user = session.fields["user"]?["objectId"]?.stringValue,
      state.object("_User", user) != nil
    else { throw .invalidSession }
    if let end = ParseTime.milliseconds(of: session.fields["expiresAt"]), end <= now * 1_000 {
      throw ParseError(.invalidSessionToken, "Session token is expired.")
    }
    return Caller(
      userId: user, token: token, installationId: installationId, groups: ["*", user] + roles(of: user, state))
  }

  static func session(_ token: String, _ state: ParseState) -> ParseObject? {
    state.sessions[token].flatMap { state.object("_Session", $0) }
  }

  /// Returns the roles of a user, including their parent roles.
  private static func roles(of user: String, _ state: ParseState) -> [String] {
    let users = Relations.Column(className: "_Role", name: "users")
    let children = Relations.Column(className: "_Role", name: "roles")
    var found: IdSet = []
    var open = Array(state.relations.owners(users, of: user))
    while let id = open.popLast() {
      guard found.insert(id).inserted else { continue }
      open += state.relations.owners(children, of: id)
    }
    return found.sorted().compactMap { state.object("_Role", $0)?.fields["name"]?.stringValue.map { "role:\($0)" } }
  }

  /// Starts a session and ends an older one of the same user and installation.
  ///
  /// - Returns: The session; its fields include the token.
  @discardableResult
  func begin(_ user: String, _ action: String, provider: String? = nil, _ state: inout ParseState) -> ParseObject {
    if let installation = call.caller.installationId {
      end(of: user, &state) { $0.fields["installationId"] == .string(installation) }
    }
    let token = "r:" + state.newHex(Tuning.tokenDigits)
    let stamp = call.stamp(&state)
    var session = ParseObject(id: state.newId(), createdAt: stamp, updatedAt: stamp, fields: [:])
    var createdWith: JSONObject = ["action": .string(action)]
    if let provider { createdWith["authProvider"] = .string(provider) }
    session.fields = [
      "user": Values.pointer("_User", user), "sessionToken": .string(token),
      "expiresAt": ParseTime.date((call.now + Int64(call.settings.sessionSeconds)) * 1_000), "createdWith": .object(createdWith),
    ]
    if let installation = call.caller.installationId { session.fields["installationId"] = .string(installation) }
    // Only the user can see the session.
    var access = AccessList()
    access.grant(user, read: true, write: true)
    session.access = access
    state.put(session, in: "_Session")
    state.sessions[token] = session.id
    return session
  }

  func end(of user: String, _ state: inout ParseState, where isIncluded: (ParseObject) -> Bool = { _ in true }) {
    let owner = Values.pointer("_User", user)
    for session in state.classes["_Session"]?.objects ?? [] where session.fields["user"] == owner && isIncluded(session) {
      state.remove("_Session", session.id)
    }
  }
}
