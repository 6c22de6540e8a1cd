import NIOCore
import NIOHTTP1

/// Answers the requests of one connection, one after the other.
struct HTTPConnection: Sendable {
  typealias Wire = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
  typealias Outbound = NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>

  private let wire: Wire
  private let handler: HTTPRequestHandler

  /// Builds the rest of the connection's pipeline: the HTTP parser, the guard, and this. On the
  /// connection's event loop. ``serve()`` must follow, because only it closes the connection.
  init(_ channel: any Channel, _ guardian: ConnectionGuard, _ handler: HTTPRequestHandler) throws {
    let pipeline = channel.pipeline.syncOperations
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = ServerTuning.parsedHeadBytes
    limits.maxHeaderListSize = ServerTuning.parsedHeadBytes
    limits.maxHeaderFieldCount = ServerTuning.headerFields
    // The guard handles errors and pipelining, and `HTTPHeaders(of:)` makes fields valid.
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
      withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
    try pipeline.addHandler(guardian)
    wire = try Wire(wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    self.handler = handler
  }

  /// Returns when the connection is closed. Cancelling the task closes it.
  func serve() async {
    let channel = wire.channel
    await withTaskCancellationHandler {
      // An error means that the client is gone, that the connection is dropped deliberately, or that
      // the server stops. Each closes the connection.
      try? await wire.executeThenClose { inbound, outbound in
        do {
          try await answer(inbound, outbound)
        } catch is HTTPParserError {
          // The guard has answered.
        }
        outbound.finish()
        // The guard gives the client a moment to read the last response and to close.
        try await channel.closeFuture.get()
      }
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  private func answer(_ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>, _ outbound: Outbound) async throws {
    var requests = RequestReader(inbound)
    while let head = try await requests.nextHead() {
      let response: WireResponse
      do {
        response = try await handler.respond(to: head, &requests, on: wire.channel)
      } catch let error where error is HTTPParserError || error is CancellationError || error is ConnectionDropped {
        throw error
      } catch {
        response = WireResponse(.empty(500), to: head.method.rawValue)
      }
      try await response.write(to: outbound)
      if head.headers["connection"] == ["close"] { return }
    }
  }
}

/// Reads the requests of a connection.
struct RequestReader {
  private var parts: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
  private var isInBody = false

  init(_ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>) { parts = inbound.makeAsyncIterator() }

  /// Skips the rest of the body and returns the next head, or nil if the client sends no more.
  mutating func nextHead() async throws -> HTTPRequestHead? {
    while let part = try await parts.next() {
      guard case .head(let head) = part else { continue }
      isInBody = true
      return head
    }
    return nil
  }

  /// Returns the next piece of the body, or nil after its end.
  mutating func nextPiece() async throws -> ByteBuffer? {
    guard isInBody else { return nil }
    switch try await parts.next() {
    case .body(let piece)?: return piece
    case .end?:
      isInBody = false
      return nil
    // The part that has arrived must not be taken for the whole body.
    case .head?, nil: throw ConnectionDropped()
    }
  }
}

/// A response in the form that is sent.
struct WireResponse: Sendable {
  private enum Body: Sendable {
    case none
    case whole([UInt8])
    case stream(ByteStream)
    /// Less than announced; the connection ends behind it.
    case cut(ArraySlice<UInt8>)
  }
  private let head: HTTPResponseHead
  private var body: Body

  /// - Parameter method: The method of the request: a HEAD gets the length without the body.
  init(_ reply: ServerReply, to method: String) {
    var headers = HTTPHeaders(of: reply)
    headers.replaceOrAdd(name: "Content-Length", value: "\(reply.length)")
    head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.status), headers: headers)
    body = if method == "HEAD" { .none } else if let stream = reply.stream { .stream(stream) } else { .whole(reply.body) }
  }

  /// Only the first bytes of the body, then the connection closes.
  init(_ reply: ServerReply, cutAfter count: Int) {
    self.init(reply, to: "GET")
    body = .cut(reply.body.prefix(max(0, count)))
  }

  /// - Throws: ``ConnectionDropped`` after a response that is cut.
  func write(to outbound: HTTPConnection.Outbound) async throws {
    switch body {
    case .none:
      try await outbound.write(contentsOf: [.head(head), .end(nil)])
    case .whole(let bytes):
      // In one step, so that a small response is one packet.
      try await outbound.write(contentsOf: [.head(head), Self.part(bytes), .end(nil)])
    case .stream(let stream):
      try await outbound.write(.head(head))
      var number = 0
      while let bytes = try await stream.part(number) {
        try await outbound.write(Self.part(bytes))
        number += 1
      }
      try await outbound.write(.end(nil))
    case .cut(let bytes):
      try await outbound.write(contentsOf: [.head(head), Self.part(bytes)])
      throw ConnectionDropped()
    }
  }

  private static func part(_ bytes: some Collection<UInt8>) -> HTTPServerResponsePart {
    .body(.byteBuffer(ByteBuffer(bytes: bytes)))
  }
}

/// Ends a connection deliberately, or because its client has gone.
struct ConnectionDropped: Error {}

extension HTTPHeaders {
  /// The fields of a reply, without those whose name is invalid. Control characters in values become
  /// spaces, so that a value cannot end its line.
  init(of reply: ServerReply) {
    self.init()
    for (name, value) in reply.headers where Self.isToken(name) { add(name: name, value: Self.cleaned(value)) }
  }

  /// Whether a text is a token of RFC 9110, as names must be.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// Trims a value, and replaces control characters by spaces.
  static func cleaned(_ value: String) -> String {
    func isVisible(_ byte: UInt8) -> Bool { byte > UInt8(ascii: " ") && byte != 0x7F }
    let bytes = value.utf8
    guard let first = bytes.firstIndex(where: isVisible), let last = bytes.lastIndex(where: isVisible) else { return "" }
    let inner = bytes[first...last]
    if inner.count == bytes.count, bytes.allSatisfy({ isVisible($0) || $0 == UInt8(ascii: " ") }) { return value }
    let clean = inner.map { isVisible($0) || $0 == UInt8(ascii: "\t") ? $0 : UInt8(ascii: " ") }
    return String(decoding: clean, as: UTF8.self)
  }
}
