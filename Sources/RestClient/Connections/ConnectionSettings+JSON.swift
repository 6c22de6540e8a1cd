import JSON

extension ConnectionSettings {
  /// Describes the source of settings to the code that reads them.
  public struct Origin: Sendable {
    /// The base folder of relative file names.
    public let folder: String
    /// False for `connections.json`, which is copied, committed and shared.
    public let allowsPlainSecrets: Bool

    public init(folder: String, allowsPlainSecrets: Bool) {
      self.folder = folder
      self.allowsPlainSecrets = allowsPlainSecrets
    }

    func path(_ name: String) -> String { name.hasPrefix("/") ? name : "\(folder)/\(name)" }
  }

  static let keys = [
    "kind", "baseURL", "headers", "userAgent", "auth", "connectTimeoutS", "timeoutS", "maxBytes", "maxParallel", "pauseMs",
    "maxWaitS", "caFile", "proxy", "allowOrigins", "redirectWrites", "cache", "log", "errors", "quota",
  ]

  /// Reads one connection.
  ///
  /// - Throws: ``ConnectionProblem``, which names the key.
  public init(name: String, json: JSONValue, from origin: Origin) throws(ConnectionProblem) {
    guard let members = json.objectValue else { throw ConnectionProblem([], "must be an object, not \(json.kindName)") }
    let reader = MemberReader(members)
    let isParse = try reader.word("kind", Kind.self) == .parse
    try reader.allow(isParse ? ConnectionSettings.parseServerKeys : ConnectionSettings.keys)
    do throws(ConnectionProblem) {
      try self.init(name: name, baseURL: try reader.required(isParse ? "serverURL" : "baseURL"))
    } catch {
      throw isParse && error.keys == ["baseURL"] ? ConnectionProblem(["serverURL"], error.what) : error
    }
    try takeIdentity(reader, origin)
    if isParse { try takeParseKeys(reader, origin) }
    try takeLimits(reader, origin)
    try takeParts(reader, origin)
  }

  private mutating func takeIdentity(_ reader: MemberReader, _ origin: Origin) throws(ConnectionProblem) {
    kind = try reader.word("kind", Kind.self) ?? .rest
    userAgent = try reader.headerText("userAgent")
    if let headers = try reader.object("headers") {
      self.headers = try HeaderReader(origin: origin).headers(headers)
    }
    if let auth = try reader.object("auth") {
      (authorization, isAuthorizationOptional) = try AuthorizationReader(origin: origin).authorization(auth)
    }
  }

  private mutating func takeLimits(_ reader: MemberReader, _ origin: Origin) throws(ConnectionProblem) {
    connectTimeoutS = try reader.number("connectTimeoutS", 0.001...3600) ?? connectTimeoutS
    timeoutS = try reader.number("timeoutS", 0.001...86_400) ?? timeoutS
    maxBytes = try reader.integer("maxBytes", 1...Tuning.largestConnectionBytes) ?? maxBytes
    pauseMs = try reader.integer("pauseMs", 0...3_600_000) ?? pauseMs
    maxWaitS = try reader.number("maxWaitS", 0...86_400) ?? maxWaitS
    caFile = try reader.string("caFile").map { origin.path($0) }
    proxy = try reader.proxy(origin)
    redirectWrites = try reader.bool("redirectWrites") ?? redirectWrites
    if let value = reader.value("maxParallel") { maxParallel = try Parallelism(value, reader) }
    allowOrigins = try (reader.strings("allowOrigins") ?? []).map { (text) throws(ConnectionProblem) in
      guard let address = WebAddress(text), let slash = text.firstRange(ofASCII: "://")?.upperBound,
        text[slash...].drop(while: { $0 != "/" && $0 != "?" && $0 != "#" }).drop(while: { $0 == "/" }).isEmpty
      else { throw reader.problem("allowOrigins", "'\(text)' is not a valid origin: expected https://host or https://host:port") }
      return address
    }
  }

  private mutating func takeParts(_ reader: MemberReader, _ origin: Origin) throws(ConnectionProblem) {
    switch reader.value("cache") {
    case nil, .bool(true)?: break
    case .bool(false)?: cache = nil
    default: cache = try reader.object("cache").map { (part) throws(ConnectionProblem) in try CacheLimits(part) }
    }
    if let part = try reader.object("log") {
      try part.allow(["level", "file"])
      log.level = try part.word("level", RequestLogLevel.self) ?? log.level
      log.file = try part.string("file").map { origin.path($0) }
    }
    if let part = try reader.object("errors") {
      try part.allow(["message", "code", "fields"])
      errors.message = try part.string("message")
      errors.code = try part.string("code")
      errors.fields = try part.string("fields")
    }
    if let part = try reader.object("quota") { quota = try QuotaHeaders(part) }
  }
}

