/// Describes a named server, as given in `connections.json`, in `tureen.configure` or by a program.
///
/// - Note: Every member is a key of `connections.json`; `bridge-spec/guide/connections.md` lists them
///   with units and defaults.
public struct ConnectionSettings: Sendable, Equatable {
  public enum Kind: String, CaseIterable, Sendable { case rest, parse }

  /// 1 to 64 characters of `[A-Za-z0-9._-]`; unique in a host, ignoring case.
  public var name: String
  public var kind = Kind.rest
  /// Has no query, fragment or trailing slash.
  public var baseURL: String
  /// Sent with every request to the origin of ``baseURL``, and nowhere else.
  public var headers: [Header] = []
  /// Nil for the host's own value, `tureen/<version>`.
  public var userAgent: String?
  public var authorization = Authorization.none
  /// If true, requests go out without authorization when the secret is missing.
  public var isAuthorizationOptional = false
  public var connectTimeoutS = Tuning.connectionConnectTimeoutS
  /// Seconds for one attempt of a request, from its start to the last byte of the response.
  public var timeoutS = Tuning.connectionTimeoutS
  /// Maximum bytes of a response, after decompression.
  public var maxBytes = Tuning.connectionMaxBytes
  public var maxParallel = Parallelism()
  /// Milliseconds between two writes.
  public var pauseMs = 0
  /// The longest wait for a quota or `Retry-After`, in seconds.
  public var maxWaitS = Tuning.connectionMaxWaitS
  /// A PEM file with certificates to trust in addition to the system's; an absolute path.
  public var caFile: String?
  /// Nil for the host's; see ``RestConnection/Environment/proxies``.
  public var proxy: ProxySetting?
  /// Further origins that the server's URLs may point to. They receive no credentials.
  public var allowOrigins: [WebAddress] = []
  /// Whether a write is repeated at the new address after a 301 or 302.
  public var redirectWrites = false
  /// Nil turns the response cache off.
  public var cache: CacheLimits? = CacheLimits()
  public var log = LogSettings()
  public var errors = ErrorPaths()
  public var quota = QuotaHeaders()

  /// - Throws: ``ConnectionProblem`` for an invalid name or address.
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
    /// How the client id and secret are sent to the token endpoint.
    public var clientAuth = ClientAuthentication.basic

    public init(tokenURL: String, clientId: String, clientSecret: SecretValue) {
      self.tokenURL = tokenURL
      self.clientId = clientId
      self.clientSecret = clientSecret
    }
  }

  /// Limits on the requests in flight.
  public struct Parallelism: Sendable, Equatable {
    public var reads = 4
    public var writes = 1
    /// Limits reads and writes together; nil limits them separately.
    public var total: Int?
    public init() {}
  }

  /// Limits of the response cache, in megabytes of 1,048,576 bytes.
  public struct CacheLimits: Sendable, Equatable {
    public var memoryMB = 2.0
    /// 0 keeps responses in memory only.
    public var diskMB = 20.0
    public init() {}
  }

  public struct LogSettings: Sendable, Equatable {
    public var level = RequestLogLevel.warn
    /// An absolute path; nil means stderr.
    public var file: String?
    public init() {}
  }

  /// Paths to the parts of an error body, in the syntax of `rest` targets. Nil searches the usual
  /// places.
  public struct ErrorPaths: Sendable, Equatable {
    public var message, code, fields: String?
    public init() {}
  }

  /// Names of the headers that report a quota; nil looks for the usual ones.
  public struct QuotaHeaders: Sendable, Equatable {
    public enum ResetForm: String, CaseIterable, Sendable { case epoch, seconds, iso8601 }
    public var limit, remaining, reset: String?
    /// Nil infers the form from the value.
    public var resetAs: ResetForm?
    /// Requests wait for the reset when the remaining quota is at or below this number. Nil means
    /// 10, or half the limit if that is less.
    public var minRemaining: Int?
    public init() {}
  }

  /// The origin that receives credentials.
  public var origin: WebAddress {
    guard let origin = WebAddress(baseURL) else { preconditionFailure("checked by init") }
    return origin
  }
}

/// Why a connection's settings are invalid.
public struct ConnectionProblem: Error, Sendable, Equatable {
  /// The keys that lead to the invalid value, starting at the connection's own object.
  public var keys: [String]
  /// The message that follows the last key, such as "must be a string, not number".
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
    // A name that consists of dots would refer to another folder.
    guard isName, (1...64).contains(name.utf8.count), name.contains(where: { $0 != "." }) else {
      throw ConnectionProblem([], "is not a valid connection name: use 1 to 64 letters, digits, '.', '_' and '-'")
    }
  }

  static func checked(baseURL: String) throws(ConnectionProblem) -> String {
    let problem = { (what: String) in ConnectionProblem(["baseURL"], what) }
    guard baseURL.utf8.allSatisfy(\.isPrintableASCII), let address = WebAddress(baseURL) else {
      throw problem("is not a valid URL: expected https://host[:port][/path], percent-encoded and without a user name")
    }
    guard !baseURL.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
      throw problem("must not have a query or a fragment; a target's 'params' are its query")
    }
    guard address.isEncrypted || address.isLoopback else {
      throw problem("must begin with https: unencrypted http is allowed only on this machine, not for '\(address.host)'")
    }
    return WebAddress.withoutTrailingSlashes(baseURL)
  }
}
