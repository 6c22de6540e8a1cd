import Support

/// The hosts that the requests of a restricted script may reach besides those of the org, named one by one.
public struct ReachableHosts: Sendable, Equatable {
  /// Why a name is not valid.
  public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String
  }

  private struct Entry: Sendable, Equatable {
    /// As given by the user, for messages.
    let name: String
    let host: String
    /// Nil for the scheme's own port: 443, or 80 for `http` to this machine.
    let port: Int?
  }

  private var entries: [Entry] = []

  /// Allows no host.
  public init() {}

  /// - Parameter names: Hosts such as `api.example.com` or `localhost:8080`. Without a port, only the scheme's own port is
  ///   allowed.
  /// - Throws: ``Problem`` for a wildcard, a URL, and anything else that is not a host.
  public init(_ names: some Sequence<String>) throws(Problem) {
    for name in names { entries.append(try ReachableHosts.entry(name)) }
  }

  private static func entry(_ name: String) throws(Problem) -> Entry {
    guard !name.utf8.contains(UInt8(ascii: "*")) else {
      throw Problem(description: "'\(name)' has a wildcard, but hosts are named one by one, such as api.example.com")
    }
    if let url = WebAddress(name) {
      let isUsual = url.port == (url.isEncrypted ? 443 : 80)
      throw Problem(description: "'\(name)' is a URL; name its host: '\(url.host)\(isUsual ? "" : ":\(url.port)")'")
    }
    guard name.utf8.allSatisfy(isNameByte), let address = WebAddress("https://" + name), isHost(address.host) else {
      throw Problem(description: "'\(name)' is not a valid host, such as api.example.com or localhost:8080")
    }
    let hasPort = name.utf8.count > address.host.utf8.count
    return Entry(name: name, host: address.host, port: hasPort ? address.port : nil)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || ".-_:[]".utf8.contains(byte)
  }

  /// Whether it is a name or an IPv4 address, which has no empty part, or an IPv6 address in brackets.
  private static func isHost(_ host: String) -> Bool {
    if host.hasPrefix("[") { return host.hasSuffix("]") && !host.dropFirst().dropLast().contains { "[]".contains($0) } }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.allSatisfy { !$0.isEmpty } && !host.contains { ":[]".contains($0) }
  }

  /// Whether a URL of this address may be requested.
  public func contains(_ address: WebAddress) -> Bool {
    entries.contains { $0.host == address.host && ($0.port ?? ReachableHosts.usualPort(address)) == address.port }
  }

  private static func usualPort(_ address: WebAddress) -> Int { address.isEncrypted ? 443 : 80 }

  /// Returns the error of a request to a host that may not be reached. It says how to allow the host.
  ///
  /// - Parameters:
  ///   - url: An absolute URL.
  ///   - prefix: What the message begins with, such as the connection's name.
  package func refusal(of url: String, prefix: String = "") -> RestError {
    let address = WebAddress(url)
    let host = address.map { $0.port == ReachableHosts.usualPort($0) ? $0.host : "\($0.host):\($0.port)" } ?? ""
    let allowed = (["the org"] + entries.map(\.name)).joined(separator: ", ")
    return RestError(
      code: .restricted,
      message: "\(prefix)host '\(host)' is not available to a restricted script (--restricted); allow it with --allow-host "
        + "\(host), or HostSettings.allowedHosts in Swift; allowed so far: \(allowed)",
      outcome: .notSent)
  }
}
