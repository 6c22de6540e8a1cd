/// A response in the cache. Times are seconds since 1970 by this machine's clock.
struct CachedResponse: Sendable, Equatable {
  var status: Int
  var headers: [Header]
  /// Decompressed.
  var body: [UInt8]
  /// `requestTime` is when the request was sent, `responseTime` when the response's head arrived.
  var requestTime: Double
  var responseTime: Double

  struct Header: Sendable, Equatable {
    let name: String
    let value: String
  }

  init(status: Int, headers: [(name: String, value: String)], body: [UInt8], requestTime: Double, responseTime: Double) {
    self.status = status
    self.headers = headers.map { Header(name: $0.name, value: $0.value) }
    self.body = body
    self.requestTime = requestTime
    self.responseTime = responseTime
  }

  var response: RestResponse {
    RestResponse(status: status, headers: headers.map { ($0.name, $0.value) }, body: ResponseBody(body))
  }

  func values(_ name: String) -> [String] { headers.filter { $0.name.equalsIgnoringCase(name) }.map(\.value) }

  var entityTag: String? { values("ETag").first }
  var lastModified: String? { values("Last-Modified").first }
  var control: CacheControl { CacheControl(headers: headers.map { ($0.name, $0.value) }) }

  /// The headers of a request that validates this response; empty if the response has no
  /// validators.
  var conditions: [(name: String, value: String)] {
    [("If-None-Match", entityTag), ("If-Modified-Since", lastModified)].compactMap { name, value in
      value.map { (name: name, value: $0) }
    }
  }
}

// MARK: - Freshness (RFC 9111, section 4.2)

extension CachedResponse {
  /// Seconds that the response stays fresh, measured by its age.
  var lifetime: Double {
    if let maxAge = control.maxAge { return maxAge }
    let expires = values("Expires")
    if !expires.isEmpty {
      // An unreadable date, such as "0", means expired. If there are several, the earliest applies.
      return expires.map { HTTPDate.secondsSince1970($0).map { max(0, Double($0) - date) } ?? 0 }.min() ?? 0
    }
    guard let modified = lastModified.flatMap({ HTTPDate.secondsSince1970($0) }) else { return 0 }
    return min(86_400, max(0, date - Double(modified)) / 10)
  }

  /// Seconds since the origin server generated or validated the response.
  func age(at now: Double) -> Double {
    let apparent = max(0, responseTime - date)
    let claimed = values("Age").compactMap(DeltaSeconds.parse).max() ?? 0
    return max(apparent, claimed + max(0, responseTime - requestTime)) + max(0, now - responseTime)
  }

  func isFresh(at now: Double, minFresh: Double = 0) -> Bool { lifetime > age(at: now) + minFresh }

  /// Seconds since the response stopped being fresh.
  func staleness(at now: Double) -> Double { age(at: now) - lifetime }

  /// The response's `Date`, or the time it was received.
  private var date: Double {
    values("Date").first.flatMap { HTTPDate.secondsSince1970($0) }.map(Double.init) ?? responseTime
  }
}

// MARK: - Storing and renewing

extension CachedResponse {
  /// The only statuses that are stored.
  static let storedStatuses: Set<Int> = [200, 204, 301, 308, 404, 410]

  /// Fails for a response that must not be stored, or is not worth storing.
  ///
  /// - Parameter request: The request's own cache directives.
  init?(storing response: RestResponse, request: CacheControl, requestTime: Double, responseTime: Double) {
    let control = CacheControl(headers: response.headers)
    guard !request.noStore, !control.noStore, CachedResponse.storedStatuses.contains(response.status),
      response.body.count <= Tuning.largestCachedBody
    else { return nil }
    let varies = response.headers.filter { $0.name.equalsIgnoringCase("Vary") }
    guard !varies.contains(where: { $0.value.containsASCII("*") }) else { return nil }
    self.init(
      status: response.status, headers: CachedResponse.kept(response.headers),
      body: response.body.withUnsafeBytes { Array($0) }, requestTime: requestTime, responseTime: responseTime)
  }

  /// Returns this response updated with the headers of a 304, and with its age restarted.
  ///
  /// - Returns: Nil if the 304 refers to a different response. The caller then drops this one and
  ///   repeats the request without conditions.
  func renewed(by response: RestResponse, requestTime: Double, responseTime: Double) -> CachedResponse? {
    if let tag = response.header("ETag"), let mine = entityTag {
      let isSame = CachedResponse.isWeak(tag) ? CachedResponse.opaque(tag) == CachedResponse.opaque(mine) : tag == mine
      guard isSame else { return nil }
    }
    var result = self
    let fresh = CachedResponse.kept(response.headers).map { Header(name: $0.name, value: $0.value) }
    result.headers.removeAll { old in fresh.contains { $0.name.equalsIgnoringCase(old.name) } }
    // Headers such as Age describe one transfer, not the response.
    result.headers.removeAll { $0.name.equalsIgnoringCase("Age") || $0.name.equalsIgnoringCase("Date") }
    result.headers += fresh
    result.requestTime = requestTime
    result.responseTime = responseTime
    return result
  }

  private static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") }
  private static func opaque(_ tag: String) -> Substring { isWeak(tag) ? tag.dropFirst(2) : tag[...] }

  /// Removes hop-by-hop headers, headers that describe the encoded body, and cookies.
  static func kept(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
    var dropped: Set<String> = [
      "connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "proxy-authenticate", "proxy-authorization",
      "proxy-authentication-info", "proxy-connection", "content-length", "content-encoding", "set-cookie",
    ]
    for header in headers where header.name.equalsIgnoringCase("Connection") {
      for name in header.value.split(separator: ",") {
        dropped.insert(name.filter { $0 != " " && $0 != "\t" }.lowercased())
      }
    }
    return headers.filter { !dropped.contains($0.name.lowercased()) }
  }
}
