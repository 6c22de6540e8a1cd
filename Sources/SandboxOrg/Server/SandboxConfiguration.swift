/// The data of an org whose database is new.
public enum Seed: Sendable, Equatable {
  /// 200 accounts and 5,000 contacts, always the same.
  case standard
  case custom(accounts: Int, contacts: Int)
  /// Users only.
  case none

  var accounts: Int {
    switch self {
    case .standard: return 200
    case .custom(let accounts, _): return max(0, accounts)
    case .none: return 0
    }
  }
  var contacts: Int {
    switch self {
    case .standard: return 5_000
    case .custom(_, let contacts): return max(0, contacts)
    case .none: return 0
    }
  }
}

/// Configures a pretend org. If a value is nil, it is generated when the database is new, and
/// stored in it.
public struct SandboxConfiguration: Sendable {
  /// The path of the database, which is created if needed; nil keeps the org in memory.
  public var databasePath: String?
  /// `127.0.0.1`, `::1` or `localhost`. Any other address also requires `allowsRemote`.
  public var host = "127.0.0.1"
  /// Lets every client that can reach the port try to sign in.
  public var allowsRemote = false
  /// 0 lets the system choose.
  public var port = 0
  /// nil for plain HTTP.
  public var tls: SandboxTLS?
  public var username = "ada@sandbox.tureen.example"
  public var password: String?
  public var clientId = "tureen-sandbox-client"
  public var clientSecret: String?
  /// The redirect URIs of this client.
  public var redirectURIs = ["http://localhost:1717/OauthRedirect", "testsfdc:///mobilesdk/detect/oauth/done"]
  /// Additional users and clients.
  public var signIn = SandboxSignInData()
  /// The `instance_url` of token answers, such as `https://acme.my.salesforce.com`, for clients that
  /// accept only such names and reach the org through a proxy or the system's list of hosts; nil for
  /// the address that the client uses.
  public var instanceURL: String?
  /// Seconds without a call after which an access token expires.
  public var accessTokenLifetime: Int64 = 7_200
  /// Data calls allowed in 24 hours of the org's clock; further ones get a 403. The default is that
  /// of a Developer Edition.
  public var dailyCalls = 15_000
  /// Origins of web pages that may call the org (CORS): `https://app.example.org`,
  /// `https://*.example.org`. Pages on this machine are always allowed.
  public var corsOrigins: [String] = []
  public var seed = Seed.standard
  /// A file of objects, fields and rules in addition to the standard ones. The org stores its
  /// schema; nil opens it with the one it last had.
  public var schemaPath: String?
  /// Files with records for a new org, loaded in this order after the generated records.
  public var seedPaths: [String] = []
  public var clock: any SandboxClock = SystemSandboxClock()
  /// Records per page, 1...2000. A value below 200 overrides clients' requests, so that paging can
  /// be tested with few rows.
  public var pageSize = 2_000
  /// Determines the org's Id; two orgs on one machine need different numbers.
  public var organizationNumber: Int64 = 1
  package var limits = ConnectionLimits()
  /// Other services on the same port.
  package var mounts: [Mount] = []
  /// The path of a file that receives one line of JSON for each request; nil keeps the log in
  /// memory only.
  public var logPath: String?
  /// The bearer token of the control interface; nil generates one at each start.
  public var controlToken: String?

  public init() {}

  var listening: HTTPServerConfiguration {
    var listening = HTTPServerConfiguration()
    listening.host = host
    listening.allowsRemote = allowsRemote
    listening.port = port
    listening.tls = tls
    listening.limits = limits
    listening.logPath = logPath
    listening.controlToken = controlToken
    return listening
  }
}

/// The credentials of the default user and client.
public struct SandboxCredentials: Sendable, CustomStringConvertible {
  /// `http://127.0.0.1:<port>`, which serves login, instance and identity.
  public let loginURL: String
  public let username: String, password: String
  public let clientId: String, clientSecret: String
  /// Valid until it is revoked or the org is refreshed. As in a real org, a password sign-in does
  /// not issue one.
  public let refreshToken: String
  public let userId: String
  /// Changes with each refresh of the org.
  public internal(set) var organizationId: String

  /// Leaves out the secrets, since descriptions end up in logs.
  public var description: String { "\(username) at \(loginURL)" }
}
