/// What stands between a right password and a token. By the org's clock, in memory. On the org's queue.
struct SignInGuards {
  var passwords = PasswordLock()
  var rate = LoginRate()
  var addresses = AddressRestrictions()
  var assertions = UsedAssertions()
}

/// Wrong passwords, counted for each user. Salesforce's defaults: ten lock a user for a quarter of an hour.
struct PasswordLock {
  private struct Entry {
    var wrong = 0
    /// Seconds since 1970 UTC.
    var lockedUntil: Int64 = 0
  }
  /// By user id: only users that exist are counted, so that guessed names take no room.
  private var entries: [String: Entry] = [:]

  func isLocked(_ user: String, now: Int64) -> Bool { (entries[user]?.lockedUntil ?? 0) > now }

  mutating func refused(_ user: String, now: Int64) {
    var entry = entries[user] ?? Entry()
    entry.wrong += 1
    if entry.wrong >= Tuning.wrongPasswords { entry = Entry(wrong: 0, lockedUntil: now + Tuning.lockSeconds) }
    entries[user] = entry
  }

  mutating func accepted(_ user: String) { entries[user] = nil }
}

/// Sign-ins of each user within the last hour.
struct LoginRate {
  /// Seconds since 1970 UTC, by user id, oldest first.
  private var times: [String: [Int64]] = [:]

  /// Counts one, unless there are `limit` already.
  mutating func admits(_ user: String, limit: Int, now: Int64) -> Bool {
    var recent = times[user, default: []]
    recent.removeFirst(recent.firstIndex { $0 > now - Tuning.loginRateSeconds } ?? recent.count)
    let isAdmitted = recent.count < limit
    if isAdmitted { recent.append(now) }
    times[user] = recent
    return isAdmitted
  }
}

/// Users and clients that may not come from where they come from.
struct AddressRestrictions {
  /// Lower-case.
  var usernames: Set<String> = []
  var clients: Set<String> = []

  func apply(to username: String?, _ client: String) -> Bool {
    clients.contains(client) || username.map { usernames.contains($0.lowercased()) } == true
  }
}

/// The `jti` of assertions: each is good once.
struct UsedAssertions {
  private var seen: Set<[String]> = []
  private var order: [[String]] = []

  /// - Returns: false when the client has used it before.
  mutating func use(_ id: String, of client: String) -> Bool {
    guard seen.insert([client, id]).inserted else { return false }
    order.append([client, id])
    if order.count > Tuning.rememberedAssertions { seen.remove(order.removeFirst()) }
    return true
  }
}

extension Org {
  /// The user whose name and password these are, unless ten wrong passwords have locked the user.
  /// - Parameters:
  ///   - withToken: The security token stands behind the password.
  ///   - sitePath: Where the user signs in; site users can only there.
  func person(
    _ username: String?, secret: String?, withToken: Bool = true, at sitePath: String
  ) -> SignInDirectory.Person? {
    guard let person = directory.person(username), person.sitePath == sitePath else { return nil }
    let now = configuration.clock.now()
    guard !guards.passwords.isLocked(person.id, now: now) else { return nil }
    guard let secret, person.isRight(secret, withToken: withToken) else {
      guards.passwords.refused(person.id, now: now)
      return nil
    }
    guards.passwords.accepted(person.id)
    return person
  }

  /// The session of an access token, where it can be used: at the org or under the site of its user, and not from an address
  /// that is restricted.
  /// - Parameter sitePath: nil where it does not matter.
  func session(ofAccessToken token: String, at sitePath: String?) -> SessionRegistry.Session? {
    guard let session = sessions.session(ofAccessToken: token) else { return nil }
    let person = directory.person(id: session.grant.user)
    guard sitePath == nil || sitePath == person?.sitePath ?? "" else { return nil }
    return guards.addresses.apply(to: person?.user.username, session.grant.client) ? nil : session
  }
}
