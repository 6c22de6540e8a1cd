import RestClient
import Salesforce

extension Login {
  /// Signs in through a browser, on this machine or on another one by pasting the answer.
  func inBrowser(
    _ browser: LoginPlan.BrowserPlan, _ lines: AsyncStream<String>, _ tell: @escaping @Sendable (LoginEvent) -> Void
  ) async throws -> LoginAccount {
    let login = try await BrowserLogin.start(browser.request, listens: true, limits: dependencies.limits)
    let url = browser.request.url
    tell(.authorize(url: url, redirectURI: browser.request.redirectURI, isListening: login.isListening))
    if browser.opensBrowser { _ = dependencies.openBrowser(url) }
    let clock = Task { try await watch(login, browser.timeoutS, tell) }
    let reader = Task {
      for await line in lines where !line.allSatisfy(\.isWhitespace) {
        if let why = login.paste(line) { tell(.refusedPaste(why)) }
      }
    }
    defer {
      clock.cancel()
      reader.cancel()
    }
    return try await complete(login, tell)
  }

  /// Waits for the outcome of a sign-in and stores the session. Then shows the result in the browser and frees the port.
  func complete(_ login: BrowserLogin, _ tell: @escaping @Sendable (LoginEvent) -> Void = { _ in }) async throws -> LoginAccount {
    do {
      let code = try await code(of: login), secret = try await clientSecret()
      let account = try await withClient { client in
        let session = try await client.signIn(login.request, code: code, clientSecret: secret)
        return try await keep(session, plan.credentials, client, tell)
      }
      await login.end(.done(user: account.username, org: "\(account.org) (\(account.orgId))"))
      return account
    } catch {
      await login.end(.failed(Self.text(error)))
      throw error
    }
  }

  private func code(of login: BrowserLogin) async throws -> String {
    switch await login.decision() {
    case .code(let code): return code
    case .refused(let error): throw error
    case .late: throw late()
    case .cancelled: throw RestError.cancelled(outcome: .notSent)
    }
  }

  private func watch(_ login: BrowserLogin, _ timeoutS: Int, _ tell: @Sendable (LoginEvent) -> Void) async throws {
    let hintS = Tuning.loginHintS
    if timeoutS > hintS {
      try await dependencies.retry.sleep(Double(hintS))
      tell(.hint(hint(login)))
      try await dependencies.retry.sleep(Double(timeoutS - hintS))
    } else {
      try await dependencies.retry.sleep(Double(timeoutS))
    }
    login.expire()
  }

  private func hint(_ login: BrowserLogin) -> String {
    var text =
      "nothing has come from the browser yet. If it shows an error, such as an app that must be installed, paste the address of "
      + "that page here. "
    if login.isListening, let redirect = LoopbackRedirect(login.request.redirectURI) {
      text +=
        "If it is on another machine, paste the address that it could not open, or forward the port with "
        + "ssh -L \(redirect.port):localhost:\(redirect.port)."
    } else {
      text += "After the sign-in, paste the address that it ends at."
    }
    return text
  }

  private func late() -> RestError {
    var error = RestError(
      code: .notAuthenticated,
      message:
        "the sign-in at \(plan.browser?.request.loginURL ?? "") was not completed within \(plan.browser?.timeoutS ?? 0) s; "
        + "start it again; `tureen login` waits longer with --timeout", outcome: .notSent)
    error.reason = SignInReason.needsPerson.rawValue
    return error
  }

  /// Reads the client secret, which confidential apps must send with the code.
  private func clientSecret() async throws -> String? {
    let credentials = plan.credentials
    return try await Blocking.offPool { try SignInSecret("clientSecret", in: credentials, folder: nil)?.text() }
  }

  /// Returns the text for the page in the browser. Error messages do not contain secrets.
  static func text(_ error: any Error) -> String {
    switch error {
    case let error as RestError where error.code == .cancelled: "The sign-in was cancelled; nothing was stored"
    case let error as RestError: error.message
    default: "\(error)"
    }
  }
}
