import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Collects the parts of one response from the event loop into a ``ResponseBody``.
///
/// A delegate instead of an async sequence: it copies parts where they arrive, without waking a
/// task for each. Threads: only `wasSent` may be used outside of the request's event loop.
final class ResponseCollector: HTTPClientResponseDelegate, @unchecked Sendable {
  typealias Response = RestResponse

  struct TooLarge: Error {
    let limit: Int
  }

  private let limit: Int
  private let hasBody: Bool
  private let sent = Atomic(false)
  private var head: HTTPResponseHead?
  private var body = BodyBuilder()

  /// - Parameters:
  ///   - limit: Maximum bytes of the body.
  ///   - hasBody: False for the response to a HEAD, whose `Content-Length` describes no actual
  ///     body.
  init(limit: Int, hasBody: Bool) {
    self.limit = limit
    self.hasBody = hasBody
  }

  deinit { body.discard() }

  /// False while part of the request is still unsent, so that the server cannot have acted on it.
  var wasSent: Bool { sent.load(ordering: .acquiring) }

  /// A body is sent as one part, which completes the request, although its end is reported later.
  func didSendRequestPart(task: HTTPClient.Task<RestResponse>, _ part: IOData) {
    sent.store(true, ordering: .releasing)
  }

  func didSendRequest(task: HTTPClient.Task<RestResponse>) { sent.store(true, ordering: .releasing) }

  func didReceiveHead(task: HTTPClient.Task<RestResponse>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    sent.store(true, ordering: .releasing)
    self.head = head
    if hasBody, let length = head.headers.first(name: "content-length").flatMap(Int.init), length > 0 {
      guard length <= limit else { return task.eventLoop.makeFailedFuture(TooLarge(limit: limit)) }
      body.reserve(min(length, Tuning.largestTrustedLength))
    }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<RestResponse>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    guard body.count + buffer.readableBytes <= limit else {
      return task.eventLoop.makeFailedFuture(TooLarge(limit: limit))
    }
    buffer.withUnsafeReadableBytes { body.append($0) }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<RestResponse>) throws -> RestResponse {
    guard let head else { throw HTTPClientError.remoteConnectionClosed }
    return RestResponse(
      status: Int(head.status.code), headers: head.headers.map { ($0.name, $0.value) }, body: body.finish())
  }
}
