import JSON
import Support

/// An entry of the request log: one exchange with a server.
package struct ExchangeRecord: Sendable {
  package let connection: String
  package let method: HTTPMethod
  package let url: String
  package let requestHeaders: [(name: String, value: String)]
  package let requestBody: [UInt8]?
  package var response: RestResponse?
  /// Why there is no response.
  package var failure: String?
  package var cache = CacheResult.bypass
  /// The number of requests that the server still allows, if it reported one.
  package var remaining: Int?
  /// Whether the caller expects this status; it is not a warning then.
  package var isExpected = false
  /// Seconds until the request is retried; nil if it is not.
  package var repeatsIn: Double?
  /// Secret values, masked anywhere in the text.
  package var secrets: [String] = []
  private let start = SystemClock.monotonicSeconds()
  private var milliseconds = 0
  /// Numbers the exchanges of the process.
  private let id = ExchangeNumber.next()

  package init(
    _ connection: String, _ method: HTTPMethod, url: String, headers: [(name: String, value: String)], body: [UInt8]?
  ) {
    self.connection = connection
    self.method = method
    self.url = url
    requestHeaders = headers
    requestBody = body
  }

  package mutating func end(with response: RestResponse) {
    self.response = response
    milliseconds = Int(saturating: (SystemClock.monotonicSeconds() - start) * 1000)
  }

  package mutating func end(with error: RestError) {
    failure = error.message
    milliseconds = Int(saturating: (SystemClock.monotonicSeconds() - start) * 1000)
  }

  /// The lowest log level that includes this exchange.
  package var level: RequestLogLevel {
    guard let response else { return .error }
    if response.status >= 500 { return .error }
    return (response.status >= 400 && !isExpected) || repeatsIn != nil ? .warn : .info
  }

  /// Returns the lines, each with its line break and with terminal control characters escaped.
  func text(level: RequestLogLevel, isStored: Bool, now: Double) -> String {
    let redaction = redaction
    var lines = [LogText.time(now) + " " + summary(redaction)]
    if level >= .debug {
      lines += details(">", requestHeaders, requestBody, redaction)
      if let response {
        let body = keptBody(of: response, isStored: isStored)
        lines += details("<", response.headers, body, redaction)
        if body == nil { lines.append("  < (a body that must not be stored)") }
      }
    }
    return lines.map { LogText.escaped($0) + "\n" }.joined()
  }

  /// Returns the same facts as a JSON object, with its line break.
  func json(level: RequestLogLevel, isStored: Bool, now: Double) -> String {
    let redaction = redaction
    var facts: JSONObject = [
      "request": .integer(Int64(id)), "connection": .string(connection), "method": .string(method.rawValue),
      "url": .string(redaction.url(url)), "ms": .integer(Int64(milliseconds)),
    ]
    if let response {
      facts["status"] = .integer(Int64(response.status))
      facts["bytes"] = .integer(Int64(response.body.count))
      facts["cache"] = .string(cache.rawValue)
    } else {
      facts["error"] = .string(redaction.known(failure ?? ""))
    }
    if let remaining { facts["remaining"] = .integer(Int64(remaining)) }
    if let repeatsIn { facts["againInMs"] = .integer(Int64(saturating: (repeatsIn * 1000).rounded())) }
    if level >= .debug { addDetails(to: &facts, isStored, redaction) }
    let name = self.level == .warn ? "warning" : self.level.rawValue
    return LogLine.json(time: now, level: name, label: "tureen.requests", message: summary(redaction), facts)
  }

  private func addDetails(to facts: inout JSONObject, _ isStored: Bool, _ redaction: Redaction) {
    func add(_ side: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?) {
      facts[side + "Headers"] = .array(headers.map { .string("\($0.name): \(redaction.header($0.name, $0.value))") })
      guard let body, !body.isEmpty else { return }
      facts[side + "Body"] = .string(redaction.body(body, type: Self.type(headers), limit: Tuning.loggedBody))
    }
    add("request", requestHeaders, requestBody)
    guard let response else { return }
    let body = keptBody(of: response, isStored: isStored)
    add("response", response.headers, body)
    if body == nil { facts["responseBodyLeftOut"] = true }
  }

  private var redaction: Redaction { Redaction(secrets: secrets + authorizationSecrets + formSecrets) }

  /// Returns the body; nil if the log is a file and the server forbids to store it.
  private func keptBody(of response: RestResponse, isStored: Bool) -> [UInt8]? {
    guard !isStored || !CacheControl(headers: response.headers).noStore else { return nil }
    return response.body.withUnsafeBytes { Array($0) }
  }

  private static func type(_ headers: [(name: String, value: String)]) -> String? {
    headers.first { $0.name.equalsIgnoringCase("Content-Type") }?.value
  }

  private func summary(_ redaction: Redaction) -> String {
    var words = ["request \(id)", connection, method.rawValue, redaction.url(url)]
    if let response {
      words += ["\(response.status)", "\(milliseconds) ms", "\(response.body.count) bytes", cache.rawValue]
    } else {
      words += ["no answer", "\(milliseconds) ms", redaction.known(failure ?? "")]
    }
    if let remaining { words.append("remaining \(remaining)") }
    if let repeatsIn { words.append("again in \(LogText.seconds(repeatsIn))") }
    return words.joined(separator: " ")
  }

  private func details(
    _ mark: String, _ headers: [(name: String, value: String)], _ body: [UInt8]?, _ redaction: Redaction
  ) -> [String] {
    var lines = headers.map { "  \(mark) \($0.name): \(redaction.header($0.name, $0.value))" }
    if let body, !body.isEmpty {
      lines.append("  \(mark) \(redaction.body(body, type: Self.type(headers), limit: Tuning.loggedBody))")
    }
    return lines
  }

  /// Values of secret fields in the URL and the body, such as `client_secret`: a server may repeat them.
  private var formSecrets: [String] {
    let query = url.firstIndex(of: "?").map { Self.secrets(inForm: url[url.index(after: $0)...]) } ?? []
    guard let requestBody else { return query }
    let type = requestHeaders.first { $0.name.equalsIgnoringCase("Content-Type") }?.value.lowercased() ?? ""
    if type.hasPrefix("application/x-www-form-urlencoded") {
      return query + Self.secrets(inForm: String(decoding: requestBody, as: UTF8.self)[...])
    }
    return query + ((try? JSONValue(parsing: requestBody)).map(Self.secrets(in:)) ?? [])
  }

  private static func secrets(inForm text: Substring) -> [String] {
    text.split(separator: "&").flatMap { field -> [String] in
      let parts = field.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, SecretNames.isSecret(parameter: PercentEncoding.decode(parts[0]) ?? "") else { return [] }
      // A form has a plus for a blank, a URL need not.
      return [String(parts[1]), parts[1].split(separator: "+").joined(separator: " ")].compactMap { PercentEncoding.decode($0) }
    }
  }

  private static func secrets(in json: JSONValue) -> [String] {
    switch json {
    case .object(let members):
      members.flatMap { name, value -> [String] in
        if let text = value.stringValue { return SecretNames.isSecret(member: name) ? [text] : [] }
        return secrets(in: value)
      }
    case .array(let elements): elements.flatMap(secrets(in:))
    default: []
    }
  }

  /// Values of authorization headers, and what `Basic` encodes: a server may repeat them.
  private var authorizationSecrets: [String] {
    requestHeaders.filter { SecretNames.isSecret(header: $0.name) }.flatMap { header -> [String] in
      let words = header.value.split(separator: " ").map(String.init)
      guard words.first?.lowercased() == "basic", words.count == 2, let pair = Base64.decode(words[1]) else {
        return [header.value] + words.dropFirst()
      }
      let text = String(decoding: pair, as: UTF8.self), secret = text.split(separator: ":", maxSplits: 1).last.map(String.init)
      return [header.value, words[1], text] + [secret, secret.flatMap { PercentEncoding.decode($0[...]) }].compactMap { $0 }
    }
  }
}
