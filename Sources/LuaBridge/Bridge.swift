import CLuaBridge
import Glibc
import JSON
import Support

/// Connects one Lua state with the core: accepts its calls, runs them on the stores' queues and posts the answers.
///
/// Use `call`, `take` and `close` on the Lua thread only; `interrupt` is callable from any thread.
public final class Bridge: @unchecked Sendable {
  package let mailbox: Mailbox
  package let host: any BridgeHost
  let script: ScriptCalls
  let queues = StoreQueues(threadLimit: Tuning.storeThreads)
  let pluginCalls: PluginCalls
  let forgetPluginCall: @Sendable (Int64) -> Void  // runs when a plug-in's call has ended
  private var lastCall: Int64 = 0  // Lua thread only
  private var known: [(service: [UInt8], action: [UInt8], found: Action)] = []  // Lua thread only; actions used so far
  private var waitObserver: (@Sendable (Bool) -> Void)?  // Lua thread only
  // Touched only with `lock` held.
  private let lock = Lock()
  private var isInterrupted = false, isClosed = false
  // The cancellations of running long calls and queries by call, and which of these calls are queries of a store: those that
  // only read, and those that write.
  private var cancellations: [Int64: Cancellation] = [:], reads: Set<Int64> = [], removals: Set<Int64> = []

  /// - Throws: `internal` if the process has no descriptor left for the mailbox.
  public convenience init(host: any BridgeHost) throws(BridgeError) {
    try self.init(host: host, mailboxCapacity: Tuning.mailboxCapacity)
  }

  /// For tests, with a mailbox of another size.
  package init(host: any BridgeHost, mailboxCapacity: Int) throws(BridgeError) {
    mailbox = try Mailbox(capacity: mailboxCapacity)
    self.host = host
    let calls = PluginCalls()
    pluginCalls = calls
    forgetPluginCall = { calls.remove($0) }
    script = ScriptCalls(mailbox: mailbox)
    host.attach(script)
  }

  /// Refuses new syncs, cancels running and waiting queries, ends the calls of plug-ins, and wakes the script's poll. The host
  /// has to stop running syncs itself.
  ///
  /// `tureen.run` then continues until no call is pending and returns false; `tureen.poll` raises if no call is pending.
  public func interrupt() {
    lock.withLock { isInterrupted = true }
    cancelReads()
    pluginCalls.interrupt()
    mailbox.wake()
  }

  private func cancelReads() {
    for read in lock.withLock({ reads.compactMap { cancellations[$0] } }) { read.cancel() }
  }

  /// Cancels the queries that remove entries: for an interrupted script that has to end soon.
  func cancelRemovals() {
    for call in lock.withLock({ removals.compactMap { cancellations[$0] } }) { call.cancel() }
  }

  /// Drops the accepted calls that have not begun, and cancels the others as far as possible: for a script that was ended.
  func abandon() {
    queues.dropWaiting()
    for call in lock.withLock({ Array(cancellations.values) }) { call.cancel() }
  }

  /// Sets a function that is called with true when the script starts to wait for messages and with false when it continues.
  /// It runs on the Lua thread. Set it before the script runs.
  public func observeWaiting(_ observer: @escaping @Sendable (Bool) -> Void) { waitObserver = observer }

  /// Reports that the script starts or stops waiting.
  func isWaiting(_ waits: Bool) { waitObserver?(waits) }

  var hasInterrupt: Bool { lock.withLock { isInterrupted } }
  var hasClosed: Bool { lock.withLock { isClosed } }

