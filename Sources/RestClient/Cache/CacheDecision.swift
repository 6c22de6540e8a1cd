/// What is done with a request, given what is stored for it. A value: no clock, no network, no disk.
enum CacheDecision: Sendable, Equatable {
  /// The stored answer is the answer. - `refresh`: and it is validated in the background.
  case serve(isStale: Bool, refresh: Bool)
  /// Ask the server whether the stored answer still holds.
  case validate
  /// Ask the server; what is stored plays no part.
  case fetch
  /// Nothing may be asked, and nothing that is stored may be served: the answer is a 504.
  case unavailable

  /// - Parameters:
  ///   - stored: What is stored for this very request, its `Vary` headers included.
  ///   - request: The directives the caller put into the request.
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

  /// Whether the stored answer may stand in for one that did not come.
  ///
  /// - Parameter status: Of the server's answer; nil when there was none.
  /// - Note: RFC 5861, section 4. Never for a sync, which asks for validated answers alone.
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

/// The request's values of the headers that an answer varies by.
struct CacheVariant: Sendable, Equatable {
  /// Names in lower case, in order; nil is a header that the request lacks.
  let values: [(name: String, value: String?)]

  /// - Parameters:
  ///   - vary: The values of the answer's `Vary` headers.
  ///   - digest: Stands in for values that are secrets.
  init(vary: [String], request: [(name: String, value: String)], digest: (String) -> String) {
    let names = Set(vary.flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() })
    values = names.filter { !$0.isEmpty }.sorted().map { name in
      let found = request.filter { $0.name.equalsIgnoringCase(name) }.map { CacheVariant.trimmed($0.value) }
      guard !found.isEmpty else { return (name, nil) }
      let text = found.joined(separator: ", ")
      return (name, SecretNames.isSecret(header: name) ? digest(text) : text)
    }
  }

  static func == (a: CacheVariant, b: CacheVariant) -> Bool { a.text == b.text }

  /// For the database: `name:value` lines, `name` alone for an absent one. Header values hold no line breaks.
  var text: String { values.map { entry in entry.value.map { "\(entry.name):\($0)" } ?? entry.name }.joined(separator: "\n") }

  /// Whether a request would get the answer that is stored under a variant's text.
  static func matches(_ text: String, request: [(name: String, value: String)], digest: (String) -> String) -> Bool {
    let names = text.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
    return CacheVariant(vary: names, request: request, digest: digest).text == text
  }

  private static func trimmed(_ text: String) -> String {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let start = text.drop(while: isBlank)
    return String(start[..<(start.lastIndex { !isBlank($0) }.map { start.index(after: $0) } ?? start.startIndex)])
  }
}
