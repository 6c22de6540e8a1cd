import JSON
import RestClient

/// The parts of an SFDX auth URL, `force://<clientId>:<clientSecret>:<refreshToken>@<host>`.
///
/// - Note: Source: sfdx-core, `AuthInfo.parseSfdxAuthUrl`. Anything after the host is ignored; the scheme is always https.
public struct SFDXAuthURL: Sendable, Equatable {
  public let credentials: Credentials

  /// Describes what is wrong with a URL, without quoting any part of it.
  public struct Problem: Error, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// Parses the text of a file or an input: the bare URL, or the sf CLI's JSON with the URL in `sfdxAuthUrl`, either at the top
  /// level or inside `result`.
  public init(file text: String) throws(Problem) {
    var bare = String(text.drop { $0.isWhitespace })
    while bare.last?.isWhitespace == true { bare.removeLast() }
    guard bare.hasPrefix("{") else {
      try self.init(bare)
      return
    }
    guard let object = try? JSONValue(parsing: bare) else { throw Problem(description: "it is not valid JSON; \(Self.command)") }
    guard let url = (object["sfdxAuthUrl"] ?? object["result"]?["sfdxAuthUrl"])?.stringValue else {
      throw Problem(description: "it has no 'sfdxAuthUrl'; \(Self.command)")
    }
    try self.init(url)
  }

  private static let command = "`sf org auth show-sfdx-auth-url` prints one that is complete"
  private static let wrongForm =
    "it is not an SFDX auth URL of the form force://clientId:clientSecret:refreshToken@host; " + command

  public init(_ text: String) throws(Problem) {
    guard !text.containsASCII("[REDACTED]") else {
      throw Problem(description: "the SFDX auth URL is redacted; \(Self.command)")
    }
    let scheme = "force://"
    guard text.hasPrefix(scheme), let at = text.lastIndex(of: "@") else { throw Problem(description: Self.wrongForm) }
    let parts = text[..<at].dropFirst(scheme.count).split(separator: ":", omittingEmptySubsequences: false)
    let host = text[text.index(after: at)...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard parts.count == 3, !parts[0].isEmpty else {
      throw Problem(description: "the SFDX auth URL has no client id; \(Self.command)")
    }
    guard !parts[2].isEmpty, parts.allSatisfy(Self.isPart), WebAddress("https://\(host)") != nil else {
      throw Problem(description: Self.wrongForm)
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
