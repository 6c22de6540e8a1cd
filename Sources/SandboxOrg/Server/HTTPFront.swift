import Hummingbird
import Logging
import NIOCore
import Synchronization

/// The listening socket: turns HTTP into `ServerRequest`s, applies interceptions, writes replies. Knows no API.
struct HTTPFront: HTTPResponder {
  struct Context: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      coreContext = .init(source: source)
      channel = source.channel
    }
  }

  let service: any ServerService
  let log: RequestLog

  func respond(to request: Request, context: Context) async throws -> Response {
    let target = request.uri.string
    guard target.utf8.count <= Tuning.requestTargetBytes else {
      return response(refusal(414, "URI_TOO_LONG", "the request target is longer than \(Tuning.requestTargetBytes) bytes"))
    }
    let body: [UInt8]
    do {
      body = Array(buffer: try await request.body.collect(upTo: Tuning.requestBodyBytes))
    } catch is NIOTooManyBytesError {
      let text = "the request body is larger than \(Tuning.requestBodyBytes) bytes"
      let reply = refusal(413, "REQUEST_ENTITY_TOO_LARGE", text)
      log.append(logged(serverRequest(request, target, []), status: 413, bytes: reply.body.count))
      return response(reply)
    }
    return try await answer(serverRequest(request, target, body), context.channel)
  }

  private func answer(_ request: ServerRequest, _ channel: any Channel) async throws -> Response {
    switch log.interception(of: logged(request, status: 0, bytes: 0)) {
    case nil: break
    case .delay(let duration)?: try await Task.sleep(for: duration)
    case .dropBeforeHandling?:
      return await close(channel, request)
    case .dropAfterHandling?:
      _ = await service.reply(to: request)
      return await close(channel, request)
    case .respond(let status, let headers, let body)?:
      let typed = headers.contains { $0.name.lowercased() == "content-type" }
      let type = [(name: "Content-Type", value: "application/json;charset=UTF-8")]
      let reply = ServerReply(status: status, headers: (typed ? [] : type) + headers, body: Array(body.utf8))
      log.append(logged(request, status: status, bytes: reply.body.count))
      return response(reply)
    case .dropConnection(let afterBytes)?:
      let reply = await service.reply(to: request)
      log.append(logged(request, status: reply.status, bytes: min(afterBytes, reply.body.count)))
      return truncated(reply, afterBytes)
    }
    let reply = await service.reply(to: request)
    log.append(logged(request, status: reply.status, bytes: reply.body.count))
    return response(reply, to: request.method)
  }

  // MARK: Requests

  private func serverRequest(_ request: Request, _ target: String, _ body: [UInt8]) -> ServerRequest {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? "/"
    var headers: [String: String] = [:]
    for field in request.headers { headers[field.name.canonicalName] = field.value }
    headers["host"] = request.head.authority
    return ServerRequest(
      method: request.method.rawValue, path: path, segments: URLCoding.segments(path),
      query: parts.count > 1 ? URLCoding.fields(parts[1]) : [], headers: headers, body: body)
  }

  private func logged(_ request: ServerRequest, status: Int, bytes: Int) -> LoggedRequest {
    let isSecret = request.path.lowercased().contains("/oauth2/")
    let body = isSecret ? "" : String(decoding: request.body.prefix(Tuning.loggedBodyBytes), as: UTF8.self)
    return LoggedRequest(
      method: request.method, path: request.path, query: isSecret ? [] : request.query.map { "\($0.name)=\($0.value)" },
      body: body, status: status, bytes: bytes)
  }

  // MARK: Answers

  private func refusal(_ status: Int, _ code: String, _ message: String) -> ServerReply {
    let error = SandboxError(status: status, code: code, message: message)
    return .json(status, error.body, headers: [("Connection", "close")])
  }

  private func response(_ reply: ServerReply, to method: String = "GET") -> Response {
    var response = Response(status: .init(code: reply.status), headers: fields(reply))
    if method == "HEAD" {
      response.headers[.contentLength] = "\(reply.body.count)"
    } else if !reply.body.isEmpty || reply.status != 204 && reply.status != 304 {
      response.body = .init(byteBuffer: ByteBuffer(bytes: reply.body))
      response.headers[.contentLength] = "\(reply.body.count)"
    }
    return response
  }

  /// The error thrown after the first bytes makes the server close the connection.
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

  private func close(_ channel: any Channel, _ request: ServerRequest) async -> Response {
    log.append(logged(request, status: 0, bytes: 0))
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

/// Ends a connection in the middle of an answer, on purpose.
private struct ConnectionDropped: Error {}
