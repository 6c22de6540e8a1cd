import TestSupport
import Testing

@testable import RestClient

/// Requests through a proxy: CONNECT for other machines, nothing for this one.
@Suite(.timeLimit(.minutes(60))) struct WireProxyTests {
  /// A proxy that connects everything to one server of this machine. It serves one response itself, so that no second socket is
  /// needed: the TLS of the client ends in the connection to it.
  private func proxy(_ authority: TestAuthority, status: String = "200 Connected", names: [String] = ["DNS:org.example"]) throws
    -> (WireServer, behind: WireServer)
  {
    let behind = try WireServer(authority.identity(names)) { connection in
      while let (head, body) = connection.request() { connection.answer("\(head.count > 0) \(body.count)") }
    }
    let port = behind.port
    let proxy = try WireServer { connection in
      guard let head = connection.head() else { return }
      guard head.hasPrefix("CONNECT ") else { return connection.answer("plain", status: "405 No") }
      connection.send("HTTP/1.1 \(status)\r\nX-Proxy: 1\r\n\(status.hasPrefix("2") ? "" : "Content-Length: 0\r\n")\r\n")
      if status.hasPrefix("2") { connection.relay(toPort: port) }
    }
    return (proxy, behind)
  }

  private func proxies(_ server: WireServer, user: String = "", _ exceptions: String = "") -> Proxies {
    var proxies = Proxies()
    proxies.https = HTTPProxy(server.url.replacing("http://", with: "http://\(user)"))
    proxies.http = proxies.https
    proxies.exceptions = ProxyExceptions(exceptions)
    return proxies
  }

  @Test func proxy_getsCONNECTAndNothingOfTheRequest() async throws {
    let authority = try TestAuthority(), (proxy, behind) = try proxy(authority)
    let response = try await withTransport({
      $0.authorities = authority.trusted
      $0.proxies = proxies(proxy)
    }) { transport in
      var last: RestResponse?
      for _ in 0..<2 {
        last = try await transport.exchange(
          .POST, url: "https://org.example/path?secret=1",
          headers: [("Authorization", "Bearer secret"), ("User-Agent", "tureen")],
          body: [1, 2])
      }
      return last
    }
    #expect(response?.body.text == "true 2" && response?.header("X-Proxy") == nil)
    #expect(proxy.lines == ["CONNECT org.example:443"] && behind.lines == ["POST /path?secret=1", "POST /path?secret=1"])
    #expect(proxy.requests.allSatisfy { !$0.contains("secret") && !$0.contains("Proxy-Authorization") })
    #expect(behind.requests.first?.contains("Host: org.example\r\n") == true)
  }

  @Test func proxy_withUserAndPassword_getsThemAlone() async throws {
    let authority = try TestAuthority(), (proxy, behind) = try proxy(authority)
    _ = try await withTransport({
      $0.authorities = authority.trusted
      $0.proxies = proxies(proxy, user: "ann%40acme:p%3Aw@")
    }) { try await $0.get("https://org.example/") }
    // ann@acme:p:w
    #expect(proxy.requests.first?.contains("Proxy-Authorization: Basic YW5uQGFjbWU6cDp3") == true)
    #expect(behind.requests.first?.contains("Proxy-Authorization") == false)
  }

  @Test func loopback_neverGoesThroughAProxy() async throws {
    let authority = try TestAuthority(), (proxy, _) = try proxy(authority)
    let server = try WireServer { connection in while connection.request() != nil { connection.answer("direct") } }
    try await withTransport({ $0.proxies = proxies(proxy) }) { transport in
      for host in ["127.0.0.1", "localhost"] {
        let response = try await transport.get("http://\(host):\(server.port)/")
        #expect(response.body.text == "direct")
      }
    }
    #expect(proxy.connections == 0)
  }

  /// The name is not resolved without the proxy, so that an error shows that it was not used.
  @Test func exception_isReachedWithoutTheProxy() async throws {
    let authority = try TestAuthority(), (proxy, _) = try proxy(authority)
    let error = try await withTransport({ $0.proxies = proxies(proxy, ".invalid") }) {
      await $0.failure(.GET, "https://tureen-test.invalid/")
    }
    #expect(error?.summary == "noResponse notSent: its name cannot be resolved" && proxy.connections == 0)
  }

  @Test(arguments: [
    ("403 Forbidden", "refused the connection with status 403"), ("502 Bad Gateway", "refused the connection with status 502"),
    ("407 Who", "demands a user and a password, or refuses those given"),
  ])
  func proxy_thatRefuses_isToldSoAndNotSent(status: String, words: String) async throws {
    let authority = try TestAuthority(), (proxy, _) = try proxy(authority, status: status)
    let error = try await withTransport({ $0.proxies = proxies(proxy, user: "ann:password@") }) {
      await $0.failure(.POST, "https://org.example/", body: [1])
    }
    #expect(error?.code == .noResponse && error?.outcome == .notSent)
    #expect(error?.message == "no answer from org.example: the proxy 127.0.0.1:\(proxy.port) \(words)")
  }

  @Test func proxy_thatIsNotThere_isToldSo() async throws {
    let proxy = try ScriptedServer()
    proxy.stop()
    var proxies = Proxies()
    proxies.https = HTTPProxy("ann:password@127.0.0.1:\(proxy.port)")
    let error = try await withTransport({ $0.proxies = proxies }) { await $0.failure(.POST, "https://org.example/", body: [1]) }
    #expect(error?.summary == "noResponse notSent: the proxy 127.0.0.1:\(proxy.port) cannot be reached: Connection refused")
    proxies.https = HTTPProxy("http://tureen-test.invalid:3128")
    let other = try await withTransport({ $0.proxies = proxies }) { await $0.failure(.GET, "https://org.example/") }
    #expect(other?.summary == "noResponse notSent: the name of the proxy tureen-test.invalid:3128 cannot be resolved")
  }

  @Test func proxy_thatCloses_isToldSo() async throws {
    let closing = try WireServer { connection in _ = connection.head() }
    let error = try await withTransport({ $0.proxies = proxies(closing) }) {
      await $0.failure(.POST, "https://org.example/", body: [1])
    }
    #expect(error?.summary == "noResponse notSent: the proxy 127.0.0.1:\(closing.port) closed the connection")
  }

  @Test func certificate_behindTheProxy_isVerified() async throws {
    let authority = try TestAuthority(), (proxy, behind) = try proxy(authority, names: ["DNS:other.example"])
    let error = try await withTransport({
      $0.authorities = authority.trusted
      $0.proxies = proxies(proxy)
    }) { await $0.failure(.POST, "https://org.example/", body: [1]) }
    #expect(error?.summary == "untrustedCertificate notSent: it belongs to another host" && behind.requests.isEmpty)
  }

  /// A body that got half through is not sent, as without a proxy.
  @Test func body_halfReadBehindTheProxy_isNotSent() async throws {
    let authority = try TestAuthority()
    let behind = try WireServer(authority.identity(["DNS:org.example"])) { connection in
      _ = connection.head()
      _ = connection.bytes(1_000)
      connection.reset()
    }
    let port = behind.port
    let proxy = try WireServer { connection in
      _ = connection.head()
      connection.send("HTTP/1.1 200 OK\r\n\r\n")
      connection.relay(toPort: port)
    }
    let error = try await withTransport({
      $0.authorities = authority.trusted
      $0.proxies = proxies(proxy)
    }) { await $0.failure(.POST, "https://org.example/", body: [UInt8](repeating: 1, count: 60_000_000)) }
    #expect(error?.code == .noResponse && error?.outcome == .notSent, "\(String(describing: error))")
  }
}
