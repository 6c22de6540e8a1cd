import JSON

/// Describes the org, the user and the home of a host, as far as they are known from files.
public struct HostSummary: Sendable {
  public let home: String
  public let org: String
  /// The user's name; nil before the first sign-in, and for the sandbox org.
  public let user: String?
  public let instanceURL: String?
  /// Whether the org is a Salesforce sandbox; nil if the org was not asked yet.
  public let isSandbox: Bool?
  /// The state of the session as in `tureen orgs`; nil for the sandbox org, whose sessions are not stored.
  public let session: String?
  /// The API version, such as `v66.0`.
  public let apiVersion: String

  public var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "home": .string(home), "org": .string(org), "user": text(user), "instanceUrl": text(instanceURL),
      "isSandbox": isSandbox.map { .bool($0) } ?? .null, "session": text(session), "apiVersion": .string(apiVersion),
    ]
  }
}

extension Host {
  /// Returns the summary. It sends no requests and opens no store. Blocks.
  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`, `.invalidConfiguration`.
  public func summary() throws -> HostSummary {
    let core = try core(), org = core.user.org, parts = core.parts
    var settings = parts.settings
    // A program that keeps sessions is not run for a look.
    settings.looksOnly = true
    let accounts = HomeAccounts(settings, home: parts.home)
    let account = try Blocking.run { try await accounts.accounts() }.first { $0.isUser(org) }
    return HostSummary(
      home: parts.home, org: org.name, user: account?.username, instanceURL: account?.json["instanceUrl"]?.stringValue,
      isSandbox: org.isSandbox, session: org.keepsSession && settings.sessionCommand == nil ? account?.row.last : nil,
      apiVersion: parts.apiVersion)
  }
}
