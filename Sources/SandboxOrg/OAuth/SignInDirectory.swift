import Database

/// The users who can sign in, and the clients. Fixed when the org starts. On the org's queue.
struct SignInDirectory {
  struct Person {
    let id: String
    let user: SandboxUser
    /// The path of the user's site; empty for users of the org itself.
    let sitePath: String

    /// - Parameter withToken: The user's security token, if any, follows the password.
    func matches(_ secret: String, withToken: Bool) -> Bool {
      SignInDirectory.equal(secret, user.password + (withToken ? user.securityToken : ""))
    }
  }
  private var people: [String: Person] = [:]
  private var names: [String: String] = [:]
  let sites: [SandboxSite]
  private var clients: [String: SandboxClient] = [:]

  /// Creates missing records of users. In the caller's transaction.
  init(_ configuration: SandboxConfiguration, password: String, clientSecret: String, connection: Connection) throws {
    var caller = SandboxUser(username: configuration.username, password: password)
    caller.isActive = true
    sites = configuration.signIn.sites
    add(caller, id: Users.caller)
    for user in configuration.signIn.users {
      add(user, id: try Self.record(of: user, connection, now: configuration.clock.now()))
    }
    var client = SandboxClient(id: configuration.clientId, secret: clientSecret)
    client.redirectURIs = configuration.redirectURIs
    client.runsAs = configuration.username
    clients[client.id] = client
    for client in configuration.signIn.clients { clients[client.id] = client }
  }

  func client(_ id: String?) -> SandboxClient? { id.flatMap { clients[$0] } }

  /// Finds a user by name; case is ignored.
  func person(_ username: String?) -> Person? { username.flatMap { people[Self.key($0)] } }

  func person(id: String) -> Person? { names[id].flatMap { people[$0] } }

  private mutating func add(_ user: SandboxUser, id: String) {
    let key = Self.key(user.username)
    let site = sites.first { $0.users.contains { Self.key($0) == key } }
    people[key] = Person(id: id, user: user, sitePath: site?.path ?? "")
    names[id] = key
  }

  /// Returns the id by which tokens name the site.
  func communityId(of sitePath: String) -> String? {
    sites.firstIndex { $0.path == sitePath }.map { RecordID.make(prefix: "0DB", sequence: Int64($0 + 1)) }
  }

  /// Compares in constant time for texts of equal length.
  static func equal(_ a: String, _ b: String) -> Bool {
    let left = Array(a.utf8), right = Array(b.utf8)
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func key(_ username: String) -> String { username.lowercased() }

  /// - Returns: The id of the user's record, which is created if it is missing.
  private static func record(of user: SandboxUser, _ connection: Connection, now: Int64) throws -> String {
    let found = try connection.firstValue(
      "SELECT Id FROM \"User\" WHERE Username = ? COLLATE NOCASE", [.text(user.username)])
    if case .text(let id)? = found {
      try connection.run(
        "UPDATE \"User\" SET IsActive = ? WHERE Id = ?", [.integer(user.isActive ? 1 : 0), .text(id)])
      return id
    }
    guard case .integer(let last)? = try connection.firstValue("SELECT max(rowid) FROM \"User\"") else {
      throw SandboxError.unknown("the org has no users")
    }
    let id = RecordID.make(prefix: "005", sequence: last + 1)
    try connection.run(
      "INSERT INTO \"User\" (rowid, Id, Username, FirstName, LastName, Email, Alias, IsActive, UserType, ProfileId, "
        + "TimeZoneSidKey, LocaleSidKey, EmailEncodingKey, LanguageLocaleKey, CommunityNickname, CreatedById, "
        + "LastModifiedById, CreatedDate, LastModifiedDate, SystemModstamp) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
        + "'Standard', ?9, 'GMT', 'en_US', 'UTF-8', 'en_US', ?7, ?10, ?10, ?11, ?11, ?11)",
      [
        .integer(last + 1), .text(id), .text(user.username), user.firstName.isEmpty ? .null : .text(user.firstName),
        .text(user.lastName), .text(user.email), .text(String(user.lastName.prefix(8))),
        .integer(user.isActive ? 1 : 0), .text(RecordID.make(prefix: "00e", sequence: 1)), .text(Users.caller),
        .text(Timestamp.text(now)),
      ])
    return id
  }
}
