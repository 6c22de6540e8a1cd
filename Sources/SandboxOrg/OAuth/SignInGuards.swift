/// Checks between a correct password and a token. By the org's clock, in memory. On the org's
/// queue.
struct SignInGuards {
  var passwords = PasswordLock()
  var rate = LoginRate()
  var addresses = AddressRestrictions()
  var assertions = UsedAssertions()
}

/// Counts wrong passwords per user. By default, as in Salesforce, ten lock a user for 15 minutes.
struct PasswordLock {
  private struct Entry {
    var wrong = 0
    /// Seconds since 1970 UTC.
    var lockedUntil: Int64 = 0
  }
  /// By user id. Only existing users are counted, so that guessed names take no memory.
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

/// Tracks the sign-ins of each user within the last hour.
struct LoginRate {
  /// Seconds since 1970 UTC by user id, oldest first.
  private var times: [String: [Int64]] = [:]

  /// Counts a sign-in; returns false if there are already `limit`.
  mutating func admits(_ user: String, limit: Int, now: Int64) -> Bool {
    var recent = times[user, default: []]
    recent.removeFirst(recent.firstIndex { $0 > now - Tuning.loginRateSeconds } ?? recent.count)
    let isAdmitted = recent.count < limit
    if isAdmitted { recent.append(now) }
    times[user] = recent
    return isAdmitted
  }
}

/// Users and clients whose network addresses are restricted.
struct AddressRestrictions {
  /// In lower case.
  var usernames: Set<String> = []
  var clients: Set<String> = []

  func apply(to username: String?, _ client: String) -> Bool {
    clients.contains(client) || username.map { usernames.contains($0.lowercased()) } == true
  }
}

/// Remembers the `jti` of assertions; each can be used once.
struct UsedAssertions {
  private var seen: Set<[String]> = []
  private var order: [[String]] = []

  /// - Returns: False if the client has used it before.
  mutating func use(_ id: String, of client: String) -> Bool {
    guard seen.insert([client, id]).inserted else { return false }
    order.append([client, id])
    if order.count > Tuning.rememberedAssertions { seen.remove(order.removeFirst()) }
    return true
  }
}

extension Org {
  /// Returns the user with this name and password, unless wrong passwords have locked the user.
  ///
  /// - Parameters:
  ///   - withToken: The security token follows the password.
  ///   - sitePath: Where the user signs in; site users can only sign in at their site.
  func person(
    _ username: String?, secret: String?, withToken: Bool = true, at sitePath: String
  ) -> SignInDirectory.Person? {
    guard let person = directory.person(username), person.sitePath == sitePath else { return nil }
    let now = configuration.clock.now()
    guard !guards.passwords.isLocked(person.id, now: now) else { return nil }
    guard let secret, person.matches(secret, withToken: withToken) else {
      guards.passwords.refused(person.id, now: now)
      return nil
    }
    guards.passwords.accepted(person.id)
    return person
  }

  /// Returns the session of an access token if it is usable here: at the org or under its user's
  /// site, and not from a restricted address.
  ///
  /// - Parameter sitePath: nil to accept any site.
  func session(ofAccessToken token: String, at sitePath: String?) -> SessionRegistry.Session? {
    guard let session = sessions.session(ofAccessToken: token) else { return nil }
    let person = directory.person(id: session.grant.user)
    guard sitePath == nil || sitePath == person?.sitePath ?? "" else { return nil }
    return guards.addresses.apply(to: person?.user.username, session.grant.client) ? nil : session
  }
}
