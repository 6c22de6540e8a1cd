import CCurl
import Support

/// Sends requests over HTTP/1.1 with the system's libcurl, which is loaded for the first request.
///
/// Threads: any. The first request starts one thread; ``shutdown()`` ends it, as does the last reference.
final class CurlClient: WireClient, @unchecked Sendable {  // `state` is touched only with `lock` held
  private enum State {
    case unused
    case running(CurlLoop)
    case closed(CurlLoop?)
  }

  private let configuration: TransportConfiguration
  private let lock = Lock()
  private var state = State.unused

  init(_ configuration: TransportConfiguration) { self.configuration = configuration }

  deinit {
    if case .running(let loop) = state { loop.endSoon() }
  }

  /// The versions of libcurl and of its TLS library, such as `7.88.1 OpenSSL/3.0.19`; nil if libcurl cannot be used.
  static var version: String? {
    (try? CurlLoop.load()).map { String(cString: ccurl_version()) }
  }

  func exchange(_ request: WireRequest) async throws(RestError) -> RestResponse {
    let loop = try runningLoop()
    let transfer = CurlTransfer(request, configuration)
    let ended = configuration.watch?({ loop.end(transfer, .idle) })
    defer { ended?() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { loop.add(transfer, $0) }
    } onCancel: {
      loop.end(transfer, .cancelled)
    }
    return try transfer.result()
  }

  func shutdown() async {
    let loop = lock.withLock { () -> CurlLoop? in
      switch state {
      case .unused:
        state = .closed(nil)
        return nil
      case .running(let loop):
        state = .closed(loop)
        return loop
      case .closed(let loop): return loop
      }
    }
    await loop?.stop()
  }

  private func runningLoop() throws(RestError) -> CurlLoop {
    if let known = lock.withLock({ usable }) { return try known.get() }
    // Not inside the lock, because it loads a library and starts a thread.
    let fresh = try CurlLoop(configuration)
    let (chosen, isFirst) = lock.withLock { () -> (Result<CurlLoop, RestError>, Bool) in
      if let usable { return (usable, false) }
      state = .running(fresh)
      return (.success(fresh), true)
    }
    if !isFirst { fresh.endSoon() }
    return try chosen.get()
  }

  /// nil if nothing has been sent yet. Call with `lock` held.
  private var usable: Result<CurlLoop, RestError>? {
    switch state {
    case .unused: nil
    case .running(let loop): .success(loop)
    case .closed: .failure(.shutDown(outcome: .notSent))
    }
  }
}
