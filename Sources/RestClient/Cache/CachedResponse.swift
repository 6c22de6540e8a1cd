/// An answer as the cache keeps it. Times are seconds since 1970 on this machine's clock.
struct CachedResponse: Sendable, Equatable {
  var status: Int
  var headers: [Header]
  /// Decompressed.
  var body: [UInt8]
  /// When the request was sent, and when the head of its answer came.
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

  /// The headers of a request that asks whether this answer still holds; none when it cannot be asked.
  var conditions: [(name: String, value: String)] {
    [("If-None-Match", entityTag), ("If-Modified-Since", lastModified)].compactMap { name, value in
      value.map { (name: name, value: $0) }
    }
  }
}

// MARK: - Freshness (RFC 9111, section 4.2)

extension CachedResponse {
  /// Seconds the answer stays fresh, counted in its age.
  var lifetime: Double {
    if let maxAge = control.maxAge { return maxAge }
    let expires = values("Expires")
    if !expires.isEmpty {
      // Unreadable, such as "0": has expired. Of several the earliest.
      return expires.map { HTTPDate.secondsSince1970($0).map { max(0, Double($0) - date) } ?? 0 }.min() ?? 0
    }
    guard let modified = lastModified.flatMap({ HTTPDate.secondsSince1970($0) }) else { return 0 }
    return min(86_400, max(0, date - Double(modified)) / 10)
  }

  /// Seconds since the origin made or confirmed the answer.
  func age(at now: Double) -> Double {
    let apparent = max(0, responseTime - date)
    let claimed = values("Age").map { Double($0) ?? 0 }.filter { $0 >= 0 && $0.isFinite }.max() ?? 0
    return max(apparent, claimed + max(0, responseTime - requestTime)) + max(0, now - responseTime)
  }

  func isFresh(at now: Double, minFresh: Double = 0) -> Bool { lifetime > age(at: now) + minFresh }

  /// Seconds since the end of freshness.
  func staleness(at now: Double) -> Double { age(at: now) - lifetime }

  /// The server's `Date`, else the time of reception.
  private var date: Double {
    values("Date").first.flatMap { HTTPDate.secondsSince1970($0) }.map(Double.init) ?? responseTime
  }
}

// MARK: - Storing and renewing

extension CachedResponse {
  /// The only statuses that are kept.
  static let storedStatuses: Set<Int> = [200, 204, 301, 308, 404, 410]

  /// Nil for an answer that must not, or need not, be kept.
  /// - Parameter request: The request's own directives.
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

  /// The answer with what a 304 says of it, and its age begun anew.
  ///
  /// - Returns: Nil when the 304 is about another answer: then this one is to be dropped and asked for without conditions.
  func renewed(by response: RestResponse, requestTime: Double, responseTime: Double) -> CachedResponse? {
    if let tag = response.header("ETag"), let mine = entityTag {
      let isSame = CachedResponse.isWeak(tag) ? CachedResponse.opaque(tag) == CachedResponse.opaque(mine) : tag == mine
      guard isSame else { return nil }
    }
    var result = self
    let fresh = CachedResponse.kept(response.headers).map { Header(name: $0.name, value: $0.value) }
    result.headers.removeAll { old in fresh.contains { $0.name.equalsIgnoringCase(old.name) } }
    // What describes the way and not the answer, such as Age, ends with the way.
    result.headers.removeAll { $0.name.equalsIgnoringCase("Age") || $0.name.equalsIgnoringCase("Date") }
    result.headers += fresh
    result.requestTime = requestTime
    result.responseTime = responseTime
    return result
  }

  private static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") }
  private static func opaque(_ tag: String) -> Substring { isWeak(tag) ? tag.dropFirst(2) : tag[...] }

  /// Without the headers of one hop, those about the encoded body, and cookies.
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
