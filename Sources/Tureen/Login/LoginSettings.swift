/// What a person chose about a sign-in, as the options of `tureen login` have it. nil leaves it to the environment, the org's own
/// files and `bootconfig.json`.
public struct LoginSettings: Sendable {
  /// Where a secret is; never the secret.
  public struct Place: Sendable {
    public var file: String?
    public var variable: String?
    /// On one line: words between spaces, or a JSON array.
    public var command: String?

    public init(file: String? = nil, variable: String? = nil, command: String? = nil) {
      self.file = file
      self.variable = variable
      self.command = command
    }

    var isGiven: Bool { file != nil || variable != nil || command != nil }
  }

  public var home: String?
  /// A name for the org, or its address.
  public var org: String?
  public var loginURL: String?
  /// Who signs in; the session of another user is refused.
  public var user: String?
  public var clientId: String?
  /// A word of ``LoginFlow``; nil follows from the rest.
  public var flow: String?
  public var makesDefault = false
  /// Whether an org of that name may be another one than before: its folder is kept aside.
  public var replacesOrg = false
  /// The folder with `bootconfig.json`.
  public var configDirectory: String?

  // In a browser.
  public var redirectURI: String?
  public var scope: String?
  public var prompt: String?
  public var opensBrowser = true
  public var timeoutS: Int?

  // Without one.
  public var audience: String?
  public var instanceURL: String?
  public var key = Place(), clientSecret = Place(), password = Place(), accessToken = Place()
  /// A file with an SFDX auth URL; `-` is standard input.
  public var sfdxURLFile: String?
  public var sfAlias: String?

  public init() {}
}

/// The ways to sign in, by the words of `--flow` and of credentials files.
public enum LoginFlow: String, CaseIterable, Sendable {
  case browser, jwt, clientCredentials, password, token, sfdxUrl, sf
}

/// Options that do not fit together, or that lack something.
public struct LoginUsageError: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
