import NIOCore

/// Puts TLS between the socket and the HTTP parser of one connection. On the connection's event loop.
///
/// Each half of the connection ends by itself, as without TLS: the end of the client's half is
/// `ChannelEvent.inputClosed` where the channel allows that, and otherwise closes the connection.
/// A record that cannot be decrypted is answered with an alert and closes it, without an error in
/// the pipeline.
final class TLSServerHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private struct Write {
    let plain: ByteBuffer
    let promise: EventLoopPromise<Void>?
  }

  /// Bytes of records that are passed on together.
  private static let batchBytes = 65_536

  private let session: TLSSession
  private var waiting = CircularBuffer<Write>()
  /// The number of `waiting` writes that have been flushed.
  private var flushed = 0
  private var isInputEnded = false, isOutputEnded = false
  /// Whether bytes have been passed on since the last end of a read.
  private var hasRead = false

  init(_ session: TLSSession) { self.session = session }

  func handlerRemoved(context: ChannelHandlerContext) { endOutput(ChannelError.ioOnClosedChannel) }

  func channelInactive(context: ChannelHandlerContext) {
    isInputEnded = true
    endOutput(ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  // MARK: Incoming

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isInputEnded else { return }
    let encrypted = unwrapInboundIn(data)
    var plain = context.channel.allocator.buffer(capacity: encrypted.readableBytes)
    let progress = session.read(encrypted, into: &plain)
    if case .needsMore = progress {} else { isInputEnded = true }
    send(context)
    if plain.readableBytes > 0 {
      hasRead = true
      context.fireChannelRead(wrapInboundOut(plain))
    }
    switch progress {
    case .needsMore: break
    case .ended: inputEnded(context)
    case .failed:
      endOutput(ChannelError.ioOnClosedChannel)
      context.close(promise: nil)
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    // A read was asked for, and may have brought nothing but a part of the handshake.
    let isSilent = !hasRead
    hasRead = false
    context.fireChannelReadComplete()
    if isSilent, !isInputEnded, context.channel.isActive { context.read() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event as? ChannelEvent == .inputClosed else { return context.fireUserInboundEventTriggered(event) }
    // The announcement has been passed on already. Without one, the parser knows whether a request is missing its end.
    guard !isInputEnded else { return }
    isInputEnded = true
    if session.isReady { context.fireUserInboundEventTriggered(event) } else { context.close(promise: nil) }
  }

  private func inputEnded(_ context: ChannelHandlerContext) {
    let allows = try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)
    if allows == true, context.channel.isActive {
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    } else {
      close(context: context, mode: .all, promise: nil)
    }
  }

  // MARK: Outgoing

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !isOutputEnded else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    waiting.append(Write(plain: unwrapOutboundIn(data), promise: promise))
  }

  func flush(context: ChannelHandlerContext) {
    flushed = waiting.count
    send(context)
    context.flush()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input, !isOutputEnded {
      send(context)
      endOutput(ChannelError.outputClosed)
      session.close()
      send(context)
    }
    context.close(mode: mode, promise: promise)
  }

  /// Fails what cannot be sent any more.
  private func endOutput(_ error: ChannelError) {
    isOutputEnded = true
    flushed = 0
    while let write = waiting.popFirst() { write.promise?.fail(error) }
  }

  /// Passes on OpenSSL's own records, and then encrypts the flushed writes.
  private func send(_ context: ChannelHandlerContext) {
    var encrypted = context.channel.allocator.buffer(capacity: 0)
    var promises: [EventLoopPromise<Void>] = [], hasWritten = false
    session.take(into: &encrypted)
    func pass() {
      guard encrypted.readableBytes > 0 || !promises.isEmpty else { return }
      hasWritten = true
      context.write(wrapOutboundOut(encrypted), promise: joined(promises, context))
      encrypted = context.channel.allocator.buffer(capacity: 0)
      promises = []
    }
    while flushed > 0, session.isReady, let write = waiting.popFirst() {
      flushed -= 1
      guard session.write(write.plain, into: &encrypted) else {
        write.promise?.fail(ChannelError.outputClosed)
        endOutput(ChannelError.outputClosed)
        break
      }
      if let promise = write.promise { promises.append(promise) }
      if encrypted.readableBytes >= Self.batchBytes { pass() }
    }
    pass()
    if hasWritten { context.flush() }
  }

  /// Returns one promise for all.
  private func joined(_ promises: [EventLoopPromise<Void>], _ context: ChannelHandlerContext) -> EventLoopPromise<Void>? {
    guard promises.count > 1 else { return promises.first }
    let one = context.eventLoop.makePromise(of: Void.self)
    for promise in promises { one.futureResult.cascade(to: promise) }
    return one
  }
}
