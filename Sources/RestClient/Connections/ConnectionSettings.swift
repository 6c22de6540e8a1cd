/// A named server, as `connections.json`, `tureen.configure` or a program describes it.
///
/// - Note: Every member is a key of `connections.json`; `bridge-spec/connections.md` lists them with units and defaults.
public struct ConnectionSettings: Sendable, Equatable {
  public enum Kind: String, CaseIterable, Sendable { case rest, parse }

  /// 1 to 64 of `[A-Za-z0-9._-]`; unique in a host without regard to letter case.
  public var name: String
  public var kind = Kind.rest
  /// Without query, fragment and trailing slash.
  public var baseURL: String
  /// Sent with every request to the origin of ``baseURL``, and nowhere else.
  public var headers: [Header] = []
  /// Nil for the host's own, `tureen/<version>`.
  public var userAgent: String?
  public var authorization = Authorization.none
  /// Requests go without authorization when its secret is missing.
  public var isAuthorizationOptional = false
  public var connectTimeoutS = Tuning.connectionConnectTimeoutS
  /// Seconds for one try of a request, from its start to the last byte of the answer.
  public var timeoutS = Tuning.connectionTimeoutS
  /// Bytes of an answer, after decompression.
  public var maxBytes = Tuning.connectionMaxBytes
  public var maxParallel = Parallelism()
  /// Milliseconds between two writes.
  public var pauseMs = 0
  /// Seconds: the longest wait for a quota or `Retry-After`.
  public var maxWaitS = Tuning.connectionMaxWaitS
  /// A PEM file of certificates trusted beside the machine's own; an absolute path.
  public var caFile: String?
  /// Further origins that URLs of the server may lead to. They get no credentials.
  public var allowOrigins: [WebAddress] = []
  /// Whether 301 and 302 repeat a write at the new address.
  public var redirectWrites = false
  /// Nil switches the response cache off.
  public var cache: CacheLimits? = CacheLimits()
  public var log = LogSettings()
  public var errors = ErrorPaths()
  public var quota = QuotaHeaders()

  /// - Throws: ``ConnectionProblem`` for a name or an address that cannot be used.
  public init(name: String, baseURL: String) throws(ConnectionProblem) {
    try ConnectionSettings.check(name: name)
    self.name = name
    self.baseURL = try ConnectionSettings.checked(baseURL: baseURL)
  }

  public struct Header: Sendable, Equatable {
    public var name: String
    public var value: Value
    public enum Value: Sendable, Equatable {
      case text(String)
      case secret(SecretValue)
    }
    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  public enum Authorization: Sendable, Equatable {
    case none
    case bearer(token: SecretValue)
    case basic(username: String, password: SecretValue)
    case header(name: String, prefix: String, value: SecretValue)
    case clientCredentials(ClientCredentials)
  }

  /// The OAuth 2.0 client credentials grant.
  public struct ClientCredentials: Sendable, Equatable {
    public enum ClientAuthentication: String, CaseIterable, Sendable { case basic, body }
    public var tokenURL: String
    public var clientId: String
    public var clientSecret: SecretValue
    public var scopes: [String] = []
    public var audience: String?
    /// How the token resource gets id and secret.
    public var clientAuth = ClientAuthentication.basic

    public init(tokenURL: String, clientId: String, clientSecret: SecretValue) {
      self.tokenURL = tokenURL
      self.clientId = clientId
      self.clientSecret = clientSecret
    }
  }

  /// Requests in flight.
  public struct Parallelism: Sendable, Equatable {
    public var reads = 4
    public var writes = 1
    /// Reads and writes together; nil leaves them apart.
    public var total: Int?
    public init() {}
  }

  /// Megabytes of 1,048,576 bytes.
  public struct CacheLimits: Sendable, Equatable {
    public var memoryMB = 2.0
    /// 0 keeps answers in memory alone.
    public var diskMB = 20.0
    public init() {}
  }

  public struct LogSettings: Sendable, Equatable {
    public var level = RequestLogLevel.warn
    /// An absolute path; nil is stderr.
    public var file: String?
    public init() {}
  }

  /// Where an error body holds what; paths in the syntax of `rest` targets. Nil looks in the usual places.
  public struct ErrorPaths: Sendable, Equatable {
    public var message, code, fields: String?
    public init() {}
  }

  /// Names of the headers that tell a quota; nil looks for the usual ones.
  public struct QuotaHeaders: Sendable, Equatable {
    public enum ResetForm: String, CaseIterable, Sendable { case epoch, seconds, iso8601 }
    public var limit, remaining, reset: String?
    /// Nil tells it by the value's form.
    public var resetAs: ResetForm?
    /// At or below it requests wait for the reset. Nil is 10, or half the limit where that is less.
    public var minRemaining: Int?
    public init() {}
  }

  /// The origin that credentials go to.
  public var origin: WebAddress {
    guard let origin = WebAddress(baseURL) else { preconditionFailure("checked by init") }
    return origin
  }
}

/// Why a connection's settings cannot be used.
public struct ConnectionProblem: Error, Sendable, Equatable {
  /// The keys that lead to what is wrong, from the connection's own object on.
  public var keys: [String]
  /// Behind the last of the keys: "must be a string, not number".
  public let what: String

  public init(_ keys: [String], _ what: String) {
    self.keys = keys
    self.what = what
  }
}

extension ConnectionSettings {
  static func check(name: String) throws(ConnectionProblem) {
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
      default: "._-".utf8.contains(byte)
      }
    }
    // Names of dots alone lead to other folders.
    guard isName, (1...64).contains(name.utf8.count), name.contains(where: { $0 != "." }) else {
      throw ConnectionProblem([], "is not a valid name of a connection: use 1 to 64 letters, digits, '.', '_' and '-'")
    }
  }

  static func checked(baseURL: String) throws(ConnectionProblem) -> String {
    let problem = { (what: String) in ConnectionProblem(["baseURL"], what) }
    guard baseURL.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let address = WebAddress(baseURL) else {
      throw problem("is not a valid URL: expected https://host[:port][/path], percent-encoded and without a user name")
    }
    guard !baseURL.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
      throw problem("must not have a query or a fragment; a target's 'params' are its query")
    }
    guard address.isEncrypted || address.isLoopback else {
      throw problem("must begin with https: http without encryption is for this machine only, not for '\(address.host)'")
    }
    return WebAddress.withoutTrailingSlashes(baseURL)
  }
}
