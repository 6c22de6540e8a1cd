import Salesforce

/// A request of a browser, as far as it matters here.
struct LoopbackRequest: Sendable, Equatable {
  let method: String
  /// As in the request line.
  let target: String
  /// All of that name: one is right.
  var hosts: [String] = []
  var origin: String?
  /// Chromium asks before a page of the internet leads to this machine.
  var asksForPrivateNetwork = false

  var path: Substring { target.prefix { $0 != "?" && $0 != "#" } }
  var query: Substring { target.dropFirst(path.count).dropFirst().prefix { $0 != "#" } }
}

struct LoopbackAnswer: Sendable, Equatable {
  let status: Int
  var headers: [(name: String, value: String)]
  let body: String

  static func == (a: LoopbackAnswer, b: LoopbackAnswer) -> Bool {
    a.status == b.status && a.body == b.body && a.headers.elementsEqual(b.headers) { $0 == $1 }
  }
}

/// How the listener answers. A value: no network, no clock.
///
/// The first answer of the org ends the sign-in: its connection is held until the code has been exchanged, and the browser then
/// goes to a page of our own, so that the code leaves the address bar.
struct LoopbackDesk: Sendable {
  enum Reply: Equatable {
    case answer(LoopbackAnswer)
    /// To be answered with ``ending`` when the sign-in has ended.
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

  /// The sign-in has ended, and this is what the browser shows.
  mutating func end(_ page: LoginPage) { phase = .ended(page) }

  /// Where the browser goes that has been held. Before the end it goes to the page of failures, which says to wait.
  var ending: LoopbackAnswer {
    var isGood = false
    if case .ended(let page) = phase { isGood = page.isGood }
    return .redirect(isGood ? LoopbackRedirect.donePath : LoopbackRedirect.failedPath)
  }

  /// Whether this is the request for the page that tells the person how it ended.
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
      return .answer(.page(400, "Not this sign-in", "This answer cannot be used: \(why). Tureen goes on waiting."))
    }
    guard phase == .waiting else {
      return .answer(.page(410, "Already used", "This sign-in has had its answer. Run the command again to sign in anew."))
    }
    phase = .taken
    return .hold(answer)
  }

  /// Names that a page of the internet cannot take for this machine: a name of its own could lead here as well.
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
