import JSON
import LuaBridge
import RestClient
import Salesforce
import Support
import Synchronization

/// Manages the browser sign-in of a script. A host has one sign-in at a time; its port is freed however it ends.
final class HostLogins: Sendable {
  private struct Open {
    let id: String
    let login: Login
    let browser: BrowserLogin
    let clock: Task<Void, Never>
    /// Exchanges the code and stores the session. All `finishLogin` calls wait for it; nil before the first one.
    var finishing: Task<LoginAccount, any Error>?
  }

  private struct State {
    var open: Open?
    var isStarting = false, isClosed = false
    var lastId = 0
  }

  private let state = Mutex(State())
  /// The operations that may still hold the port.
  private let work = CallsInFlight()

  // MARK: Starting

  /// Starts a sign-in and returns the script's result. The port, if any, is bound when this returns.
  ///
  /// - Parameter listens: True if the browser is on this machine.
  /// - Throws: ``HostError`` `.alreadyInUse` while another sign-in is open, `.portInUse`, `.closed`.
  func start(_ login: Login, listens: Bool) async throws -> JSONValue {
    guard let plan = login.plan.browser else { throw LoginUsageError("scripts begin sign-ins of the flow 'browser' only") }
    try reserve()
    defer { work.end() }
    let browser: BrowserLogin
    do {
      browser = try await BrowserLogin.start(plan.request, listens: listens, limits: login.dependencies.limits)
    } catch {
      state.withLock { $0.isStarting = false }
      throw error
    }
    guard let id = open(login, browser, plan.timeoutS) else {
      await browser.end(.givenUp)
      throw Self.closed
    }
    return [
      "id": .string(id), "url": .string(plan.request.url), "redirectUri": .string(plan.request.redirectURI),
      "expiresAt": .integer(Int64(saturating: (login.dependencies.retry.now() + Double(plan.timeoutS)) * 1000)),
    ]
  }

  private static let closed = HostError(.closed, "the host is closed")

  private func reserve() throws {
    try state.withLock { state in
      guard !state.isClosed else { throw Self.closed }
      guard state.open == nil, !state.isStarting else {
        let which = state.open.map { "sign-in '\($0.id)' is open" } ?? "another sign-in is about to start"
        throw HostError(.alreadyInUse, "\(which), and a host has one at a time: finish it, or cancel it with cancelLogin")
      }
      state.isStarting = true
      work.begin()
    }
  }

  /// - Returns: The id; nil if the host was closed in the meantime.
  private func open(_ login: Login, _ browser: BrowserLogin, _ timeoutS: Int) -> String? {
    state.withLock { state in
      state.isStarting = false
      guard !state.isClosed else { return nil }
      state.lastId += 1
      let id = "\(state.lastId)"
      let clock = Task { [weak self] in
        guard (try? await login.dependencies.retry.sleep(Double(timeoutS))) != nil else { return }
        await self?.expire(id)
      }
      state.open = Open(id: id, login: login, browser: browser, clock: clock)
      return id
    }
  }

  // MARK: Finishing

  /// Returns the task that completes a sign-in. Every call for the same sign-in gets the same task; cancelling it cancels the
  /// sign-in.
  ///
  /// - Parameters:
  ///   - url: The pasted address; nil waits for the browser.
  ///   - warn: Called with warnings about a successful sign-in.
  /// - Throws: ``HostError`` `.noSuchLogin`; `invalidArguments` for an unusable URL. The sign-in stays open then.
  func finish(
    _ id: String, url: String?, warn: @escaping @Sendable (String) -> Void
  ) throws -> Task<LoginAccount, any Error> {
    guard let open = state.withLock({ $0.open?.id == id ? $0.open : nil }) else { throw Self.noSuchLogin(id) }
    if let url {
      if let why = open.browser.paste(url) { throw Self.invalid("finishLogin: 'url' cannot be used: \(why)") }
    } else if !open.browser.isListening {
      throw Self.invalid(
        "finishLogin: 'url' is missing: sign-in '\(id)' does not listen, so give the address that the browser ended at")
    }
    return try finishing(id, warn)
  }

  private func finishing(_ id: String, _ warn: @escaping @Sendable (String) -> Void) throws -> Task<LoginAccount, any Error> {
    try state.withLock { state in
      guard let open = state.open, open.id == id else { throw Self.noSuchLogin(id) }
      if let finishing = open.finishing { return finishing }
      work.begin()
      let finishing = Task {
        defer { forget(open) }
        return try await open.login.complete(open.browser) { if case .warning(let text) = $0 { warn(text) } }
      }
      state.open?.finishing = finishing
      return finishing
    }
  }

  private func forget(_ ended: Open) {
    ended.clock.cancel()
    state.withLock { if $0.open?.id == ended.id { $0.open = nil } }
    work.end()
  }

  private static func noSuchLogin(_ id: String) -> HostError {
    HostError(.noSuchLogin, "sign-in '\(id)' is not open: it has ended or timed out; start another one with startLogin")
  }

  private static func invalid(_ message: String) -> BridgeError {
    BridgeError(domain: "bridge", code: BridgeError.Code.invalidArguments.rawValue, message: message)
  }

  // MARK: Cancelling

  /// Cancels a sign-in and returns once its port is free. Does nothing if it has ended.
  func cancel(_ id: String) async {
    guard let browser = state.withLock({ $0.open?.id == id ? $0.open?.browser : nil }) else { return }
    // A later finishLogin ends at once.
    browser.cancel()
    await end(id, .givenUp)
    guard let finishing = state.withLock({ $0.open?.id == id ? $0.open?.finishing : nil }) else { return }
    finishing.cancel()
    _ = await finishing.result
  }

  /// Stops waiting for the person. A code that has already arrived is still exchanged. Callable from any thread.
  func interrupt() { state.withLock { $0.open?.browser }?.cancel() }

  /// Ends a sign-in because its time limit has expired.
  private func expire(_ id: String) async {
    state.withLock { $0.open?.id == id ? $0.open?.browser : nil }?.expire()
    await end(id, .failed("This sign-in has timed out"))
  }

  /// Ends a sign-in for which no `finishLogin` is running.
  private func end(_ id: String, _ page: LoginPage) async {
    let open = state.withLock { state -> Open? in
      guard let open = state.open, open.id == id, open.finishing == nil else { return nil }
      state.open = nil
      work.begin()
      return open
    }
    guard let open else { return }
    open.clock.cancel()
    await open.browser.end(page)
    work.end()
  }

  /// Refuses new sign-ins and cancels the open one. Blocks until its port is free.
  func close() {
    let id = state.withLock { state in
      state.isClosed = true
      return state.open?.id
    }
    Blocking.run { [work] in
      if let id { await self.cancel(id) }
      await work.waitForAnswers()
    }
  }
}

extension LoginPage {
  static let givenUp = LoginPage.failed("The sign-in was cancelled")
}

extension LoginAccount {
  /// The script's result.
  var json: JSONValue {
    [
      "org": .string(org), "username": .string(username), "displayName": displayName.map { .string($0) } ?? .null,
      "userId": .string(userId), "orgId": .string(orgId), "instanceUrl": .string(instanceURL), "isDefault": .bool(isDefault),
    ]
  }
}
