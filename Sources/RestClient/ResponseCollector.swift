import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Takes one response from the event loop, part by part, into one ``ResponseBody``.
///
/// A delegate and not an async sequence: the parts are copied where they arrive, without waking a task for each.
/// Threads: everything but `wasSent` is touched on the request's event loop only.
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
  ///   - limit: Bytes of the body.
  ///   - hasBody: False for the answer to a HEAD, whose `Content-Length` promises nothing.
  init(limit: Int, hasBody: Bool) {
    self.limit = limit
    self.hasBody = hasBody
  }

  deinit { body.discard() }

  /// False while the server cannot act on the request: not all of it has been handed to the network.
  var wasSent: Bool { sent.load(ordering: .acquiring) }

  /// A body is one part: with it the request is complete, though its end is reported later.
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
