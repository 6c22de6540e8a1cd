import JSON
import SandboxServer

/// Tokens: who holds one, and how they begin and end.
struct Sessions {
  let call: ParseCall

  /// The caller behind a token.
  /// - Throws: ``ParseError`` 209 for one that is unknown or over, or whose user is gone.
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

  /// The roles a user is in, and those that these are children of.
  private static func roles(of user: String, _ state: ParseState) -> [String] {
    let users = Relations.Column(className: "_Role", name: "users")
    let children = Relations.Column(className: "_Role", name: "roles")
    var found: Set<String> = []
    var open = Array(state.relations.owners(users, of: user))
    while let id = open.popLast() {
      guard found.insert(id).inserted else { continue }
      open += state.relations.owners(children, of: id)
    }
    return found.sorted().compactMap { state.object("_Role", $0)?.fields["name"]?.stringValue.map { "role:\($0)" } }
  }

  /// Begins a session; an older one of the same user and installation ends.
  /// - Returns: The session, with its token among its fields.
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
    // Only its user sees it.
    var access = AccessList()
    access.grant(user, read: true, write: true)
    session.access = access
    state.put(session, in: "_Session")
    state.sessions[token] = session.id
    return session
  }

  func end(of user: String, _ state: inout ParseState, where isMeant: (ParseObject) -> Bool = { _ in true }) {
    let owner = Values.pointer("_User", user)
    for session in state.classes["_Session"]?.objects ?? [] where session.fields["user"] == owner && isMeant(session) {
      state.remove("_Session", session.id)
    }
  }
}