  /// Accepts a call and returns its id. Other errors of the call are answered through the mailbox.
  /// - Parameter isEncoded: Whether our own encoder made the arguments' text.
  /// - Throws: `mailboxFull` if there is no room for the answer.
  func call(
    service: UnsafeRawBufferPointer, action name: UnsafeRawBufferPointer, store: StoreReference, arguments: [UInt8],
    isEncoded: Bool = false, wantsRecords: Bool = false
  ) throws(BridgeError) -> Int64 {
    let action: Result<Action, BridgeError>
    do { action = .success(try find(service, name)) } catch { action = .failure(error) }
    if case .success(.plugin(let service, let name)) = action {
      return try callPlugin(service, name, store: store, arguments: arguments, isEncoded: isEncoded)
    }
    let isLong = (try? action.get())?.isLong ?? false
    let isObserver = (try? action.get())?.isObserver ?? false
    let slots = isLong ? Tuning.slotsPerSync : isObserver ? Tuning.slotsPerObserver : Tuning.slotsPerCall
    let ticket = try makeTicket(for: try? action.get(), slots: slots)
    switch action {
    case .failure(let error): ticket.fail(error)
    case .success where isLong && hasInterrupt:
      ticket.fail(BridgeError.bridge(.interrupted, "interrupted: no further sync is started"))
    case .success(let action):
      let job: StoreQueues.Job = { self.run(action, arguments, wantsRecords, ticket) }
      // Any other job, even an exclusive one, may be waiting for this answer.
      if case .answer = action {
        queues.submitIndependent(job)
      } else {
        queues.submit(action.concernsAllStores ? nil : action.queue ?? store, job)
      }
    }
    return ticket.id
  }

  /// Creates the ticket of a new call, and its cancellation if the call can be cancelled.
  private func makeTicket(for action: Action?, slots: Int) throws(BridgeError) -> CallTicket {
    guard let action, action.isCancellable else { return try newTicket(slots: slots) }
    let ticket = try newTicket(slots: slots) { [weak self] id in
      self?.lock.withLock {
        _ = self?.cancellations.removeValue(forKey: id)
        _ = self?.reads.remove(id)
        _ = self?.removals.remove(id)
      }
    }
    lock.withLock {
      cancellations[ticket.id] = Cancellation()
      if action.onlyReads { reads.insert(ticket.id) } else if action.isQuery { removals.insert(ticket.id) }
    }
    return ticket
  }

  /// Creates a new call's ticket and reserves slots in the mailbox. Call it on the Lua thread. - Throws: `mailboxFull`.
  func newTicket(slots: Int, onEnd: (@Sendable (Int64) -> Void)? = nil) throws(BridgeError) -> CallTicket {
    guard mailbox.reserve(slots) else {
      throw .bridge(.mailboxFull, "too many calls wait for their answers to be polled", isRetryable: true)
    }
    lastCall += 1
    return CallTicket(id: lastCall, mailbox: mailbox, slots: slots, onEnd: onEnd)
  }

  private func cancellation(of id: Int64) -> Cancellation? { lock.withLock { cancellations[id] } }

  /// Requests the cancellation of a call. The call is still answered: a sync with STOPPED, a plug-in's call as the plug-in
  /// decides, other calls with an error. Has no effect if the call has ended or is too short to be cancelled.
  func cancel(_ id: Int64) {
    cancellation(of: id)?.cancel()
    pluginCalls.cancel(id)
  }

