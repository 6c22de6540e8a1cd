/// Cross-origin requests: decides which pages may call the org from a browser, and sets the
/// response headers.
///
/// Source: the Fetch standard; Salesforce's CORS allowlist, which also accepts
/// `https://*.example.org`.
struct CrossOrigin {
  /// The configured origins; pages on this machine are always allowed.
  let allowed: [String]

  /// Answers a preflight request; nil for any other request and for pages that are not allowed.
  func preflight(_ request: ServerRequest) -> ServerReply? {
    guard request.method == "OPTIONS", request.header("access-control-request-method") != nil, let origin = origin(of: request)
    else { return nil }
    var reply = ServerReply.empty(200)
    reply.headers =
      Self.grant(origin) + [
        ("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE"),
        ("Access-Control-Allow-Headers", request.header("access-control-request-headers") ?? "Authorization, Content-Type"),
        ("Access-Control-Max-Age", "86400"),
      ]
    return reply
  }

  /// Returns the headers that let a page read the response.
  func headers(for request: ServerRequest) -> [(name: String, value: String)] {
    guard let origin = origin(of: request) else { return [] }
    let exposed = "ETag, Last-Modified, Location, Date, Retry-After, Sforce-Limit-Info, Sforce-Locator, Sforce-NumberOfRecords"
    return Self.grant(origin) + [("Access-Control-Expose-Headers", exposed)]
  }

  private static func grant(_ origin: String) -> [(name: String, value: String)] {
    [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"), ("Vary", "Origin")]
  }

  private func origin(of request: ServerRequest) -> String? {
    request.header("origin").flatMap { isAllowed($0) ? $0 : nil }
  }

  func isAllowed(_ origin: String) -> Bool {
    let parts = origin.lowercased().split(separator: ":", maxSplits: 1)
    guard parts.count == 2, ["http", "https"].contains(parts[0]), parts[1].hasPrefix("//") else { return false }
    if ["localhost", "127.0.0.1", "[::1]"].contains(MountTable.name(String(parts[1].dropFirst(2)))) { return true }
    return allowed.contains { Self.matches(origin.lowercased(), $0.lowercased()) }
  }

  /// Matches an origin. `*.` stands for one or more labels.
  private static func matches(_ origin: String, _ pattern: String) -> Bool {
    guard let star = pattern.firstRange(of: "://*.") else { return origin == pattern }
    let scheme = pattern[..<star.lowerBound] + "://", rest = "." + pattern[star.upperBound...]
    return origin.hasPrefix(scheme) && origin.hasSuffix(rest) && origin.count > scheme.count + rest.count
  }
}
