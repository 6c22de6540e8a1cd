import CCurl
import Support
import Synchronization

/// One request on its way.
///
/// Threads: the loop's thread only, except for `init`, `waiting` before the loop gets it, and ``result()``.
final class CurlTransfer: @unchecked Sendable {
  /// Why we ended it.
  enum End {
    case cancelled, shutDown, late, idle
    case tooLarge, headTooLarge, unclearLength, wrongStatus, damaged
    /// The response is complete, but its body cannot be decompressed.
    case unreadable
    /// The kept connection was closed before the request. The loop starts the transfer again.
    case stale
    /// libcurl was about to send the request a second time.
    case repeated
    /// A name of unencrypted requests leads to another machine.
    case elsewhere
    case broken
    case noMemory
  }

  let request: WireRequest
  let configuration: TransportConfiguration
  let proxy: HTTPProxy?
  /// Connections are counted by this.
  let connectionKey: String
  /// Monotonic seconds; infinite without a limit.
  let deadline: Double
  var waiting: CheckedContinuation<Void, Never>?
  var end: End?
  /// nil while it waits for its turn.
  var easy: OpaquePointer?

  private(set) var head = ResponseHead()
  private var body = BodyBuilder()
  /// nil unless the body is compressed.
  private var inflater: Inflater?
  /// A copy of the request's body where libcurl can read it.
  private var bodyMemory: UnsafeMutableRawPointer?
  private var lastByte = 0.0
  private(set) var hasStarted = false
  private var isFresh = false
  /// Bytes that had been written before this request's own: those of a CONNECT.
  private var headBefore: Int64 = 0
  /// Bytes of the body that were known to be written when we last looked.
  private var bodySeen: Int64 = 0

  private var outcome: Result<RestResponse, RestError>?
  /// Orders `outcome`, with the memory of the body, before ``result()``. The continuation orders them, too, but inside the
  /// runtime, where the thread sanitizer does not see it.
  private let isFinished = Atomic(false)

  init(_ request: WireRequest, _ configuration: TransportConfiguration) {
    self.request = request
    self.configuration = configuration
    proxy = configuration.proxies.proxy(for: request.url.address)
    connectionKey = request.url.address.origin
    deadline = request.timeoutS.map { configuration.now() + $0 } ?? .infinity
  }

  deinit {
    body.discard()
    bodyMemory?.deallocate()
  }

  /// The bytes of the body to send. A HEAD has none.
  var bodyCount: Int { request.method == .HEAD ? 0 : request.body?.count ?? 0 }

  // MARK: Start

  /// Hands the request to libcurl.
  ///
  /// - Returns: 0, or a CURLcode.
  func start(in loop: OpaquePointer, trust: OpaquePointer?) -> Int32 {
    guard let easy else { return CurlTransfer.noMemory }
    let call = CurlCall(request, configuration, proxy)
    bodyMemory = bodyMemory ?? call.copyBody()
    return call.withRequest { parts in
      parts.is_fresh = isFresh ? 1 : 0
      parts.body = UnsafeRawPointer(bodyMemory)
      parts.trust = trust
      parts.context = Unmanaged.passUnretained(self).toOpaque()
      parts.started = { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue().willWrite() ? 1 : 0 }
      parts.received = { context, isHead, bytes, count in
        let part = UnsafeRawBufferPointer(start: bytes, count: count)
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return (isHead != 0 ? transfer.takeHead(part) : transfer.takeBody(part)) ? count : 0
      }
      return ccurl_transfer_start(easy, loop, &parts)
    }
  }

  private static let noMemory: Int32 = 27

  /// Makes a transfer that ended as stale ready for another start, on a new connection. Nothing was written.
  func startAfresh() {
    (end, isFresh, hasStarted, headBefore) = (nil, true, false, 0)
  }

  // MARK: While it runs

  /// The connection is ready, and the request is written next.
  ///
  /// libcurl calls this again when it repeats the request because a kept connection broke before the first byte of a response.
  /// It does so for every method, and no option prevents it; but only the caller knows whether a repetition is safe.
  private func willWrite() -> Bool {
    let written = written()
    if hasStarted, written.head > headBefore { return stop(.repeated) }
    if !isFresh, let easy, ccurl_transfer_is_stale(easy) != 0 { return stop(.stale) }
    if !request.url.address.isEncrypted, proxy == nil {
      switch isPeerLoopback {
      case true?: break
      case false?: return stop(.elsewhere)
      // The system no longer knows the peer of a connection that is broken already.
      case nil: return stop(.broken)
      }
    }
    hasStarted = true
    headBefore = written.head
    lastByte = configuration.now()
    return true
  }

