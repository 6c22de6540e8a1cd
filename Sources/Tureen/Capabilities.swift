import JSON
import LuaBridge
import RestClient

/// What a script may use. A restricted script has the org's data in the stores of the current user, and beyond that only the
/// services and hosts that the operator has allowed by name.
struct Capabilities: Sendable {
  let isRestricted: Bool
  /// The services and plug-ins that a restricted script may use completely.
  let services: Set<String>
  /// The hosts that it may reach besides the org's; nil for a script that is not restricted.
  let hosts: ReachableHosts?

  /// - Throws: ``HostError`` `.invalidConfiguration` for a name that is not a host or a service, with the name that was probably
  ///   meant.
  init(_ settings: HostSettings) throws(HostError) {
    for service in settings.allowedServices.sorted() { try Capabilities.check(service, settings.services.keys.sorted()) }
    let hosts: ReachableHosts
    do {
      hosts = try ReachableHosts(settings.allowedHosts.sorted())
    } catch {
      throw HostError(.invalidConfiguration, "allowedHosts: \(error)")
    }
    isRestricted = settings.isRestricted
    services = settings.allowedServices
    self.hosts = settings.isRestricted ? hosts : nil
  }

  /// Accepts the services of this host, and names of plug-ins, which may be registered later. A name that is almost that of a
  /// known service is a mistake.
  private static func check(_ service: String, _ own: [String]) throws(HostError) {
    let known = ActionCatalog.services + own
    guard !known.contains(service) else { return }
    if PluginName.isValid(service), NearestName.find(service, among: known) == nil { return }
    throw HostError(
      .invalidConfiguration, "allowedServices: unknown service '\(service)'\(NearestName.hint(for: service, among: known))")
  }

  /// Whether the script may use all actions of a service.
  func allows(_ service: String) -> Bool { !isRestricted || services.contains(service) }

  /// - Parameters:
  ///   - service: The service that has to be allowed.
  ///   - what: The description of what the script asks for, such as "oauth.logoutCurrentUser".
  /// - Throws: `BridgeError` `restricted`, which names the option that allows it.
  func require(_ service: String, for what: @autoclosure () -> String) throws(BridgeError) {
    guard !allows(service) else { return }
    throw .restricted(what(), service: service, allowed: services)
  }

  /// Checks that the script may use a store: the current user's, or with the service allowed a global one, which all users of
  /// the home share.
  /// - Throws: `BridgeError` `restricted`.
  func require(_ service: String, for store: StoreReference) throws(BridgeError) {
    guard store.isGlobal else { return }
    try require(service, for: "the global store '\(store.name)'")
  }
}
