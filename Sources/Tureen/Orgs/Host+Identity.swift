import JSON
import RestClient
import Salesforce
import Support

extension Host {
  /// Who the session in use belongs to. Signs in where the org keeps no session of its own, such as the sandbox org.
  /// - Throws: ``RestClient/RestError`` `.notAuthenticated` when no user is signed in; what keeps the org from answering.
  public func whoAmI() async throws -> WhoAmI {
    let user = try await Blocking.offPool { try self.core().user }, org = user.org
    let client = try await user.client.account()
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

  /// Makes sure that the org is a sandbox, before a script runs that must not reach another one. The script may still choose its
  /// org, and what it chooses is looked at then. Blocks.
  /// - Throws: ``HostError`` `.otherOrg` when it is not; what keeps the org from saying it.
  public func requireSandbox() throws {
    let trial = likewise()
    defer { trial.shutdown() }
    let user = try trial.core().user
    guard user.org.isSandbox != true else { return }
    try Blocking.run { _ = try await user.client.account() }
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
      ("signed in", session.issuedAt.map { LogText.time(Double($0) / 1000) } ?? "-"),
    ]
    return lines.map { name, value in
      name + String(repeating: " ", count: 11 - name.count) + TerminalText.escaped(value) + "\n"
    }.joined()
  }
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
