import JSON
import LuaBridge
import RestClient
import Salesforce
import Support
import Synchronization

/// The sign-in that a script has begun; a host has one at a time. Its port is free again when it ends, however it does.
final class HostLogins: Sendable {
  private struct Open {
    let id: String
    let login: Login
    let browser: BrowserLogin
    let clock: Task<Void, Never>
    /// Exchanges the code and keeps the session; all calls that finish this sign-in wait for it. nil until the first does.
    var finishing: Task<LoginAccount, any Error>?
  }

  private struct State {
    var open: Open?
    var isStarting = false, isClosed = false
    var lastId = 0
  }

  private let state = Mutex(State())
  /// Everything that may still hold the port.
  private let work = CallsInFlight()

  // MARK: Beginning

  /// The port, where there is one, is bound when this returns.
  ///
  /// - Parameter listens: Whether the browser is on this machine.
  /// - Throws: ``HostError`` `.alreadyInUse` while another one is open, `.portInUse`, `.closed`.
  func start(_ login: Login, listens: Bool) async throws -> JSONValue {
    guard let plan = login.plan.browser else { throw LoginUsageError("scripts begin sign-ins of the flow 'browser' only") }
    try reserve()
    defer { work.end() }
    let browser: BrowserLogin
    do {
      browser = try await BrowserLogin.start(plan.request, listens: listens, limits: login.around.limits)
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
      "expiresAt": .integer(Int64((login.around.retry.now() + Double(plan.timeoutS)) * 1000)),
    ]
  }

  private static let closed = HostError(.closed, "the host is closed")

  private func reserve() throws {
    try state.withLock { state in
      guard !state.isClosed else { throw Self.closed }
      guard state.open == nil, !state.isStarting else {
        let which = state.open.map { "sign-in '\($0.id)' is open" } ?? "another sign-in is about to start"
        throw HostError(.alreadyInUse, "\(which), and a host has one at a time: finish it, or give it up with cancelLogin")
      }
      state.isStarting = true
      work.begin()
    }
  }

  /// - Returns: The id; nil when the host has been closed meanwhile.
  private func open(_ login: Login, _ browser: BrowserLogin, _ timeoutS: Int) -> String? {
    state.withLock { state in
      state.isStarting = false
      guard !state.isClosed else { return nil }
      state.lastId += 1
      let id = "\(state.lastId)"
      let clock = Task { [weak self] in
        guard (try? await login.around.retry.sleep(Double(timeoutS))) != nil else { return }
        await self?.expire(id)
      }
      state.open = Open(id: id, login: login, browser: browser, clock: clock)
      return id
    }
  }

  // MARK: Finishing

  /// The task that ends a sign-in: every call that finishes it gets the same one, and cancelling it gives the sign-in up.
  ///
  /// - Parameters:
  ///   - url: What the person pasted; nil waits for the browser.
  ///   - warn: Gets what a person should know although the sign-in went well.
  /// - Throws: ``HostError`` `.noSuchLogin`; `invalidArguments` for a URL that is of no use: the sign-in then goes on.
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
    HostError(.noSuchLogin, "sign-in '\(id)' is not open: it has ended, or its time is over; begin another with startLogin")
  }

  private static func invalid(_ message: String) -> BridgeError {
    BridgeError(domain: "bridge", code: BridgeError.Code.invalidArguments.rawValue, message: message)
  }

  // MARK: Giving up

  /// Returns when the port is free. Nothing happens when it has ended.
  func cancel(_ id: String) async {
    guard let browser = state.withLock({ $0.open?.id == id ? $0.open?.browser : nil }) else { return }
    // A call that begins to finish it from now on ends at once.
    browser.cancel()
    await end(id, .givenUp)
    guard let finishing = state.withLock({ $0.open?.id == id ? $0.open?.finishing : nil }) else { return }
    finishing.cancel()
    _ = await finishing.result
  }

  /// Nothing waits for the person any more; a code that has come is still exchanged. Any thread.
  func interrupt() { state.withLock { $0.open?.browser }?.cancel() }

  /// The time is over.
  private func expire(_ id: String) async {
    state.withLock { $0.open?.id == id ? $0.open?.browser : nil }?.expire()
    await end(id, .failed("The time for this sign-in is over"))
  }

  /// Ends one that no call finishes.
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

  /// No more begin, and the one that is open ends. Blocks until its port is free.
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
  static let givenUp = LoginPage.failed("The sign-in was given up")
}

extension LoginAccount {
  /// As a script gets it.
  var json: JSONValue {
    [
      "org": .string(org), "username": .string(username), "displayName": displayName.map { .string($0) } ?? .null,
      "userId": .string(userId), "orgId": .string(orgId), "instanceUrl": .string(instanceURL), "isDefault": .bool(isDefault),
    ]
  }
}
