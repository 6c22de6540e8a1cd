import CLuaBridge
import Glibc
import JSON
import Support

/// One Lua state's way into the core: takes its calls, runs them on the stores' lanes, and posts what comes of them.
///
/// `call`, `take` and `close` belong to the Lua thread; `interrupt` may come from any.
public final class Bridge: @unchecked Sendable {
  package let mailbox: Mailbox
  package let host: any BridgeHost
  let script: ScriptCalls
  let lanes = Lanes(threadLimit: Tuning.storeThreads)
  let pluginCalls = PluginCalls()
  private var lastCall: Int64 = 0  // Lua thread only
  private var known: [(service: [UInt8], action: [UInt8], found: Action)] = []  // Lua thread only; actions used so far
  private var waitObserver: (@Sendable (Bool) -> Void)?  // Lua thread only
  // Touched only with `lock` held.
  private let lock = Lock()
  private var isInterrupted = false, isClosed = false
  // Of long calls and of queries that have not ended, by call; the calls among them that only read a store.
  private var cancellations: [Int64: Cancellation] = [:], reads: Set<Int64> = []

  /// - Throws: when the process has no descriptor left for the mailbox.
  public convenience init(host: any BridgeHost) throws(BridgeError) {
    try self.init(host: host, mailboxCapacity: Tuning.mailboxCapacity)
  }

  /// For tests of a mailbox that is full.
  package init(host: any BridgeHost, mailboxCapacity: Int) throws(BridgeError) {
    mailbox = try Mailbox(capacity: mailboxCapacity)
    self.host = host
    script = ScriptCalls(mailbox: mailbox)
    host.attach(script)
  }

  /// Refuses syncs from now on, gives up the queries that run or wait and the calls of plug-ins, and wakes the script's poll.
  /// Stopping the syncs that run is the host's part.
  ///
  /// `tureen.run` then goes on until what is pending has ended and returns false; `tureen.poll` raises when nothing is.
  public func interrupt() {
    lock.withLock { isInterrupted = true }
    cancelReads()
    pluginCalls.interrupt()
    mailbox.wake()
  }

  private func cancelReads() {
    for read in lock.withLock({ reads.compactMap { cancellations[$0] } }) { read.cancel() }
  }

  /// Hears when the script begins to wait for news and when it goes on. On the Lua thread; set before the script runs.
  public func observeWaiting(_ observer: @escaping @Sendable (Bool) -> Void) { waitObserver = observer }

  /// Called from the table of functions.
  func isWaiting(_ waits: Bool) { waitObserver?(waits) }

  var hasInterrupt: Bool { lock.withLock { isInterrupted } }
  var hasClosed: Bool { lock.withLock { isClosed } }

  /// Accepts a call and returns its id. Everything that can be wrong with it is answered through the mailbox.
  /// - Throws: `mailboxFull`, when there is no place for the answer.
  func call(
    service: UnsafeRawBufferPointer, action name: UnsafeRawBufferPointer, store: StoreReference, arguments: [UInt8],
    wantsRecords: Bool = false
  ) throws(BridgeError) -> Int64 {
    let action: Result<Action, BridgeError>
    do { action = .success(try find(service, name)) } catch { action = .failure(error) }
    if case .success(.plugin(let service, let name)) = action {
      return try callPlugin(service, name, store: store, arguments: arguments)
    }
    let isLong = (try? action.get())?.isLong ?? false
    let isObserver = (try? action.get())?.isObserver ?? false
    let places = isLong ? Tuning.placesOfSync : isObserver ? Tuning.placesOfObserver : Tuning.placesOfCall
    let ticket = try makeTicket(try? action.get(), places)
    switch action {
    case .failure(let error): ticket.fail(error)
    case .success where isLong && hasInterrupt:
      ticket.fail(BridgeError.bridge(.interrupted, "interrupted: no further sync is started"))
    case .success(let action):
      let job: Lanes.Job = { self.run(action, arguments, wantsRecords, ticket) }
      // Any job may wait for the script's answer, also one that runs alone.
      if case .answer = action {
        lanes.submitBeside(job)
      } else {
        lanes.submit(action.isAboutAllStores ? nil : action.lane ?? store, job)
      }
    }
    return ticket.id
  }

  /// The ticket of a new call. That of one that can be given up takes note of it.
  private func makeTicket(_ action: Action?, _ places: Int) throws(BridgeError) -> CallTicket {
    guard let action, action.canBeGivenUp else { return try book(places) }
    let ticket = try book(places) { [weak self] id in
      self?.lock.withLock {
        _ = self?.cancellations.removeValue(forKey: id)
        _ = self?.reads.remove(id)
      }
    }
    lock.withLock {
      cancellations[ticket.id] = Cancellation()
      if action.onlyReads { reads.insert(ticket.id) }
    }
    return ticket
  }

