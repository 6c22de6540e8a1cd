import RestClient
import Salesforce
import SmartStore

/// The URL of an org, given instead of its name.
struct OrgAddress {
  let url: String
  private let address: WebAddress

  /// Returns nil if the text is not a URL.
  init?(_ text: String) {
    guard text.hasPrefix("https://") || text.hasPrefix("http://"), let address = WebAddress(text) else { return nil }
    url = text
    self.address = address
  }

  /// True for login hosts that all orgs share and that do not identify an org.
  var isShared: Bool { JWTBearer.isShared(address.host) }

  /// The default name of a new org at this address, from which its folder name is derived: the URL without the scheme.
  var name: String {
    var host = url[url.firstRange(ofASCII: "://")!.upperBound...]
    while host.hasSuffix("/") { host = host.dropLast() }
    return String(host)
  }

  /// The host, with the port if it is not the scheme's default.
  var hostName: String {
    address.port == (address.isEncrypted ? 443 : 80) ? address.host : "\(address.host):\(address.port)"
  }

  /// Returns the known orgs that the address may refer to: one with exactly this login URL or with a folder derived from it,
  /// else all whose login URL or instance has this host.
  func matches(among entries: [OrgEntry]) -> [OrgEntry] {
    let own = StoreRegistry.folderName(name)
    if let exact = entries.first(where: { $0.folder == own }) { return [exact] }
    let exact = entries.filter { entry in entry.loginURL.map { Self.same($0, url) } ?? false }
    guard exact.isEmpty else { return exact }
    return entries.filter { entry in [entry.loginURL, entry.instanceURL].contains { $0.map(isHost(of:)) ?? false } }
  }

  private func isHost(of url: String) -> Bool {
    guard let other = WebAddress(url) else { return false }
    return other.host == address.host && other.port == address.port
  }

  private static func same(_ a: String, _ b: String) -> Bool {
    WebAddress(a) == WebAddress(b) && OrgAddress(a)?.name == OrgAddress(b)?.name
  }
}
