/// Limits of signing in, each with its unit and its reason.
extension Tuning {
  /// Tokens kept before expired ones are removed; sign-ins of many test runs add up.
  static let keptSessions = 5_000
  /// Sign-in pages in progress and codes not yet exchanged; the oldest is dropped first. Anyone can
  /// open a page.
  static let openAuthorizations = 500
  /// Seconds for which a sign-in page and a code are valid; Salesforce's value for codes.
  static let authorizationSeconds: Int64 = 900
  /// Wrong passwords on one sign-in page before the client has to start again.
  static let signInAttempts = 10
  /// Wrong passwords that lock a user, and for how many seconds; Salesforce's defaults.
  static let wrongPasswords = 10, lockSeconds: Int64 = 900
  /// Seconds over which a user's sign-ins are counted.
  static let loginRateSeconds: Int64 = 3_600
  /// Maximum refresh tokens per user and client; one more ends the oldest. Salesforce's value.
  static let refreshTokensPerUser = 5
  /// Sign-ins that the history keeps, and remembered ids of used assertions.
  static let rememberedSignIns = 1_000, rememberedAssertions = 10_000
  /// Maximum bytes of a request to a sign-in resource; the largest, with an assertion, have a few
  /// KB.
  static let signInBodyBytes = 262_144
  /// Maximum bytes of a JWT assertion; real ones have less than 2 KB.
  static let assertionBytes = 16_384
  /// The shortest RSA key whose assertions count, as in Salesforce orgs.
  static let smallestKeyBits = 2_048
  /// Maximum lifetime of an assertion in seconds if a client is strict (Salesforce's value), and
  /// the tolerated clock skew.
  static let assertionSeconds = 180.0, assertionLeewaySeconds = 30.0
  /// Seconds for which an OpenID token is valid; clients check it once, at sign-in.
  static let idTokenSeconds: Int64 = 120
  /// Maximum bytes and depth of a SOAP request; a sign-in has 1 KB and four levels.
  static let xmlBytes = 65_536, xmlDepth = 32
  /// Maximum bytes of a file with users and clients, enough for thousands.
  static let signInDataBytes = 4 * 1024 * 1024
}
