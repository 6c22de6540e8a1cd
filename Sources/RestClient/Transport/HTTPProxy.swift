import Support

/// A proxy that passes connections on, with the method CONNECT: it never sees what goes through them.
public struct HTTPProxy: Sendable, Equatable {
  public let address: WebAddress
  public let user: String?
  public let password: String?

  /// Reads `http(s)://[user[:password]@]host[:port]`; `http` can be left out. The user and the password may be
  /// percent-encoded.
  ///
  /// Fails for anything else. Messages must not repeat the text, because it may hold a password.
  public init?(_ text: String) {
    let mark = text.firstRange(ofASCII: "://")
    let scheme = mark.map { text[..<$0.lowerBound].lowercased() } ?? "http"
    var authority = text[(mark?.upperBound ?? text.startIndex)...]
    while authority.utf8.last == UInt8(ascii: "/") { authority.removeLast() }
    guard !authority.utf8.contains(where: { "/?#".utf8.contains($0) }) else { return nil }
    var user: String?, password: String?
    if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
      let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentEncoding.decode(parts[0]), let word = PercentEncoding.decode(parts.count > 1 ? parts[1] : ""),
        HTTPProxy.isText(name), HTTPProxy.isText(word)
      else { return nil }
      (user, password) = (name, word)
      authority = authority[authority.utf8.index(after: at)...]
    }
    guard scheme == "http" || scheme == "https" else { return nil }
    // Without a port, that of the scheme holds. libcurl's own default would be 1080.
    guard let found = RequestURL("\(scheme)://\(authority)/")?.address else { return nil }
    address = found
    self.user = user
    self.password = password
  }

  /// A zero byte would end the text in C.
  private static func isText(_ text: String) -> Bool { !text.utf8.contains { $0 < UInt8(ascii: " ") || $0 == 0x7f } }

  /// `scheme://host:port`, without the user.
  public var origin: String { address.origin }

  /// Whether it names a user or a password.
  public var hasCredentials: Bool { user != nil }
}

extension HTTPProxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the user and the password.
  public var description: String { origin }
  public var debugDescription: String { origin }
  public var customMirror: Mirror { Mirror(self, children: ["origin": origin]) }
}

/// Which proxy a request goes through. Requests to this machine never go through one.
public struct Proxies: Sendable, Equatable {
  /// For `https` URLs; nil for none.
  public var https: HTTPProxy?
  /// For `http` URLs, which lead to this machine only.
  public var http: HTTPProxy?
  public var exceptions = ProxyExceptions()

  /// Without a proxy.
  public init() {}

  /// Why the environment's proxy is not valid. Names the variable, but not its value.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same in lower case, which win.
  ///
  /// - Parameter variable: Returns the value of a variable; nil if it is not set.
  /// - Throws: ``Problem``.
  public static func environment(_ variable: (String) -> String?) throws(Problem) -> Proxies {
    var proxies = Proxies()
    proxies.https = try proxy("HTTPS_PROXY", variable)
    // In a CGI program, HTTP_PROXY is the client's header "Proxy".
    if variable("REQUEST_METHOD") == nil { proxies.http = try proxy("HTTP_PROXY", variable) }
    proxies.exceptions = ProxyExceptions(variable("no_proxy") ?? variable("NO_PROXY") ?? "")
    return proxies
  }

  private static func proxy(_ name: String, _ variable: (String) -> String?) throws(Problem) -> HTTPProxy? {
    for name in [name.lowercased(), name] {
      guard let text = variable(name), !text.isEmpty else { continue }
      guard let proxy = HTTPProxy(text) else {
        throw Problem(description: "\(name) is not a valid proxy; expected http://[user:password@]host:port")
      }
      return proxy
    }
    return nil
  }

  /// Returns the proxy for a request; nil for none.
  public func proxy(for address: WebAddress) -> HTTPProxy? {
    guard !address.isLoopback, !exceptions.contains(address) else { return nil }
    return address.isEncrypted ? https : http
  }
}

/// A choice of a proxy in settings, in place of the environment's.
public enum ProxySetting: Sendable, Equatable {
  /// Go without a proxy.
  case direct
  case through(HTTPProxy)

  /// Reads `none` or a proxy; see ``HTTPProxy/init(_:)``.
  public init?(_ text: String) {
    if text.equalsIgnoringCase("none") {
      self = .direct
    } else if let proxy = HTTPProxy(text) {
      self = .through(proxy)
    } else {
      return nil
    }
  }

  /// What messages say of another text.
  package static let shape = "must be \"none\" or a proxy such as http://proxy.example.com:3128"
}

extension Proxies {
  /// Returns these proxies with those of a setting in their place. A proxy without a user gets the user and the password of the
  /// same proxy in the environment, because files must not hold them.
  package func replaced(by setting: ProxySetting?, keepsExceptions: Bool) -> Proxies {
    switch setting {
    case nil: return self
    case .direct?: return Proxies()
    case .through(let given)?:
      let known = [https, http].compactMap { $0 }.first { $0.address == given.address && $0.hasCredentials }
      var proxies = Proxies()
      proxies.https = given.hasCredentials ? given : known ?? given
      proxies.http = proxies.https
      if keepsExceptions { proxies.exceptions = exceptions }
      return proxies
    }
  }
}
