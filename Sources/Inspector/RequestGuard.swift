import Support
import Tureen

/// Decides which requests are answered at all. A plain value without network and clock.
///
/// All ports of a machine share cookies, and any web page can send requests to them, so that only the token, which no other page
/// knows, opens the data. The headers are checked on every request, because a page whose domain suddenly resolves to this machine
/// (DNS rebinding) is same-origin, and its GETs have no `Origin`.
struct RequestGuard: Sendable {
  let port: Int

  private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"] }

  /// Returns why a request is refused; nil if it may go on.
  /// - Parameter isDocument: Whether the page itself is asked for, which holds no data.
  func refusal(of request: LoopbackRequest, isDocument: Bool) -> APIError? {
    guard request.hosts.count == 1, let host = request.hosts.first?.lowercased(), hosts.contains(host) else {
      return APIError(421, "wrongHost", "this address is for a browser on this machine only")
    }
    let origins = request.values("origin")
    guard origins.count <= 1, origins.allSatisfy({ origin in hosts.contains { origin == "http://\($0)" } }) else {
      return APIError(403, "wrongOrigin", "other pages cannot ask for this")
    }
    let sites = request.values("sec-fetch-site")
    // A link, or the file that --open shows the browser, may lead to the page; nothing else of it is for others.
    let isVisit =
      isDocument && request.values("sec-fetch-mode") == ["navigate"] && request.values("sec-fetch-dest") == ["document"]
    guard sites.count <= 1, isVisit || sites.allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
      return APIError(403, "wrongSite", "other pages cannot ask for this")
    }
    return nil
  }
}

/// The token that opens the data, and how often a wrong one was given.
struct TokenCheck {
  let token: String
  private var wrong: [Int64] = []

  /// 256 random bits.
  init() {
    var generator = SystemRandomNumberGenerator()
    token = Base64.urlText((0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  /// Returns why a request is refused; nil if it has the token.
  /// - Parameter now: Monotonic milliseconds.
  mutating func refusal(of request: LoopbackRequest, _ now: Int64) -> APIError? {
    let given = request.values("authorization"), wanted = "Bearer \(token)"
    if given.count == 1, Digest.isEqual(Array(given[0].utf8), Array(wanted.utf8)) { return nil }
    wrong.removeAll { $0 <= now - 60_000 }
    guard wrong.count < Limits.wrongTokens else {
      return APIError(429, "tooManyTries", "too many wrong tokens; wait a minute", isRetryable: true)
    }
    wrong.append(now)
    var error = APIError(401, "wrongToken", "open the address that tureen inspect has printed")
    error.headers = [("WWW-Authenticate", "Bearer")]
    return error
  }
}
