import JSON
import RestClient
import Testing

@testable import Tureen

/// The proxy in a host's settings.
struct ProxySettingTests {
  private func settings(_ proxy: String, environment: [String: String] = [:]) throws -> HostSettings {
    var settings = HostSettings()
    try settings.take(["proxy": .string(proxy)]) { HostError(.invalidConfiguration, "\($0): \($1)") }
    settings.environmentProxies = try Proxies.environment { environment[$0] }
    return settings
  }

  @Test func proxy_replacesTheEnvironmentsButNotItsExceptions() throws {
    let variables = ["HTTPS_PROXY": "http://ada:secret@p.example:1", "NO_PROXY": "b.example"]
    let other = try #require(WebAddress("https://a.example")), exception = try #require(WebAddress("https://b.example"))
    let chosen = try settings("http://q.example:3128", environment: variables).proxies
    #expect(chosen.proxy(for: other)?.origin == "http://q.example:3128" && chosen.proxy(for: exception) == nil)
    #expect(try settings("http://p.example:1", environment: variables).proxies.proxy(for: other)?.password == "secret")
    #expect(try settings("none", environment: variables).proxies == Proxies())
    var filled = HostSettings()
    filled.fill(from: try settings("none", environment: variables))
    #expect(filled.proxies == Proxies() && filled.environmentProxies?.https != nil)
  }

  @Test func proxy_ofAnotherForm_isRefusedWithoutItsPassword() throws {
    let error = #expect(throws: HostError.self) { try settings("socks5://ada:secret@p.example:1") }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message == "proxy: must be \"none\" or a proxy such as http://proxy.example.com:3128")
  }

  /// A file that others could have written must not choose where requests go.
  @Test func proxy_reachesOutsideTheFolder() {
    #expect(HostSettings.reachesOutside("proxy", "http://p.example:1"))
  }
}
