import JSON
import LuaBridge
import MobileSync
import RestClient
import Salesforce
import Synchronization

/// Sends a host's own events to its script, such as a renewed session or a lost network connection.
final class HostEvents: RestObserver {
  private let targets: ScriptTargets
  private let state = Mutex(Connectivity())
  private let switches = Atomic<Int>(0)
  /// Returns the `User-Agent` header. Set by the host.
  let userAgent = Mutex<@Sendable () -> String>({ "" })

  init(_ targets: ScriptTargets) { self.targets = targets }

  /// Reports that a different token is in use, obtained by this or another process.
  func sessionRenewed(_ account: Account) {
    let agent = userAgent.withLock { $0 }
    deliver("salesforceSessionRefresh", account.credentials(agent()), subject: "session")
  }

  /// Reports that the session has ended and that only a person or other credentials can restore it.
  /// - Parameter org: The name of the org's folder.
  func sessionLost(_ account: Account, org: String, _ error: RestError) {
    let detail: JSONObject = [
      "reason": .string(error.reason ?? error.code.rawValue), "message": .string(error.message), "org": .string(org),
      "username": .string(account.username), "userId": .string(account.session.userId), "orgId": .string(account.session.orgId),
    ]
    deliver("sessionLost", .object(detail), subject: "session lost")
  }

  /// Asks the embedding program for a session.
  func sessionNeeded(_ need: SessionRequest) { deliver("sessionNeeded", need.json, subject: "sessionNeeded") }

  /// Reports a change of a sync that no call of the script waits for.
  func syncChanged(_ sync: SyncState, in store: StoreReference) {
    var detail = sync.scriptJSON
    detail["isGlobalStore"] = .bool(store.isGlobal)
    detail["storeName"] = .string(store.name)
    deliver("sync", .object(detail), subject: "sync \(store.isGlobal) \(store.name) \(sync.id)")
  }

  /// Reports a switch of users. Every switch is a separate event; a later one does not replace it.
  func userSwitched(_ detail: JSONValue) {
    deliver("userSwitched", detail, subject: "switch \(switches.add(1, ordering: .relaxed).newValue)")
  }

  func requestFinished(_ trace: RestTrace) {
    let change = state.withLock { $0.note(hasAnswer: trace.status != nil, isCutOff: trace.errorCode == .noResponse) }
    if let change { deliverConnectivity(change) }
  }

  /// Takes a report of the program, which knows more about the network than single requests show.
  func report(isOnline: Bool) {
    let change = state.withLock { $0.set(isOnline) }
    if let change { deliverConnectivity(change) }
  }

  private func deliverConnectivity(_ isOnline: Bool) { deliver(isOnline ? "online" : "offline", .null, subject: "connectivity") }

  private func deliver(_ event: String, _ detail: JSONValue, subject: String) {
    targets.attached?.deliver(event, detail, subject: subject)
  }
}

/// Derives from the results of requests whether there is a network connection.
struct Connectivity: Equatable, Sendable {
  /// The number of consecutive requests without a response that count as offline. A single one is not conclusive.
  static let lostAnswers = 2

  private(set) var isOnline = true
  private var lost = 0

  /// Records the end of one attempt of a request.
  /// - Parameters:
  ///   - hasAnswer: True if a server responded, even with an error.
  ///   - isCutOff: True if there was no complete response.
  /// - Returns: The new state if it has changed, else nil.
  mutating func note(hasAnswer: Bool, isCutOff: Bool) -> Bool? {
    if hasAnswer { return set(true) }
    guard isCutOff else { return nil }
    lost += 1
    guard isOnline, lost >= Self.lostAnswers else { return nil }
    isOnline = false
    return false
  }

  /// - Returns: The new state if it has changed, else nil.
  mutating func set(_ isOnline: Bool) -> Bool? {
    lost = 0
    guard isOnline != self.isOnline else { return nil }
    self.isOnline = isOnline
    return isOnline
  }
}
