import JSON
import Salesforce

/// A user of a known org, as `tureen orgs` and `accounts.getOrgs` list it. An org without users has one entry without a user.
public struct OrgAccount: Sendable, Equatable {
  /// The state of the sign-in.
  public enum State: Sendable, Equatable {
    case signedIn
    /// The reason is a `SignInReason`.
    case needsSignIn(reason: String)
    /// There are credentials, but they have not been used yet.
    case notAsked

    /// - Parameter canSignIn: True if there are stored credentials that need no person.
    init(_ kept: StoredSession?, canSignIn: Bool) {
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

  /// True if this account is used when neither an org nor a user is named.
  public var isDefault: Bool { org.isDefault && isCurrent }
  /// True if this account is used when its org is named without a user.
  public var isCurrent: Bool { user.map { $0 == org.currentUser } ?? true }

  func isUser(_ other: Org) -> Bool { org.folder == other.folder && user?.folder == other.userFolder }

  public var username: String? { session?.username ?? user?.name }

  /// An element of `tureen orgs --json` and of the result of `accounts.getOrgs`.
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

  /// The columns of a line of `tureen orgs`.
  var row: [String] {
    var state = stateWord
    if case .needsSignIn(let reason) = self.state { state += ": \(reason)" }
    func shown(_ text: String?) -> String { text.flatMap { $0.isEmpty ? nil : TerminalText.escaped($0) } ?? "-" }
    return [
      isDefault ? "*" : " ", shown(org.name), shown(username), shown(org.orgId ?? session?.orgId),
      shown(session?.instanceURL ?? org.instanceURL), shown(session?.flow), state,
    ]
  }

  /// Formats accounts as a table with aligned columns and a header.
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
