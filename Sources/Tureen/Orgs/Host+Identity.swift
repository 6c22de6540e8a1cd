import JSON
import RestClient
import Salesforce
import Support

extension Host {
  /// Returns the user and org of the current session. Signs in if the org's sessions are not stored, as for the sandbox org.
  /// - Throws: ``RestClient/RestError`` `.notAuthenticated` if no user is signed in; the error of the request otherwise.
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

  /// Checks that the org is a sandbox before a script runs with `--sandbox-only`. If the script chooses another org later, that
  /// one is checked then. Blocks.
  /// - Throws: ``HostError`` `.otherOrg` if it is not a sandbox; the error of the request otherwise.
  public func requireSandbox() throws {
    let trial = unusedCopy()
    defer { trial.shutdown() }
    let user = try trial.core().user
    guard user.org.isSandbox != true else { return }
    try Blocking.run { _ = try await user.client.account() }
  }
}

/// The current account, as the org reports it.
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

  /// The account as text, with one value per line.
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
  /// The result of `accounts.getIdentity`.
  var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "userId": .string(userId), "orgId": .string(orgId), "username": .string(name), "displayName": text(displayName),
      "email": text(email),
    ]
  }
}