  /// nil if the peer is not known.
  private var isPeerLoopback: Bool? {
    guard let easy else { return nil }
    let peer = String(cString: ccurl_transfer_peer(easy))
    guard !peer.isEmpty else { return nil }
    return peer == "::1" || WebAddress.isIPv4Loopback(peer) || peer.hasPrefix("::ffff:127.")
  }

  private func takeHead(_ line: UnsafeRawBufferPointer) -> Bool {
    lastByte = configuration.now()
    guard head.take(line, limit: Tuning.largestResponseHead) else { return stop(.headTooLarge) }
    guard head.isComplete, line.count <= 2, body.count == 0 else { return true }
    return takeCompleteHead()
  }

  private func takeCompleteHead() -> Bool {
    guard head.status >= 200 else { return stop(.wrongStatus) }
    switch head.length {
    case .none: break
    case .unclear: return stop(.unclearLength)
    case .bytes(let count) where request.method != .HEAD && head.status != 204 && head.status != 304:
      guard count <= configuration.largestResponse else { return stop(.tooLarge) }
      if count > 0 { body.reserve(min(count, Tuning.largestTrustedLength)) }
    case .bytes: break
    }
    return true
  }

  private func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
    lastByte = configuration.now()
    if body.count == 0, inflater == nil, head.isCompressed {
      inflater = Inflater()
      guard inflater != nil else { return stop(.damaged) }
    }
    if let inflater {
      guard inflater.inflate(part, into: &body, limit: configuration.largestResponse) else { return stop(.unreadable) }
    } else if body.count + part.count <= configuration.largestResponse {
      body.append(part)
    } else {
      return stop(.tooLarge)
    }
    guard !body.lacksMemory else { return stop(.noMemory) }
    return body.count <= configuration.largestResponse || stop(.tooLarge)
  }

  private func stop(_ reason: End) -> Bool {
    end = reason
    return false
  }

  private func written() -> (head: Int64, body: Int64) {
    var head: Int64 = 0, body: Int64 = 0
    if let easy { ccurl_transfer_written(easy, &head, &body) }
    return (head, body)
  }

  /// Returns when it has to end unless a byte moves before. Notices progress of the request's body.
  func nextDeadline(_ now: Double) -> Double {
    guard hasStarted else { return deadline }
    if head.isEmpty, bodySeen < Int64(bodyCount) {
      let body = written().body
      if body > bodySeen { (bodySeen, lastByte) = (body, now) }
    }
    return min(deadline, lastByte + Double(configuration.idleTimeoutMs) / 1000)
  }

  // MARK: End

  /// Whether the server may have acted on the request. It cannot act on one whose body is incomplete; without a body, a part of
  /// the head counts as all of it.
  var wasSent: Bool {
    if end == .repeated || !head.isEmpty { return true }
    guard hasStarted else { return false }
    let written = written()
    return bodyCount > 0 ? written.body >= Int64(bodyCount) : written.head > headBefore
  }

  /// Called once, when libcurl has ended the transfer.
  func finish(with result: ccurl_result) {
    if end == nil, result.code == 0 {
      // A compressed body tells by itself where it ends.
      if !head.isComplete {
        end = .wrongStatus
      } else if inflater?.isComplete == false {
        end = head.isDelimited ? .unreadable : .damaged
      }
    }
    if end == nil, result.code == 0 {
      deliver(.success(RestResponse(status: head.status, headers: head.fields, body: body.finish())))
    } else {
      deliver(.failure(error(result)))
    }
  }

  /// Called once, when we end the transfer or it could not start.
  ///
  /// - Parameter reason: Unless `end` says it.
  func finish(because reason: End?) {
    end = end ?? reason
    deliver(.failure(error(nil)))
  }

  private func deliver(_ outcome: Result<RestResponse, RestError>) {
    self.outcome = outcome
    isFinished.store(true, ordering: .releasing)
    waiting?.resume()
    waiting = nil
  }

  /// Call after ``waiting`` was resumed.
  func result() throws(RestError) -> RestResponse {
    guard isFinished.load(ordering: .acquiring), let outcome else { preconditionFailure("the transfer has not ended") }
    return try outcome.get()
  }
}

extension CurlTransfer: Hashable {
  static func == (a: CurlTransfer, b: CurlTransfer) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
