import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Handles requests from the listening socket: converts HTTP to `ServerRequest`, applies
/// interceptions and faults, sends responses. Independent of any API.
struct HTTPRequestHandler: HTTPResponder {
  struct Context: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      coreContext = .init(source: source)
      channel = source.channel
    }
  }

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

  func respond(to request: Request, context: Context) async throws -> Response {
    var head = serverRequest(request, body: [])
    head.localPort = context.channel.localAddress?.port ?? 0
    let (service, routed) = mounts.route(head)
    let limit = service.bodyLimit(for: routed)
    if let refusal = Self.refusal(of: request, limit) { return refused(head, by: service, refusal) }
    let length = Self.length(of: request)
    let expected = length ?? limit
    let large = expected > ServerTuning.requestBodyBytes ? expected : 0
    guard budget.take(large) else { return refused(head, by: service, .tooManyUploads) }
    defer { budget.give(back: large) }
    do {
      var routed = routed
      routed.body = try await body(of: request, length ?? 0, limit)
      if ControlEndpoint.isControlRequest(routed) {
        return response(
          await control.reply(to: routed, from: context.channel.remoteAddress?.ipAddress), to: routed.method)
      }
      return try await answer(routed, by: service, context.channel)
    } catch is BodyTooLarge {
      return refused(head, by: service, .bodyTooLarge(limit))
    }
  }

  private static func length(of request: Request) -> Int? { request.headers[.contentLength].flatMap { Int($0) } }

  /// Reads the body into a buffer of its final size, so that a long body is not copied.
  private func body(of request: Request, _ length: Int, _ limit: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(max(0, min(length, limit)))
    for try await buffer in request.body {
      guard bytes.count + buffer.readableBytes <= limit else { throw BodyTooLarge() }
      bytes.append(contentsOf: buffer.readableBytesView)
    }
    return bytes
  }

  private func answer(
    _ request: ServerRequest, by service: any ServerService, _ channel: any Channel
  ) async throws -> Response {
    let entry = log.begin(request, by: service, time: clock.now())
    let start = ContinuousClock.now
    switch log.interception(of: entry) {
    case nil: break
    case .delay(let duration)?: try await Task.sleep(for: duration)
    case .dropBeforeHandling?:
      return await close(channel, entry, start)
    case .dropAfterHandling?:
      _ = await service.reply(to: request)
      return await close(channel, entry, start)
    case .respond(let status, let headers, let body)?:
      let typed = headers.contains { $0.name.lowercased() == "content-type" }
      let type = [(name: "Content-Type", value: "application/json;charset=UTF-8")]
      let reply = ServerReply(status: status, headers: (typed ? [] : type) + headers, body: Array(body.utf8))
      finish(entry, status, reply.body.count, start)
      return response(reply, to: request.method)
    case .dropConnection(let afterBytes)?:
      let reply = try await service.reply(to: request).gathered()
      finish(entry, reply.status, min(afterBytes, reply.body.count), start)
      return truncated(reply, afterBytes)
    }
    let plan = faults.plan(for: request, now: clock.now())
    guard plan.isEmpty else { return try await faulted(request, by: service, plan, channel, entry, start) }
    return await send(await service.reply(to: request), to: request, channel, entry, start)
  }

  private func send(
    _ reply: ServerReply, to request: ServerRequest, _ channel: any Channel, _ entry: LoggedRequest,
    _ start: ContinuousClock.Instant
  ) async -> Response {
    guard !reply.isDropped else { return await close(channel, entry, start) }
    finish(entry, reply.status, reply.length, start, user: reply.user)
    return response(reply, to: request.method)
  }

  private func faulted(
    _ request: ServerRequest, by service: any ServerService, _ plan: FaultPlan, _ channel: any Channel,
    _ entry: LoggedRequest, _ start: ContinuousClock.Instant
  ) async throws -> Response {
    var entry = entry
    entry.faults = plan.names
    entry.delay = plan.delays.reduce(0) { $0 + $1.milliseconds }
    let exchange = FaultedExchange(
      plan: plan, service: service, clock: clock, channel: channel, noteSilence: faults.noteSilence
    ) { [entry] in
      finish(entry, $0, $1, start, user: $2)
    }
    switch try await exchange.run(request) {
    case .ordinary(let reply): return await send(reply, to: request, channel, entry, start)
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
  private static func refusal(of request: Request, _ limit: Int) -> ServerRefusal? {
    let target = request.uri.string.utf8.count
    if target > ServerTuning.requestTargetBytes {
      let text = "the request target is longer than \(ServerTuning.requestTargetBytes) bytes"
      return ServerRefusal(status: 414, code: "URI_TOO_LONG", message: text)
    }
    let headers = request.headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
    if target + headers > ServerTuning.requestHeadBytes { return .headersTooLarge }
    return (length(of: request) ?? 0) > limit ? .bodyTooLarge(limit) : nil
  }

  /// Answers without reading the rest of the request, and closes the connection.
  private func refused(_ request: ServerRequest, by service: any ServerService, _ refusal: ServerRefusal) -> Response {
    var reply = service.refusal(refusal)
    reply.headers.append(("Connection", "close"))
    finish(log.begin(request, by: service, time: clock.now()), reply.status, reply.body.count)
    return response(reply, to: request.method)
  }

  // MARK: Requests

  private func serverRequest(_ request: Request, body: [UInt8]) -> ServerRequest {
    let parts = request.uri.string.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? "/"
    var headers: [String: String] = [:]
    for field in request.headers { headers[field.name.canonicalName] = field.value }
    headers["host"] = request.head.authority
    return ServerRequest(
      method: request.method.rawValue, path: path, segments: URLCoding.segments(path),
      query: parts.count > 1 ? URLCoding.fields(parts[1]) : [], headers: headers, body: body, scheme: scheme)
  }

  // MARK: Answers

  private func response(_ reply: ServerReply, to method: String = "GET") -> Response {
    var response = Response(status: .init(code: reply.status), headers: fields(reply))
    if method == "HEAD" {
      response.headers[.contentLength] = "\(reply.length)"
    } else if let stream = reply.stream {
      response.body = .init(contentLength: stream.count) { writer in
        var number = 0
        while let part = try await stream.part(number) {
          try await writer.write(ByteBuffer(bytes: part))
          number += 1
        }
        try await writer.finish(nil)
      }
      response.headers[.contentLength] = "\(stream.count)"
    } else if !reply.body.isEmpty || reply.status != 204 && reply.status != 304 {
      response.body = .init(byteBuffer: ByteBuffer(bytes: reply.body))
      response.headers[.contentLength] = "\(reply.body.count)"
    }
    return response
  }

  /// Throws after the first bytes of the body, which makes the server close the connection.
  private func truncated(_ reply: ServerReply, _ count: Int) -> Response {
    let head = ByteBuffer(bytes: reply.body.prefix(max(0, count)))
    var response = Response(status: .init(code: reply.status), headers: fields(reply))
    response.headers[.contentLength] = "\(reply.body.count)"
    response.body = .init(contentLength: reply.body.count) { writer in
      try await writer.write(head)
      throw ConnectionDropped()
    }
    return response
  }

  private func close(
    _ channel: any Channel, _ entry: LoggedRequest, _ start: ContinuousClock.Instant
  ) async -> Response {
    finish(entry, 0, 0, start)
    try? await channel.close().get()
    return Response(status: .internalServerError)
  }

  private func fields(_ reply: ServerReply) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in reply.headers {
      guard let name = HTTPFields.Element.Name(name) else { continue }
      fields.append(HTTPFields.Element(name: name, value: value))
    }
    return fields
  }
}

/// Ends a connection deliberately in the middle of a response.
private struct ConnectionDropped: Error {}

/// The body exceeds the resource's limit.
private struct BodyTooLarge: Error {}
