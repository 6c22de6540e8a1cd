import Dispatch
import JSON
import RestClient
import Support
import Synchronization
import TestSupport

@testable import Tureen

/// A home with the sessions of three users: Ann and Bob of the org `one`, Cleo of the org `two`. Both orgs are scripted servers.
final class AccountHome: Sendable {
  let runner: ScriptRunner
  let one: ScriptedServer
  let two: ScriptedServer
  let clock = SwitchClock()

  static let ann: JSONValue = ["userId": "005A", "orgId": "00D1", "username": "ann"]
  static let bob: JSONValue = ["userId": "005B", "orgId": "00D1", "username": "bob"]
  static let cleo: JSONValue = ["userId": "005C", "orgId": "00D2", "username": "cleo"]

  /// - Parameter handler: Answers the requests of both orgs. If it returns nil, ``answer(_:)`` does.
  init(_ handler: @escaping @Sendable (RecordedRequest, SwitchClock) -> ScriptedAnswer? = { _, _ in nil }) async throws {
    runner = try await ScriptRunner(contacts: 1)
    one = try ScriptedServer(handler: { [clock] in handler($0, clock) ?? AccountHome.answer($0) })
    two = try ScriptedServer(handler: { [clock] in handler($0, clock) ?? AccountHome.answer($0) })
    try keep(Self.ann, org: "one", at: one.url)
    try keep(Self.bob, org: "one", at: one.url)
    try keep(Self.cleo, org: "two", at: two.url)
    try FileSystem.write(
      Array(#"{"loginUrl":"\#(one.url)","clientId":"app","username":"ann","refreshToken":"refresh-ann"}"#.utf8),
      to: runner.home + "/orgs/one/credentials.json")
  }

  /// Stores a user's session, as a sign-in does.
  func keep(_ user: JSONValue, org: String, at url: String) throws {
    let name = user["username"]?.stringValue ?? "",
      ids = "\(user["orgId"]?.stringValue ?? "")/\(user["userId"]?.stringValue ?? "")"
    let folder = "\(runner.home)/orgs/\(org)/\(name)"
    try FileSystem.makeDirectory(folder)
    var session: JSONObject = [
      "version": 2, "accessToken": .string("token-\(name)"), "refreshToken": .string("refresh-\(name)"),
      "instanceURL": .string(url), "loginURL": .string(url), "identityURL": .string("\(url)/id/\(ids)"), "clientId": "app",
    ]
    for key in ["userId", "orgId", "username"] { session[key] = user[key] }
    try FileSystem.write(JSONValue.object(session).serialized(), to: folder + "/session.json")
  }

  /// Returns the user whose token is in a request.
  static func user(of request: RecordedRequest) -> String {
    String((request.header("Authorization") ?? "").dropFirst("Bearer token-".count))
  }

  /// Answers queries with three pages of one record of the user, and all other requests with the user's name.
  static func answer(_ request: RecordedRequest) -> ScriptedAnswer {
    let user = user(of: request)
    guard request.path.contains("/query") else { return .json(#"{"user":"\#(user)"}"#) }
    let page = Int(request.path.split(separator: "-").last ?? "") ?? 1
    let next = page < 3 ? #","nextRecordsUrl":"/services/data/v66.0/query/page-\#(page + 1)""# : ""
    return .json(
      #"{"totalSize":3,"done":\#(page == 3)\#(next),"records":[{"attributes":{"type":"Contact"},"Id":"\#(user)\#(page)","#
        + #""LastName":"\#(user)","LastModifiedDate":"2024-01-01T00:00:00.000+0000"}]}"#)
  }

  /// Returns a host whose current user is Ann.
  func host(_ change: (inout HostSettings) -> Void = { _ in }) -> Host {
    runner.makeHost { settings in
      settings.org = "one"
      settings.accounts = .home
      settings.clock = clock.environment
      change(&settings)
    }
  }

  /// Runs a task as Ann with `switch(user)`, `whoami()`, and `order`, which lists the values passed to `hear` and the
  /// `userSwitched` events.
  func value(of body: String, on host: Host? = nil) async throws -> JSONValue? {
    defer {
      one.stop()
      two.stop()
    }
    return try await runner.value(of: body, before: Self.before, on: host ?? self.host())
  }

  private static let before = """
    local await, accounts, network = tureen.await, tureen.accounts, tureen.network
    local ANN, BOB = { userId = "005A", orgId = "00D1" }, { userId = "005B", orgId = "00D1" }
    local CLEO = { userId = "005C", orgId = "00D2" }
    local LIMITS = { path = "/services/data/v66.0/limits" }
    local GLOBAL = { isGlobalStore = true }
    local order = tureen.array()
    local function hear(what) return function() order[#order + 1] = what end end
    local function switch(user) return assert(await(accounts.switchToUser, user)) end
    local function whoami() return assert(await(network.sendRequest, LIMITS)).user end
    tureen.on("userSwitched", function(detail)
      order[#order + 1] = "switched " .. (detail.from ~= tureen.null and detail.from.username or "-") .. " " .. detail.to.username
    end)
    """
}

/// A clock for switches of users: their half minute passes when a test says so, all other sleeps return at once.
final class SwitchClock: Sendable {
  private struct State {
    var sleeper: CheckedContinuation<Void, any Error>?
    var isOver = false
  }

  private let state = Mutex(State())
  private let began = DispatchSemaphore(value: 0)

  var environment: RetryEnvironment {
    RetryEnvironment(sleep: { try await self.sleep($0) }, random: { 0.5 }, now: { SystemClock.secondsSince1970() })
  }

  /// Blocks until a switch waits for the old user's work.
  func waitForSwitch() {
    began.wait()
    began.signal()
  }

  /// Lets the half minute of a switch pass.
  func passTime() {
    let sleeper = state.withLock { state in
      state.isOver = true
      defer { state.sleeper = nil }
      return state.sleeper
    }
    sleeper?.resume()
  }

  private func sleep(_ seconds: Double) async throws {
    guard seconds == 30 else { return }
    began.signal()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isDone = state.withLock { state in
          if state.isOver || Task.isCancelled { return true }
          state.sleeper = continuation
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      state.withLock { state in
        defer { state.sleeper = nil }
        return state.sleeper
      }?.resume(throwing: CancellationError())
    }
  }
}
