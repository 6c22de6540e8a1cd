import JSON
import Salesforce
import Support

@testable import RestClient
@testable import RestCollections
@testable import Salesforce

/// What surrounds the answers: status lines, headers with numbers, token answers, and the files that a home keeps of them. No
/// number in them ends the process, and what is shown of them can be shown.
enum ExchangeTarget {
  static let target = ParserTarget(
    "exchange", usualRounds: 2_000,
    dictionary: [
      "HTTP/1.1 ", " 099 ", "Content-Length: ", "Age", "99999999999999999999", "9223372036854775807", "-9223372036854775808",
      "1e400",
      "18446744073709551615", "\"issued_at\":", "\"expires_in\":", "\"refused\":", "\"count\":", "\"until\":", "\"reason\":",
      "\"key\":", "\"at\":", "api-usage=", "/250", "(appName=", "charset=", "utf-16", "\"renewAt\":", "rel=\"last\"", "page=",
    ],
    headers + tokens + files)

  // MARK: Headers

  private static let headers: [FuzzedParser] = [
    FuzzedParser("head of a response") { bytes in
      var head = ResponseHead(), isWhole = true
      for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        isWhole = (Array(line) + [UInt8(ascii: "\n")]).withUnsafeBytes { head.take($0, limit: 1 << 16) } && isWhole
      }
      try FuzzFailure.unless((0...999).contains(head.status), "a status of \(head.status)")
      guard isWhole else { throw FuzzedParser.Refused() }
      return "\(head.status / 100) \(head.length == .none) \(head.isCompressed) \(FuzzSignal.magnitude(head.fields.count))"
    },
    .text("Age") { text in
      let response = CachedResponse(
        status: 200,
        headers: [("Age", text), ("Date", text), ("Expires", text), ("Cache-Control", text), ("Last-Modified", text)],
        body: [], requestTime: 1e9, responseTime: 1e9)
      let age = response.age(at: 1e9), lifetime = response.lifetime
      try FuzzFailure.unless((0...1e12).contains(age) && lifetime >= 0, "an age of \(age), a lifetime of \(lifetime)")
      return "\(FuzzSignal.magnitude(Int(saturating: age))) \(lifetime > 0)"
    },
    .text("Content-Type") { text in
      let type = MediaType(text)
      return
        "\(type.isJSON) \(type.charset != nil) \(MediaType.doubts([("Content-Type", text), ("Content-Encoding", text)]).isEmpty)"
    },
    .text("time until the next request") { text in
      guard let seconds = RetryAfter.seconds(text, now: 1e9) else { throw FuzzedParser.Refused() }
      let error = RestError.quotaExhausted("c", until: 1e9 + seconds)
      try FuzzFailure.unless((error.resumeAt ?? 0) >= 1_000_000_000_000, "a time of \(error.resumeAt ?? 0)")
      return "\(error.message.utf8.count)"
    },
    .text("api usage") { text in
      guard let usage = ApiUsage(header: text, seenAt: 5) else { throw FuzzedParser.Refused() }
      for reserve in [ApiReserve.calls(.max), .percent(100), .calls(0)] { _ = reserve.isReached(by: usage) }
      return "\(usage.perApp != nil)"
    },
  ]

  // MARK: Tokens

  private static let tokens: [FuzzedParser] = [
    FuzzedParser("token answer") { bytes in
      let response = RestResponse(status: 200, body: ResponseBody(bytes))
      let session = try Session(tokenResponse: response, loginURL: "https://l", refreshToken: nil)
      try show(session)
      return "\(session.issuedAt != nil) \(session.orgId.isEmpty)"
    }
  ]

  private static func show(_ session: Session) throws(FuzzFailure) {
    guard let issuedAt = session.issuedAt else { return }
    let text = LogText.time(Double(issuedAt) / 1000)
    try FuzzFailure.unless(text.utf8.count == 24, "a time shown as '\(text)'")
  }

  // MARK: Files of a home

  private static let files: [FuzzedParser] = [
    .object("session.json") { json in
      guard let stored = StoredSession(json: .object(json)) else { throw FuzzedParser.Refused() }
      try stored.session.map(show)
      let error = RestError(code: .notAuthenticated, message: "m")
      let next = StoredSession.Refusal(
        error, .needsPerson, after: stored.refusal, isOfSameCredentials: true, key: "k", now: 1e9)
      _ = (stored.refusal?.holds(at: 1e9), stored.refusal?.error.message, StoredSession(json: stored.json))
      return "\(stored.session != nil) \(FuzzSignal.magnitude(next.count))"
    },
    .object("token.json") { json in
      guard let token = StoredToken(json: .object(json)) else { throw FuzzedParser.Refused() }
      _ = token.refusal.map { ($0.holds(at: 1e9), StoredToken.Refusal.wait(after: $0.count), $0.until.map(LogText.time)) }
      return "\(token.accessToken != nil) \(token.refusal != nil) \(StoredToken(json: token.json) == token)"
    },
    .object("usage.json") { json in
      guard let usage = ApiUsage(json: .object(json)) else { throw FuzzedParser.Refused() }
      return "\(ApiReserve.percent(1).isReached(by: usage))"
    },
  ]
}