  /// Finds an action. Known actions are compared by their bytes, which avoids creating strings for each call.
  private func find(_ service: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws(BridgeError) -> Action {
    func isSame(_ a: [UInt8], _ b: UnsafeRawBufferPointer) -> Bool {
      a.count == b.count && (a.isEmpty || a.withUnsafeBytes { memcmp($0.baseAddress!, b.baseAddress!, b.count) } == 0)
    }
    for entry in known where isSame(entry.action, name) && isSame(entry.service, service) { return entry.found }
    let found = try Action(service: String(decoding: service, as: UTF8.self), action: String(decoding: name, as: UTF8.self))
    if known.count < Tuning.knownActions { known.append((Array(service), Array(name), found)) }
    return found
  }

  /// Runs an action on a thread of the queues.
  private func run(_ action: Action, _ arguments: [UInt8], _ wantsRecords: Bool, _ ticket: CallTicket) {
    do {
      if action.isLong, hasClosed { throw BridgeError.bridge(.closed, "the bridge is closed") }
      var call = try ActionCall(action, text: arguments)
      call.wantsRecords = wantsRecords
      if action.isCancellable {
        call.cancellation = cancellation(of: ticket.id)
        if call.cancellation?.isCancelled == true {
          throw BridgeError.bridge(.cancelled, "the call was cancelled before it began")
        }
      }
      switch action {
      case .smartStore(.observe): try queues.lending { try host.observe(call) { ticket.update($0) } }
      case .keyValue(let action): ticket.succeed(try host.keyValue(action, call))
      case .asset(let action): ticket.succeed(try host.asset(action, call))
      case .smartStore(let action) where action.isQuery:
        ticket.succeed(try queues.lending { try host.smartStore(action, call) })
      case .smartStore(let action): ticket.succeed(try host.smartStore(action, call))
      case .mobileSync(let action):
        if let payload = try host.mobileSync(action, call, onUpdate: { ticket.update($0) }) { ticket.succeed(payload) }
      case .network: try host.network(call) { ticket.update($0) }
      case .parse(let parse) where action.isQuery: try queues.lending { try host.parse(parse, call) { ticket.update($0) } }
      case .parse(let action): try host.parse(action, call) { ticket.update($0) }
      case .answer:
        try script.answer(call.arguments, text: arguments)
        ticket.succeed(JSONValue.null.serialized())
      case .oauth(let action): try host.oauth(action, call) { ticket.update($0) }
      case .account(let action): try host.account(action, call) { ticket.update($0) }
      case .accounts(let action): try host.accounts(action, call) { ticket.update($0) }
      case .host(let action): try host.host(action, call) { ticket.update($0) }
      case .sdkInfo(let action): ticket.succeed(try sdkInfo(action, call))
      case .plugin: break  // handled by `callPlugin`
      }
    } catch {
      ticket.fail(error)
    }
  }

  private func sdkInfo(_ action: SDKInfoAction, _ call: ActionCall) throws -> [UInt8] {
    switch action {
    case .getInfo: return try info()
    case .registerAppFeature, .unregisterAppFeature:
      let feature = try call.string("feature")
      guard !feature.isEmpty, feature.utf8.count <= Tuning.featureBytes, feature.utf8.allSatisfy(Self.isFeatureByte) else {
        throw BridgeError.bridge(
          .invalidArguments,
          "argument 'feature' must be letters, digits and '_', \(Tuning.featureBytes) at most, got '\(feature.prefix(100))'")
      }
      host.setFeature(feature, isUsed: action == .registerAppFeature)
    }
    return JSONValue.string("OK").serialized()
  }

  /// Whether a feature's code, which is sent in a header, may contain the byte.
  private static func isFeatureByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "_")
  }

  private func info() throws -> [UInt8] {
    var info = try host.sdkInfo()
    if info["forcePluginsAvailable"] == nil {
      info["forcePluginsAvailable"] = .array((Action.services + host.plugins.services).map(JSONValue.string))
    }
    return JSONValue.object(info).serialized()
  }

  /// Passes settings to the host.
  /// - Throws: `invalidArguments` if the text is not an object; the host's error if it refuses the settings.
  func configure(_ text: [UInt8]) throws(BridgeError) {
    do {
      let value = try JSONValue(parsing: text)
      guard let options = value.objectValue else { throw ActionCall.wrong("options", "an object", value) }
      try host.configure(options)
    } catch {
      throw BridgeError(describing: error)
    }
  }

  /// Discards waiting messages, cancels calls that only read, lets the other accepted store calls finish, and shuts down the
  /// host. A second call has no effect.
  ///
  /// For programs that use the bridge without a Lua state; a Lua state closes its own bridge.
  public func close() {
    let isFirst = lock.withLock { () -> Bool in
      defer { isClosed = true }
      return !isClosed
    }
    guard isFirst else { return }
    mailbox.close()
    script.close()
    cancelReads()
    warn(ofUnanswered: pluginCalls.close())
    for call in lock.withLock({ Array(cancellations.values) }) { call.close() }
    queues.close()
    host.shutdown()
  }
}
