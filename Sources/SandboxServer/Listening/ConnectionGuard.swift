import NIOCore
import NIOHTTP1

/// Guards one connection, between the HTTP parser and the application. On the connection's event
/// loop.
///
/// It enforces deadlines, refuses invalid HTTP, answers `Expect: 100-continue`, sets each
/// response's `Server`, and its `Date` by the server's clock, and closes the connection after a
/// response that announces it. A request that was sent along with others is passed on after the
/// responses before it, because one of them may be the last.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private let limits: ConnectionLimits
  private let clock: OrgClock
  private let openConnections: OpenConnections
  private let refusal: @Sendable (ServerRefusal) -> ServerReply
  private var state = ConnectionState()
  /// The refusal to send once earlier requests are answered.
  private var dueRefusal: ServerRefusal?
  /// Parts of requests whose turn has not come.
  private var waiting: [HTTPServerRequestPart] = []
  /// Whether the application wants to read, and whether the peer has ended its half: both are passed on
  /// once nothing waits.
  private var isReadHeld = false, isEndHeld = false
  /// Whether the latest request is a HEAD, whose answer has no body.
  private var isHead = false
  /// The current read deadline; only one runs at a time. `stalled` covers a peer that does not read
  /// its response.
  private var deadline: Deadline?
  private var stalled: Deadline?
  /// The connection's number in `openConnections`.
  private var number = 0

  /// - Parameter refusal: Renders a refusal in the service's format.
  init(
    limits: ConnectionLimits, clock: OrgClock, openConnections: OpenConnections,
    refusal: @escaping @Sendable (ServerRefusal) -> ServerReply
  ) {
    self.limits = limits
    self.clock = clock
    self.openConnections = openConnections
    self.refusal = refusal
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    number = openConnections.enter {
      loop.execute {
        let (handler, context) = bound.value
        // A request may have arrived in the meantime.
        if handler.state.isBetweenRequests { context.close(promise: nil) }
      }
    }
    if context.channel.isActive { wait(limits.head, context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    wait(limits.head, context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    cancel()
    openConnections.leave(number)
  }

  // MARK: Incoming

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !state.isFinished, dueRefusal == nil else { return }
    let part = unwrapInboundIn(data)
    guard waiting.isEmpty, state.isReading || state.isBetweenRequests else { return waiting.append(part) }
    pass(part, context)
  }

  private static func isEnd(_ part: HTTPServerRequestPart) -> Bool { if case .end = part { true } else { false } }

  /// Passes the next request on, or as much of it as has arrived.
  private func passNext(_ context: ChannelHandlerContext) {
    let end = waiting.firstIndex(where: Self.isEnd)
    let next = Array(waiting.prefix(through: end ?? waiting.endIndex - 1))
    waiting.removeFirst(next.count)
    for part in next { pass(part, context) }
    context.fireChannelReadComplete()
    guard waiting.isEmpty else { return }
    if isEndHeld { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
    if isReadHeld { context.read() }
    (isEndHeld, isReadHeld) = (false, false)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed, !waiting.isEmpty {
      isEndHeld = true
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func read(context: ChannelHandlerContext) {
    if waiting.isEmpty || state.isFinished { context.read() } else { isReadHeld = true }
  }

  private func pass(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
    switch part {
    case .head(let head):
      state.headArrived()
      isHead = head.method == .HEAD
      openConnections.markBusy(number)
      wait(limits.body, context)
      if state.unanswered == 1, wantsContinue(head) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
      }
    case .body(let piece):
      if state.bodyArrived(piece.readableBytes, step: limits.bodyStep) { wait(limits.body, context) }
    case .end:
      state.requestEnded()
      deadline?.cancel()
    }
    context.fireChannelRead(wrapInboundOut(part))
  }

  /// Follows every read, even one that completed nothing, such as the start of a head.
  func channelReadComplete(context: ChannelHandlerContext) {
    if state.isFinished {
      // Read and discard the rest: the application no longer reads.
      context.read()
    } else if state.isBetweenRequests, !state.headBegan {
      state.headBegan = true
      wait(limits.head, context)
    }
    context.fireChannelReadComplete()
  }

  private func wantsContinue(_ head: HTTPRequestHead) -> Bool {
    guard head.headers["expect"].map({ $0.lowercased() }) == ["100-continue"] else { return false }
    return (head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0) <= ServerTuning.largestBodyBytes
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case HTTPParserError.headerOverflow:
      refuse(.headersTooLarge, context)
    case is HTTPParserError:
      refuse(ServerRefusal(status: 400, code: "BAD_REQUEST", message: "the request is not valid HTTP/1.1"), context)
    case is ByteToMessageDecoderError where dueRefusal != nil || state.isFinished:
      // More bytes after those that are refused already. Earlier requests still get their answers.
      return
    default:
      context.fireErrorCaught(error)
      return context.close(promise: nil)
    }
    // Otherwise the application would take the part of the body that has arrived for all of it, and execute the request.
    if state.isReading { context.fireErrorCaught(error) }
  }

  /// Answers in the application's place, after the responses to earlier requests.
  private func refuse(_ reason: ServerRefusal, _ context: ChannelHandlerContext) {
    guard !state.isFinished else { return }
    // The request that is refused, which has begun.
    let complete = waiting.lastIndex(where: Self.isEnd)
    waiting.removeSubrange((complete.map { $0 + 1 } ?? 0)...)
    guard state.canRefuse, waiting.isEmpty else {
      dueRefusal = dueRefusal ?? reason
      return
    }
    let reply = refusal(reason)
    var headers = HTTPHeaders(of: reply)
    headers.replaceOrAdd(name: "Content-Length", value: "\(reply.body.count)")
    headers.replaceOrAdd(name: "Connection", value: "close")
    headers.replaceOrAdd(name: "Date", value: HTTPDate.text(clock.now()))
    let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.status), headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    // Bytes that are not a request have no method.
    if !(isHead && state.isReading) {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: reply.body)))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    finish(context)
  }

  // MARK: Outgoing

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !state.isFinished else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(var head):
      state.answerBegan(isLast: head.headers.first(name: "connection")?.lowercased() == "close")
      head.headers.replaceOrAdd(name: "Date", value: HTTPDate.text(clock.now()))
      head.headers.replaceOrAdd(name: "Server", value: "sandbox")
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body:
      context.write(data, promise: promise)
    case .end:
      context.write(data, promise: promise)
      state.answerEnded()
      if state.isLast || (dueRefusal != nil && state.isAnsweredEarly) {
        context.flush()
        finish(context)
      } else if !waiting.isEmpty {
        // Not before the application has returned from this write.
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
          let (handler, context) = bound.value
          if !handler.state.isFinished, !handler.waiting.isEmpty { handler.passNext(context) }
        }
      } else if let dueRefusal {
        refuse(dueRefusal, context)
      } else if state.isBetweenRequests {
        state.headBegan = false
        wait(limits.idle, context)
        openConnections.markIdle(number)
      }
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    stalled?.cancel()
    if !context.channel.isWritable {
      stalled = schedule(limits.stalledAnswer, context) { context in context.close(promise: nil) }
    }
    context.fireChannelWritabilityChanged()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode == .output { endOutput(context, promise) } else { context.close(mode: mode, promise: promise) }
  }

  /// Ends our half after everything before is written: if the peer has ended its half, this closes the
  /// connection, and what is not written by then is lost.
  private func endOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    deadline?.cancel()
    deadline = schedule(limits.stalledAnswer, context) { context in context.close(promise: nil) }
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    let written = context.eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { _ in
      let (handler, context) = bound.value
      handler.linger(context)
      context.close(mode: .output, promise: promise)
    }
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: written)
  }

  /// Says no more, but reads on for a moment: closing at once could take the answer from a peer that still sends.
  private func finish(_ context: ChannelHandlerContext) {
    state.isFinished = true
    waiting = []
    endOutput(context, nil)
    context.read()
  }

  // MARK: Deadlines

  /// Does not wait long for a peer that never closes its half.
  private func linger(_ context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = schedule(limits.linger, context) { context in context.close(promise: nil) }
  }

  private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = schedule(time, context) { [self] context in
      guard state.isReading else { return context.close(promise: nil) }
      let text = "the request was not complete in time"
      refuse(ServerRefusal(status: 408, code: "REQUEST_TIMEOUT", message: text), context)
    }
  }

  private func schedule(
    _ time: TimeAmount, _ context: ChannelHandlerContext, _ body: @escaping (ChannelHandlerContext) -> Void
  ) -> Deadline {
    let bound = NIOLoopBound({ body(context) }, eventLoop: context.eventLoop)
    return limits.timer.schedule(time, on: context.eventLoop) { bound.value() }
  }

  private func cancel() {
    deadline?.cancel()
    stalled?.cancel()
  }
}

