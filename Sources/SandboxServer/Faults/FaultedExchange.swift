import Glibc
import NIOCore
import NIOHTTP1

/// Applies a plan to one request on its connection.
struct FaultedExchange {
  /// How the request ended.
  enum Result {
    /// The response has yet to be sent in the usual way.
    case ordinary(ServerReply)
    /// Everything has been sent and logged, and the connection is closed.
    case over
  }

  let plan: FaultPlan
  let service: any ServerService
  let clock: OrgClock
  let channel: any Channel
  /// Called when nothing more happens until the client closes the connection.
  let noteSilence: @Sendable () -> Void
  /// Logs the response before the client can have received all of it. Status 0 means no response.
  let finish: @Sendable (_ status: Int, _ bytes: Int, _ user: String?) -> Void

  func run(_ request: ServerRequest) async throws -> Result {
    for delay in plan.delays { try await wait(delay.milliseconds, delay.clock) }
    var request = request
    request.faults = plan.draws
    if plan.refusesCompression { request.headers["accept-encoding"] = nil }
    switch plan.outcome {
    case .asUsual: return try await send(await service.reply(to: request), to: request)
    case .instead(let reply, let executed):
      return try await replace(reply, executed, request)
    case .refused(let refusal, let headers, let executed):
      var reply = service.refusal(refusal)
      reply.headers += headers
      return try await replace(reply, executed, request)
    case .silence(let executed, let ending):
      let user = executed ? await service.reply(to: request).user : nil
      if case .open = ending {
        await end(ending)
        finish(0, 0, user)
      } else {
        finish(0, 0, user)
        await end(ending)
      }
      return .over
    }
  }

  private func replace(_ reply: ServerReply, _ executed: Bool, _ request: ServerRequest) async throws -> Result {
    var reply = reply
    if executed { reply.user = await service.reply(to: request).user }
    return try await send(reply, to: request)
  }

  private func wait(_ milliseconds: Int, _ timing: Fault.Timing) async throws {
    switch timing {
    case .real: try await Task.sleep(for: .milliseconds(milliseconds))
    case .org: try await clock.sleep(milliseconds: Int64(milliseconds))
    }
  }

  private func send(_ reply: ServerReply, to request: ServerRequest) async throws -> Result {
    if plan.leavesResponseUnchanged || reply.isDropped { return .ordinary(reply) }
    let delivery = plan.delivery(of: try await reply.gathered())
    guard !delivery.isOrdinary else { return .ordinary(delivery.reply) }
    await deliver(delivery, pieces: request.method == "HEAD" ? [] : pieces(delivery))
    return .over
  }

  // MARK: Bytes

  /// Bypasses the HTTP encoder, which would correct deliberate errors, and ends the connection.
  private func deliver(_ delivery: FaultDelivery, pieces: [(bytes: [UInt8], body: Int)]) async {
    let reply = delivery.reply
    var sent = 0, isLogged = false
    do {
      if pieces.isEmpty {
        finish(reply.status, 0, reply.user)
        isLogged = true
      }
      try await write(head(delivery))
      for (index, piece) in pieces.enumerated() {
        if index == pieces.count - 1 {
          finish(reply.status, sent + piece.body, reply.user)
          isLogged = true
        }
        try await write(piece.bytes)
        sent += piece.body
        if let pace = delivery.pace, pace.milliseconds > 0 { try await wait(pace.milliseconds, pace.clock) }
      }
    } catch {
      // The client has disconnected, or the server is stopping.
    }
    if !isLogged { finish(reply.status, sent, reply.user) }
    await end(delivery.ending)
  }

  private func head(_ delivery: FaultDelivery) -> [UInt8] {
    let reply = delivery.reply
    var lines = ["HTTP/1.1 \(reply.status) \(HTTPResponseStatus(statusCode: reply.status).reasonPhrase)"]
    let own: Set = ["content-length", "transfer-encoding", "date", "connection"]
    lines += reply.headers.filter { !own.contains($0.name.lowercased()) }.map { "\($0.name): \($0.value)" }
    lines.append("Server: sandbox")
    lines.append("Date: \(HTTPDate.text(delivery.date ?? clock.now()))")
    if delivery.chunkBytes != nil {
      lines.append("Transfer-Encoding: chunked")
    } else {
      lines.append("Content-Length: \(delivery.announced ?? reply.body.count)")
    }
    // Announce the close only if the response is otherwise sent as promised.
    if case .keep = delivery.ending { lines.append("Connection: close") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// The parts in which the body is sent, each with its number of body bytes (without chunk
  /// framing).
  private func pieces(_ delivery: FaultDelivery) -> [(bytes: [UInt8], body: Int)] {
    let body = delivery.reply.body[..<delivery.bytes]
    let size = delivery.chunkBytes ?? delivery.pace?.bytes ?? max(1, body.count)
    var pieces: [(bytes: [UInt8], body: Int)] = stride(from: 0, to: body.count, by: size).map { start in
      let part = Array(body[start..<min(start + size, body.count)])
      guard delivery.chunkBytes != nil else { return (part, part.count) }
      return (Array("\(String(part.count, radix: 16))\r\n".utf8) + part + [UInt8(ascii: "\r"), UInt8(ascii: "\n")], part.count)
    }
    if delivery.chunkBytes != nil, delivery.cut == nil { pieces.append((Array("0\r\n\r\n".utf8), 0)) }
    return pieces
  }

  /// Returns once the operating system has accepted the bytes.
  private func write(_ bytes: [UInt8]) async throws {
    let channel = channel
    let buffer = channel.allocator.buffer(bytes: bytes)
    try await channel.eventLoop.flatSubmit {
      do {
        let encoder = try channel.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
        let written = channel.eventLoop.makePromise(of: Void.self)
        encoder.writeAndFlush(NIOAny(buffer), promise: written)
        return written.futureResult
      } catch {
        return channel.eventLoop.makeFailedFuture(error)
      }
    }.get()
  }

  private func end(_ ending: FaultDelivery.Ending) async {
    switch ending {
    case .open:
      let channel = channel
      // With half-closure, a client that hangs up only ends its own side, and this would wait
      // forever.
      try? await channel.setOption(.allowRemoteHalfClosure, value: false).get()
      noteSilence()
      try? await withTaskCancellationHandler {
        try await channel.closeFuture.get()
      } onCancel: {
        channel.close(promise: nil)
      }
      return
    case .reset:
      // A linger time of 0 makes the system discard unsent data and send a reset.
      try? await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
      try? await channel.pipeline.addHandler(AbruptEnd(), position: .first).get()
      try? await channel.closeFuture.get()
      return
    case .keep, .close: break
    }
    try? await channel.close().get()
  }
}

/// Closes without the farewell that handlers such as TLS would send.
private final class AbruptEnd: ChannelOutboundHandler, Sendable {
  typealias OutboundIn = NIOAny

  func handlerAdded(context: ChannelHandlerContext) { context.close(promise: nil) }
}
