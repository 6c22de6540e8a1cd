import JSON
import SandboxServer
import Synchronization

typealias ForgeHandler = @Sendable (ForgeCall, inout ForgeState) throws -> ServerReply

/// GitHub's REST API as a service of a pretend server: under a path such as `/api/v3`, as in GitHub
/// Enterprise Server, or on its own server, as `api.github.com`.
package final class ForgeService: ServerService {
  /// The path under which the command mounts the forge; clients of GitHub Enterprise Server expect
  /// it.
  package static let mountPath = "/api/v3"

  /// The only API version.
  private static let version = "2022-11-28"

  private struct Core {
    var state = ForgeState()
    var limits = RateLimits()
    var wrongTokens = WrongTokens()
    var settings: ForgeSettings
  }
  private struct Binding {
    var clock: any SandboxClock = SystemSandboxClock()
    var url = ""
  }

  private let core: Mutex<Core>
  private let first: ForgeSettings
  private let binding = Mutex(Binding())
  private let routes: RouteTable<ForgeHandler>
  /// Logins by token.
  private let logins: [String: String]
  /// The users' tokens by login: `ada`, `ben` and `cleo` maintain one organization each. Secrets.
  package let tokens: [String: String]

  /// - Parameter tokens: Tokens by login; missing ones are generated.
  package init(settings: ForgeSettings = .init(), tokens: [String: String] = [:]) {
    first = settings
    core = Mutex(Core(settings: settings))
    var all: [String: String] = [:]
    for organization in ForgeSeed.organizations {
      all[organization.user] = tokens[organization.user] ?? "ghp_" + RandomText.make(36)
    }
    self.tokens = all
    logins = Dictionary(all.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
    var table = RouteTable<ForgeHandler>()
    AccountRoutes.add(to: &table)
    RepositoryRoutes.add(to: &table)
    CommentRoutes.add(to: &table)
    IssueRoutes.add(to: &table)
    SearchRoutes.add(to: &table)
    AccountRoutes.addLast(to: &table)
    routes = table
  }

  /// The mount that the command uses.
  package var mount: Mount { Mount(.prefix(Self.mountPath), self) }

  package var settings: ForgeSettings {
    get { core.withLock { $0.settings } }
    set { core.withLock { $0.settings = newValue } }
  }

  package var faultKinds: [FaultKind] { ForgeFaultKinds.all }
  package static let controlActions = ["forge"]
  package var controlActions: [String] { Self.controlActions }

  package func begin(clock: any SandboxClock, url: String) {
    binding.withLock { binding in
      // Report the first base address.
      binding = Binding(clock: clock, url: binding.url.isEmpty ? url : binding.url)
    }
  }

  /// The base address for clients.
  package var url: String { binding.withLock { $0.url } }

  /// Runs `forge`: changes the given settings and returns all of them, the base address and the
  /// tokens.
  package func control(_ action: String, _ arguments: ControlArguments) throws -> JSONValue? {
    guard action == "forge" else { return nil }
    return try core.withLock { core in
      var settings = core.settings
      try settings.apply(arguments)
      core.settings = settings
      var told = settings.json
      told["url"] = .string(url)
      told["tokens"] = .object(JSONObject(tokens.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
      return .object(told)
    }
  }

  /// Restores the initial data and settings, and resets the request counts. Keeps the tokens.
  package func reset(_ arguments: ControlArguments = ControlArguments([:])) { core.withLock { $0 = Core(settings: first) } }

  package func refusal(_ refusal: ServerRefusal) -> ServerReply {
    ForgeError(status: refusal.status, message: refusal.message).reply
  }

  package func reply(to request: ServerRequest) async -> ServerReply {
    let reply: ServerReply
    do {
      let plain = try ContentCoding.decoded(request, limit: bodyLimit(for: request))
      reply = try checked(plain)
    } catch let error as ForgeError {
      reply = error.reply
    } catch let error as SandboxError {
      reply = ForgeError(status: error.status, message: error.message).reply
    } catch {
      reply = ForgeError(status: 500, message: "Server Error").reply
    }
    return ContentCoding.encoded(reply, for: request)
  }

  // MARK: Steps

  private func checked(_ request: ServerRequest) throws -> ServerReply {
    let agent = request.header("user-agent") ?? ""
    guard agent.contains(where: { $0.isLetter }) else {
      return .text(
        403,
        "Request forbidden by administrative rules. Please make sure your request has a User-Agent header "
          + "(https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required).\n")
    }
    if let version = request.header("x-github-api-version"), version != Self.version {
      throw ForgeError(status: 400, message: "\"\(version)\" is not a supported version.")
    }
    if let avatar = Avatar.reply(to: request) { return avatar }
    return core.withLock { core in answer(request, &core) }
  }

  /// Authenticates the caller, checks the limits, answers, and counts the request.
  private func answer(_ request: ServerRequest, _ core: inout Core) -> ServerReply {
    let now = binding.withLock { $0.clock }.now()
    let caller: Account?
    do {
      caller = try self.caller(of: request, &core, at: now)
    } catch {
      return (error as? ForgeError ?? .badCredentials).reply
    }
    let settings = ForgeFaultKinds.settings(core.settings, for: request)
    let login = caller?.login ?? ""
    let resource: RateLimits.Resource = request.segments.first == "search" ? .search : .core
    if request.segments == ["rate_limit"] { return limits(login, &core, settings, at: now) }
    let window = core.limits.window(login, resource, settings, at: now)
    var reply: ServerReply
    if let refusal = refusal(request, login, window, &core, settings, at: now) {
      reply = refusal
      reply.headers += window.headers(resource)
    } else {
      let call = ForgeCall(
        request: request, parameters: [:], caller: caller, settings: settings,
        now: now + ForgeFaultKinds.stampSkew(of: request))
      reply = finished(routed(call, &core.state), call)
      // A 304 does not count towards the limit of a signed-in caller.
      let isFree = reply.status == 304 && caller != nil
      let counted = isFree ? window : core.limits.count(login, resource, settings, at: now)
      reply.headers += counted.headers(resource)
    }
    reply.user = caller?.login
    return reply
  }

  private func caller(of request: ServerRequest, _ core: inout Core, at now: Int64) throws -> Account? {
    guard let header = request.header("authorization") else { return nil }
    guard !core.wrongTokens.refuses(at: now) else {
      throw ForgeError.forbidden("Maximum number of login attempts exceeded. Please try again later.")
    }
    let parts = header.split(separator: " ", maxSplits: 1)
    if parts.count == 2, ["bearer", "token"].contains(parts[0].lowercased()), let login = logins[String(parts[1])],
      let account = core.state.account(login)
    {
      return account
    }
    core.wrongTokens.add(at: now)
    throw ForgeError.badCredentials
  }

  // MARK: Limits

  private func limits(_ login: String, _ core: inout Core, _ settings: ForgeSettings, at now: Int64) -> ServerReply {
    var resources: JSONObject = [:]
    for resource in RateLimits.Resource.allCases {
      resources[resource.rawValue] = core.limits.window(login, resource, settings, at: now).json
    }
    let window = core.limits.window(login, .core, settings, at: now)
    var reply = ServerReply.forge(200, ["resources": .object(resources), "rate": window.json])
    reply.headers += window.headers(.core) + [("Cache-Control", "no-cache")]
    reply.user = login.isEmpty ? nil : login
    return reply
  }

  private func refusal(
    _ request: ServerRequest, _ login: String, _ window: RateLimits.Window, _ core: inout Core, _ settings: ForgeSettings,
    at now: Int64
  ) -> ServerReply? {
    guard window.remaining > 0 else {
      let name = login.isEmpty ? "127.0.0.1" : "user ID \(core.state.account(login)?.id ?? 0)"
      return ForgeError(status: settings.limitStatus, message: "API rate limit exceeded for \(name).").reply
    }
    let isWrite = !["GET", "HEAD", "OPTIONS"].contains(request.method)
    guard let seconds = core.limits.spend(login, isWrite: isWrite, settings, at: now) else { return nil }
    return ForgeError.secondaryLimit(settings.limitStatus, settings.limitTells ? seconds : nil).reply
  }

  // MARK: The answer

  private func routed(_ call: ForgeCall, _ state: inout ForgeState) -> ServerReply {
    do {
      guard call.request.path == call.request.mountPath + "/" || !call.request.path.hasSuffix("/"),
        case .found(let match) = routes.outcome(call.request.method, call.request.segments)
      else { throw ForgeError.notFound }
      let known = ForgeCall(
        request: call.request, parameters: match.parameters, caller: call.caller, settings: call.settings, now: call.now)
      if isComputing(known, match.parameters, &state) { return .empty(202) }
      return try match.handler(known, &state)
    } catch {
      return (error as? ForgeError ?? ForgeError(status: 500, message: "Server Error")).reply
    }
  }

  /// Answers 202 to the first requests for a list, as often as the settings say.
  private func isComputing(_ call: ForgeCall, _ parameters: [String: String], _ state: inout ForgeState) -> Bool {
    let lists: Set = ["repos", "issues", "comments", "repositories", "users", "organizations"]
    guard call.settings.computing > 0, call.request.method == "GET", lists.contains(call.request.segments.last ?? "") else {
      return false
    }
    let count = state.computed[call.request.path] ?? 0
    state.computed[call.request.path] = count + 1
    return count < call.settings.computing
  }

  /// Adds validators, and answers 304 if the client's copy is still valid.
  private func finished(_ answer: ServerReply, _ call: ForgeCall) -> ServerReply {
    var reply = answer
    let visibility = call.caller == nil ? "public" : "private"
    let shared = [
      (name: "Cache-Control", value: call.settings.cacheControl ?? "\(visibility), max-age=\(Tuning.freshSeconds), s-maxage=60"),
      (name: "Vary", value: call.settings.vary), (name: "X-GitHub-Media-Type", value: "github.v3; format=json"),
      (name: "X-GitHub-Api-Version-Selected", value: Self.version),
    ]
    reply.headers += shared
    guard reply.status == 200, ["GET", "HEAD"].contains(call.request.method) else { return reply }
    let modified = reply.headers.first { $0.name == "Last-Modified" }?.value
    guard !call.settings.hidesValidators else {
      reply.headers.removeAll { $0.name == "Last-Modified" }
      return reply
    }
    let tag = Self.tag(of: reply, call)
    reply.headers.append(("ETag", tag))
    guard Self.isUnchanged(call.request, tag, modified) else { return reply }
    // Like GitHub, a 304 does not repeat the other headers, not even `Link`.
    var headers = shared + [(name: "ETag", value: tag)]
    if let modified { headers.append(("Last-Modified", modified)) }
    return ServerReply(status: 304, headers: headers, body: [])
  }

  /// Computes the tag of the content, the `Accept` header and the caller; a repository has the same
  /// tag by name and by id.
  private static func tag(of reply: ServerReply, _ call: ForgeCall) -> String {
    var content = reply.body + Array("\(call.caller?.login ?? "") \(call.request.header("accept") ?? "")".utf8)
    if call.settings.tagCoversLinks {
      for (name, value) in reply.headers where name == call.settings.linkName { content += Array(" \(value)".utf8) }
    }
    return "W/" + EntityTag.of(content)
  }

  private static func isUnchanged(_ request: ServerRequest, _ tag: String, _ modified: String?) -> Bool {
    func opaque(_ tag: some StringProtocol) -> String {
      let trimmed = tag.drop { $0 == " " }
      return String(trimmed.hasPrefix("W/") ? trimmed.dropFirst(2) : trimmed[...])
    }
    if let given = request.header("if-none-match") {
      return given.split(separator: ",").contains { opaque($0) == opaque(tag) || opaque($0) == "*" }
    }
    guard let since = request.header("if-modified-since").flatMap(HTTPDate.seconds(parsing:)),
      let modified = modified.flatMap(HTTPDate.seconds(parsing:))
    else { return false }
    return modified <= since
  }
}

extension ForgeError {
  /// - Parameter seconds: The value of `retry-after`; nil omits the header.
  static func secondaryLimit(_ status: Int, _ seconds: Int64?) -> ForgeError {
    ForgeError(
      status: status,
      message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
      headers: seconds.map { [("Retry-After", "\($0)")] } ?? [])
  }
}
