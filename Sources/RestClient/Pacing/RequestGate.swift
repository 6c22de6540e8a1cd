import Support

/// Limits the requests of one connection: the number in flight, the pause between writes, and the
/// server's quota. Waiting requests are admitted in order of arrival.
actor RequestGate {
  private struct Waiter {
    let id: UInt64
    let isWrite: Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private let settings: ConnectionSettings
  private let environment: RetryEnvironment
  private var reads = 0, writes = 0
  private var waiters: [Waiter] = []
  private var nextId: UInt64 = 0
  private var isClosed = false
  /// Seconds since 1970: the earliest time for the next write, and for any request.
  private var nextWriteAt = 0.0, notBefore = 0.0
  private var quota: Quota?

  init(_ settings: ConnectionSettings, _ environment: RetryEnvironment) {
    self.settings = settings
    self.environment = environment
  }

  /// Waits for a free slot, then until the server's quota, its `Backoff` and the pause between
  /// writes allow the request. Pair each successful call with ``leave(isWrite:pause:wasSent:)``.
  ///
  /// - Parameter pause: Seconds between two writes, if longer than the connection's.
  /// - Throws: ``RestError`` `.quotaExhausted` if the wait would exceed `maxWaitS`, `.cancelled`,
  ///   `.shutDown`.
  func enter(isWrite: Bool, pause: Double = 0) async throws(RestError) {
    try await takeSlot(isWrite)
    do throws(RestError) {
      try await waitForServer()
      if isWrite { try await waitForPause(max(pause, self.pause)) }
    } catch {
      leave(isWrite: isWrite, wasSent: false)
      throw error
    }
  }

  /// Frees the slot of a request.
  ///
  /// - Parameter wasSent: Whether a request went out; the pause starts when it ends.
  func leave(isWrite: Bool, pause: Double = 0, wasSent: Bool = true) {
    if isWrite { writes -= 1 } else { reads -= 1 }
    if isWrite, wasSent { nextWriteAt = max(nextWriteAt, environment.now() + max(pause, self.pause)) }
    admit()
  }

  /// Records what a response says about further requests.
  ///
  /// - Returns: The quota reported in the headers.
  @discardableResult
  func note(_ headers: [(name: String, value: String)]) -> Quota? {
    let now = environment.now()
    if let backoff = headers.first(where: { $0.name.equalsIgnoringCase("Backoff") })?.value,
      let seconds = RetryAfter.seconds(backoff, now: now)
    {
      notBefore = max(notBefore, now + seconds)
    }
    guard let reported = Quota(headers, settings.quota, now: now) else { return nil }
    quota = reported
    return reported
  }

  /// Refuses all waiting and all later requests.
  func close() {
    isClosed = true
    let all = waiters
    waiters = []
    for waiter in all { waiter.continuation.resume(returning: false) }
  }

  // MARK: Slots

  private func takeSlot(_ isWrite: Bool) async throws(RestError) {
    guard !isClosed else { throw .shutDown(outcome: .notSent) }
    if waiters.isEmpty, hasSlot(isWrite) { return occupy(isWrite) }
    // Reads and writes have separate limits: a waiting write does not hold up reads, and vice
    // versa.
    if settings.maxParallel.total == nil, hasSlot(isWrite), !waiters.contains(where: { $0.isWrite == isWrite }) {
      return occupy(isWrite)
    }
    let id = nextId
    nextId += 1
    let isAdmitted = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: false) }
        waiters.append(Waiter(id: id, isWrite: isWrite, continuation: continuation))
      }
    } onCancel: {
      Task { await self.abandon(id) }
    }
    guard isAdmitted else { throw isClosed ? .shutDown(outcome: .notSent) : .cancelled(outcome: .notSent) }
  }

  private func abandon(_ id: UInt64) {
    guard let i = waiters.firstIndex(where: { $0.id == id }) else { return }
    waiters.remove(at: i).continuation.resume(returning: false)
  }

  private func admit() {
    while let i = waiters.firstIndex(where: { hasSlot($0.isWrite) }) {
      let waiter = waiters.remove(at: i)
      occupy(waiter.isWrite)
      waiter.continuation.resume(returning: true)
    }
  }

  private func hasSlot(_ isWrite: Bool) -> Bool {
    if let total = settings.maxParallel.total { return reads + writes < total }
    return isWrite ? writes < settings.maxParallel.writes : reads < settings.maxParallel.reads
  }

  private func occupy(_ isWrite: Bool) {
    if isWrite { writes += 1 } else { reads += 1 }
  }

  // MARK: Times

  private var pause: Double { Double(settings.pauseMs) / 1000 }

  private func waitForServer() async throws(RestError) {
    while true {
      let now = environment.now()
      let reset = quota?.blockedUntil(minRemaining: settings.quota.minRemaining, now: now) ?? 0
      let until = max(notBefore, reset)
      guard until > now else { return }
      guard until - now <= settings.maxWaitS else { throw .quotaExhausted(settings.name, until: until) }
      try await sleep(until - now)
    }
  }

  private func waitForPause(_ pause: Double) async throws(RestError) {
    guard pause > 0 || nextWriteAt > 0 else { return }
    let now = environment.now(), start = max(now, nextWriteAt)
    // Reserve the time before waiting, because another write may arrive meanwhile.
    nextWriteAt = start + pause
    if start > now { try await sleep(start - now) }
  }

  private func sleep(_ seconds: Double) async throws(RestError) {
    do {
      try await environment.sleep(seconds)
    } catch {
      throw .cancelled(outcome: .notSent)
    }
    if isClosed { throw .shutDown(outcome: .notSent) }
  }
}

extension RestError {
  /// - Parameter until: Seconds since 1970.
  static func quotaExhausted(
    _ connection: String, until: Double, after response: RestResponse? = nil
  ) -> RestError {
    var error = RestError(
      code: .quotaExhausted,
      message: "connection '\(connection)': the server accepts no requests until \(LogText.time(until)), which exceeds maxWaitS",
      status: response?.status, headers: response?.headers ?? [], body: response?.body.text,
      outcome: response == nil ? .notSent : .answered)
    error.resumeAt = Int64(saturating: (until * 1000).rounded(.up))
    return error
  }
}
