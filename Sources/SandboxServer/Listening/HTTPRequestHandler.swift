import NIOCore
import NIOHTTP1

/// Handles requests from the listening socket: converts HTTP to `ServerRequest`, applies
/// interceptions and faults, returns responses. Independent of any API.
struct HTTPRequestHandler: Sendable {
  let mounts: MountTable
  let log: RequestLog
  let faults: FaultBench
  let clock: OrgClock
  let control: ControlEndpoint
  let scheme: String
  private let budget = UploadBudget()

  init(
    mounts: MountTable, log: RequestLog, faults: FaultBench, clock: OrgClock, control: ControlEndpoint, scheme: String
  ) {
    self.mounts = mounts
    self.log = log
    self.faults = faults
    self.clock = clock
    self.control = control
    self.scheme = scheme
  }

  /// - Parameter requests: Stands behind `head`.
  /// - Throws: ``ConnectionDropped`` if the connection is closed instead of answered; errors of the
  ///   connection.
  func respond(
    to head: HTTPRequestHead, _ requests: inout RequestReader, on channel: any Channel
  ) async throws -> WireResponse {
    let target = Self.target(of: head)
    var request = serverRequest(head, target)
    request.localPort = channel.localAddress?.port ?? 0
    let (service, routed) = mounts.route(request)
    let limit = service.bodyLimit(for: routed)
    if let refusal = Self.refusal(of: head, target, limit) { return refused(request, by: service, refusal) }
    let length = Self.length(of: head)
    let expected = length ?? limit
    let large = expected > ServerTuning.requestBodyBytes ? expected : 0
    guard budget.take(large) else { return refused(request, by: service, .tooManyUploads) }
    defer { budget.give(back: large) }
    guard let body = try await body(&requests, length ?? 0, limit) else {
      return refused(request, by: service, .bodyTooLarge(limit))
    }
    var complete = routed
    complete.body = body
    if ControlEndpoint.isControlRequest(complete) {
      return WireResponse(
        await control.reply(to: complete, from: channel.remoteAddress?.ipAddress), to: complete.method)
    }
    return try await answer(complete, by: service, channel)
  }

  private static func length(of head: HTTPRequestHead) -> Int? {
    head.headers.first(name: "content-length").flatMap { Int($0) }
  }

