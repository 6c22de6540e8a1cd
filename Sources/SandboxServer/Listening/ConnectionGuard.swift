import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Stands between the HTTP parser and the application, one for each connection: keeps its deadlines, refuses what is no
/// HTTP, answers `Expect: 100-continue`, dates every answer by the server's clock, and closes after an answer that says so. On
/// the connection's event loop.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let limits: ConnectionLimits
  private let clock: OrgClock
  private let room: ConnectionRoom
  private let refusal: @Sendable (ServerRefusal) -> ServerReply
  private var state = ConnectionState()
  /// Sent when the requests before the bad one are answered.
  private var dueRefusal: ServerRefusal?
  /// Only one of the deadlines runs at a time; a peer that does not read its answer has one of its own.
  private var deadline: Deadline?
  private var stalled: Deadline?
  /// Its number among the server's connections.
  private var number = 0

  /// - Parameter refusal: How the service words a refusal.
  init(
    limits: ConnectionLimits, clock: OrgClock, room: ConnectionRoom,
    refusal: @escaping @Sendable (ServerRefusal) -> ServerReply
  ) {
    self.limits = limits
    self.clock = clock
    self.room = room
    self.refusal = refusal
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    number = room.enter {
      loop.execute {
        let (handler, context) = bound.value
        // A request may have come meanwhile.
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
    room.leave(number)
  }

  // MARK: What comes in

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !state.isFinished, dueRefusal == nil else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      state.headArrived()
      room.isBusy(number)
      wait(limits.body, context)
      if state.unanswered == 1, wantsContinue(head) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
      }
    case .body(let piece):
      if state.bodyArrived(piece.readableBytes, step: limits.bodyStep) { wait(limits.body, context) }
    case .end:
      state.requestEnded()
      deadline?.cancel()
    }
    context.fireChannelRead(data)
  }

  /// Comes after every piece read, also one that completed nothing: the start of a head.
  func channelReadComplete(context: ChannelHandlerContext) {
    if state.isFinished {
      // What still comes is read and forgotten: the application no longer asks for it.
      context.read()
    } else if state.isBetweenRequests, !state.headBegan {
      state.headBegan = true
      wait(limits.head, context)
    }
    context.fireChannelReadComplete()
  }

  private func wantsContinue(_ head: HTTPRequest) -> Bool {
    guard head.headerFields[.expect]?.lowercased() == "100-continue" else { return false }
    return (head.headerFields[.contentLength].flatMap { Int($0) } ?? 0) <= ServerTuning.largestBodyBytes
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case HTTPParserError.headerOverflow:
      refuse(.headersTooLarge, context)
    case is HTTPParserError:
      refuse(ServerRefusal(status: 400, code: "BAD_REQUEST", message: "the request is not valid HTTP/1.1"), context)
    default:
      context.fireErrorCaught(error)
      context.close(promise: nil)
    }
  }

  /// Answers in the application's place, after the answers that are due before.
  private func refuse(_ reason: ServerRefusal, _ context: ChannelHandlerContext) {
    guard !state.isFinished else { return }
    guard state.canRefuse else {
      dueRefusal = dueRefusal ?? reason
      return
    }
    let reply = refusal(reason)
    var response = HTTPResponse(status: .init(code: reply.status))
    for (name, value) in reply.headers {
      if let name = HTTPField.Name(name) { response.headerFields.append(HTTPField(name: name, value: value)) }
    }
    response.headerFields[.contentLength] = "\(reply.body.count)"
    response.headerFields[.connection] = "close"
    response.headerFields[.date] = HTTPDate.text(clock.now())
    context.write(wrapOutboundOut(.head(response)), promise: nil)
    context.write(wrapOutboundOut(.body(ByteBuffer(bytes: reply.body))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    finish(context)
  }

  // MARK: What goes out

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !state.isFinished else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(var head):
      state.answerBegan(isLast: head.headerFields[.connection]?.lowercased() == "close")
      // The HTTP library's own date is the computer's, and up to a second late: stamps would be ahead of it.
      head.headerFields[.date] = HTTPDate.text(clock.now())
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .body:
      context.write(data, promise: promise)
    case .end:
      context.write(data, promise: promise)
      state.answerEnded()
      if state.isLast || (dueRefusal != nil && state.isAnsweredEarly) {
        context.flush()
        finish(context)
      } else if let dueRefusal {
        refuse(dueRefusal, context)
      } else if state.isBetweenRequests {
        state.headBegan = false
        wait(limits.idle, context)
        room.isIdle(number)
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
    // A peer that never closes its half keeps nothing open for long.
    if mode == .output { linger(context) }
    context.close(mode: mode, promise: promise)
  }

  /// Says no more, but reads on for a moment: closing at once could take the answer from a peer that still sends.
  private func finish(_ context: ChannelHandlerContext) {
    state.isFinished = true
    linger(context)
    context.close(mode: .output, promise: nil)
    context.read()
  }

  // MARK: Deadlines

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

/// What a connection is at. No channel, no clock: every rule is a line.
struct ConnectionState: Equatable {
  /// A head has arrived, the end of its body has not.
  private(set) var isReading = false
  /// Bytes of the body since its last step.
  private var bodyBytes = 0
  /// Heads whose answer is not complete.
  private(set) var unanswered = 0
  private(set) var isAnswering = false
  /// The answer under way, or the one just made, is the connection's last.
  private(set) var isLast = false
  /// Bytes of the next head may have arrived.
  var headBegan = true
  /// The last answer is out: nothing goes in or out any more.
  var isFinished = false

  /// The request that is still being read has its answer already.
  var isAnsweredEarly: Bool { isReading && unanswered == 0 }
  var isBetweenRequests: Bool { !isReading && unanswered == 0 }
  /// No answer to an earlier request is due, and none to this one has begun.
  var canRefuse: Bool { !isAnswering && unanswered <= (isReading ? 1 : 0) }

  mutating func headArrived() {
    isReading = true
    bodyBytes = 0
    unanswered += 1
  }
  /// - Returns: Whether the body has come a step further.
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