/// The state of one connection, without channel or clock, so that every rule is easy to test.
struct ConnectionState: Equatable {
  /// True from a head's arrival to the end of its body.
  private(set) var isReading = false
  /// Body bytes since the deadline was last extended.
  private var bodyBytes = 0
  /// The number of heads whose response is not complete.
  private(set) var unanswered = 0
  private(set) var isAnswering = false
  /// True if the current response, or the one just completed, is the connection's last.
  private(set) var isLast = false
  /// True if bytes of the next head may have arrived.
  var headBegan = true
  /// True once the last response is out: nothing else is read or written.
  var isFinished = false

  /// True if the request that is still being read already has its response.
  var isAnsweredEarly: Bool { isReading && unanswered == 0 }
  var isBetweenRequests: Bool { !isReading && unanswered == 0 }
  /// True if no earlier response is pending and the response to this request has not begun.
  var canRefuse: Bool { !isAnswering && unanswered <= (isReading ? 1 : 0) }

  mutating func headArrived() {
    isReading = true
    bodyBytes = 0
    unanswered += 1
  }
  /// - Returns: True if the deadline for the body should be extended.
  mutating func bodyArrived(_ count: Int, step: Int) -> Bool {
    bodyBytes += count
    guard bodyBytes >= step else { return false }
    bodyBytes = 0
    return true
  }
  mutating func requestEnded() { isReading = false }
  mutating func answerBegan(isLast: Bool) {
    isAnswering = true
    self.isLast = isLast
  }
  mutating func answerEnded() {
    isAnswering = false
    unanswered = max(0, unanswered - 1)
  }
}