extension ConnectionSettings.Parallelism {
  fileprivate init(_ value: JSONValue, _ reader: MemberReader) throws(ConnectionProblem) {
    let range = 1...Tuning.largestParallel
    if value.objectValue == nil {
      guard value.doubleValue != nil else {
        throw reader.problem("maxParallel", #"must be a number or {"reads": 4, "writes": 1}, not \#(value.kindName)"#)
      }
      total = try reader.integer("maxParallel", range)
      (reads, writes) = (total ?? reads, total ?? writes)
      return
    }
    guard let part = try reader.object("maxParallel") else { return }
    try part.allow(["reads", "writes"])
    reads = try part.integer("reads", range) ?? reads
    writes = try part.integer("writes", range) ?? writes
  }
}

extension ConnectionSettings.CacheLimits {
  fileprivate init(_ part: MemberReader) throws(ConnectionProblem) {
    try part.allow(["memoryMB", "diskMB"])
    memoryMB = try part.number("memoryMB", 0...1024) ?? memoryMB
    diskMB = try part.number("diskMB", 0...102_400) ?? diskMB
  }
}

extension ConnectionSettings.QuotaHeaders {
  fileprivate init(_ part: MemberReader) throws(ConnectionProblem) {
    try part.allow(["limit", "remaining", "reset", "resetAs", "minRemaining"])
    limit = try part.headerName("limit")
    remaining = try part.headerName("remaining")
    reset = try part.headerName("reset")
    resetAs = try part.word("resetAs", ResetForm.self)
    minRemaining = try part.integer("minRemaining", 0...1_000_000_000)
  }
}

extension MemberReader {
  /// Reads a proxy. Messages do not repeat the text, because it may hold a password.
  fileprivate func proxy(_ origin: ConnectionSettings.Origin) throws(ConnectionProblem) -> ProxySetting? {
    guard let text = try string("proxy") else { return nil }
    guard let setting = ProxySetting(text) else { throw problem("proxy", ProxySetting.shape) }
    if case .through(let proxy) = setting, proxy.hasCredentials, !origin.allowsPlainSecrets {
      throw problem("proxy", "must not hold a user and a password; HTTPS_PROXY may hold those of the same proxy")
    }
    return setting
  }

  func headerName(_ key: String) throws(ConnectionProblem) -> String? {
    guard let name = try string(key) else { return nil }
    guard name.utf8.allSatisfy(RequestHead.isTokenByte) else { throw problem(key, "'\(name)' is not a valid header name") }
    return name
  }

