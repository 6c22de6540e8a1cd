import JSON
import RestClient
import Salesforce
import Support

extension Host {
  /// Who the session in use belongs to. Signs in where the org keeps no session of its own, such as the sandbox org.
  /// - Throws: ``RestError`` `.notAuthenticated` when nobody is signed in; what keeps the org from answering.
  public func whoAmI() async throws -> WhoAmI {
    let core = try await Blocking.offPool { try self.core() }, org = core.org
    let client = try await core.client.account()
    if org.keepsSession, await client.knownSession() == nil {
      var error = RestError(
        code: .notAuthenticated, message: "no user is signed in to '\(org.name)'; sign in with `tureen login --org \(org.name)`",
        outcome: .notSent)
      error.reason = SignInReason.needsPerson.rawValue
      throw error
    }
    let found = try await client.identity()
    return WhoAmI(org: org.name, identity: found.identity, session: found.session)
  }

  /// The same, after a sign-in where that needs no person.
  func identity() async throws -> (identity: UserIdentity, session: Session) {
    let core = try await Blocking.offPool { try self.core() }
    return try await core.client.account().identity()
  }

  /// Makes sure that the org is a sandbox, before a script runs that must not reach another one. Blocks.
  /// - Throws: ``RestError`` `.otherOrg` when it is not; what keeps the org from saying it.
  public func requireSandbox() throws {
    let core = try core()
    guard core.org.isSandbox != true else { return }
    try Blocking.run { _ = try await core.client.account() }
  }
}

/// An account, as the org describes it.
public struct WhoAmI: Sendable {
  public let org: String
  public let identity: UserIdentity
  let session: Session

  private var scopes: [String] { session.scope?.split(separator: " ").map(String.init) ?? [] }

  public var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    var object = identity.json
    object["org"] = .string(org)
    object["instanceUrl"] = .string(session.instanceURL)
    object["flow"] = text(session.flow)
    object["scopes"] = .array(scopes.map { .string($0) })
    object["signedInAt"] = session.issuedAt.map { .integer($0) } ?? .null
    return object
  }

  /// A line for each fact.
  public var text: String {
    let person = identity.displayName.map { " (\($0))" } ?? ""
    let lines = [
      ("user", identity.name + person), ("user id", identity.userId), ("org", "\(org) (\(identity.orgId))"),
      ("instance", session.instanceURL), ("flow", session.flow ?? "-"),
      ("scopes", scopes.isEmpty ? "-" : scopes.joined(separator: " ")),
      ("signed in", session.issuedAt.map { Self.time($0) } ?? "-"),
    ]
    return lines.map { name, value in
      name + String(repeating: " ", count: 11 - name.count) + TerminalText.escaped(value) + "\n"
    }.joined()
  }

  private static func time(_ milliseconds: Int64) -> String { TimeText.utc(milliseconds) }
}

extension UserIdentity {
  /// What `accounts.getIdentity` answers.
  var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "userId": .string(userId), "orgId": .string(orgId), "username": .string(name), "displayName": text(displayName),
      "email": text(email),
    ]
  }
}
