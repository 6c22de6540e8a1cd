import JSON
import Salesforce

/// One user of a known org, as the command `orgs` and `accounts.getOrgs` show it. An org without users has one without a user.
public struct OrgAccount: Sendable, Equatable {
  /// What is known of the sign-in.
  public enum State: Sendable, Equatable {
    case signedIn
    /// The reason is a `SignInReason`.
    case needsSignIn(reason: String)
    /// There is a way to sign in, and it was not tried yet.
    case notAsked

    /// - Parameter canSignIn: Whether credentials are kept that need no person.
    init(_ kept: KeptSession?, canSignIn: Bool) {
      if let refusal = kept?.refusal {
        self = .needsSignIn(reason: refusal.reason)
      } else if kept?.session != nil {
        self = .signedIn
      } else {
        self = canSignIn ? .notAsked : .needsSignIn(reason: SignInReason.needsPerson.rawValue)
      }
    }
  }

  public let org: OrgEntry
  public let user: OrgUser?
  public var session: Session?
  public var state: State

  /// Whether it is the one that is meant when no org and no user is named.
  public var isDefault: Bool { org.isDefault && isCurrent }
  /// Whether it is the one that is meant when the org is named and no user.
  public var isCurrent: Bool { user.map { $0 == org.currentUser } ?? true }

  func isUser(_ other: Org) -> Bool { org.folder == other.folder && user?.folder == other.userFolder }

  public var username: String? { session?.username ?? user?.name }

  /// One line of `tureen orgs --json`, and an element of `accounts.getOrgs`.
  public var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.flatMap { $0.isEmpty ? nil : .string($0) } ?? .null }
    var object: JSONObject = [
      "name": .string(org.name), "username": text(username), "userId": text(session?.userId),
      "orgId": text(org.orgId ?? session?.orgId), "loginUrl": text(org.loginURL ?? session?.loginURL),
      "instanceUrl": text(session?.instanceURL ?? org.instanceURL), "isSandbox": org.isSandbox.map { .bool($0) } ?? .null,
      "flow": text(session?.flow), "state": .string(stateWord), "reason": .null, "isDefault": .bool(isDefault),
      "isCurrent": .bool(isCurrent),
    ]
    if case .needsSignIn(let reason) = state { object["reason"] = .string(reason) }
    return object
  }

  private var stateWord: String {
    switch state {
    case .signedIn: "signed in"
    case .needsSignIn: "needs sign-in"
    case .notAsked: "not asked"
    }
  }

  /// A line of `tureen orgs`, by columns.
  var row: [String] {
    var state = stateWord
    if case .needsSignIn(let reason) = self.state { state += ": \(reason)" }
    func shown(_ text: String?) -> String { text.flatMap { $0.isEmpty ? nil : TerminalText.escaped($0) } ?? "-" }
    return [
      isDefault ? "*" : " ", shown(org.name), shown(username), shown(org.orgId ?? session?.orgId),
      shown(session?.instanceURL ?? org.instanceURL), shown(session?.flow), state,
    ]
  }

  /// Aligned columns under their names.
  public static func table(_ accounts: [OrgAccount]) -> String {
    let rows = [[" ", "NAME", "USER", "ORG ID", "INSTANCE", "FLOW", "STATE"]] + accounts.map(\.row)
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, text) in row.enumerated() {
        let gap = widths[column] - text.count + (column == 0 ? 1 : 2)
        line += column < row.count - 1 ? text + String(repeating: " ", count: gap) : text
      }
      return line + "\n"
    }.joined()
  }
}
