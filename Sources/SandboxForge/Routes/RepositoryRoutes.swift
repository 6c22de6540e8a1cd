import JSON
import SandboxServer

enum RepositoryRoutes {
  static func add(to table: inout RouteTable<ForgeHandler>) {
    for pattern in ["/orgs/:owner/repos", "/users/:owner/repos", "/organizations/:ownerId/repos"] {
      table.add("GET", pattern, list)
    }
    table.add("GET", "/user/repos") { call, state in
      let user = try call.user()
      return try page(call, &state, owner: user.id - 100, idPath: nil)
    }
    table.add("GET", "/repositories", everything)
    table.add("POST", "/orgs/:owner/repos", create)
    for pattern in ["/repos/:owner/:name", "/repositories/:id"] {
      table.add("GET", pattern) { call, state in
        let found = try repository(call, &state)
        return reply(200, found, call, state)
      }
      table.add("PATCH", pattern, update)
      table.add("DELETE", pattern) { call, state in
        let found = try writable(call, &state)
        state.remove(found)
        return .empty(204)
      }
    }
  }

  private static func reply(_ status: Int, _ repository: Repository, _ call: ForgeCall, _ state: ForgeState) -> ServerReply {
    let value = ForgeRenderer(call, state).repository(repository)
    var headers = [(name: "Last-Modified", value: HTTPDate.text(repository.updatedAt))]
    if status == 201, let url = value["url"]?.stringValue { headers.append(("Location", url)) }
    return .forge(status, value, headers: headers)
  }

  // MARK: Finding one

  static func seesPrivate(_ call: ForgeCall, of ownerId: Int64) -> Bool { call.caller?.id == ownerId + 100 }

  /// Finds the repository that the path names.
  ///
  /// - Throws: ``ForgeError`` 404 if it does not exist or is not visible to the caller; 301 if it
  ///   has been renamed, or 307 for a write.
  static func repository(_ call: ForgeCall, _ state: inout ForgeState) throws -> Repository {
    if let id = call.id("id") {
      guard let found = state.repository(id: id), isVisible(found, call) else { throw ForgeError.notFound }
      return found
    }
    guard let owner = state.account(call.parameter("owner")) else { throw ForgeError.notFound }
    let table = state.table(of: owner.id), name = call.parameter("name")
    if let id = table.id(named: name), let found = table.byId[id], isVisible(found, call) { return found }
    if let id = table.id(formerlyNamed: name), let found = table.byId[id], isVisible(found, call) {
      throw moved(to: found, call)
    }
    throw ForgeError.notFound
  }

  private static func isVisible(_ repository: Repository, _ call: ForgeCall) -> Bool {
    !repository.isPrivate || seesPrivate(call, of: repository.ownerId)
  }

  private static func moved(to repository: Repository, _ call: ForgeCall) -> ForgeError {
    let rest = call.request.segments.dropFirst(3).map { "/" + URLCoding.escaped($0) }.joined()
    let query = call.request.query.isEmpty ? "" : "?" + URLCoding.form(call.request.query)
    let isRead = call.request.method == "GET" || call.request.method == "HEAD"
    return ForgeError(
      status: isRead ? 301 : 307, message: isRead ? "Moved Permanently" : "Temporary Redirect",
      headers: [("Location", "\(call.base)/repositories/\(repository.id)\(rest)\(query)")])
  }

  /// Like `repository`, but only for its maintainer.
  ///
  /// - Throws: ``ForgeError`` 401 without a token, 403 for other users.
  static func writable(_ call: ForgeCall, _ state: inout ForgeState) throws -> Repository {
    let user = try call.user()
    let found = try repository(call, &state)
    guard user.id == found.ownerId + 100 else { throw ForgeError.forbidden("Must have admin rights to Repository.") }
    return found
  }

  // MARK: Lists

  private static func list(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let owner = call.id("ownerId").flatMap { state.account(id: $0) } ?? state.account(call.parameter("owner"))
    guard let owner else { throw ForgeError.notFound }
    let idPath = owner.isOrganization ? "/organizations/\(owner.id)/repos" : "/user/\(owner.id)/repos"
    return try page(call, &state, owner: owner.id, idPath: idPath)
  }

