import JSON
import LuaBridge
import MobileSync
import RestClient
import Salesforce
import Synchronization

/// What a host tells its script of by itself: that the session was renewed, that the network went and came back.
final class HostEvents: RestObserver {
  private let targets: ScriptTargets
  private let state = Mutex(Connectivity())
  private let switches = Atomic<Int>(0)
  /// What requests say who sends them; set by the host.
  let userAgent = Mutex<@Sendable () -> String>({ "" })

  init(_ targets: ScriptTargets) { self.targets = targets }

  /// Another token is in use, whoever got it.
  func sessionRenewed(_ account: Account) {
    let agent = userAgent.withLock { $0 }
    tell("salesforceSessionRefresh", account.credentials(agent()), about: "session")
  }

  /// Only a person or other credentials bring a session back.
  /// - Parameter org: As the script knows it.
  func sessionLost(_ account: Account, org: String, _ error: RestError) {
    let detail: JSONObject = [
      "reason": .string(error.reason ?? error.code.rawValue), "message": .string(error.message), "org": .string(org),
      "username": .string(account.username), "userId": .string(account.session.userId), "orgId": .string(account.session.orgId),
    ]
    tell("sessionLost", .object(detail), about: "session lost")
  }

  /// The program around the host is to give a session.
  func sessionNeeded(_ need: SessionNeed) { tell("sessionNeeded", need.json, about: "sessionNeeded") }

  /// A sync changed that no call of the script waits for.
  func syncChanged(_ sync: SyncState, in store: StoreReference) {
    var detail = sync.scriptJSON
    detail["isGlobalStore"] = .bool(store.isGlobal)
    detail["storeName"] = .string(store.name)
    tell("sync", .object(detail), about: "sync \(store.isGlobal) \(store.name) \(sync.id)")
  }

  /// Another user is the current one. Each switch is told by itself: a later one does not replace it.
  func userSwitched(_ detail: JSONValue) {
    tell("userSwitched", detail, about: "switch \(switches.add(1, ordering: .relaxed).newValue)")
  }

  func requestFinished(_ trace: RestTrace) {
    let change = state.withLock { $0.note(hasAnswer: trace.status != nil, isCutOff: trace.errorCode == .noResponse) }
    if let change { tellConnectivity(change) }
  }

  /// What a program reports that knows more than a single request can show.
  func report(isOnline: Bool) {
    let change = state.withLock { $0.set(isOnline) }
    if let change { tellConnectivity(change) }
  }

  private func tellConnectivity(_ isOnline: Bool) { tell(isOnline ? "online" : "offline", .null, about: "connectivity") }

  private func tell(_ event: String, _ detail: JSONValue, about subject: String) {
    targets.attached?.tell(event, detail, about: subject)
  }
}

/// Whether there is a network, as far as requests show.
struct Connectivity: Equatable, Sendable {
  /// One lost answer says little; a second one right after it says that the network is gone.
  static let lostAnswers = 2

  private(set) var isOnline = true
  private var lost = 0

  /// One try of a request has ended.
  /// - Parameters:
  ///   - hasAnswer: A server answered, be it with a refusal.
  ///   - isCutOff: There was no complete answer.
  /// - Returns: The new state when it is another one.
  mutating func note(hasAnswer: Bool, isCutOff: Bool) -> Bool? {
    if hasAnswer { return set(true) }
    guard isCutOff else { return nil }
    lost += 1
    guard isOnline, lost >= Self.lostAnswers else { return nil }
    isOnline = false
    return false
  }

  /// - Returns: The new state when it is another one.
  mutating func set(_ isOnline: Bool) -> Bool? {
    lost = 0
    guard isOnline != self.isOnline else { return nil }
    self.isOnline = isOnline
    return isOnline
  }
}
