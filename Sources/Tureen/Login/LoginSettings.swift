/// The options of `tureen login`. Values that are nil come from the environment, the org's files, and `bootconfig.json`.
public struct LoginSettings: Sendable {
  /// The location of a secret, never the secret itself.
  public struct SecretLocation: Sendable {
    public var file: String?
    public var variable: String?
    /// A command line: words separated by spaces, or a JSON array.
    public var command: String?

    public init(file: String? = nil, variable: String? = nil, command: String? = nil) {
      self.file = file
      self.variable = variable
      self.command = command
    }

    var isGiven: Bool { file != nil || variable != nil || command != nil }
  }

  public var home: String?
  /// The name or the address of the org.
  public var org: String?
  public var loginURL: String?
  /// The user who signs in. A session of another user is refused.
  public var user: String?
  public var clientId: String?
  /// A raw value of ``LoginFlow``; nil derives it from the other options.
  public var flow: String?
  public var makesDefault = false
  /// True if the org may differ from the stored one of the same name. The old folder is then set aside.
  public var replacesOrg = false
  /// The folder with `bootconfig.json`.
  public var configDirectory: String?

  // Browser flow
  public var redirectURI: String?
  public var scope: String?
  public var prompt: String?
  public var opensBrowser = true
  public var timeoutS: Int?

  // Other flows
  public var audience: String?
  public var instanceURL: String?
  public var key = SecretLocation(), clientSecret = SecretLocation(), password = SecretLocation(), accessToken = SecretLocation()
  /// A file with an SFDX auth URL; `-` is standard input.
  public var sfdxURLFile: String?
  public var sfAlias: String?

  public init() {}
}

/// The sign-in flows, by their names in `--flow` and in credentials files.
public enum LoginFlow: String, CaseIterable, Sendable {
  case browser, jwt, clientCredentials, password, token, sfdxUrl, sf
}

/// An error in the options of a sign-in: they conflict, or one is missing.
public struct LoginUsageError: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
