import RestClient

/// Checks the addresses of login hosts.
public enum LoginAddress {
  /// Host suffixes that only serve browsers, each with the suffix of the org's My Domain.
  private static let browserHosts = [
    (".lightning.force.com", ".my.salesforce.com"), (".my.salesforce-setup.com", ".my.salesforce.com"),
    (".lightning.crmforce.mil", ".my.salesforce.mil"), (".lightning.sfcrmapps.cn", ".my.sfcrmproducts.cn"),
  ]

  /// Explains why an API client cannot sign in at this address, and which one to use instead; returns nil if it is usable.
  public static func problem(_ url: String) -> String? {
    guard let address = WebAddress(url) else { return "'\(url.prefix(200))' is not a valid http(s) URL" }
    guard address.isEncrypted || address.isLoopback else {
      return "unencrypted http is allowed only on this machine, not for '\(address.host)'"
    }
    for (browser, own) in browserHosts where address.host.hasSuffix(browser) {
      return "'\(address.host)' is for browsers only; take https://\(address.host.dropLast(browser.count))\(own)"
    }
    return nil
  }
}
