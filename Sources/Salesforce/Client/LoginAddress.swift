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

/// The parts of an SFDX auth URL, `force://<clientId>:<clientSecret>:<refreshToken>@<host>`.
///
/// - Note: Source: sfdx-core, `AuthInfo.parseSfdxAuthUrl`. What follows the host is ignored; https is meant.
public struct SFDXAuthURL: Sendable, Equatable {
  public let credentials: Credentials

  /// What is wrong with a URL. Never holds any of it.
  public struct Problem: Error, Equatable, CustomStringConvertible {
    public let description: String
  }

  public init(_ text: String) throws(Problem) {
    let command = "`sf org auth show-sfdx-auth-url` prints one that is complete"
    guard !text.containsASCII("[REDACTED]") else { throw Problem(description: "the SFDX auth URL is redacted; \(command)") }
    let scheme = "force://"
    guard text.hasPrefix(scheme), let at = text.lastIndex(of: "@") else {
      throw Problem(description: "it is not an SFDX auth URL of the form force://clientId:clientSecret:refreshToken@host")
    }
    let parts = text[..<at].dropFirst(scheme.count).split(separator: ":", omittingEmptySubsequences: false)
    let host = text[text.index(after: at)...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard parts.count == 3, !parts[0].isEmpty else {
      throw Problem(description: "the SFDX auth URL has no client id; \(command)")
    }
    guard !parts[2].isEmpty, parts.allSatisfy(Self.isPart), WebAddress("https://\(host)") != nil else {
      throw Problem(description: "it is not an SFDX auth URL of the form force://clientId:clientSecret:refreshToken@host")
    }
    credentials = .refreshToken(
      loginURL: "https://\(host)", clientId: String(parts[0]), clientSecret: parts[1].isEmpty ? nil : String(parts[1]),
      refreshToken: String(parts[2]))
  }

  private static func isPart(_ text: Substring) -> Bool {
    let body = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    return body.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    } && text.utf8.count - body.count <= 2 && text.utf8.dropFirst(body.count).allSatisfy { $0 == UInt8(ascii: "=") }
  }
}
