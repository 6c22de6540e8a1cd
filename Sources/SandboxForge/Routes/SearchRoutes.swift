import JSON
import SandboxServer

/// Serves `GET /search/repositories` and `/search/issues`. Queries consist of words and the
/// qualifiers `org:`, `user:`, `repo:`, `language:`, `is:`, `state:`, `type:`, `label:` and
/// `author:`. The result is an object; at most 1,000 rows can be reached.
enum SearchRoutes {
  private enum RepositorySort: String { case best, stars, forks, updated }
  private enum IssueSort: String { case best, created, updated, comments }

  static func add(to table: inout RouteTable<ForgeHandler>) {
    table.add("GET", "/search/repositories", repositories)
    table.add("GET", "/search/issues", issues)
  }

  private struct Words {
    var plain: [String] = []
    var qualifiers: [(name: String, value: String)] = []

    func values(_ names: String...) -> [String] { qualifiers.filter { names.contains($0.name) }.map(\.value) }
  }

  private static func words(_ call: ForgeCall) throws -> Words {
    guard let text = call.request.parameter("q"), !text.isEmpty else {
      throw ForgeError.invalid([.init(resource: "Search", field: "q", code: .missing)])
    }
    var words = Words()
    for word in text.lowercased().split(separator: " ") {
      let parts = word.split(separator: ":", maxSplits: 1)
      if parts.count == 2 {
        words.qualifiers.append((String(parts[0]), String(parts[1])))
      } else {
        words.plain.append(String(word))
      }
    }
    return words
  }

  private static func isAscending(_ call: ForgeCall) -> Bool { call.request.parameter("order") == "asc" }

  /// Returns the repositories of the named owners, or of all, that the caller may see.
  private static func candidates(_ words: Words, _ call: ForgeCall, _ state: inout ForgeState) -> [Repository] {
    let owners = words.values("org", "user"), names = words.values("repo")
    var rows: [Repository] = []
    for owner in state.accounts where owner.isOrganization && (owners.isEmpty || owners.contains(owner.login)) {
      let sees = RepositoryRoutes.seesPrivate(call, of: owner.id)
      rows += state.table(of: owner.id).byId.values.filter { repository in
        (sees || !repository.isPrivate) && (names.isEmpty || names.contains("\(owner.login)/\(repository.name.lowercased())"))
      }
    }
    return rows
  }

  private static func repositories(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let words = try words(call), isAscending = isAscending(call)
    let sort: RepositorySort = try call.choice("sort", .best, of: "Search")
    let languages = words.values("language")
    func position(_ row: Repository) -> RowPosition {
      let key: Int64 =
        switch sort {
        case .best: 0
        case .stars: row.stars
        case .forks: row.forks
        case .updated: row.updatedAt
        }
      return RowPosition(key: SortKey(number: key), id: row.id)
    }
    let rows = candidates(words, call, &state).filter { row in
      let text = "\(row.name) \(row.description ?? "")".lowercased()
      return words.plain.allSatisfy(text.contains)
        && (languages.isEmpty || languages.contains(row.language?.lowercased() ?? ""))
    }
    .sorted { isAscending ? position($0) < position($1) : position($0) > position($1) }
    let pager = Pager(call, isAscending: isAscending, wrapper: "items", reach: Tuning.searchedRows)
    return try pager.reply(rows, position: position, item: ForgeRenderer(call, state).repository)
  }

  private static func issues(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let words = try words(call), isAscending = isAscending(call)
    let sort: IssueSort = try call.choice("sort", .best, of: "Search")
    func position(_ row: (Repository, Issue)) -> RowPosition {
      let key: Int64 =
        switch sort {
        case .best: 0
        case .created: row.1.createdAt
        case .updated: row.1.updatedAt
        case .comments: row.1.comments
        }
      return RowPosition(key: SortKey(number: key), id: row.1.id)
    }
    var rows: [(Repository, Issue)] = []
    for repository in candidates(words, call, &state) {
      rows += state.issues(of: repository).filter { isWanted($0, words) }.map { (repository, $0) }
    }
    rows.sort { isAscending ? position($0) < position($1) : position($0) > position($1) }
    let renderer = ForgeRenderer(call, state)
    return try Pager(call, isAscending: isAscending, wrapper: "items", reach: Tuning.searchedRows).reply(
      rows, position: position, item: { renderer.issue($0.1, in: $0.0) })
  }

  private static func isWanted(_ issue: Issue, _ words: Words) -> Bool {
    let text = "\(issue.title) \(issue.body ?? "")".lowercased()
    return words.plain.allSatisfy(text.contains)
      && words.values("is", "state", "type").allSatisfy { word in
        switch word {
        case "open": issue.isOpen
        case "closed": !issue.isOpen
        case "issue": !issue.isPullRequest
        case "pr": issue.isPullRequest
        default: true
        }
      } && words.values("label").allSatisfy(issue.labels.contains) && words.values("author").allSatisfy { $0 == issue.author }
  }
}
