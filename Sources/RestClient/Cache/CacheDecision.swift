/// Decides how to answer a request, given the stored response. A pure value: it uses no clock,
/// network or disk.
enum CacheDecision: Sendable, Equatable {
  /// Return the stored response. If `refresh` is true, also revalidate it in the background.
  case serve(isStale: Bool, refresh: Bool)
  /// Ask the server whether the stored response is still valid.
  case validate
  /// Fetch from the server and ignore the stored response.
  case fetch
  /// The request must not go out and no stored response may be used: the result is a 504.
  case unavailable

  /// Returns the decision for one request.
  ///
  /// - Parameters:
  ///   - stored: The response stored for exactly this request, including its `Vary` headers.
  ///   - request: The cache directives that the caller put into the request.
  ///   - now: Seconds since 1970.
  static func of(stored: CachedResponse?, mode: CacheMode, request: CacheControl, now: Double) -> CacheDecision {
    if mode == .bypass || request.noStore { return .fetch }
    let isOffline = mode == .offline || request.onlyIfCached
    guard let stored, mode != .reload else { return isOffline ? .unavailable : .fetch }
    let control = stored.control
    if isOffline { return offline(stored, control, now) }
    let check: CacheDecision = stored.conditions.isEmpty ? .fetch : .validate
    guard mode == .default, !control.noCache, !request.noCache else { return check }
    let age = stored.age(at: now)
    if let limit = request.maxAge, age >= limit { return check }
    if stored.isFresh(at: now, minFresh: request.minFresh ?? 0) { return .serve(isStale: false, refresh: false) }
    guard !control.mustRevalidate, request.minFresh == nil else { return check }
    let staleness = stored.staleness(at: now)
    if let limit = request.maxStale, staleness <= limit { return .serve(isStale: true, refresh: false) }
    if let limit = control.staleWhileRevalidate, staleness < limit { return .serve(isStale: true, refresh: true) }
    return check
  }

  private static func offline(_ stored: CachedResponse, _ control: CacheControl, _ now: Double) -> CacheDecision {
    let isFresh = stored.isFresh(at: now)
    guard !control.noCache, isFresh || !control.mustRevalidate else { return .unavailable }
    return .serve(isStale: !isFresh, refresh: false)
  }

  /// Tells whether the stored response may replace a failed one.
  ///
  /// - Parameter status: The status of the server's response; nil if none arrived.
  /// - Note: Source: RFC 5861, section 4. Always false for a sync, which accepts only validated
  ///   responses.
  static func mayServeStale(
    _ stored: CachedResponse, mode: CacheMode, request: CacheControl, status: Int?, now: Double
  ) -> Bool {
    guard mode == .default, status.map({ [500, 502, 503, 504].contains($0) }) ?? true else { return false }
    let control = stored.control
    guard !control.noCache, !request.noCache, !control.mustRevalidate else { return false }
    guard let limit = [control.staleIfError, request.staleIfError].compactMap({ $0 }).max() else { return false }
    return stored.staleness(at: now) < limit
  }
}

/// Holds the request's values of the headers that a response varies by.
struct CacheVariant: Sendable, Equatable {
  /// Sorted by name, in lower case; the value is nil if the request lacks the header.
  let values: [(name: String, value: String?)]

  /// Collects the values of the request headers that `Vary` names.
  ///
  /// - Parameters:
  ///   - vary: The values of the response's `Vary` headers.
  ///   - digest: Replaces secret values.
  init(
    vary: [String], request: [(name: String, value: String)], digest: (String) throws -> String
  ) rethrows {
    let names = Set(vary.flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() })
    values = try names.filter { !$0.isEmpty }.sorted().map { name in
      let found = request.filter { $0.name.equalsIgnoringCase(name) }.map { CacheVariant.trimmed($0.value) }
      guard !found.isEmpty else { return (name, nil) }
      let text = found.joined(separator: ", ")
      return (name, SecretNames.isSecret(header: name) ? try digest(text) : text)
    }
  }

  static func == (a: CacheVariant, b: CacheVariant) -> Bool { a.text == b.text }

  /// The form stored in the database: `name:value` lines, or just `name` if the header is absent.
  /// Header values never contain line breaks.
  var text: String { values.map { entry in entry.value.map { "\(entry.name):\($0)" } ?? entry.name }.joined(separator: "\n") }

  /// Tells whether a request matches the variant text of a stored response.
  static func matches(
    _ text: String, request: [(name: String, value: String)], digest: (String) throws -> String
  ) rethrows -> Bool {
    let names = text.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
    return try CacheVariant(vary: names, request: request, digest: digest).text == text
  }

  private static func trimmed(_ text: String) -> String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let start = text.drop(while: isBlank)
    return String(start[..<(start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex)])
  }
}
