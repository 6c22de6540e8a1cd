import JSON
import RecordScan

/// A request for one page. The headers of the target and the connection are added later.
struct PageRequest: Sendable, Equatable {
  var method: RestTarget.Method
  var url: String
  var body: JSONObject?
  /// Parameters that the server expects in headers.
  var headers: [TextPair] = []
  /// The URL has another origin than the connection, so it gets no credentials and no secret
  /// headers.
  var isForeign = false

  /// Returns the request with a parameter set in the place that the target uses for parameters.
  func setting(_ name: String, to value: ParameterValue, in place: PagingRules.Place) -> PageRequest {
    var request = self
    switch place {
    case .query: request.url = URLQuery.setting(name, to: value.text, in: url)
    case .header:
      request.headers.removeAll { $0.name.lowercased() == name.lowercased() }
      request.headers.append(TextPair(name: name, value: value.text))
    case .body:
      let names = name.split(separator: ".").map(String.init)
      // No server reads a body that is nested deeper.
      request.body = (body ?? [:]).setting(names.prefix(JSONWalker.maximumDepth), to: value.json)
    }
    return request
  }
}

/// The value of a parameter. A number stays a number in a JSON body.
struct ParameterValue: Sendable, Equatable {
  let text: String
  var isNumber = false

  init(_ text: String, isNumber: Bool = false) {
    self.text = text
    self.isNumber = isNumber
  }

  init(_ number: Int) { self.init(String(number), isNumber: true) }

  /// Fails for a value that is not a continuation.
  init?(_ fact: FactValue) {
    guard let text = fact.continuation else { return nil }
    if case .number = fact { self.init(text, isNumber: true) } else { self.init(text) }
  }

  var json: JSONValue { isNumber ? (try? JSONValue(parsing: text)) ?? .string(text) : .string(text) }
}

extension JSONObject {
  /// Returns the object with a value set at a path of member names. Replaces values on the path
  /// that are not objects.
  func setting(_ names: ArraySlice<String>, to value: JSONValue) -> JSONObject {
    guard let name = names.first else { return self }
    var object = self
    let rest = names.dropFirst()
    object[name] = rest.isEmpty ? value : .object((self[name]?.objectValue ?? [:]).setting(rest, to: value))
    return object
  }

  /// Merges another object into this one, recursively for nested objects.
  func merged(with other: JSONObject) -> JSONObject {
    var object = self
    for (name, value) in other {
      if let own = object[name]?.objectValue, let new = value.objectValue {
        object[name] = .object(own.merged(with: new))
      } else {
        object[name] = value
      }
    }
    return object
  }
}

/// Makes the first request of a walk.
struct FirstRequest: Sendable {
  let target: RestTarget
  /// The connection's base URL.
  let base: String

  /// What a run requests.
  enum Scope: Sendable, Equatable {
    /// Everything.
    case all
    /// Changes at or after a watermark, before the overlap is subtracted.
    case since(Int64)
    /// A later run in the mode `token`.
    case token(String)
    /// The first run in the mode `token`.
    case firstToken
  }

  /// - Throws: `URITemplate.Problem` for a missing value.
  func request(_ scope: Scope) throws(URITemplate.Problem) -> PageRequest {
    let incremental = target.incremental
    if case .token(let url) = scope, incremental.tokenParam == nil {
      return PageRequest(method: target.method, url: SecretParameters(target).added(to: url), body: target.body)
    }
    var url = try TargetURL.expand(target.url, TemplateValues(vars: target.vars), base: base)
    var params = target.params, body = target.body
    if let since = incremental.sinceText(scope) {
      for pair in incremental.params { params.overlay(pair.name, pair.value.replacingSince(with: since)) }
      if let changes = incremental.body?.replacingSince(with: since) { body = (body ?? [:]).merged(with: changes) }
    } else if scope == .firstToken {
      for pair in incremental.firstParams { params.overlay(pair.name, pair.value) }
    }
    url = URLQuery.adding(params.map { ($0.name, $0.value) }, to: url)
    var request = PageRequest(method: target.method, url: url, body: body)
    if case .token(let token) = scope, let name = incremental.tokenParam {
      request = request.setting(name, to: ParameterValue(token), in: incremental.tokenPlace)
    }
    return request
  }
}

extension [TextPair] {
  /// Sets a value, replacing the one with the same name.
  fileprivate mutating func overlay(_ name: String, _ value: String) {
    let pair = TextPair(name: name, value: value)
    if let i = firstIndex(where: { $0.name == name }) { self[i] = pair } else { append(pair) }
  }
}

extension IncrementalRules {
  /// What a run requests that reads everything: a first run, and a search for ghosts.
  var wholeList: FirstRequest.Scope { mode == .token ? .firstToken : .all }

  /// The replacement for `{since}`; nil if `params` and `body` are not used.
  func sinceText(_ scope: FirstRequest.Scope) -> String? {
    switch (mode, scope) {
    case (.param, .since(let watermark)), (.sorted, .since(let watermark)):
      format.text(watermark.subtractingSafely(overlapMs), zone: zone)
    case (.param, .all): firstSince
    default: nil
    }
  }
}

extension Int64 {
  /// Subtracts, clamped to the smallest number.
  func subtractingSafely(_ other: Int64) -> Int64 {
    let (difference, overflows) = subtractingReportingOverflow(other)
    return overflows ? .min : difference
  }
}

extension String {
  func replacingSince(with text: String) -> String {
    var out = "", rest = self[...]
    while let brace = rest.firstIndex(of: "{") {
      out += rest[..<brace]
      rest = rest[brace...]
      if rest.hasPrefix("{since}") {
        out += text
        rest = rest.dropFirst("{since}".count)
      } else {
        out += "{"
        rest = rest.dropFirst()
      }
    }
    return out + rest
  }
}

extension JSONValue {
  /// Replaces `{since}` in all nested texts.
  fileprivate func replacingSince(with text: String) -> JSONValue {
    switch self {
    case .string(let value): .string(value.replacingSince(with: text))
    case .array(let elements): .array(elements.map { $0.replacingSince(with: text) })
    case .object(let members): .object(members.replacingSince(with: text))
    default: self
    }
  }
}

extension JSONObject {
  func replacingSince(with text: String) -> JSONObject {
    JSONObject(map { ($0.key, $0.value.replacingSince(with: text)) })
  }
}
