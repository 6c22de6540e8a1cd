import JSON
import SandboxServer
import Synchronization

/// A Parse server as a service of a pretend server.
package final class ParseService: ServerService {
  /// The mount paths: parse-server's default, then the one of old installations.
  package static let mountPaths = ["/parse", "/1"]
  package static let controlActions = ["parse"]

  private struct Core {
    /// nil until first use.
    var state: ParseState?
    /// Whether the server starts with the library data.
    var isSeeded: Bool
    var settings: ParseSettings
  }
  private struct Binding {
    var clock: any SandboxClock = SystemSandboxClock()
    var url = ""
  }

  package let keys: ParseKeys
  private let core: Mutex<Core>
  private let first: ParseSettings
  private let binding = Mutex(Binding())
  private let routes: RouteTable<ParseHandler>

  /// - Parameter isSeeded: Whether the server starts with the library data.
  package init(settings: ParseSettings = .init(), keys: ParseKeys = .init(), isSeeded: Bool = true) {
    first = settings
    self.keys = keys
    core = Mutex(Core(isSeeded: isSeeded, settings: settings))
    var table = RouteTable<ParseHandler>()
    AccountRoutes.add(to: &table)
    ClassRoutes.add(to: &table)
    SchemaRoutes.add(to: &table)
    AdminRoutes.add(to: &table)
    routes = table
  }

  /// The mounts that the command uses.
  package var mounts: [Mount] { Self.mountPaths.map { Mount(.prefix($0), self) } }

  package var settings: ParseSettings {
    get { core.withLock { $0.settings } }
    set { core.withLock { $0.settings = newValue } }
  }

  package var faultKinds: [FaultKind] { ParseFaultKinds.all }
  package var controlActions: [String] { Self.controlActions }
  package func bodyLimit(for request: ServerRequest) -> Int { Tuning.bodyBytes }

  package func begin(clock: any SandboxClock, url: String) {
    binding.withLock { binding in
      // Report the first base address.
      binding = Binding(clock: clock, url: binding.url.isEmpty ? url : binding.url)
    }
  }

  /// The server URL for clients.
  package var url: String { binding.withLock { $0.url } }

  /// Runs `parse`: changes the given settings and returns all of them, the server URL, the
  /// application id and the keys.
  package func control(_ action: String, _ arguments: ControlArguments) throws -> JSONValue? {
    guard action == "parse" else { return nil }
    return try core.withLock { core in
      var settings = core.settings
      try settings.apply(arguments)
      core.settings = settings
      var reported = settings.json
      reported["url"] = .string(url)
      for (name, value) in keys.json { reported[name] = value }
      return .object(reported)
    }
  }

  /// Restores the initial settings and removes all data but the built-in classes; `{"seed":true}`
  /// restores the library data, too. Keeps the keys.
  package func reset(_ arguments: ControlArguments) throws {
    let isSeeded = try arguments.optionalFlag("seed") ?? false
    core.withLock { $0 = Core(isSeeded: isSeeded, settings: first) }
  }

  package func isSecret(_ request: ServerRequest) -> Bool {
    let names: Set = ["login", "users", "sessions", "loginas"]
    if names.contains(request.segments.first?.lowercased() ?? "") { return true }
    // If the headers have no keys, the body has them, and tokens, too.
    return request.header("x-parse-application-id") == nil
  }

  /// Renders refusals of the server and of faults in parse-server's format.
  package func refusal(_ refusal: ServerRefusal) -> ServerReply {
    switch refusal.status {
    case 413: ServerReply.parse(413, ["error": "request entity too large"]).crossOrigin
    case 429: ServerReply.parse(429, ["code": 100, "error": "Too many requests."]).crossOrigin
    case 500: ParseError.internalError.crossOrigin
    default: ServerReply.parse(refusal.status, ["error": .string(refusal.message)]).crossOrigin
    }
  }

  package func reply(to request: ServerRequest) async -> ServerReply {
    let plain: ServerRequest
    do {
      plain = try ContentCoding.decoded(request, limit: bodyLimit(for: request))
    } catch {
      return ServerReply.parse(error.status, ["error": .string(error.message)]).crossOrigin
    }
    return ContentCoding.encoded(answer(plain).crossOrigin, for: plain)
  }

  // MARK: Steps

  private func answer(_ request: ServerRequest) -> ServerReply {
    if request.method == "OPTIONS" { return .text(200, "OK", type: "text/plain; charset=utf-8") }
    if request.segments.map({ $0.lowercased() }) == ["health"] { return .parse(200, ["status": "ok"]) }
    return core.withLock { core in
      var state = core.state ?? Self.starting(core.isSeeded)
      // Keep only one reference to the state: otherwise the first change would copy all of it.
      core.state = nil
      defer { core.state = state }
      return answer(request, &state, core.settings)
    }
  }

  private static func starting(_ isSeeded: Bool) -> ParseState {
    var state = ParseState()
    if isSeeded { LibrarySeed.fill(&state) }
    return state
  }

  private func answer(_ request: ServerRequest, _ state: inout ParseState, _ settings: ParseSettings) -> ServerReply {
    let files = FileRoutes(base: request.origin + request.mountPath, keys: keys, settings: settings)
    if let reply = files.read(request, state) { return reply }
    do {
      if FileRoutes.isWrite(request) { return try fileAnswer(request, files, &state, settings) }
      var body = try Self.body(of: request)
      let method = Self.method(request, &body)
      let (caller, _) = try caller(of: request, method, &body, state)
      return try routed(request, method, body, caller, &state, settings)
    } catch Credentials.Problem.unauthorized {
      return .unauthorized
    } catch Credentials.Problem.malformedContext {
      return ParseError(.invalidJSON, "Invalid object for context.").reply
    } catch {
      return (error as? ParseError)?.reply ?? ParseError.internalError
    }
  }

  /// - Throws: ``ParseError`` 400 without a code if the text is not JSON.
  private static func body(of request: ServerRequest) throws(ParseError) -> JSONObject {
    guard !request.body.isEmpty else { return [:] }
    do {
      let value = Values.javaScript(try JSONValue(parsing: request.body))
      guard value.objectValue != nil || value.arrayValue != nil else {
        throw ParseError(.plain(status: 400), "Unexpected token in JSON at position 0")
      }
      return value.objectValue ?? [:]
    } catch let error as JSONError {
      throw ParseError(.plain(status: 400), "\(error.message) in JSON at position \(error.offset)")
    } catch {
      throw error as? ParseError ?? ParseError(.plain(status: 400), "not JSON")
    }
  }

  /// Returns the method; the body of a POST can override it.
  private static func method(_ request: ServerRequest, _ body: inout JSONObject) -> String {
    guard request.method == "POST" else { return request.method == "HEAD" ? "GET" : request.method }
    defer { body["_method"] = nil }
    return body["_method"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } ?? "POST"
  }

  private func caller(
    of request: ServerRequest, _ method: String, _ body: inout JSONObject, _ state: ParseState
  ) throws -> (Caller, Credentials) {
    let credentials = try Credentials(request, &body, keys)
    let caller = try credentials.caller(keys)
    guard !caller.isMaster, let token = caller.token, request.segments.map({ $0.lowercased() }) != ["login"] else {
      return (caller, credentials)
    }
    let now = binding.withLock { $0.clock }.now()
    return (try Sessions.caller(token, caller.installationId, state, at: now), credentials)
  }

  // MARK: Files

  private func fileAnswer(
    _ request: ServerRequest, _ files: FileRoutes, _ state: inout ParseState, _ settings: ParseSettings
  ) throws -> ServerReply {
    let name = request.segments.count > 1 ? request.segments[1] : ""
    // SDKs send everything in a text body; other clients send raw bytes with headers.
    let isPlain = request.header("x-parse-application-id") == keys.applicationId
    var body = isPlain ? JSONObject() : (try? JSONValue(parsing: request.body))?.objectValue ?? [:]
    let method = Self.method(request, &body)
    let (caller, credentials) = try caller(of: request, method, &body, state)
    if method == "DELETE" { return try files.delete(name, caller, &state) }
    let bytes = credentials.isInBody ? Text.bytes(base64: body["base64"]?.stringValue ?? "") ?? [] : request.body
    let type = credentials.isInBody ? credentials.contentType : request.header("content-type")
    return try files.upload(name, type, bytes, caller, &state)
  }

  // MARK: Everything else

  private func routed(
    _ request: ServerRequest, _ method: String, _ body: JSONObject, _ caller: Caller, _ state: inout ParseState,
    _ settings: ParseSettings
  ) throws -> ServerReply {
    if let key = Text.prohibitedKey(in: .object(body)) {
      throw ParseError(.invalidKeyName, "Prohibited keyword in request data: {\"key\":\"\(key)\"}.")
    }
    let clock = binding.withLock { $0.clock }
    var call = ParseCall(
      method: method, segments: request.segments, body: body, query: Text.parameters(request.query),
      queryTexts: Text.plainParameters(request.query), caller: caller, settings: settings, now: clock.now(),
      milliseconds: clock.milliseconds(), base: request.origin + request.mountPath, path: request.path,
      mountPath: request.mountPath, applicationId: keys.applicationId, faults: request.faults)
    try checkRepeat(request, call, &state)
    var reply: ServerReply
    if method == "POST", request.segments.map({ $0.lowercased() }) == ["batch"] {
      reply = rendered(try BatchRun(call: call, routes: routes).answer(&state), call, request)
    } else {
      guard case .found(let match) = routes.outcome(method, request.segments) else {
        return .noRoute(method, request.path)
      }
      call.parameters = match.parameters
      let answer = try match.handler(call, &state)
      reply = answer.reply ?? rendered(answer, call, request)
    }
    reply.user = caller.userId ?? (caller.isMaster ? "master" : nil)
    return reply
  }

  /// - Throws: ``ParseError`` 159 for a repeated request id, if `idempotency` is on.
  private func checkRepeat(_ request: ServerRequest, _ call: ParseCall, _ state: inout ParseState) throws(ParseError) {
    guard call.settings.idempotency, let id = request.header("x-parse-request-id"), !id.isEmpty,
      call.method == "POST" || call.method == "PUT"
    else { return }
    state.requestIds = state.requestIds.filter { $0.value > call.now - Int64(call.settings.idempotencySeconds) }
    guard state.requestIds.updateValue(call.now, forKey: id) == nil else {
      throw ParseError(.duplicateRequest, "Duplicate request")
    }
  }

  private func rendered(_ answer: ParseAnswer, _ call: ParseCall, _ request: ServerRequest) -> ServerReply {
    var reply = ServerReply.parse(answer.status, answer.value)
    if let location = answer.location { reply.headers.append(("Location", call.base + location)) }
    guard ["GET", "HEAD"].contains(request.method), answer.status == 200 else { return reply }
    let tag = "W/" + EntityTag.of(reply.body)
    reply.headers.append(("ETag", tag))
    if request.header("if-none-match") == tag {
      return ServerReply(status: 304, headers: [("ETag", tag)], body: [])
    }
    return reply
  }
}

extension ServerReply {
  /// Adds headers that let pages of any origin read the response.
  fileprivate var crossOrigin: ServerReply {
    var reply = self
    reply.headers += [
      ("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Methods", "GET,PUT,POST,DELETE,OPTIONS"),
      (
        "Access-Control-Allow-Headers",
        "X-Parse-Master-Key, X-Parse-REST-API-Key, X-Parse-Javascript-Key, X-Parse-Application-Id, X-Parse-Client-Version, "
          + "X-Parse-Session-Token, X-Requested-With, X-Parse-Revocable-Session, X-Parse-Request-Id, Content-Type, Pragma, "
          + "Cache-Control"
      ),
      ("Access-Control-Expose-Headers", "X-Parse-Job-Status-Id, X-Parse-Push-Status-Id"),
    ]
    return reply
  }
}
