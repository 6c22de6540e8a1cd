/// The actions that an isolated script may call: those of the stores and the org, but none that change the sign-in, unless the
/// operator has allowed the service.
struct WorkerAllowList: Sendable {
  private static let services = Set(ActionCatalog.services + ["tureen.script"])
  private static let refused: [String: Set<String>] = [
    "com.salesforce.oauth": [OAuthAction.logoutCurrentUser.rawValue],
    "com.salesforce.sfaccountmanager": [AccountAction.logout.rawValue, AccountAction.switchToUser.rawValue],
    "tureen.accounts": [
      AccountsAction.startLogin.rawValue, AccountsAction.finishLogin.rawValue, AccountsAction.cancelLogin.rawValue,
    ],
  ]

  /// - Parameter own: The services that the script has registered.
  /// - Throws: `restricted`. The bridge itself refuses unknown actions.
  static func check(
    _ service: String, _ action: String, own: some Sequence<String>, in plugins: Plugins
  ) throws(BridgeError) {
    if services.contains(service) {
      guard refused[service]?.contains(action) == true, !plugins.allowed.contains(service) else { return }
      throw refusal("action '\(action)' of '\(service)'", service, plugins)
    } else if !own.contains(service), let found = try? plugins.find(service, action), !plugins.isAllowed(found) {
      throw refusal("service '\(service)'", service, plugins)
    }
  }

  private static func refusal(_ what: String, _ service: String, _ plugins: Plugins) -> BridgeError {
    .restricted(what, service: service, allowed: plugins.allowed, to: "an isolated script (--isolated)")
  }
}
