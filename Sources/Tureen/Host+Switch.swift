import JSON
import LuaBridge
import RestClient

/// Implements `switchToUser`, which makes another account of the home the current one.
extension Host {
  /// Switches the host to another user. Returns at once if that user is already the current one.
  ///
  /// Blocks. The bridge runs it exclusively: after the calls that were accepted before it, and before later ones.
  /// - Throws: ``HostError`` `.noSuchUser`, `.unsupported`; `restricted`. Nothing has changed then.
  func switchUser(_ call: ActionCall) throws {
    let core = try core(), user = core.user
    guard let userId = call.value("userId")?.stringValue, let orgId = call.value("orgId")?.stringValue else {
      throw HostError(
        .unsupported,
        "switchToUser needs userId and orgId of an account, as getUsers lists them: no page to sign in opens here; "
          + "`tureen login` signs another user in")
    }
    let (current, chosen) = try Blocking.run { try await core.choice(userId, orgId, user) }
    if current?.isUser(userId, orgId) == true { return }
    try capabilities().require("com.salesforce.sfaccountmanager", for: "sfaccountmanager.switchToUser")
    guard core.parts.visibleAccounts == .home else {
      throw HostError(
        .unsupported, "this host shows only its current account; set accounts = \"home\" to allow switching")
    }
    guard let chosen else {
      throw HostError(
        .noSuchUser,
        "no account of this home is user '\(userId)' of org '\(orgId)', or its session has ended: sign in with `tureen login`")
    }
    let limit = WaitLimit()
    call.cancellation?.onClosing {
      user.calls.giveUp()
      limit.end()
    }
    try core.switchUser(to: chosen, from: current, limit: limit)
  }
}

extension HostCore {
  /// Returns the current account (nil if no user is signed in) and the requested one (nil if it does not exist).
  fileprivate func choice(
    _ userId: String, _ orgId: String, _ user: ActiveUser
  ) async throws -> (current: Account?, chosen: HomeAccount?) {
    // A switch must be possible even if the current org cannot be opened.
    let current = try? await Account.current(user)
    guard current?.isUser(userId, orgId) != true else { return (current, nil) }
    let accounts = try await others(than: current == nil ? nil : user)
    return (current, accounts.first { Account($0).isUser(userId, orgId) })
  }
}
