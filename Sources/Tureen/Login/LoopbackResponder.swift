import Salesforce

/// Decides how the listener responds. A plain value without network and clock.
///
/// The org's first answer decides the sign-in: its connection is held until the code has been exchanged, and the browser is
/// then redirected to the final page, which removes the code from the address bar.
struct LoopbackResponder: Sendable {
  enum Reply: Equatable {
    case answer(LoopbackAnswer)
    /// Hold the connection, and respond with ``ending`` once the sign-in has ended.
    case hold(AuthorizationRequest.Answer)
  }

  private enum Phase: Equatable {
    case waiting, taken
    case ended(LoginPage)
  }

  let request: AuthorizationRequest
  let redirect: LoopbackRedirect
  private var phase = Phase.waiting

  init(_ request: AuthorizationRequest, _ redirect: LoopbackRedirect) {
    self.request = request
    self.redirect = redirect
  }

  /// Sets the final page that the browser shows.
  mutating func end(_ page: LoginPage) { phase = .ended(page) }

  /// The redirect for the held browser. Before the sign-in has ended it leads to the failure page, which asks to wait.
  var ending: LoopbackAnswer {
    var isGood = false
    if case .ended(let page) = phase { isGood = page.isGood }
    return .redirect(isGood ? LoopbackRedirect.donePath : LoopbackRedirect.failedPath)
  }

  /// Returns true for the request of the final page.
  func isForEnding(_ request: LoopbackRequest) -> Bool {
    request.method == "GET" && endingPage(at: request.path) != nil && isOfThisMachine(request)
  }

  mutating func reply(to request: LoopbackRequest) -> Reply {
    guard isOfThisMachine(request) else {
      return .answer(.page(400, "Not from here", "This address is for this machine's browser only."))
    }
    if let page = endingPage(at: request.path) {
      return .answer(request.method == "GET" ? page.answer : .notAllowed)
    }
    guard request.path == redirect.path else {
      return .answer(.page(404, "Not found", "Tureen waits for a sign-in here and serves nothing else."))
    }
    switch request.method {
    case "GET": return take(request)
    case "OPTIONS" where request.asksForPrivateNetwork: return .answer(.preflight(request.origin))
    default: return .answer(.notAllowed)
    }
  }

  private mutating func take(_ request: LoopbackRequest) -> Reply {
    let answer = self.request.answer(query: String(request.query))
    if case .foreign(let why) = answer {
      return .answer(.page(400, "Not this sign-in", "This answer cannot be used: \(why). Tureen continues to wait."))
    }
    guard phase == .waiting else {
      return .answer(.page(410, "Already used", "This sign-in was already answered. Run the command again."))
    }
    phase = .taken
    return .hold(answer)
  }

  /// Returns true if the `Host` header names this machine. Protects against DNS rebinding, where a foreign domain resolves to
  /// this machine.
  private func isOfThisMachine(_ request: LoopbackRequest) -> Bool {
    guard request.hosts.count == 1, var host = request.hosts.first?.lowercased()[...] else { return false }
    if let colon = host.lastIndex(of: ":"), host.last != "]" {
      guard host[host.index(after: colon)...].utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
        return false
      }
      host = host[..<colon]
    }
    return ["localhost", "127.0.0.1", "[::1]"].contains(String(host))
  }

  private func endingPage(at path: Substring) -> LoginPage? {
    switch phase {
    case .ended(let page): return path == (page.isGood ? LoopbackRedirect.donePath : LoopbackRedirect.failedPath) ? page : nil
    case .taken: return path == LoopbackRedirect.failedPath ? .late : nil
    case .waiting: return nil
    }
  }
}