  /// Reads a secret.
  ///
  /// - Throws: ``ConnectionProblem`` for plain text where only a source is allowed. The message
  ///   does not repeat the text, because it is a secret.
  func secret(_ key: String, _ origin: ConnectionSettings.Origin) throws(ConnectionProblem) -> SecretValue? {
    guard let value = value(key) else { return nil }
    if let text = value.stringValue {
      guard origin.allowsPlainSecrets else {
        throw problem(key, #"must not be plain text; use {"env": NAME}, {"file": PATH} or {"command": [PROGRAM, ...]}"#)
      }
      guard !text.isEmpty else { throw problem(key, "must not be empty") }
      return .plain(text)
    }
    guard let part = try object(key) else { return nil }
    return .source(try part.secretSource(origin))
  }

  func requiredSecret(_ key: String, _ origin: ConnectionSettings.Origin) throws(ConnectionProblem) -> SecretValue {
    guard let secret = try secret(key, origin) else { throw ConnectionProblem(keys, "lacks '\(key)'") }
    return secret
  }

  private func secretSource(_ origin: ConnectionSettings.Origin) throws(ConnectionProblem) -> SecretSource {
    try allow(["env", "file", "command"])
    guard members.count == 1 else {
      throw ConnectionProblem(keys, #"must have exactly one of "env", "file" and "command""#)
    }
    if let name = try string("env") {
      guard !name.utf8.contains(UInt8(ascii: "=")) else { throw problem("env", "is not a valid variable name") }
      return .environment(name)
    }
    if let path = try string("file") { return .file(origin.path(path)) }
    guard let words = try strings("command"), !words.isEmpty else {
      throw problem("command", "must be a program and its arguments: a list of strings")
    }
    return .command(words)
  }
}

/// Reads the `headers` of a connection or a target.
package struct HeaderReader {
  let origin: ConnectionSettings.Origin

  package init(origin: ConnectionSettings.Origin) { self.origin = origin }

  package func headers(_ json: JSONObject) throws(ConnectionProblem) -> [ConnectionSettings.Header] {
    try headers(MemberReader(json, at: ["headers"]))
  }

  func headers(_ reader: MemberReader) throws(ConnectionProblem) -> [ConnectionSettings.Header] {
    var result: [ConnectionSettings.Header] = []
    for name in reader.members.keys {
      guard !name.isEmpty, name.utf8.allSatisfy(RequestHead.isTokenByte) else {
        throw reader.problem(name, "is not a valid header name")
      }
      if let other = result.first(where: { $0.name.equalsIgnoringCase(name) }) {
        throw reader.problem(name, "names the same header as '\(other.name)'")
      }
      result.append(ConnectionSettings.Header(name, try value(of: name, reader)))
    }
    return result
  }

  private func value(of name: String, _ reader: MemberReader) throws(ConnectionProblem) -> ConnectionSettings.Header.Value {
    let isText = reader.value(name)?.stringValue != nil
    guard isText, !SecretNames.isSecret(header: name) else {
      guard let secret = try reader.secret(name, origin) else { throw reader.problem(name, "must be a string or a secret") }
      return .secret(secret)
    }
    return .text(try reader.headerText(name) ?? "")
  }
}

/// Reads `auth`.
struct AuthorizationReader {
  let origin: ConnectionSettings.Origin

  private enum Form: String, CaseIterable {
    case none, bearer, basic, header, clientCredentials

    var keys: [String] {
      switch self {
      case .none: []
      case .bearer: ["token"]
      case .basic: ["username", "password"]
      case .header: ["name", "value", "prefix"]
      case .clientCredentials: ["tokenURL", "clientId", "clientSecret", "scopes", "audience", "clientAuth"]
      }
    }
  }

  func authorization(
    _ reader: MemberReader
  ) throws(ConnectionProblem) -> (ConnectionSettings.Authorization, isOptional: Bool) {
    guard let form = try reader.word("type", Form.self) else {
      throw ConnectionProblem(reader.keys, "lacks 'type': one of \(Form.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    try reader.allow(["type", "optional"] + form.keys)
    return (try authorization(form, reader), try reader.bool("optional") ?? false)
  }

  private func authorization(
    _ form: Form, _ reader: MemberReader
  ) throws(ConnectionProblem) -> ConnectionSettings.Authorization {
    switch form {
    case .none: return .none
    case .bearer: return .bearer(token: try reader.requiredSecret("token", origin))
    case .basic:
      let username = try reader.required("username")
      guard !username.utf8.contains(UInt8(ascii: ":")) else {
        throw reader.problem("username", "must not contain a colon, which basic authentication cannot encode")
      }
      return .basic(username: username, password: try reader.requiredSecret("password", origin))
    case .header:
      guard let name = try reader.headerName("name") else { throw ConnectionProblem(reader.keys, "lacks 'name'") }
      return .header(
        name: name, prefix: try reader.headerText("prefix") ?? "", value: try reader.requiredSecret("value", origin))
    case .clientCredentials: return .clientCredentials(try clientCredentials(reader))
    }
  }

  private func clientCredentials(_ reader: MemberReader) throws(ConnectionProblem) -> ConnectionSettings.ClientCredentials {
    let url = try reader.required("tokenURL")
    guard url.utf8.allSatisfy(\.isPrintableASCII), let address = WebAddress(url) else {
      throw reader.problem("tokenURL", "is not a valid URL: expected https://host[:port]/path")
    }
    guard address.isEncrypted || address.isLoopback else {
      throw reader.problem("tokenURL", "must begin with https: the client secret is sent there")
    }
    var credentials = ConnectionSettings.ClientCredentials(
      tokenURL: url, clientId: try reader.required("clientId"),
      clientSecret: try reader.requiredSecret("clientSecret", origin))
    credentials.scopes = try reader.strings("scopes") ?? []
    credentials.audience = try reader.string("audience")
    credentials.clientAuth =
      try reader.word("clientAuth", ConnectionSettings.ClientCredentials.ClientAuthentication.self) ?? .basic
    return credentials
  }
}
