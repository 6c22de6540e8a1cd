import Glibc

/// The hosts that are reached without a proxy, as in `NO_PROXY`.
///
/// - Note: Source: curl(1) and Go's `net/http/httpproxy`. Entries are separated by commas or blanks: `*` for all; a host, which
///   includes its subdomains, with or without a leading dot; an address; a network such as `10.0.0.0/8`. Each may end in `:port`.
public struct ProxyExceptions: Sendable, Equatable {
  private struct Entry: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
      case all
      /// In lower case, without a leading dot.
      case domain(String)
      case network([UInt8], bits: Int)
    }
    let kind: Kind
    let port: Int?
  }

  private var entries: [Entry] = []

  public init(_ text: String = "") {
    entries = text.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { ProxyExceptions.entry(String($0)) }
  }

  private static func entry(_ text: String) -> Entry? {
    if text == "*" { return Entry(kind: .all, port: nil) }
    let (host, port) = parts(text)
    let halves = host.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if let address = octets(String(halves[0])) {
      guard halves.count == 2 else { return Entry(kind: .network(address, bits: address.count * 8), port: port) }
      guard let bits = Int(halves[1]), (0...address.count * 8).contains(bits) else { return nil }
      return Entry(kind: .network(address, bits: bits), port: port)
    }
    let name = host.lowercased().drop { $0 == "." || $0 == "*" }
    return name.isEmpty || halves.count == 2 ? nil : Entry(kind: .domain(String(name)), port: port)
  }

  /// Separates the port. An IPv6 address has colons itself, so that its port follows brackets.
  private static func parts(_ text: String) -> (host: String, port: Int?) {
    if text.hasPrefix("["), let close = text.firstIndex(of: "]") {
      let rest = text[text.index(after: close)...]
      return (String(text[text.index(after: text.startIndex)..<close]), rest.hasPrefix(":") ? Int(rest.dropFirst()) : nil)
    }
    guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon,
      let port = Int(text[text.index(after: colon)...])
    else { return (text, nil) }
    return (String(text[..<colon]), port)
  }

  /// The bytes of an IPv4 or IPv6 address; nil for a name.
  private static func octets(_ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
    return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
  }

  /// Whether requests to this address go without a proxy.
  public func contains(_ address: WebAddress) -> Bool {
    guard !entries.isEmpty else { return false }
    let host = address.host.hasPrefix("[") ? String(address.host.dropFirst().dropLast()) : address.host
    let octets = ProxyExceptions.octets(host)
    return entries.contains { entry in
      guard entry.port == nil || entry.port == address.port else { return false }
      switch entry.kind {
      case .all: return true
      case .domain(let name): return octets == nil && (host == name || host.hasSuffix("." + name))
      case .network(let network, let bits): return octets.map { ProxyExceptions.isIn($0, network, bits) } ?? false
      }
    }
  }

  private static func isIn(_ address: [UInt8], _ network: [UInt8], _ bits: Int) -> Bool {
    guard address.count == network.count else { return false }
    return (0..<bits).allSatisfy { bit in
      (address[bit / 8] ^ network[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
    }
  }
}
