/// What an org starts with when its database is new.
public enum Seed: Sendable, Equatable {
  /// 200 accounts and 5,000 contacts, the same ones each time.
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

/// How a pretend org is set up. What is nil is made up at random when the database is new and kept in it.
public struct SandboxConfiguration: Sendable {
  /// A file, created when it is not there; nil keeps the org in memory.
  public var databasePath: String?
  /// `127.0.0.1`, `::1` or `localhost`; any other address only with `allowsRemote` as well.
  public var host = "127.0.0.1"
  /// Every client that reaches the port may then try to sign in.
  public var allowsRemote = false
  /// 0 lets the system choose.
  public var port = 0
  /// nil serves plain HTTP.
  public var tls: SandboxTLS?
  public var username = "ada@sandbox.tureen.example"
  public var password: String?
  public var clientId = "tureen-sandbox-client"
  public var clientSecret: String?
  /// Where the client above may have its users sent back to.
  public var redirectURIs = ["http://localhost:1717/OauthRedirect", "testsfdc:///mobilesdk/detect/oauth/done"]
  /// Users and clients beside the ones above.
  public var signIn = SandboxSignInData()
  /// Seconds without a call after which an access token is no longer valid.
  public var accessTokenLifetime: Int64 = 7_200
  /// Data calls in 24 hours of the org's clock, after which calls are refused with 403. By default a Developer Edition's figure.
  public var dailyCalls = 15_000
  /// Where web pages may come from that call the org (CORS): `https://app.example.org`, `https://*.example.org`. Pages of
  /// this machine always may.
  public var corsOrigins: [String] = []
  public var seed = Seed.standard
  /// A file of objects, fields and rules that the org has besides the standard ones. An org remembers its schema: nil
  /// opens it with the one it was last opened with.
  public var schemaPath: String?
  /// Files of records for a new org, loaded in this order. Records that are made up come first.
  public var seedPaths: [String] = []
  public var clock: any SandboxClock = SystemSandboxClock()
  /// Records in a page, 1...2000. Below 200 it makes paging testable with few rows: it then overrules clients' wishes.
  public var pageSize = 2_000
  /// Makes the org's id: two orgs on one machine need two.
  public var organizationNumber: Int64 = 1
  package var limits = ConnectionLimits()
  /// Other services on the same port.
  package var mounts: [Mount] = []
  /// A file that gets a line of JSON for each request; nil keeps the log in memory alone.
  public var logPath: String?
  /// Guards the control interface; nil: a new one at each start.
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

/// What a client needs to sign in.
public struct SandboxCredentials: Sendable, CustomStringConvertible {
  /// `http://127.0.0.1:<port>`: login, instance and identity host in one.
  public let loginURL: String
  public let username: String, password: String
  public let clientId: String, clientSecret: String
  /// Valid until it is revoked, or the org is refreshed; a password sign-in issues none, as in a real org.
  public let refreshToken: String
  public let userId: String
  /// Another one after each refresh of the org.
  public internal(set) var organizationId: String

  /// Without the secrets: descriptions end up in logs.
  public var description: String { "\(username) at \(loginURL)" }
}
