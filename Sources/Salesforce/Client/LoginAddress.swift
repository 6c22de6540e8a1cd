import RestClient

/// Addresses to sign in at.
public enum LoginAddress {
  /// Browsers' hosts of an org, and the end of its My Domain.
  private static let browserHosts = [
    (".lightning.force.com", ".my.salesforce.com"), (".my.salesforce-setup.com", ".my.salesforce.com"),
    (".lightning.crmforce.mil", ".my.salesforce.mil"), (".lightning.sfcrmapps.cn", ".my.sfcrmproducts.cn"),
  ]

  /// Why this address takes no sign-in, and which one to take; nil when it will do.
  public static func problem(_ url: String) -> String? {
    guard let address = WebAddress(url) else { return "'\(url.prefix(200))' is not a valid http(s) URL" }
    guard address.isEncrypted || address.isLoopback else {
      return "http without encryption is for this machine only, not for '\(address.host)'"
    }
    for (browser, own) in browserHosts where address.host.hasSuffix(browser) {
      return "'\(address.host)' is for browsers only; take https://\(address.host.dropLast(browser.count))\(own)"
    }
    return nil
  }
}