  private static func page(
    _ call: ForgeCall, _ state: inout ForgeState, owner: Int64, idPath: String?
  ) throws -> ServerReply {
    var order = RepositoryTable.Order()
    order.key = try call.choice("sort", .created, of: "Repository")
    order.kind = try call.choice("type", .all, of: "Repository")
    order.isAscending = try call.isAscending(unless: order.key == .fullName ? "asc" : "desc", of: "Repository")
    order.seesPrivate = seesPrivate(call, of: owner)
    let ids = state.ids(of: owner, in: order)
    let rows = state.table(of: owner).byId, renderer = ForgeRenderer(call, state), key = order.key
    return try Pager(call, idPath: idPath, isAscending: order.isAscending).reply(
      ids, position: { id in RowPosition(key: rows[id].map { RepositoryTable.key($0, key) } ?? SortKey(), id: id) },
      item: { id in rows[id].map(renderer.repository) ?? .null })
  }

  /// Lists all owners' public repositories by id.
  private static func everything(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    var rows: [Repository] = []
    for owner in state.accounts where owner.isOrganization {
      rows += state.table(of: owner.id).byId.values.filter { !$0.isPrivate }
    }
    rows.sort { $0.id < $1.id }
    return try Pager(call).reply(since: rows, id: \.id, item: ForgeRenderer(call, state).repository)
  }

  // MARK: Changes

  private static func create(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    let user = try call.user()
    guard let owner = state.account(call.parameter("owner")), owner.isOrganization else { throw ForgeError.notFound }
    guard user.id == owner.id + 100 else {
      throw ForgeError.forbidden("You need admin access to the organization before adding a repository to it.")
    }
    var reader = BodyReader(try call.body(), "Repository")
    let name = name(&reader, owner.id, nil, &state)
    if !reader.has("name") { reader.add("name", .missing_field) }
    let (id, serial) = state.newRepositoryId()
    var repository = Repository(
      id: id, serial: serial, ownerId: owner.id, name: name ?? "", isPrivate: false, isFork: false, hasIssues: true,
      hasWiki: true, stars: 0, forks: 0, size: 0, openIssues: 0, createdAt: call.now, updatedAt: call.now, pushedAt: call.now)
    apply(&reader, to: &repository)
    try reader.check()
    state.put(repository)
    return reply(201, repository, call, state)
  }

  private static func update(_ call: ForgeCall, _ state: inout ForgeState) throws -> ServerReply {
    var repository = try writable(call, &state)
    var reader = BodyReader(try call.body(), "Repository")
    if repository.isArchived, !reader.has("archived") {
      throw ForgeError.forbidden("Repository was archived so is read-only.")
    }
    if let name = name(&reader, repository.ownerId, repository.id, &state) { repository.name = name }
    apply(&reader, to: &repository)
    try reader.check()
    repository.updatedAt = call.now
    state.put(repository)
    return reply(200, repository, call, state)
  }

  /// Returns the requested name as it will be stored; nil if it is missing or not possible.
  private static func name(
    _ reader: inout BodyReader, _ owner: Int64, _ own: Int64?, _ state: inout ForgeState
  ) -> String? {
    guard let wish = reader.text("name", upTo: 100) else { return nil }
    let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
    let name = String((wish ?? "").map { allowed.contains($0) ? $0 : "-" })
    guard !name.isEmpty else {
      reader.add("name", .missing_field)
      return nil
    }
    if let other = state.table(of: owner).id(named: name), other != own {
      reader.add("name", .custom, "name already exists on this account")
      return nil
    }
    return name
  }

  private static func apply(_ reader: inout BodyReader, to repository: inout Repository) {
    if let text = reader.text("description") { repository.description = text }
    if let text = reader.text("homepage") { repository.homepage = text }
    if let text = reader.text("default_branch"), let text { repository.defaultBranch = text }
    if let flag = reader.flag("private") { repository.isPrivate = flag }
    if let flag = reader.flag("has_issues") { repository.hasIssues = flag }
    if let flag = reader.flag("has_wiki") { repository.hasWiki = flag }
    if let flag = reader.flag("archived") { repository.isArchived = flag }
  }
}

extension ForgeCall {
  /// - Parameter fallback: The direction if the request has no `direction`.
  func isAscending(unless fallback: String, of resource: String) throws -> Bool {
    let text = request.parameter("direction").flatMap { $0.isEmpty ? nil : $0 } ?? fallback
    guard ["asc", "desc"].contains(text) else {
      throw ForgeError.invalid([.init(resource: resource, field: "direction", code: .invalid)])
    }
    return text == "asc"
  }
}
