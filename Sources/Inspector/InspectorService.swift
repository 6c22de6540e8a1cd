import JSON
import Support
import Tureen

/// Answers the requests of the page: files at once, actions on threads of their own, and the stream of events.
final class InspectorService: LoopbackService, @unchecked Sendable {  // what varies is touched on the server's thread only
  private let assets = Assets()
  private let api: InspectorAPI
  /// nil without `--write`.
  private let writing: WritingAPI?
  private let workers: Workers
  private var token = TokenCheck()
  private let streams: EventStreams
  /// Set once, before the first request.
  private var perform: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  private var watch: HomeWatch?
  private var requestGuard: RequestGuard?

  init(_ api: InspectorAPI, _ writing: WritingAPI?, _ workers: Workers) {
    self.api = api
    self.writing = writing
    self.workers = workers
    streams = EventStreams(name: "\(UInt32.random(in: 1...UInt32.max))")
  }

  /// Lets requests in.
  /// - Returns: The token, which opens the data.
  func begin(on server: LoopbackServer, _ watch: HomeWatch) -> String {
    let token = token.token, port = server.port
    server.perform {
      self.perform = { work in server.perform(work) }
      self.watch = watch
      self.requestGuard = RequestGuard(port: port)
    }
    return token
  }

  /// Sends an event to all pages.
  func send(_ kind: String, _ data: JSONObject) { streams.send(kind, data) }

  // MARK: The server's thread

  func take(_ request: LoopbackRequest, on connection: LoopbackConnection) {
    do throws(APIError) {
      try answer(request, connection)
    } catch {
      connection.answer(.error(error))
    }
  }

  private func answer(_ request: LoopbackRequest, _ connection: LoopbackConnection) throws(APIError) {
    guard let requestGuard else { throw APIError(503, "starting", "the inspector is starting", isRetryable: true) }
    let isAPI = request.path.hasPrefix("/api/")
    if let refusal = requestGuard.refusal(of: request, isDocument: request.path == "/" && request.method == "GET") {
      throw refusal
    }
    guard isAPI else { return connection.answer(try file(request)) }
    let now = SystemClock.monotonicMilliseconds()
    if let refusal = token.refusal(of: request, now) { throw refusal }
    guard let route = Route(request.path), !route.writes || writing != nil else { throw APIError.notFound }
    guard request.method == route.method else { throw Self.notAllowed(route.method) }
    guard route != .events else { return try openStream(request, connection, now) }
    try run(route, request, connection)
  }

  private func file(_ request: LoopbackRequest) throws(APIError) -> LoopbackAnswer {
    guard let asset = assets.file(at: String(request.path)) else { throw APIError.notFound }
    guard request.method == "GET" || request.method == "HEAD" else { throw Self.notAllowed("GET, HEAD") }
    return .asset(asset)
  }

  private static func notAllowed(_ methods: String) -> APIError {
    var error = APIError(405, "notAllowed", "only \(methods) is answered here")
    error.headers = [("Allow", methods)]
    return error
  }

  private func openStream(_ request: LoopbackRequest, _ connection: LoopbackConnection, _ now: Int64) throws(APIError) {
    guard streams.open(connection, lastId: request.values("last-event-id").first, now) else {
      throw APIError(503, "tooManyPages", "\(Limits.streams) browsers are listening; close one", isRetryable: true)
    }
    watch?.setNeeded(true)
  }

  private func run(_ route: Route, _ request: LoopbackRequest, _ connection: LoopbackConnection) throws(APIError) {
    let api = api, writing = writing, perform = perform
    let isAccepted = workers.submit {
      let answer = Self.answer { try route.writes ? writing?.answer(route, request) : api.answer(route, request) }
      perform?({ connection.answer(answer) })
    }
    guard isAccepted else { throw APIError(503, "busy", "too many questions at once", isRetryable: true) }
  }

  private static func answer(_ body: () throws -> LoopbackAnswer?) -> LoopbackAnswer {
    do {
      return try body() ?? .error(.notFound)
    } catch let failure as ActionFailure {
      return failure.answer
    } catch let error as APIError {
      return .error(error)
    } catch {
      return .error(APIError(422, "internal", "\(error)"))
    }
  }

  func ended(_ connection: LoopbackConnection) {
    streams.ended(connection)
    if streams.isEmpty { watch?.setNeeded(false) }
  }

  func wake(_ now: Int64) -> Int64 { streams.wake(now) }
}
