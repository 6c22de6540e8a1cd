import Testing

@testable import RestClient

/// Which proxy is used: no network.
struct ProxyTests {
  @Test(
    arguments: [
      ("http://proxy:3128", "http://proxy:3128", nil, nil), ("proxy:3128", "http://proxy:3128", nil, nil),
      ("HTTPS://Proxy.Corp/", "https://proxy.corp:443", nil, nil), ("http://proxy", "http://proxy:80", nil, nil),
      ("http://ann:pw@proxy:1", "http://proxy:1", "ann", "pw"), ("ann@proxy:1", "http://proxy:1", "ann", ""),
      ("http://a%40b:c%3Ad%2F@[::1]:1", "http://[::1]:1", "a@b", "c:d/"), ("http://a:b:c@proxy:1", "http://proxy:1", "a", "b:c"),
    ] as [(String, String, String?, String?)])
  func proxy_isRead(text: String, origin: String, user: String?, password: String?) throws {
    let proxy = try #require(HTTPProxy(text))
    #expect(proxy.origin == origin && proxy.user == user && proxy.password == password)
    var dumped = "\(proxy) \(String(reflecting: proxy)) \([proxy])"
    dump(proxy, to: &dumped)
    #expect(!dumped.contains("pw") && !dumped.contains("ann") && !dumped.contains("c:d"))
  }

  @Test(arguments: [
    "", "socks5://proxy:1080", "http://", "http://proxy:0", "http://proxy/path", "http://proxy?x", "http://a%zz@proxy",
    "http://a%00b@proxy",
    "http://pro xy", "http://a%0d%0ab:c@proxy",
  ])
  func proxy_ofAnotherForm_isRefused(text: String) { #expect(HTTPProxy(text) == nil) }

  private func environment(_ variables: [String: String]) throws -> Proxies { try Proxies.environment { variables[$0] } }

  @Test func environment_lowerCaseWins() throws {
    let proxies = try environment([
      "HTTPS_PROXY": "http://upper:1", "https_proxy": "http://lower:1", "NO_PROXY": "a.example", "no_proxy": "b.example",
    ])
    #expect(try #require(WebAddress("https://a.example")).proxy(proxies) == "http://lower:1")
    #expect(try #require(WebAddress("https://b.example")).proxy(proxies) == nil)
    #expect(try environment([:]) == Proxies() && environment(["HTTPS_PROXY": ""]) == Proxies())
  }

  @Test func environment_schemesHaveTheirOwn() throws {
    let proxies = try environment(["HTTPS_PROXY": "http://s:1", "HTTP_PROXY": "http://p:1"])
    #expect(try #require(WebAddress("https://a.example")).proxy(proxies) == "http://s:1")
    #expect(try #require(WebAddress("http://a.example")).proxy(proxies) == "http://p:1")
    #expect(try environment(["HTTP_PROXY": "http://p:1"]).https == nil)
    // The client of a CGI program chooses this variable.
    #expect(try environment(["HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"]).http == nil)
  }

  @Test func environment_wrongOne_isNamedWithoutItsValue() throws {
    let error = #expect(throws: Proxies.Problem.self) { try environment(["https_proxy": "socks5://ann:password@proxy:1"]) }
    #expect(error?.description == "https_proxy is not a valid proxy; expected http://[user:password@]host:port")
  }

  @Test(arguments: ["http://localhost:1", "https://localhost", "https://127.0.0.1", "https://127.9.9.9:8443", "https://[::1]:1"])
  func loopback_hasNone(url: String) throws {
    var proxies = Proxies()
    proxies.https = HTTPProxy("http://proxy:1")
    proxies.http = proxies.https
    #expect(proxies.proxy(for: try #require(WebAddress(url))) == nil)
  }

  /// A connection's choice wins over all; the host's keeps the exceptions. Files hold no password, but get the environment's.
  @Test func setting_replacesTheEnvironment() throws {
    let proxies = try environment(["HTTPS_PROXY": "http://ada:secret@p.example:1", "NO_PROXY": "b.example"])
    let a = try #require(WebAddress("https://a.example")), b = try #require(WebAddress("https://b.example"))
    #expect(proxies.replaced(by: nil, keepsExceptions: false) == proxies)
    #expect(proxies.replaced(by: .direct, keepsExceptions: true).proxy(for: a) == nil)
    let own = try #require(ProxySetting("http://p.example:1")), other = try #require(ProxySetting("http://q.example:1"))
    #expect(proxies.replaced(by: own, keepsExceptions: false).proxy(for: b)?.password == "secret")
    #expect(proxies.replaced(by: own, keepsExceptions: true).proxy(for: b) == nil)
    #expect(proxies.replaced(by: other, keepsExceptions: true).proxy(for: a)?.user == nil)
  }

  @Test(arguments: [
    ("example.com", "https://example.com", true), ("example.com", "https://api.example.com", true),
    ("example.com", "https://badexample.com", false), (".example.com", "https://example.com", true),
    (".example.com", "https://api.example.com", true), ("*.example.com", "https://api.example.com", true),
    ("Example.COM", "https://EXAMPLE.com", true), ("a.example, b.example", "https://b.example", true),
    ("a.example b.example", "https://b.example", true), ("*", "https://anything.example", true), ("", "https://a.example", false),
    ("example.com:8443", "https://example.com:8443", true), ("example.com:8443", "https://example.com", false),
    ("10.0.0.0/8", "https://10.1.2.3", true), ("10.0.0.0/8", "https://11.1.2.3", false), ("10.1.2.3", "https://10.1.2.3", true),
    ("10.1.2.3", "https://10.1.2.4", false), ("10.1.2.3:443", "https://10.1.2.3", true),
    ("10.0.0.0/33", "https://10.1.2.3", false),
    ("0.0.0.0/0", "https://10.1.2.3", true), ("fd00::/8", "https://[fd12::1]", true), ("fd00::/8", "https://[fe80::1]", false),
    ("[fd12::1]:443", "https://[fd12::1]", true), ("2.3", "https://10.1.2.3", false),
    ("10.0.0.0/8", "https://ten.example", false),
  ])
  func exception_isMatched(list: String, url: String, isException: Bool) throws {
    #expect(ProxyExceptions(list).contains(try #require(WebAddress(url))) == isException)
  }
}

extension WebAddress {
  fileprivate func proxy(_ proxies: Proxies) -> String? { proxies.proxy(for: self)?.origin }
}
