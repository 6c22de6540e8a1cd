import CCurl
import Glibc
import Support

/// libcurl on a thread of its own: the connections of one client, who waits for one, deadlines, and the end of transfers.
final class CurlLoop: @unchecked Sendable {  // `inbox` is touched only with `lock` held; the rest as said below
  private struct Inbox {
    var new: [CurlTransfer] = []
    var ending: [(transfer: CurlTransfer, end: CurlTransfer.End)] = []
    var isStopping = false
    /// The thread is about to look into the inbox anyway.
    var isAwake = false
    var hasEnded = false
    /// Resumed once everything is closed.
    var waiting: [CheckedContinuation<Void, Never>] = []
    var isJoined = false
  }

  private let configuration: TransportConfiguration
  private let lock = Lock()
  private var inbox = Inbox()
  private var thread = pthread_t()
  /// Other threads only wake it.
  private let loop: OpaquePointer
  private let trust: OpaquePointer?

  // On the loop's thread only.
  private var running: Set<CurlTransfer> = []
  /// Those that wait for a connection, by origin, oldest first.
  private var queues: [String: [CurlTransfer]] = [:]
  private var connections: [String: Int] = [:]
  private var spare: [OpaquePointer] = []

  /// Loads libcurl.
  ///
  /// - Throws: ``RestError`` `.noResponse`, which is not retryable.
  static func load() throws(RestError) {
    if let problem = problem({ ccurl_load($0, $1) != 0 }) { throw .unusable(problem) }
  }

