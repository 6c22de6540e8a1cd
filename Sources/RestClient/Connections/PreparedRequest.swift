/// A request on its way: its URL is absolute, and redirects change it.
struct PreparedRequest: Sendable {
  private(set) var method: HTTPMethod
  var url: String
  private(set) var body: [UInt8]?
  private(set) var contentType: String
  let headers: [(name: String, value: String)]
  let wantsAuthorization: Bool
  private(set) var isRepeatable: Bool
  var mode: CacheMode
  let usesStoredAnswers: Bool
  /// Seconds between two writes, at least.
  let pause: Double
  let leavesOutSession: Bool
  /// See ``ConnectionOptions/expectedStatuses``.
  let expectedStatuses: Set<Int>
  private let secretHeaders: [String]

  /// - Parameter headers: Those of the options, their secrets read.
  init(_ request: RestRequest, _ options: ConnectionOptions, url: String, headers more: [(name: String, value: String)]) {
    method = request.method
    body = request.body
    contentType = request.contentType
    headers = Self.laid(request.headers, over: more)
    wantsAuthorization = request.requiresAuthentication
    isRepeatable = request.isRepeatable
    mode = options.cache
    usesStoredAnswers = options.usesStoredAnswers
    pause = Double(options.pauseMs) / 1000
    leavesOutSession = options.leavesOutSession
    expectedStatuses = options.expectedStatuses
    secretHeaders = options.headers.compactMap { header in
      guard case .secret = header.value else { return nil }
      return header.name
    }
    self.url = url
  }

  mutating func go(to url: String, _ method: HTTPMethod, keepsBody: Bool) {
    self.url = url
    if !keepsBody {
      body = nil
      isRepeatable = method.isIdempotent
    }
    self.method = method
  }

  /// Whether the request changes something at the server, as far as its method and its sender tell.
  var isWrite: Bool { !(method == .GET || method == .HEAD || (method == .POST && isRepeatable)) }

  /// Whether the caller validates an answer it keeps itself, or wants a part of one: then the cache takes no part.
  var hasConditions: Bool {
    headers.contains { header in
      ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"]
        .contains(header.name.lowercased())
    }
  }

  /// The caller's cache directives.
  var control: CacheControl { CacheControl(headers: headers) }

  var usesCache: Bool { usesStoredAnswers && method == .GET && mode != .bypass && !hasConditions && !control.noStore }

  /// All headers of the request.
  ///
  /// - Parameters:
  ///   - authorized: For the connection's own origin; nil for another one, which gets no secret.
  func fields(
    userAgent: String, authorized: AuthorizedHeaders?, conditions: [(name: String, value: String)] = []
  ) -> [(name: String, value: String)] {
    var defaults = [(name: "Accept", value: "application/json"), (name: "User-Agent", value: userAgent)]
    if body != nil { defaults.append(("Content-Type", contentType)) }
    if let directive = mode.directive { defaults.append(("Cache-Control", directive)) }
    let authorization = (authorized?.fields ?? []).filter {
      !leavesOutSession || !$0.name.equalsIgnoringCase(ConnectionSettings.parseSessionHeader)
    }
    defaults = Self.laid(authorization, over: defaults)
    let own = authorized == nil ? headers.filter { !isSecret($0.name) } : headers
    return Self.laid(own, over: defaults) + conditions
  }

  private func isSecret(_ name: String) -> Bool {
    SecretNames.isSecret(header: name) || secretHeaders.contains { $0.equalsIgnoringCase(name) }
  }

  /// Whether the caller authorizes the request itself: then a refusal says nothing about the connection's secrets.
  func replaces(_ authorized: AuthorizedHeaders) -> Bool {
    authorized.fields.contains { field in
      headers.contains { $0.name.equalsIgnoringCase(field.name) } && authorized.secrets.contains { field.value.containsASCII($0) }
    }
  }

  /// Values of the caller's headers that are secrets.
  var secrets: [String] { headers.filter { isSecret($0.name) }.map(\.value) }

  private static func laid(
    _ upper: [(name: String, value: String)], over lower: [(name: String, value: String)]
  ) -> [(name: String, value: String)] {
    lower.filter { known in !upper.contains { $0.name.equalsIgnoringCase(known.name) } } + upper
  }
}
