import SandboxServer

/// The data a forge has at its start, always the same. Each item is generated from its number
/// alone, on demand.
enum ForgeSeed {
  struct Organization: Sendable {
    let login: String
    let name: String
    let repositories: Int
    /// The user who may write there.
    let user: String
    let firstRepositoryId: Int64
  }

  /// The second organization's repository ids are too large for a floating-point number.
  static let organizations = [
    Organization(login: "acme", name: "Acme Works", repositories: 30, user: "ada", firstRepositoryId: 1_296_269),
    Organization(
      login: "orchard", name: "Orchard Tools", repositories: 250, user: "ben", firstRepositoryId: 9_007_199_254_741_001),
    Organization(login: "harbor", name: "Harbor Archive", repositories: 12_000, user: "cleo", firstRepositoryId: 50_000_001),
  ]

  /// The first ids of records that clients create.
  static let firstNewRepositoryId: Int64 = 900_000_001, firstNewSerial: Int64 = 1_000_000

  private static let start: Int64 = 1_420_070_400  // 2015-01-01
  private static let end: Int64 = 1_767_225_600  // 2026-01-01

  /// The organizations have the ids 1, 2 and 3, their users 101, 102 and 103.
  static var accounts: [Account] {
    organizations.enumerated().flatMap { index, organization in
      let id = Int64(index + 1)
      return [
        Account(
          id: id, login: organization.login, isOrganization: true, name: organization.name, createdAt: start,
          updatedAt: start + id * 86_400),
        Account(
          id: 100 + id, login: organization.user, isOrganization: false,
          name: organization.user.prefix(1).uppercased() + organization.user.dropFirst() + " Keeper", createdAt: start,
          updatedAt: start + id * 86_400),
      ]
    }
  }

  // MARK: Repositories

  static func repositories(of index: Int) -> [Repository] {
    (0..<organizations[index].repositories).map { repository(index, $0) }
  }

  private static func random(_ organization: Int, _ number: Int, _ salt: UInt64 = 0) -> SeedRandom {
    var first = SeedRandom(UInt64(organization + 1) << 40 ^ UInt64(number) << 8 ^ salt)
    return SeedRandom(first.next())
  }

  private static func repository(_ organization: Int, _ number: Int) -> Repository {
    var random = random(organization, number)
    let serial = Int64(organization + 1) * 20_000 + Int64(number)
    let hasIssues = number % 11 != 5
    let issues = hasIssues ? issueCount(organization, number) : 0
    let createdAt = start + Int64(number) * 20_000
    // Some neighbours share the second of their last change.
    let changed = number % 7 == 3 ? number - 1 : number
    return Repository(
      id: organizations[organization].firstRepositoryId + Int64(number), serial: serial, ownerId: Int64(organization + 1),
      name: "\(random.pick(adjectives))-\(random.pick(nouns))-\(number + 1)",
      description: random.chance(12) ? nil : "\(random.pick(purposes)) for \(random.pick(nouns))s",
      homepage: random.chance(20) ? "https://\(random.pick(nouns)).example" : nil,
      language: random.chance(11) ? nil : random.pick(languages), isPrivate: number % 10 == 9, isFork: number % 8 == 6,
      hasIssues: hasIssues, hasWiki: random.chance(60), stars: Int64(random.below(5_000)),
      forks: Int64(random.below(400)), size: Int64(random.below(90_000)),
      openIssues: Int64((0..<issues).filter { isOpen($0 + 1) }.count),
      topics: random.chance(50) ? [random.pick(nouns), random.pick(adjectives)] : [],
      createdAt: createdAt, updatedAt: stamp(organization, changed, 1), pushedAt: stamp(organization, changed, 2))
  }

  private static func stamp(_ organization: Int, _ number: Int, _ salt: UInt64) -> Int64 {
    var random = random(organization, number, salt)
    return min(end, start + Int64(number) * 20_000 + Int64(random.below(90_000_000)))
  }

  // MARK: Issues

  /// The first repository of an organization has many issues, every third one has none.
  private static func issueCount(_ organization: Int, _ number: Int) -> Int {
    if number == 0 { return 120 }
    if number % 3 == 1 { return 0 }
    var random = random(organization, number, 3)
    return random.below(13)
  }

  private static func isOpen(_ number: Int) -> Bool { number % 3 != 0 }
  private static func commentCount(_ number: Int) -> Int { number % 3 }

  static func issues(of repository: Repository) -> [Issue] {
    guard repository.serial < firstNewSerial, repository.hasIssues else { return [] }
    let organization = Int(repository.serial / 20_000) - 1, place = Int(repository.serial % 20_000)
    let author = organizations[organization].user
    return (0..<issueCount(organization, place)).map { index in
      let number = index + 1
      var random = random(organization, place * 1_000 + number, 4)
      let createdAt = min(end - 1, repository.createdAt + Int64(number) * 3_600)
      let updatedAt = min(end, createdAt + Int64(random.below(7_776_000)))
      return Issue(
        id: repository.serial * 10_000 + Int64(number), number: Int64(number), isPullRequest: number % 4 == 0,
        author: number % 5 == 0 ? "ada" : author, title: "\(random.pick(purposes)) fails with \(random.pick(nouns))",
        body: random.chance(25) ? nil : "Seen on \(random.pick(languages)), \(random.pick(adjectives)).",
        labels: number % 2 == 0 ? [random.pick(labels)] : [], assignees: number % 6 == 0 ? [author] : [],
        isOpen: isOpen(number), stateReason: isOpen(number) ? nil : "completed", comments: Int64(commentCount(number)),
        createdAt: createdAt, updatedAt: updatedAt, closedAt: isOpen(number) ? nil : updatedAt)
    }
  }

  static func comments(of repository: Repository, _ issues: [Issue]) -> [Comment] {
    issues.flatMap { issue in
      (0..<commentCount(Int(issue.number))).map { place in
        let at = min(issue.updatedAt, issue.createdAt + Int64(place + 1) * 600)
        return Comment(
          id: issue.id * 100 + Int64(place), number: issue.number, author: issue.author,
          body: "Comment \(place + 1) on \(issue.number).", createdAt: at, updatedAt: at)
      }
    }
  }

  // MARK: Words

  static let labels = ["bug", "enhancement", "question", "documentation"]
  private static let languages = ["Swift", "Lua", "C", "Python", "Go", "Rust", "TypeScript", "Ruby", "C++", "Java"]
  private static let purposes = [
    "A parser", "A small library", "Bindings", "A command", "A daemon", "Examples", "A client", "A cache", "Test data", "A theme",
  ]
  private static let adjectives = [
    "amber", "brisk", "calm", "dusty", "eager", "faded", "gentle", "hollow", "icy", "jolly", "keen", "lucky", "mellow", "noble",
    "oaken", "proud", "quiet", "rusty", "silver", "tidy", "upper", "vivid", "windy", "young",
  ]
  private static let nouns = [
    "anchor", "beacon", "canyon", "dune", "ember", "falcon", "glacier", "heron", "island", "jetty", "kettle", "lantern", "meadow",
    "nest", "orbit", "pebble", "quarry", "river", "signal", "tundra", "urchin", "valley", "willow", "zenith",
  ]
}