  /// Reads the body into a buffer of its final size, so that a long body is not copied.
  ///
  /// - Returns: nil if the body is longer than the limit.
  private func body(_ requests: inout RequestReader, _ length: Int, _ limit: Int) async throws -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(max(0, min(length, limit)))
    while let piece = try await requests.nextPiece() {
      guard bytes.count + piece.readableBytes <= limit else { return nil }
      bytes.append(contentsOf: piece.readableBytesView)
    }
    return bytes
  }

  private func answer(
    _ request: ServerRequest, by service: any ServerService, _ channel: any Channel
  ) async throws -> WireResponse {
    let entry = log.begin(request, by: service, time: clock.now())
    let start = ContinuousClock.now
    switch log.interception(of: entry) {
    case nil: break
    case .delay(let duration)?: try await Task.sleep(for: duration)
    case .dropBeforeHandling?:
      throw await close(channel, entry, start)
    case .dropAfterHandling?:
      _ = await service.reply(to: request)
      throw await close(channel, entry, start)
    case .respond(let status, let headers, let body)?:
      let typed = headers.contains { $0.name.lowercased() == "content-type" }
      let type = [(name: "Content-Type", value: "application/json;charset=UTF-8")]
      let reply = ServerReply(status: status, headers: (typed ? [] : type) + headers, body: Array(body.utf8))
      finish(entry, status, reply.body.count, start)
      return WireResponse(reply, to: request.method)
    case .dropConnection(let afterBytes)?:
      let reply = try await service.reply(to: request).gathered()
      finish(entry, reply.status, min(afterBytes, reply.body.count), start)
      return WireResponse(reply, cutAfter: afterBytes)
    }
    let plan = faults.plan(for: request, now: clock.now())
    guard plan.isEmpty else { return try await faulted(request, by: service, plan, channel, entry, start) }
    return try await send(await service.reply(to: request), to: request, channel, entry, start)
  }

  private func send(
    _ reply: ServerReply, to request: ServerRequest, _ channel: any Channel, _ entry: LoggedRequest,
    _ start: ContinuousClock.Instant
  ) async throws -> WireResponse {
    guard !reply.isDropped else { throw await close(channel, entry, start) }
    finish(entry, reply.status, reply.length, start, user: reply.user)
    return WireResponse(reply, to: request.method)
  }

  private func faulted(
    _ request: ServerRequest, by service: any ServerService, _ plan: FaultPlan, _ channel: any Channel,
    _ entry: LoggedRequest, _ start: ContinuousClock.Instant
  ) async throws -> WireResponse {
    var entry = entry
    entry.faults = plan.names
    entry.delay = plan.delays.reduce(0) { $0 + $1.milliseconds }
    let exchange = FaultedExchange(
      plan: plan, service: service, clock: clock, channel: channel, noteSilence: faults.noteSilence
    ) { [entry] in
      finish(entry, $0, $1, start, user: $2)
    }
    switch try await exchange.run(request) {
    case .ordinary(let reply): return try await send(reply, to: request, channel, entry, start)
    case .over: throw ConnectionDropped()
    }
  }

  private func finish(
    _ entry: LoggedRequest, _ status: Int, _ bytes: Int, _ start: ContinuousClock.Instant = .now, user: String? = nil
  ) {
    var entry = entry
    entry.status = status
    entry.bytes = bytes
    entry.duration = ContinuousClock.now - start
    entry.user = user
    log.append(entry)
  }

  // MARK: Refusals

  /// Checks the request's head against the limits.
  private static func refusal(of head: HTTPRequestHead, _ target: String, _ limit: Int) -> ServerRefusal? {
    if target.utf8.count > ServerTuning.requestTargetBytes {
      let text = "the request target is longer than \(ServerTuning.requestTargetBytes) bytes"
      return ServerRefusal(status: 414, code: "URI_TOO_LONG", message: text)
    }
    let headers = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    // The host is neither: it is a part of the URL that names the server.
    let host = head.headers.first(name: "host").map { "Host".utf8.count + $0.utf8.count + 4 } ?? 0
    if target.utf8.count + headers - host > ServerTuning.requestHeadBytes { return .headersTooLarge }
    return (length(of: head) ?? 0) > limit ? .bodyTooLarge(limit) : nil
  }

  /// Answers without reading the rest of the request, and closes the connection.
  private func refused(_ request: ServerRequest, by service: any ServerService, _ refusal: ServerRefusal) -> WireResponse {
    var reply = service.refusal(refusal)
    reply.headers.append(("Connection", "close"))
    finish(log.begin(request, by: service, time: clock.now()), reply.status, reply.body.count)
    return WireResponse(reply, to: request.method)
  }

  // MARK: Requests

  /// Returns the path and the query. A client that takes the server for a proxy sends a whole URL.
  private static func target(of head: HTTPRequestHead) -> String {
    guard !head.uri.hasPrefix("/"), let colon = head.uri.utf8.firstIndex(of: UInt8(ascii: ":")),
      head.uri[colon...].hasPrefix("://")
    else { return head.uri }
    let ends = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
    let authority = head.uri[colon...].dropFirst(3)
    let path = authority[(authority.utf8.firstIndex(where: ends.contains) ?? authority.endIndex)...]
    let target = path[..<(path.utf8.firstIndex(of: UInt8(ascii: "#")) ?? path.endIndex)]
    return target.hasPrefix("/") ? String(target) : "/" + target
  }

  /// The request without its body.
  private func serverRequest(_ head: HTTPRequestHead, _ target: String) -> ServerRequest {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? "/"
    var headers: [String: String] = [:]
    for (name, value) in head.headers { headers[name.lowercased()] = HTTPHeaders.cleaned(value) }
    headers["host"] = head.headers.first(name: "host").map(HTTPHeaders.cleaned)
    return ServerRequest(
      method: head.method.rawValue, path: path, segments: URLCoding.segments(path),
      query: parts.count > 1 ? URLCoding.fields(parts[1]) : [], headers: headers, body: [], scheme: scheme)
  }

  /// Closes the connection without an answer.
  private func close(
    _ channel: any Channel, _ entry: LoggedRequest, _ start: ContinuousClock.Instant
  ) async -> ConnectionDropped {
    finish(entry, 0, 0, start)
    try? await channel.close().get()
    return ConnectionDropped()
  }
}
