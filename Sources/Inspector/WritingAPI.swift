import JSON
import LuaBridge
import MobileSync
import Support
import Tureen

/// Answers the routes that change data. Each action gets a host of its own, as a command would, so that no store stays open.
final class WritingAPI: @unchecked Sendable {  // `running` is touched only with `lock` held
  /// A sync that this page has started.
  private struct Running {
    let calls: ActionCalls
    let id: Int64
    let store: StoreReference
  }

  private let settings: HostSettings
  private let api: InspectorAPI
  private let lock = Lock()
  private var running: [Running] = []

  /// - Parameter settings: Of hosts that write.
  init(_ settings: HostSettings, _ api: InspectorAPI) {
    self.settings = settings
    self.api = api
  }

  func answer(_ route: Route, _ request: LoopbackRequest) throws -> LoopbackAnswer {
    switch route {
    case .resolve(let store, let soup, let entry): return try resolve(store, soup, entry, request)
    case .discard(let store):
      let body = try InspectorAPI.object(request)
      var arguments = JSONObject()
      for key in ["soupName", "entryIds", "fields", "created"] { arguments[key] = body[key] }
      return .json(200, try perform("mobilesync", "discardChanges", of: store, arguments))
    case .runSync(let store, let id):
      _ = try InspectorAPI.object(request)
      return try run(id, store)
    case .stopSync(let store, let id):
      _ = try InspectorAPI.object(request)
      guard let found = lock.withLock({ running.first { $0.id == id && $0.store == store } }) else {
        throw APIError(409, "notRunning", "this page has not started the sync; end it where it runs")
      }
      found.calls.host.stopSyncs()
      return .json(202, ["stopping": true])
    default: throw APIError.notFound
    }
  }

  /// Decides a conflict as it was shown: its tag must be that of the conflict as it is.
  private func resolve(_ store: StoreReference, _ soup: String, _ entry: Int64, _ request: LoopbackRequest) throws
    -> LoopbackAnswer
  {
    let body = try InspectorAPI.object(request), conflict = try api.conflict(store, soup, entry)
    guard request.values("if-match") == [try InspectorAPI.tag(of: conflict)] else {
      throw APIError(412, "changed", "the conflict has changed since it was shown; look at it again", isRetryable: true)
    }
    guard let side = ConflictDecision.Side(rawValue: body["side"]?.stringValue ?? "mine") else {
      throw APIError(400, "invalidArguments", "'side' must be mine, theirs or merge")
    }
    let fields = try (body["fields"]?.objectValue ?? [:]).map { name, value -> (name: String, isTheirs: Bool) in
      guard ["mine", "theirs"].contains(value.stringValue) else {
        throw APIError(400, "invalidArguments", "'fields.\(name)' must be mine or theirs")
      }
      return (name: name, isTheirs: value.stringValue == "theirs")
    }
    do {
      var arguments = try ConflictDecision(side: side, fields: fields).arguments(conflict)
      arguments["soupName"] = .string(soup)
      arguments["entryId"] = .integer(entry)
      return .json(200, try perform("mobilesync", "resolveConflict", of: store, arguments))
    } catch let refusal as ConflictDecision.Refusal {
      throw APIError(422, "conflictUnresolved", refusal.text)
    }
  }

  private func perform(
    _ service: String, _ action: String, of store: StoreReference, _ arguments: JSONObject
  ) throws -> [UInt8] {
    let calls = ActionCalls(settings)
    defer { calls.close() }
    return try calls.perform(service, action, Self.on(store, arguments)).get()
  }

  private static func on(_ store: StoreReference, _ arguments: JSONObject) -> JSONObject {
    var arguments = arguments
    arguments["storeName"] = .string(store.name)
    arguments["isGlobalStore"] = .bool(store.isGlobal)
    return arguments
  }

  // MARK: Syncs

  /// Starts a sync. Its end is seen in the store; only a failure to start is told here.
  private func run(_ id: Int64, _ store: StoreReference) throws -> LoopbackAnswer {
    let calls = ActionCalls(settings)
    let isKnown = lock.withLock { () -> Bool in
      if running.contains(where: { $0.id == id && $0.store == store }) { return true }
      running.append(Running(calls: calls, id: id, store: store))
      return false
    }
    guard !isKnown else {
      calls.close()
      throw APIError(409, "alreadyRunning", "the sync is running")
    }
    let result = Outcome()
    let (thread, error) = SignalFreeThread.start {
      result.set(calls.perform("mobilesync", "reSync", Self.on(store, ["syncId": .integer(id)])))
      calls.close()
      self.forget(calls)
    }
    guard error == 0 else {
      calls.close()
      forget(calls)
      throw APIError(503, "tooManyThreads", "no thread can be started", isRetryable: true)
    }
    SignalFreeThread.detach(thread)
    guard let early = result.wait(Limits.startMs) else { return .json(202, ["started": true]) }
    return .json(200, try early.get())
  }

  private func forget(_ calls: ActionCalls) {
    lock.withLock {
      running.removeAll { $0.calls === calls }
      lock.broadcast()
    }
  }

  /// Stops the syncs that this page has started, and waits until they are saved.
  func close() {
    for one in lock.withLock({ running }) { one.calls.host.stopSyncs() }
    lock.withLock { while !running.isEmpty { lock.wait() } }
  }
}

/// A result that one thread sets and another awaits for a while.
private final class Outcome: @unchecked Sendable {  // `reply` is touched only with `lock` held
  private let lock = Lock()
  private var reply: ActionCalls.Reply?

  func set(_ reply: ActionCalls.Reply) {
    lock.withLock {
      self.reply = reply
      lock.broadcast()
    }
  }

  func wait(_ ms: Int64) -> ActionCalls.Reply? {
    let end = SystemClock.monotonicMilliseconds() + ms
    return lock.withLock {
      while reply == nil, SystemClock.monotonicMilliseconds() < end { lock.wait(until: end) }
      return reply
    }
  }
}
