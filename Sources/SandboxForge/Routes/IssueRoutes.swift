import JSON
import SandboxServer

/// Serves issues, which include pull requests.
enum IssueRoutes {
  private enum Sort: String { case created, updated, comments }
  private enum State: String { case open, closed, all }

  static func add(to table: inout RouteTable<ForgeHandler>) {
    for home in ["/repos/:owner/:name", "/repositories/:id"] {
      table.add("GET", home + "/issues", list)
      table.add("POST", home + "/issues", create)
      table.add("GET", home + "/issues/:number") { call, state in
        let (repository, issue) = try one(call, &state)
        return reply(200, issue, repository, call, state)
      }
      table.add("PATCH", home + "/issues/:number", update)
    }
  }

  private static func reply(
    _ status: Int, _ issue: Issue, _ repository: Repository, _ call: ForgeCall, _ state: ForgeState
  ) -> ServerReply {
    let value = ForgeRenderer(call, state).issue(issue, in: repository)
    var headers = [(name: "Last-Modified", value: HTTPDate.text(issue.updatedAt))]
    if status == 201, let url = value["url"]?.stringValue { headers.append(("Location", url)) }
    return .forge(status, value, headers: headers)
  }

  /// Finds the issue that the path names.
  static func one(_ call: ForgeCall, _ state: inout ForgeState) throws -> (Repository, Issue) {
    let repository = try RepositoryRoutes.repository(call, &state)
    guard let number = call.id("number"), let issue = state.issue(number, of: repository) else { throw ForgeError.notFound }
    return (repository, issue)
  }

  /// - Throws: ``ForgeError`` 410 if the repository has issues disabled.
  private static func repository(_ call: ForgeCall, _ state: inout ForgeState) throws -> Repository {
    let repository = try RepositoryRoutes.repository(call, &state)
    guard repository.hasIssues else {
      throw ForgeError(status: 410, message: "Issues has been disabled in this repository.")
    }
    return repository
  }

  // MARK: Lists

  private static func list(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let repository = try RepositoryRoutes.repository(call, &state)
    let sort: Sort = try call.choice("sort", .created, of: "Issue")
    let isAscending = try call.isAscending(unless: "desc", of: "Issue")
    func position(_ issue: Issue) -> RowPosition {
      let key = sort == .created ? issue.createdAt : sort == .updated ? issue.updatedAt : issue.comments
      return RowPosition(key: SortKey(number: key), id: issue.number)
    }
    let rows = try wanted(state.issues(of: repository), call)
      .sorted { isAscending ? position($0) < position($1) : position($0) > position($1) }
    let renderer = ForgeRenderer(call, state)
    return try Pager(call, idPath: "/repositories/\(repository.id)/issues", isAscending: isAscending).reply(
      rows, position: position, item: { renderer.issue($0, in: repository) })
  }

  /// Filters issues by the query parameters.
  private static func wanted(_ issues: [Issue], _ call: ForgeCall) throws -> [Issue] {
    let state: State = try call.choice("state", .open, of: "Issue")
    let since = try call.moment("since", of: "Issue")
    let labels = (call.request.parameter("labels") ?? "").split(separator: ",").map { $0.lowercased() }
    let creator = call.request.parameter("creator")?.lowercased()
    let assignee = call.request.parameter("assignee")?.lowercased()
    return issues.filter { issue in
      let own = Set(issue.labels.map { $0.lowercased() })
      let isAssigned =
        switch assignee {
        case nil, ""?: true
        case "none"?: issue.assignees.isEmpty
        case "*"?: !issue.assignees.isEmpty
        case let name?: issue.assignees.contains(name)
        }
      return (state == .all || issue.isOpen == (state == .open)) && issue.updatedAt >= since ?? .min
        && labels.allSatisfy(own.contains) && (creator ?? issue.author) == issue.author && isAssigned
    }
  }

  // MARK: Changes

  private static func create(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let user = try call.user()
    let repository = try repository(call, &state)
    if repository.isArchived { throw ForgeError.forbidden("Repository was archived so is read-only.") }
    var reader = BodyReader(try call.body(), "Issue")
    let title = reader.text("title", upTo: Tuning.titleCharacters)
    if !reader.has("title") || title == .some(nil) || title == "" { reader.add("title", .missing_field) }
    let number = Int64(state.issues(of: repository).count + 1)
    var issue = Issue(
      id: repository.serial * 10_000 + number, number: number, isPullRequest: false, author: user.login,
      title: (title ?? nil) ?? "", labels: [], assignees: [], isOpen: true, comments: 0, createdAt: call.now,
      updatedAt: call.now)
    apply(&reader, to: &issue, state)
    try reader.check()
    state.put(issue, in: repository)
    return reply(201, issue, repository, call, state)
  }

  private static func update(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let user = try call.user()
    var (repository, issue) = try one(call, &state)
    guard user.login == issue.author || user.id == repository.ownerId + 100 else {
      throw ForgeError.forbidden("Must have triage rights to Repository.")
    }
    if repository.isArchived { throw ForgeError.forbidden("Repository was archived so is read-only.") }
    var reader = BodyReader(try call.body(), "Issue")
    if let title = reader.text("title", upTo: Tuning.titleCharacters) {
      if (title ?? "").isEmpty { reader.add("title", .missing_field) } else { issue.title = title ?? "" }
    }
    apply(&reader, to: &issue, state)
    changeState(&reader, &issue, call)
    try reader.check()
    issue.updatedAt = call.now
    state.put(issue, in: repository)
    repository = state.repository(of: repository.ownerId, id: repository.id) ?? repository
    return reply(200, issue, repository, call, state)
  }

  private static func apply(_ reader: inout BodyReader, to issue: inout Issue, _ state: ForgeState) {
    if let text = reader.text("body") { issue.body = text }
    if let names = reader.names("labels") { issue.labels = names }
    guard let names = reader.names("assignees") else { return }
    if names.allSatisfy({ state.account($0) != nil }) { issue.assignees = names } else { reader.add("assignees", .invalid) }
  }

  private static func changeState(_ reader: inout BodyReader, _ issue: inout Issue, _ call: ForgeCall) {
    let reason = reader.text("state_reason") ?? nil
    guard let text = reader.text("state") else { return }
    switch text {
    case "closed":
      if issue.isOpen { issue.closedAt = call.now }
      issue.isOpen = false
      issue.stateReason = reason ?? issue.stateReason ?? "completed"
    case "open":
      if !issue.isOpen { issue.stateReason = reason ?? "reopened" }
      issue.isOpen = true
      issue.closedAt = nil
    default: reader.add("state", .invalid)
    }
  }
}
