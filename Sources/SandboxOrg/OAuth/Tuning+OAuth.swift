/// Limits of signing in, each with its unit and its reason.
extension Tuning {
  /// Tokens kept before dead ones are looked for: a new sign-in in each test run adds up.
  static let keptSessions = 5_000
  /// Sign-in pages under way, and codes not yet exchanged; the oldest goes first. Anyone can open a page.
  static let openAuthorizations = 500
  /// Seconds a sign-in page and a code are good for, Salesforce's own figure for codes.
  static let authorizationSeconds: Int64 = 900
  /// Wrong passwords on one sign-in page before the client has to start again.
  static let signInAttempts = 10
  /// Wrong passwords that lock a user, and for how many seconds: Salesforce's defaults.
  static let wrongPasswords = 10, lockSeconds: Int64 = 900
  /// Seconds over which sign-ins of a user are counted.
  static let loginRateSeconds: Int64 = 3_600
  /// Refresh tokens of one user and client; one more ends the oldest. Salesforce's own figure.
  static let refreshTokensPerUser = 5
  /// Sign-ins the history remembers, and ids of assertions that are known to be used.
  static let rememberedSignIns = 1_000, rememberedAssertions = 10_000
  /// Bytes of a request to a sign-in resource; the largest, with an assertion, have some KB.
  static let signInBodyBytes = 262_144
  /// Bytes of a JWT assertion; real ones have less than 2 KB.
  static let assertionBytes = 16_384
  /// Seconds an assertion may be good for where a client is strict, Salesforce's own figure; and how far clocks may differ.
  static let assertionSeconds = 180.0, assertionLeewaySeconds = 30.0
  /// Seconds an OpenID token is good for: clients look at it once, at sign-in.
  static let idTokenSeconds: Int64 = 120
  /// Bytes and depth of a SOAP request; a sign-in has 1 KB and four levels.
  static let xmlBytes = 65_536, xmlDepth = 32
  /// Bytes of a file with users and clients: some thousands of them.
  static let signInDataBytes = 4 * 1024 * 1024
}
