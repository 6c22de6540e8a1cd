import NIOCore
import NIOHTTP1

/// Serves one connection of a browser: one request, one response, close.
final class LoopbackConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// A reference for the listener, usable from any thread.
  struct Handle: Sendable, Equatable {
    private let channel: any Channel
    private let connection: NIOLoopBound<LoopbackConnection>

    fileprivate init(_ channel: any Channel, _ connection: LoopbackConnection) {
      self.channel = channel
      self.connection = NIOLoopBound(connection, eventLoop: channel.eventLoop)
    }

    static func == (a: Handle, b: Handle) -> Bool { a.channel === b.channel }

    /// - Parameter isEnding: True for the final page of the sign-in.
    func answer(_ answer: LoopbackAnswer, isEnding: Bool = false) {
      onLoop { $0.send(answer, isEnding: isEnding, to: channel) }
    }

    /// Keeps the request waiting for its response.
    func hold() { onLoop { $0.startHolding(channel) } }

    func close() { channel.close(promise: nil) }

    private func onLoop(_ body: @escaping @Sendable (LoopbackConnection) -> Void) {
      if channel.eventLoop.inEventLoop {
        body(connection.value)
      } else {
        channel.eventLoop.execute { body(connection.value) }
      }
    }
  }

  enum Event: Sendable {
    case opened(Handle)
    case request(LoopbackRequest, Handle)
    case heldTooLong(Handle)
    /// - Parameter hadPage: True if the final page was sent on this connection, or its sending had begun.
    case closed(Handle, hadPage: Bool)
  }

  private let limits: LoopbackListener.Limits
  private let report: @Sendable (Event) -> Void
  private var deadline: Scheduled<Void>?
  private var head: HTTPRequestHead?
  /// True after the first request. Further requests on the connection are ignored.
  private var hasRequest = false
  private var isHead = false, isAnswered = false, hadPage = false

  private init(_ limits: LoopbackListener.Limits, _ report: @escaping @Sendable (Event) -> Void) {
    self.limits = limits
    self.report = report
  }

  static func configure(
    _ channel: any Channel, _ limits: LoopbackListener.Limits, report: @escaping @Sendable (Event) -> Void
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(RequestLimit(limits.requestBytes))
    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: true)
    try pipeline.addHandler(LoopbackConnection(limits, report))
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: .milliseconds(Int64(limits.requestMs))) { channel.close(promise: nil) }
    report(.opened(Handle(channel, self)))
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body: break
    case .end:
      guard let head, !hasRequest else { return }
      hasRequest = true
      isHead = head.method == .HEAD
      report(.request(LoopbackRequest(head), Handle(context.channel, self)))
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    report(.closed(Handle(context.channel, self), hadPage: hadPage))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func startHolding(_ channel: any Channel) {
    deadline?.cancel()
    let handle = Handle(channel, self), report = report
    deadline = channel.eventLoop.scheduleTask(in: .milliseconds(Int64(limits.holdMs))) { report(.heldTooLong(handle)) }
  }

  private func send(_ answer: LoopbackAnswer, isEnding: Bool, to channel: any Channel) {
    guard !isAnswered else { return }
    isAnswered = true
    hadPage = isEnding
    var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
    headers.add(name: "Connection", value: "close")
    if answer.status != 204 { headers.add(name: "Content-Length", value: "\(answer.body.utf8.count)") }
    let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: answer.status), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
    if !isHead { channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: answer.body))), promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
  }
}

extension LoopbackRequest {
  fileprivate init(_ head: HTTPRequestHead) {
    self.init(
      method: head.method.rawValue, target: head.uri, hosts: head.headers["host"], origin: head.headers.first(name: "origin"),
      asksForPrivateNetwork: head.headers.contains(name: "access-control-request-private-network"))
  }
}

/// Closes a connection that sends more bytes than a browser would.
private final class RequestLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var rest: Int

  init(_ bytes: Int) { rest = bytes }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    rest -= unwrapInboundIn(data).readableBytes
    guard rest >= 0 else { return context.close(promise: nil) }
    context.fireChannelRead(data)
  }
}