  /// Passes `body` room for a message; returns the message if `body` returns false.
  private static func problem(_ body: (UnsafeMutablePointer<CChar>, Int) -> Bool) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 400) { message in
      guard let start = message.baseAddress else { return "there is no memory" }
      message.initialize(repeating: 0)
      return body(start, message.count) ? nil : String(cString: start)
    }
  }

  /// - Throws: ``RestError`` `.noResponse` if libcurl cannot be used, `.untrustedCertificate` for certificates that cannot be
  ///   read.
  init(_ configuration: TransportConfiguration) throws(RestError) {
    try CurlLoop.load()
    self.configuration = configuration
    var trust: OpaquePointer?
    if let pem = configuration.authorities?.pem {
      let problem = CurlLoop.problem { message, size in
        trust = pem.withUnsafeBytes { bytes in bytes.baseAddress.flatMap { ccurl_trust_make($0, bytes.count, message, size) } }
        return trust != nil
      }
      if let problem { throw RestError(code: .untrustedCertificate, message: problem, outcome: .notSent) }
    }
    self.trust = trust
    guard let loop = ccurl_loop_make(Int32(Tuning.keptConnections)) else {
      ccurl_trust_free(trust)
      throw .unusable("connections cannot be opened: \(String(cString: strerror(errno)))")
    }
    self.loop = loop
    let status = start()
    guard status == 0 else { throw .unusable("no thread can be started: \(String(cString: strerror(status)))") }
  }

  deinit {
    ccurl_loop_free(loop)
    ccurl_trust_free(trust)
  }

  /// Starts the thread, with all signals blocked: the program's handlers run on its own threads, and a SIGPIPE of a broken
  /// connection has no effect.
  private func start() -> Int32 {
    let (started, status) = SignalFreeThread.start { self.run() }
    if status == 0 { thread = started }
    return status
  }

  // MARK: Any thread

  /// Starts a transfer, or lets it wait for its turn. Resumes the continuation when it has a result.
  func add(_ transfer: CurlTransfer, _ continuation: CheckedContinuation<Void, Never>) {
    transfer.waiting = continuation
    let isAdded = post { inbox in
      if !inbox.isStopping { inbox.new.append(transfer) }
      return !inbox.isStopping
    }
    if !isAdded { transfer.finish(because: .shutDown) }
  }

  /// Ends a transfer early, even one that is added later. Has no effect on one that has ended.
  func end(_ transfer: CurlTransfer, _ end: CurlTransfer.End) { post { $0.ending.append((transfer, end)) } }

  /// Ends all transfers and the thread; returns when everything is closed.
  func stop() async {
    endSoon(joins: true)
    await withCheckedContinuation { continuation in
      let hasEnded = lock.withLock { () -> Bool in
        if !inbox.hasEnded { inbox.waiting.append(continuation) }
        return inbox.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
    let mustJoin = lock.withLock { () -> Bool in
      defer { inbox.isJoined = true }
      return !inbox.isJoined
    }
    // The thread has nothing left to do but to return.
    if mustJoin { pthread_join(thread, nil) }
  }

  /// Ends all transfers and the thread without waiting.
  func endSoon(joins: Bool = false) {
    if !joins { pthread_detach(thread) }
    post { $0.isStopping = true }
  }

  @discardableResult
  private func post<R>(_ change: (inout Inbox) -> R) -> R {
    let (result, mustWake) = lock.withLock { () -> (R, Bool) in
      defer { inbox.isAwake = true }
      return (change(&inbox), !inbox.isAwake && !inbox.hasEnded)
    }
    if mustWake { ccurl_loop_wake(loop) }
    return result
  }

  // MARK: The loop's thread

  private func run() {
    var lastUse = configuration.now()
    while true {
      let letters = lock.withLock { () -> Inbox in
        defer { (inbox.new, inbox.ending, inbox.isAwake) = ([], [], false) }
        return inbox
      }
      for transfer in letters.new { enqueue(transfer) }
      for (transfer, end) in letters.ending { conclude(transfer, end) }
      if letters.isStopping { endAll() }
      ccurl_loop_perform(loop)
      takeEnded()
      if letters.isStopping { break }
      let now = configuration.now()
      if !running.isEmpty { lastUse = now }
      let seconds = min(endLate(now), closeUnused(since: lastUse, now), Tuning.longestLoopWaitS)
      ccurl_loop_wait(loop, Int32(saturating: (max(0, seconds) * 1000).rounded(.up)))
    }
    for easy in spare { ccurl_transfer_free(easy) }
    ccurl_loop_close(loop)
    let waiting = lock.withLock { () -> [CheckedContinuation<Void, Never>] in
      inbox.hasEnded = true
      defer { inbox.waiting = [] }
      return inbox.waiting
    }
    for waiter in waiting { waiter.resume() }
  }

  private func takeEnded() {
    var result = ccurl_result()
    while let context = ccurl_loop_ended(loop, &result) {
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
      if transfer.end == .stale, let easy = transfer.easy {
        ccurl_transfer_reset(easy)
        transfer.startAfresh()
        startEasy(transfer)
        continue
      }
      leave(transfer)
      transfer.finish(with: result)
      recycle(transfer)
    }
  }

  /// Closes the connections once none has been used for a while, because libcurl keeps them until they are wanted.
  ///
  /// - Returns: The seconds until then.
  private func closeUnused(since lastUse: Double, _ now: Double) -> Double {
    guard running.isEmpty, !spare.isEmpty else { return .infinity }
    let rest = lastUse + Double(configuration.keepAliveMs) / 1000 - now
    guard rest <= 0 else { return rest }
    for easy in spare { ccurl_transfer_free(easy) }
    spare = []
    ccurl_loop_renew(loop)
    return .infinity
  }

  private func enqueue(_ transfer: CurlTransfer) {
    guard transfer.end == nil else { return transfer.finish(because: nil) }
    running.insert(transfer)
    let key = transfer.connectionKey
    if connections[key, default: 0] < configuration.connectionsPerHost {
      start(transfer)
    } else {
      queues[key, default: []].append(transfer)
    }
  }

  private func start(_ transfer: CurlTransfer) {
    connections[transfer.connectionKey, default: 0] += 1
    transfer.easy = spare.popLast() ?? ccurl_transfer_make()
    startEasy(transfer)
  }

  private func startEasy(_ transfer: CurlTransfer) {
    let code = transfer.start(in: loop, trust: trust)
    guard code != 0 else { return }
    leave(transfer, wasStarted: true)
    transfer.finish(with: ccurl_result(code: code))
    recycle(transfer)
  }

  /// Takes a transfer off the books and starts the next one for its host.
  private func leave(_ transfer: CurlTransfer, wasStarted: Bool? = nil) {
    running.remove(transfer)
    let key = transfer.connectionKey
    guard wasStarted ?? (transfer.easy != nil) else {
      queues[key]?.removeAll { $0 === transfer }
      return
    }
    connections[key, default: 1] -= 1
    if let next = queues[key]?.first {
      queues[key]?.removeFirst()
      start(next)
    } else if connections[key] == 0 {
      connections[key] = nil
      queues[key] = nil
    }
  }

  private func conclude(_ transfer: CurlTransfer, _ reason: CurlTransfer.End) {
    transfer.end = transfer.end ?? reason
    // Not yet added, or ended already.
    guard running.contains(transfer) else { return }
    if let easy = transfer.easy { ccurl_transfer_stop(easy, loop) }
    leave(transfer)
    transfer.finish(because: nil)
    recycle(transfer)
  }

  private func recycle(_ transfer: CurlTransfer) {
    guard let easy = transfer.easy else { return }
    transfer.easy = nil
    if spare.count < configuration.connectionsPerHost {
      ccurl_transfer_reset(easy)
      spare.append(easy)
    } else {
      ccurl_transfer_free(easy)
    }
  }

  private func endAll() {
    // Those that wait go first, so that none is started only to be ended.
    queues = [:]
    for transfer in running where transfer.easy == nil { conclude(transfer, .shutDown) }
    for transfer in running { conclude(transfer, .shutDown) }
  }

  /// Ends transfers whose time is up.
  ///
  /// - Returns: The seconds until the next deadline.
  private func endLate(_ now: Double) -> Double {
    var next = Double.infinity
    var late: [CurlTransfer] = []
    for transfer in running {
      let deadline = transfer.nextDeadline(now)
      if deadline <= now { late.append(transfer) } else { next = min(next, deadline) }
    }
    for transfer in late { conclude(transfer, transfer.deadline <= now ? .late : .idle) }
    // The end of one is the start of another.
    return late.isEmpty ? next - now : 0
  }
}

extension RestError {
  /// The machine lacks what every request needs, so that trying again does not help.
  fileprivate static func unusable(_ message: String) -> RestError {
    var error = RestError(code: .noResponse, message: message, outcome: .notSent)
    error.isLocal = true
    return error
  }
}
