import JSON
import SandboxServer

/// Serves users, organizations, the rate limits and the root.
enum AccountRoutes {
  static func add(to table: inout RouteTable<ForgeHandler>) {
    table.add("GET", "/") { call, _ in
      .forge(
        200,
        [
          "current_user_url": .string("\(call.base)/user"), "organization_url": .string("\(call.base)/orgs/{org}"),
          "rate_limit_url": .string("\(call.base)/rate_limit"),
          "repository_url": .string("\(call.base)/repos/{owner}/{repo}"),
        ])
    }
    table.add("GET", "/user") { call, state in
      let user = try call.user()
      return user.reply(ForgeRenderer(call, state).wholeAccount(user, repositories: 0))
    }
    table.add("GET", "/users/:login") { call, state in try one(call, &state) { $0.account($1.parameter("login")) } }
    table.add("GET", "/users") { call, state in try list(call, state) { _ in true } }
    table.add("GET", "/organizations") { call, state in try list(call, state) { $0.isOrganization } }
    table.add("GET", "/orgs/:login") { call, state in
      guard let account = state.account(call.parameter("login")), account.isOrganization else { throw ForgeError.notFound }
      return organization(account, call, &state)
    }
    table.add("GET", "/organizations/:id") { call, state in
      guard let account = call.id("id").flatMap({ state.account(id: $0) }), account.isOrganization else {
        throw ForgeError.notFound
      }
      return organization(account, call, &state)
    }
    table.add("GET", "/user/orgs") { call, state in
      let user = try call.user()
      let mine = state.accounts.filter { $0.isOrganization && $0.id + 100 == user.id }
      return .forge(200, .array(mine.map(ForgeRenderer(call, state).account)))
    }
  }

  /// Adds the route that must come after all others below `/user`.
  static func addLast(to table: inout RouteTable<ForgeHandler>) {
    table.add("GET", "/user/:id") { call, state in
      try one(call, &state) { state, call in call.id("id").flatMap { state.account(id: $0) } }
    }
  }

  private static func organization(_ account: Account, _ call: ForgeCall, _ state: inout ForgeState) -> ServerReply {
    let count = state.ids(of: account.id, in: .init()).count
    return account.reply(ForgeRenderer(call, state).organization(account, repositories: count))
  }

  private static func one(
    _ call: ForgeCall, _ state: inout ForgeState, _ find: (ForgeState, ForgeCall) -> Account?
  ) throws -> ServerReply {
    guard let account = find(state, call) else { throw ForgeError.notFound }
    let count = account.isOrganization ? state.ids(of: account.id, in: .init()).count : 0
    return account.reply(ForgeRenderer(call, state).wholeAccount(account, repositories: count))
  }

  private static func list(
    _ call: ForgeCall, _ state: ForgeState, _ belongs: (Account) -> Bool
  ) throws -> ServerReply {
    let rows = state.accounts.filter(belongs).sorted { $0.id < $1.id }
    return try Pager(call).reply(since: rows, id: \.id, item: ForgeRenderer(call, state).account)
  }
}

extension Account {
  func reply(_ value: JSONValue) -> ServerReply {
    .forge(200, value, headers: [("Last-Modified", HTTPDate.text(updatedAt))])
  }
}
