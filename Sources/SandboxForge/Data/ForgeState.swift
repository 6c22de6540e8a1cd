import SandboxServer

/// The repositories of one organization, generated on first use.
struct RepositoryTable: Sendable {
  /// A sort order with its filter.
  struct Order: Hashable, Sendable {
    enum Key: String, Sendable { case created, updated, pushed, fullName = "full_name" }
    enum Kind: String, Sendable { case all, `public`, `private`, forks, sources, member }
    var key = Key.created
    var isAscending = false
    var kind = Kind.all
    var seesPrivate = false
  }

  private(set) var byId: [Int64: Repository] = [:]
  /// By current name in lower case. Former names are in `formerNames`.
  private var names: [String: Int64] = [:]
  private var formerNames: [String: Int64] = [:]
  private var orders: [Order: [Int64]] = [:]

  init(_ repositories: [Repository]) {
    byId.reserveCapacity(repositories.count)
    for repository in repositories {
      byId[repository.id] = repository
      names[repository.name.lowercased()] = repository.id
    }
  }

  func id(named name: String) -> Int64? { names[name.lowercased()] }
  func id(formerlyNamed name: String) -> Int64? { formerNames[name.lowercased()].flatMap { byId[$0]?.id } }

  /// Inserts a repository, or replaces it and remembers its former name.
  mutating func put(_ repository: Repository) {
    if let before = byId[repository.id], before.name != repository.name {
      names[before.name.lowercased()] = nil
      formerNames[before.name.lowercased()] = before.id
    }
    byId[repository.id] = repository
    names[repository.name.lowercased()] = repository.id
    formerNames[repository.name.lowercased()] = nil
    orders.removeAll()
  }

  mutating func remove(_ id: Int64) {
    guard let before = byId.removeValue(forKey: id) else { return }
    names[before.name.lowercased()] = nil
    orders.removeAll()
  }

  /// Returns the ids in an order. The result is cached until a repository changes.
  mutating func ids(in order: Order) -> [Int64] {
    if let known = orders[order] { return known }
    let rows = byId.values.filter { Self.belongs($0, order) }
    let keyed = rows.map { (Self.key($0, order.key), $0.id) }
    let sorted = keyed.sorted { order.isAscending ? $0 < $1 : $0 > $1 }.map(\.1)
    orders[order] = sorted
    return sorted
  }

  static func key(_ repository: Repository, _ key: Order.Key) -> SortKey {
    switch key {
    case .created: SortKey(number: repository.createdAt)
    case .updated: SortKey(number: repository.updatedAt)
    case .pushed: SortKey(number: repository.pushedAt)
    case .fullName: SortKey(text: repository.name.lowercased())
    }
  }

  private static func belongs(_ repository: Repository, _ order: Order) -> Bool {
    guard !repository.isPrivate || order.seesPrivate else { return false }
    return switch order.kind {
    case .all, .member: true
    case .public: !repository.isPrivate
    case .private: repository.isPrivate
    case .forks: repository.isFork
    case .sources: !repository.isFork
    }
  }
}

/// The sort key of a list; the id breaks ties.
struct SortKey: Comparable, Sendable {
  var number: Int64 = 0
  var text = ""

  static func < (a: SortKey, b: SortKey) -> Bool { a.number != b.number ? a.number < b.number : a.text < b.text }
}

/// All data of a forge. Issues and comments of a repository are generated on first use.
struct ForgeState: Sendable {
  let accounts = ForgeSeed.accounts
  private var tables: [Int64: RepositoryTable] = [:]
  private var issueLists: [Int64: [Issue]] = [:]
  private var commentLists: [Int64: [Comment]] = [:]
  private var lastRepositoryId = ForgeSeed.firstNewRepositoryId - 1
  private var lastSerial = ForgeSeed.firstNewSerial - 1
  private var lastCommentId: Int64 = 5_000_000_000
  /// How often each list, by its path, was answered with 202 (still being computed).
  var computed: [String: Int] = [:]

  // MARK: Accounts

  func account(_ login: String) -> Account? { accounts.first { $0.login == login.lowercased() } }
  func account(id: Int64) -> Account? { accounts.first { $0.id == id } }

  /// Returns the user who may write in an organization; nil for a user's own id.
  func maintainer(of ownerId: Int64) -> Account? { account(id: ownerId + 100) }

  // MARK: Repositories

  mutating func table(of ownerId: Int64) -> RepositoryTable {
    if let table = tables[ownerId] { return table }
    let index = Int(ownerId) - 1
    let made = RepositoryTable(ForgeSeed.organizations.indices.contains(index) ? ForgeSeed.repositories(of: index) : [])
    tables[ownerId] = made
    return made
  }

  mutating func ids(of ownerId: Int64, in order: RepositoryTable.Order) -> [Int64] {
    _ = table(of: ownerId)
    return tables[ownerId]?.ids(in: order) ?? []
  }

  mutating func repository(of ownerId: Int64, id: Int64) -> Repository? { table(of: ownerId).byId[id] }

  mutating func repository(id: Int64) -> Repository? {
    for owner in accounts where owner.isOrganization {
      if let found = repository(of: owner.id, id: id) { return found }
    }
    return nil
  }

  mutating func put(_ repository: Repository) {
    _ = table(of: repository.ownerId)
    tables[repository.ownerId]?.put(repository)
  }

  mutating func remove(_ repository: Repository) {
    tables[repository.ownerId]?.remove(repository.id)
    issueLists[repository.id] = nil
    commentLists[repository.id] = nil
  }

  mutating func newRepositoryId() -> (id: Int64, serial: Int64) {
    lastRepositoryId += 1
    lastSerial += 1
    return (lastRepositoryId, lastSerial)
  }

  // MARK: Issues

  mutating func issues(of repository: Repository) -> [Issue] {
    if let known = issueLists[repository.id] { return known }
    let made = ForgeSeed.issues(of: repository)
    issueLists[repository.id] = made
    return made
  }

  mutating func issue(_ number: Int64, of repository: Repository) -> Issue? {
    let all = issues(of: repository)
    return number >= 1 && number <= all.count ? all[Int(number) - 1] : nil
  }

  /// Inserts the next issue or replaces an old one, and updates the number of open issues.
  mutating func put(_ issue: Issue, in repository: Repository) {
    var all = issues(of: repository)
    if Int(issue.number) == all.count + 1 { all.append(issue) } else { all[Int(issue.number) - 1] = issue }
    issueLists[repository.id] = all
    var repository = repository
    repository.openIssues = Int64(all.filter(\.isOpen).count)
    put(repository)
  }

  // MARK: Comments

  mutating func comments(of repository: Repository) -> [Comment] {
    if let known = commentLists[repository.id] { return known }
    let made = ForgeSeed.comments(of: repository, ForgeSeed.issues(of: repository))
    commentLists[repository.id] = made
    return made
  }

  mutating func put(_ comment: Comment, in repository: Repository) {
    var all = comments(of: repository)
    if let place = all.firstIndex(where: { $0.id == comment.id }) { all[place] = comment } else { all.append(comment) }
    commentLists[repository.id] = all
  }

  mutating func removeComment(_ id: Int64, of repository: Repository) {
    commentLists[repository.id] = comments(of: repository).filter { $0.id != id }
  }

  mutating func newCommentId() -> Int64 {
    lastCommentId += 1
    return lastCommentId
  }
}
