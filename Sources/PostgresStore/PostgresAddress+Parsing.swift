import JSON
import Support

extension PostgresAddress {
  /// libpq's options that an address may have. Others are set by this program (`target_session_attrs`,
  /// `client_encoding`, `options`) or make no sense here.
  private static let allowedOptions: Set<String> = [
    "application_name", "channel_binding", "connect_timeout", "gssencmode", "keepalives", "keepalives_count", "keepalives_idle",
    "keepalives_interval", "krbsrvname", "passfile", "service", "ssl_max_protocol_version", "ssl_min_protocol_version", "sslcert",
    "sslcrl", "sslcrldir", "sslkey", "sslmode", "sslnegotiation", "sslrootcert", "sslsni", "tcp_user_timeout",
  ]
  /// libpq's other options, which messages may name.
  private static let refusedOptions: Set<String> = [
    "client_encoding", "fallback_application_name", "gssdelegation", "gsslib", "hostaddr", "load_balance_hosts", "options",
    "replication", "require_auth", "requirepeer", "requiressl", "sslcertmode", "sslcompression", "sslpassword",
    "target_session_attrs",
  ]

  /// Parses an address. Escapes such as `%2F` are allowed in every part.
  /// - Throws: ``PostgresError`` `.invalidAddress`, which does not quote the address: it may contain a password.
  package init(_ text: String) throws(PostgresError) {
    guard let start = ["postgres://", "postgresql://"].first(where: text.hasPrefix) else {
      throw Self.invalid("must begin with postgres:// or postgresql://")
    }
    self.init(hosts: [])
    var rest = text.dropFirst(start.count)
    guard !rest.contains("#") else { throw Self.invalid("contains a '#'; write it as %23") }
    var query: Substring = ""
    if let mark = rest.firstIndex(of: "?") {
      query = rest[rest.index(after: mark)...]
      rest = rest[..<mark]
    }
    if let slash = rest.firstIndex(of: "/") {
      guard !rest[slash...].contains("@") else { throw Self.invalid("has an '@' after a '/'; write / in a password as %2F") }
      database = try Self.decoded(rest[rest.index(after: slash)...], "the database's name")
      rest = rest[..<slash]
      if database == "" { database = nil }
    }
    // A password may contain an '@' that should have been escaped; a host may not.
    if let at = rest.lastIndex(of: "@") {
      try setUser(rest[..<at])
      rest = rest[rest.index(after: at)...]
    }
    if !rest.isEmpty { hosts = try rest.split(separator: ",", omittingEmptySubsequences: false).map(Self.host) }
    try setOptions(query)
  }

  private static func invalid(_ why: String) -> PostgresError {
    PostgresError(
      .invalidAddress, "the database's address \(why); the form is postgres://user@host:port/database?sslmode=verify-full")
  }

  private static func decoded(_ text: Substring, _ what: String) throws(PostgresError) -> String {
    guard let decoded = PercentEncoding.decode(text), !decoded.utf8.contains(0) else {
      throw invalid("has an invalid escape in \(what)")
    }
    return decoded
  }

  private mutating func setUser(_ text: Substring) throws(PostgresError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = try Self.decoded(parts[0], "the user's name")
    user = name.isEmpty ? nil : name
    if parts.count > 1 { try setPassword(parts[1]) }
  }

  private mutating func setPassword(_ text: Substring) throws(PostgresError) {
    let decoded = try Self.decoded(text, "the password")
    password = decoded.isEmpty ? nil : decoded
  }

  private static func host(_ text: Substring) throws(PostgresError) -> Host {
    var name = text, port = ""[...]
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]") else { throw invalid("has a '[' without ']'") }
      name = text[text.index(after: text.startIndex)..<end]
      port = text[text.index(after: end)...]
      guard port.isEmpty || port.first == ":" else { throw invalid("has text after a ']'") }
      port = port.dropFirst()
    } else if let colon = text.firstIndex(of: ":") {
      name = text[..<colon]
      port = text[text.index(after: colon)...]
      guard !port.contains(":") else { throw invalid("has an IPv6 address without square brackets") }
    }
    let decodedName = try decoded(name, "a host's name")
    guard !decodedName.isEmpty else { throw invalid("has a host without a name") }
    return Host(name: decodedName, port: try number(port))
  }

  private static func number(_ text: some StringProtocol) throws(PostgresError) -> Int {
    if text.isEmpty { return defaultPort }
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = Int(text),
      (1...65535).contains(port)
    else { throw invalid("has a port that is not a number from 1 to 65535") }
    return port
  }

  private mutating func setOptions(_ query: Substring) throws(PostgresError) {
    var port: Int?
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(parts[0], "an option")
      guard Self.knownOptions.contains(name) else { throw Self.unknown(name) }
      guard parts.count == 2 else { throw Self.invalid("has the option '\(name)' without a value") }
      if name == "password" {
        try setPassword(parts[1])
        continue
      }
      let value = try Self.decoded(parts[1], "the option \(name)")
      switch name {
      case "host":
        guard hosts.isEmpty, !value.isEmpty else { throw Self.invalid("names its host twice") }
        hosts = value.split(separator: ",").map { Host(name: String($0), port: Self.defaultPort) }
      case "port": port = try Self.number(value)
      case "user": user = value
      case "dbname": database = value
      case "schema": schema = try Self.schemaName(value)
      case "reads":
        guard ["primary", "standby"].contains(value) else {
          throw Self.invalid("has an invalid option 'reads': it must be primary or standby")
        }
        readsFromStandbys = value == "standby"
      default: options[name] = value
      }
    }
    if let port { hosts = hosts.map { Host(name: $0.name, port: port) } }
  }

  private static let knownOptions = allowedOptions.union(["password", "host", "port", "user", "dbname", "schema", "reads"])

  /// Names an option only if it looks like one: it may be a part of a password.
  private static func unknown(_ name: String) -> PostgresError {
    let known = (allowedOptions.sorted() + ["reads", "schema"]).joined(separator: ", ")
    let meant = NearestName.find(name, among: knownOptions.sorted())
    let isOption = meant != nil || refusedOptions.contains(name)
    return invalid(
      "has \(isOption ? "the unknown option '\(name)'" : "an unknown option")\(meant.map { "; did you mean '\($0)'?" } ?? "") "
        + "(known are \(known)); in a password, write & as %26 and ? as %3F")
  }

  /// Letters, digits and `_`, so that the name reads the same quoted and unquoted. Short, because the
  /// names of stores' schemas add a number and PostgreSQL cuts names at 63 bytes.
  private static func schemaName(_ text: String) throws(PostgresError) -> String {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z"), digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard let first = text.utf8.first, letters.contains(first), text.utf8.count <= 40, !text.hasPrefix("pg_"),
      text.utf8.allSatisfy({ letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }), text != "public",
      text != "information_schema"
    else {
      throw invalid(
        "has an invalid schema: it must be 1 to 40 of a-z, 0-9 and _, begin with a letter, and be Tureen's own (not public)"
      )
    }
    return text
  }
}
