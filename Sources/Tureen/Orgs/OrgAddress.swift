import RestClient
import Salesforce
import SmartStore

/// The address of an org in place of its name.
struct OrgAddress {
  let url: String
  private let address: WebAddress

  /// Nil for a name.
  init?(_ text: String) {
    guard text.hasPrefix("https://") || text.hasPrefix("http://"), let address = WebAddress(text) else { return nil }
    url = text
    self.address = address
  }

  /// Login hosts of many orgs: that an org signed in there says little.
  var isShared: Bool { JWTBearer.isShared(address.host) }

  /// What a new org at this address is called, and its folder made of: the address without its scheme.
  var name: String {
    var host = url[url.firstRange(ofASCII: "://")!.upperBound...]
    while host.hasSuffix("/") { host = host.dropLast() }
    return String(host)
  }

  /// The host, with a port that is not the scheme's own.
  var hostName: String {
    address.port == (address.isEncrypted ? 443 : 80) ? address.host : "\(address.host):\(address.port)"
  }

  /// The known orgs that the address may mean: the one with exactly this login address, or a folder made for it; else those with
  /// this host as their login, instance or My Domain host.
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
