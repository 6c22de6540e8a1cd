import JSON
import Logging
import LuaBridge
import RestClient

/// Implements browser sign-ins for scripts: `startLogin`, `finishLogin` and `cancelLogin` of `tureen.accounts`.
extension Host {
  func startLogin(_ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try capabilities().require("tureen.accounts", for: "accounts.startLogin")
    let login = try login(call), listens = call.value("listen")?.boolValue ?? false
    Host.answer(call, onUpdate) { [logins] in try await logins.start(login, listens: listens) }
  }

  func finishLogin(_ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try capabilities().require("tureen.accounts", for: "accounts.finishLogin")
    let id = call.value("id")?.stringValue ?? "", url = call.value("url")?.stringValue
    let finishing = try logins.finish(id, url: url) { Logger.tureen("login").warning("\($0)") }
    Host.answer(call, onUpdate) { [weak self] in
      let account = try await withTaskCancellationHandler {
        try await finishing.value
      } onCancel: {
        finishing.cancel()
      }
      await self?.adopt(account)
      return account.json
    }
  }

  /// Adopts the new session if it belongs to the current user. For another user the script calls `switchToUser`.
  private func adopt(_ account: LoginAccount) async {
    guard let user = runningCore?.user, user.org.keepsSession, user.org.folder == account.folder,
      user.org.userFolder == account.userFolder
    else { return }
    // If the org cannot be opened now, it reads the stored session later.
    await (try? user.client.account())?.adoptKeptSession()
  }

  func cancelLogin(_ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try capabilities().require("tureen.accounts", for: "accounts.cancelLogin")
    let id = call.value("id")?.stringValue ?? ""
    Host.answer(call, onUpdate) { [logins] in
      await logins.cancel(id)
      return "OK"
    }
  }

  /// - Throws: `invalidArguments` for invalid options, ``HostError`` `.invalidConfiguration` for invalid files.
  private func login(_ call: ActionCall) throws -> Login {
    func text(_ key: String) -> String? { call.value(key)?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }
    var settings = LoginSettings(), (own, home) = try settledSettings()
    (settings.org, settings.loginURL, settings.clientId, settings.user) =
      (text("org"), text("loginUrl"), text("clientId"), text("user"))
    (settings.redirectURI, settings.scope, settings.prompt) = (text("redirectUri"), text("scope"), text("prompt"))
    settings.replacesOrg = call.value("newOrg")?.boolValue ?? false
    settings.flow = LoginFlow.browser.rawValue
    settings.configDirectory = own.configDirectory
    // A login URL refers to the org there, not to this host's current org.
    if settings.loginURL != nil { own.org = nil }
    return try Login(settings, home: home, own)
  }
}

extension LoginUsageError: BridgeErrorConvertible {
  public var bridgeError: BridgeError {
    BridgeError(domain: "bridge", code: BridgeError.Code.invalidArguments.rawValue, message: description)
  }
}
