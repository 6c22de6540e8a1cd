import JSON
import SandboxServer

/// Serves the comments of an issue and of a repository.
enum CommentRoutes {
  private enum Sort: String { case created, updated }

  static func add(to table: inout RouteTable<ForgeHandler>) {
    for home in ["/repos/:owner/:name", "/repositories/:id"] {
      table.add("GET", home + "/issues/comments", listAll)
      table.add("GET", home + "/issues/comments/:comment") { call, state in
        let (repository, comment) = try one(call, &state)
        return reply(200, comment, repository, call, state)
      }
      table.add("PATCH", home + "/issues/comments/:comment", update)
      table.add("DELETE", home + "/issues/comments/:comment", delete)
      table.add("GET", home + "/issues/:number/comments", list)
      table.add("POST", home + "/issues/:number/comments", create)
    }
  }

  private static func reply(
    _ status: Int, _ comment: Comment, _ repository: Repository, _ call: ForgeCall, _ state: ForgeState
  ) -> ServerReply {
    let value = ForgeRenderer(call, state).comment(comment, in: repository)
    var headers = [(name: "Last-Modified", value: HTTPDate.text(comment.updatedAt))]
    if status == 201, let url = value["url"]?.stringValue { headers.append(("Location", url)) }
    return .forge(status, value, headers: headers)
  }

  private static func one(_ call: ForgeCall, _ state: inout ForgeState) throws -> (Repository, Comment) {
    let repository = try RepositoryRoutes.repository(call, &state)
    let id = call.id("comment")
    guard let found = state.comments(of: repository).first(where: { $0.id == id }) else { throw ForgeError.notFound }
    return (repository, found)
  }

  // MARK: Lists

  /// Lists the comments of one issue, oldest first.
  private static func list(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let (repository, issue) = try IssueRoutes.one(call, &state)
    let since = try call.moment("since", of: "IssueComment") ?? .min
    let rows = state.comments(of: repository).filter { $0.number == issue.number && $0.updatedAt >= since }
      .sorted { $0.id < $1.id }
    let renderer = ForgeRenderer(call, state)
    let idPath = "/repositories/\(repository.id)/issues/\(issue.number)/comments"
    return try Pager(call, idPath: idPath).reply(
      rows, position: { RowPosition(key: SortKey(), id: $0.id) }, item: { renderer.comment($0, in: repository) })
  }

  private static func listAll(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let repository = try RepositoryRoutes.repository(call, &state)
    let sort: Sort = try call.choice("sort", .created, of: "IssueComment")
    let isAscending = try call.isAscending(unless: "asc", of: "IssueComment")
    let since = try call.moment("since", of: "IssueComment") ?? .min
    func position(_ comment: Comment) -> RowPosition {
      RowPosition(key: SortKey(number: sort == .created ? comment.createdAt : comment.updatedAt), id: comment.id)
    }
    let rows = state.comments(of: repository).filter { $0.updatedAt >= since }
      .sorted { isAscending ? position($0) < position($1) : position($0) > position($1) }
    let renderer = ForgeRenderer(call, state)
    let pager = Pager(call, idPath: "/repositories/\(repository.id)/issues/comments", isAscending: isAscending)
    return try pager.reply(rows, position: position, item: { renderer.comment($0, in: repository) })
  }

  // MARK: Changes

  private static func text(_ call: ForgeCall) throws -> String {
    var reader = BodyReader(try call.body(), "IssueComment")
    let text = reader.text("body")
    if !reader.has("body") || text == .some(nil) || text == "" { reader.add("body", .missing_field) }
    try reader.check()
    return (text ?? nil) ?? ""
  }

  private static func create(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let user = try call.user()
    var (repository, issue) = try IssueRoutes.one(call, &state)
    let comment = Comment(
      id: state.newCommentId(), number: issue.number, author: user.login, body: try text(call), createdAt: call.now,
      updatedAt: call.now)
    state.put(comment, in: repository)
    issue.comments += 1
    issue.updatedAt = call.now
    state.put(issue, in: repository)
    repository = state.repository(of: repository.ownerId, id: repository.id) ?? repository
    return reply(201, comment, repository, call, state)
  }

  /// Returns a comment that the caller may change: its author and the repository's maintainer may.
  private static func writable(_ call: ForgeCall, _ state: inout ForgeState) throws -> (Repository, Comment) {
    let user = try call.user()
    let (repository, comment) = try one(call, &state)
    guard user.login == comment.author || user.id == repository.ownerId + 100 else {
      throw ForgeError.forbidden("Must have push access to edit this comment.")
    }
    return (repository, comment)
  }

  private static func update(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    var (repository, comment) = try writable(call, &state)
    comment.body = try text(call)
    comment.updatedAt = call.now
    state.put(comment, in: repository)
    repository = state.repository(of: repository.ownerId, id: repository.id) ?? repository
    return reply(200, comment, repository, call, state)
  }

  private static func delete(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let (repository, comment) = try writable(call, &state)
    state.removeComment(comment.id, of: repository)
    if var issue = state.issue(comment.number, of: repository) {
      issue.comments -= 1
      state.put(issue, in: repository)
    }
    return .empty(204)
  }
}
