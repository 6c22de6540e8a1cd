/// A request ready to send. Its URL is absolute, and redirects change it.
struct PreparedRequest: Sendable {
  private(set) var method: HTTPMethod
  var url: String
  private(set) var body: [UInt8]?
  private(set) var contentType: String
  let headers: [(name: String, value: String)]
  let wantsAuthorization: Bool
  private(set) var isRepeatable: Bool
  var mode: CacheMode
  let usesResponseCache: Bool
  /// Minimum seconds between two writes.
  let pause: Double
  let omitsSession: Bool
  /// See ``ConnectionOptions/expectedStatuses``.
  let expectedStatuses: Set<Int>
  private let secretHeaders: [String]

  /// - Parameter headers: The headers from the options, with secrets resolved.
  init(_ request: RestRequest, _ options: ConnectionOptions, url: String, headers more: [(name: String, value: String)]) {
    method = request.method
    body = request.body
    contentType = request.contentType
    headers = Self.merged(request.headers, overriding: more)
    wantsAuthorization = request.requiresAuthentication
    isRepeatable = request.isRepeatable
    mode = options.cache
    usesResponseCache = options.usesResponseCache
    pause = Double(options.pauseMs) / 1000
    omitsSession = options.omitsSession
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

  /// Whether the request may change data on the server, judging by its method and `isRepeatable`.
  var isWrite: Bool { !(method == .GET || method == .HEAD || (method == .POST && isRepeatable)) }

  /// Whether the caller validates its own copy or asks for a byte range. The cache is not used
  /// then.
  var hasConditions: Bool {
    headers.contains { header in
      ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"]
        .contains(header.name.lowercased())
    }
  }

  /// The caller's cache directives.
  var control: CacheControl { CacheControl(headers: headers) }

  var usesCache: Bool { usesResponseCache && method == .GET && mode != .bypass && !hasConditions && !control.noStore }

  /// Returns all headers of the request.
  ///
  /// - Parameters:
  ///   - authorized: The headers for the connection's own origin; nil for any other origin, which
  ///     gets no secrets.
  func fields(
    userAgent: String, authorized: AuthorizedHeaders?, conditions: [(name: String, value: String)] = []
  ) -> [(name: String, value: String)] {
    var defaults = [(name: "Accept", value: "application/json"), (name: "User-Agent", value: userAgent)]
    if body != nil { defaults.append(("Content-Type", contentType)) }
    if let directive = mode.directive { defaults.append(("Cache-Control", directive)) }
    let authorization = (authorized?.fields ?? []).filter {
      !omitsSession || !$0.name.equalsIgnoringCase(ConnectionSettings.parseSessionHeader)
    }
    defaults = Self.merged(authorization, overriding: defaults)
    let own = authorized == nil ? headers.filter { !isSecret($0.name) } : headers
    return Self.merged(own, overriding: defaults) + conditions
  }

  private func isSecret(_ name: String) -> Bool {
    SecretNames.isSecret(header: name) || secretHeaders.contains { $0.equalsIgnoringCase(name) }
  }

  /// Tells whether the caller supplies its own authorization. A refusal then says nothing about the
  /// connection's secrets.
  func overridesAuthorization(_ authorized: AuthorizedHeaders) -> Bool {
    authorized.fields.contains { field in
      headers.contains { $0.name.equalsIgnoringCase(field.name) } && authorized.secrets.contains { field.value.containsASCII($0) }
    }
  }

  /// The secret values among the caller's headers.
  var secrets: [String] { headers.filter { isSecret($0.name) }.map(\.value) }

  private static func merged(
    _ upper: [(name: String, value: String)], overriding lower: [(name: String, value: String)]
  ) -> [(name: String, value: String)] {
    lower.filter { known in !upper.contains { $0.name.equalsIgnoringCase(known.name) } } + upper
  }
}