  /// A new call with places in the mailbox. On the Lua thread. - Throws: `mailboxFull`.
  func book(_ places: Int, onEnd: (@Sendable (Int64) -> Void)? = nil) throws(BridgeError) -> CallTicket {
    guard mailbox.book(places) else {
      throw .bridge(.mailboxFull, "too many calls wait for their answers to be polled", isRetryable: true)
    }
    lastCall += 1
    return CallTicket(id: lastCall, mailbox: mailbox, places: places, onEnd: onEnd)
  }

  private func cancellation(of id: Int64) -> Cancellation? { lock.withLock { cancellations[id] } }

  /// Asks to give up a call. It is answered all the same: a sync with STOPPED, a call of a plug-in as that decides, other calls
  /// with an error. Nothing happens when it has ended, or is too short to be given up.
  func cancel(_ id: Int64) {
    cancellation(of: id)?.cancel()
    pluginCalls.cancel(id)
  }

  /// The action of these names, by its bytes when it was used before: no text is made for each call.
  private func find(_ service: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws(BridgeError) -> Action {
    func isSame(_ a: [UInt8], _ b: UnsafeRawBufferPointer) -> Bool {
      a.count == b.count && (a.isEmpty || a.withUnsafeBytes { memcmp($0.baseAddress!, b.baseAddress!, b.count) } == 0)
    }
    for entry in known where isSame(entry.action, name) && isSame(entry.service, service) { return entry.found }
    let found = try Action(service: String(decoding: service, as: UTF8.self), action: String(decoding: name, as: UTF8.self))
    if known.count < Tuning.knownActions { known.append((Array(service), Array(name), found)) }
    return found
  }

  /// On a lane's thread.
  private func run(_ action: Action, _ arguments: [UInt8], _ wantsRecords: Bool, _ ticket: CallTicket) {
    do {
      if action.isLong, hasClosed { throw BridgeError.bridge(.closed, "the bridge is closed") }
      var call = try ActionCall(action, text: arguments)
      call.wantsRecords = wantsRecords
      if action.canBeGivenUp {
        call.cancellation = cancellation(of: ticket.id)
        if call.cancellation?.isCancelled == true {
          throw BridgeError.bridge(.cancelled, "the call was cancelled before it began")
        }
      }
      switch action {
      case .smartStore(.observe): try lanes.lending { try host.observe(call) { ticket.update($0) } }
      case .keyValue(let action): ticket.succeed(try host.keyValue(action, call))
      case .asset(let action): ticket.succeed(try host.asset(action, call))
      case .smartStore(let action) where action.isQuery:
        ticket.succeed(try lanes.lending { try host.smartStore(action, call) })
      case .smartStore(let action): ticket.succeed(try host.smartStore(action, call))
      case .mobileSync(let action):
        if let payload = try host.mobileSync(action, call, onUpdate: { ticket.update($0) }) { ticket.succeed(payload) }
      case .network: try host.network(call) { ticket.update($0) }
      case .parse(let action): try host.parse(action, call) { ticket.update($0) }
      case .answer:
        try script.answer(call.arguments, text: arguments)
        ticket.succeed(JSONValue.null.serialized())
      case .oauth(let action): try host.oauth(action, call) { ticket.update($0) }
      case .account(let action): try host.account(action, call) { ticket.update($0) }
      case .accounts(let action): try host.accounts(action, call) { ticket.update($0) }
      case .sdkInfo(let action): ticket.succeed(try sdkInfo(action, call))
      case .plugin: break  // never gets here
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
      guard !feature.isEmpty, feature.utf8.allSatisfy(Self.isFeatureByte) else {
        throw BridgeError.bridge(.invalidArguments, "argument 'feature' must be letters, digits and '_', got '\(feature)'")
      }
      host.setFeature(feature, isUsed: action == .registerAppFeature)
    }
    return JSONValue.string("OK").serialized()
  }

  /// Features stand in a header.
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

  /// - Throws: when the text is no object, or the host refuses the settings.
  func configure(_ text: [UInt8]) throws(BridgeError) {
    do {
      let value = try JSONValue(parsing: text)
      guard let options = value.objectValue else { throw ActionCall.wrong("options", "an object", value) }
      try host.configure(options)
    } catch {
      throw BridgeError(describing: error)
    }
  }

  /// Drops what waits for the script, gives up what only reads, lets other store calls that were accepted finish, then shuts the
  /// host down. Safe twice.
  ///
  /// For programs that use the bridge without a Lua state; a state closes its own.
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
    lanes.close()
    host.shutdown()
  }
}
