import JSON
import LuaBridge
import RestClient

/// `switchToUser`: another account of the home becomes the current one.
extension Host {
  /// Returns when the whole host works for the other user, at once when it is the current one already.
  ///
  /// Blocks. The bridge runs it alone, after the calls that it accepted before and before the later ones.
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
    try refuseWhenRestricted("sfaccountmanager.switchToUser")
    guard core.parts.visibleAccounts == .home else {
      throw HostError(
        .unsupported, "this host shows its current account alone; with accounts = \"home\" it may switch to others")
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
  /// Who is current, nil when no user is signed in, and the account that a script asks for, nil when there is none.
  fileprivate func choice(
    _ userId: String, _ orgId: String, _ user: ActiveUser
  ) async throws -> (current: Account?, chosen: HomeAccount?) {
    // Leaving works also when the org cannot be opened.
    let current = try? await Account.current(user)
    guard current?.isUser(userId, orgId) != true else { return (current, nil) }
    let accounts = try await others(than: current == nil ? nil : user)
    return (current, accounts.first { Account($0).isUser(userId, orgId) })
  }
}
