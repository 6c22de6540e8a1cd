import Logging
import RestClient

/// Describes a token request for classification and messages: login host, grant and subject.
struct TokenRequestContext {
  let loginURL: String
  let grant: Credentials.Grant
  /// The subject in messages, such as `the sign-in of ann@acme.com`.
  let subject: String
  /// Returns advice for a refusal with this reason and the server's error code.
  let remedy: (SignInReason, String?) -> String

  init(
    loginURL: String, grant: Credentials.Grant, subject: String, remedy: @escaping (SignInReason, String?) -> String
  ) {
    (self.loginURL, self.grant, self.subject, self.remedy) = (loginURL, grant, subject, remedy)
  }

  init(_ credentials: Credentials) {
    self.init(
      loginURL: credentials.loginURL, grant: credentials.grant, subject: credentials.subject,
      remedy: { credentials.remedy(for: $0, $1) })
  }
}

/// Posts a form to the token endpoint. Retries while the server cannot process it, and follows one redirect of the login host.
struct TokenExchange {
  enum Answer {
    case response(RestResponse)
    /// Another process has obtained a session in the meantime.
    case session(Session)
  }

  var sender: RequestSender
  let context: TokenRequestContext
  /// The instance of the previous session, to which a login host may redirect the request.
  let instanceURL: String?

  /// Looks for a session that another process has obtained in the meantime.
  var other: @Sendable () async -> Session? = { nil }

  static let path = "/services/oauth2/token"
  /// Seconds for one attempt: less than other processes wait for the lock that is held meanwhile.
  static let timeoutS = 60.0
  /// Seconds between attempts while the server is processing another request for the same refresh token.
  static let busyWaits = [1.0, 2, 4, 8, 15]

  /// - Parameter form: Called for each attempt, because assertions must be signed anew.
  /// - Throws: ``RestError`` `.notAuthenticated` with a reason if the server refuses; otherwise the error of the last attempt.
  func send(
    _ form: () throws(RestError) -> [(name: String, value: String)]
  ) async throws(RestError) -> Answer {
    var url = try WebAddress.url(path: Self.path, query: [], base: context.loginURL)
    var attempt = 1, busy = 0, wasRedirected = false, wasLost = false
    while true {
      let failed: RestError
      do throws(RestError) {
        return .response(try await post(form(), to: url))
      } catch {
        failed = error
      }
      if let target = try redirect(failed, from: url, isFirst: !wasRedirected) {
        (url, wasRedirected) = (target, true)
        continue
      }
      switch TokenVerdict(failed, grant: context.grant) {
      case .refused(let reason): throw refusal(failed, reason, wasLost: wasLost)
      case .busy:
        guard busy < Self.busyWaits.count else { throw busyError(failed) }
        try await pause(Self.busyWaits[busy], failed)
        if let session = await other() { return .session(session) }
        busy += 1
      case .passing:
        try await pause(afterAttempt: attempt, unavailable(failed), asIf: noAnswer(failed))
        attempt += 1
      case .other:
        wasLost = wasLost || failed.outcome == .unknown
        try await pause(afterAttempt: attempt, failed, asIf: failed)
        attempt += 1
      }
    }
  }

  private func post(_ form: [(name: String, value: String)], to url: String) async throws(RestError) -> RestResponse {
    let body = Array(PercentEncoding.form(form).utf8)
    let request = RestRequest(
      .POST, Self.path, body: body, contentType: "application/x-www-form-urlencoded", isRepeatable: true,
      requiresAuthentication: false)
    // The retry rules for data requests do not fit the responses of a token endpoint, so `send` retries itself.
    var once = sender
    once.policy = .never
    do throws(RestError) {
      return try await once.send(request, url: url, token: nil)
    } catch {
      // A server may quote what it was sent.
      throw TokenRedaction(form.filter { Self.secretFields.contains($0.name) }.map(\.value)).cleaned(error)
    }
  }

  private static let secretFields: Set<String> = [
    "client_secret", "password", "refresh_token", "assertion", "code", "code_verifier",
  ]

  // MARK: Waiting

  /// Waits before the next attempt. A lost response is retried as well: at worst this creates two sessions.
  private func pause(afterAttempt attempt: Int, _ failed: RestError, asIf judged: RestError) async throws(RestError) {
    let environment = sender.environment
    let decision = sender.policy.decide(
      afterAttempt: attempt, isRepeatable: true, error: judged, now: environment.now(), random: environment.random())
    guard case .wait(let seconds) = decision else { throw failed }
    try await pause(seconds, failed)
  }

  private func pause(_ seconds: Double, _ failed: RestError) async throws(RestError) {
    do {
      try await sender.environment.sleep(seconds)
    } catch {
      throw .cancelled(outcome: failed.outcome)
    }
  }

  /// Converts a temporary failure to one that the retry policy accepts: its status would count as final for a data request.
  private func noAnswer(_ error: RestError) -> RestError {
    RestError(code: .noResponse, message: error.message, headers: error.headers)
  }

  private func unavailable(_ error: RestError) -> RestError {
    var error = error.recoded(.httpStatus)
    error.passing = .soon
    return error
  }

  private func busyError(_ error: RestError) -> RestError {
    var busy = error.recoded(
      .httpStatus, "\(context.loginURL) is still working on another request for this refresh token: \(error.message)")
    busy.passing = .soon
    return busy
  }

  // MARK: Redirects

  /// Returns the target of a redirect; nil if the response is not one.
  /// - Throws: `wrongHost` if the target must not receive secrets.
  private func redirect(_ error: RestError, from url: String, isFirst: Bool) throws(RestError) -> String? {
    guard let status = error.status, [301, 302, 307, 308].contains(status), let from = WebAddress(url) else { return nil }
    let location = error.header("Location") ?? ""
    let target = location.hasPrefix("/") ? from.origin + location : location
    let path = Self.path(of: target)
    guard isFirst, let to = WebAddress(target), path == Self.path(of: url), Self.mayFollow(from, to, instanceURL) else {
      throw refusal(
        error.recoded(.httpStatus, "it sends the sign-in on to '\(WebAddress(target)?.host ?? "an address that is not valid")'"),
        .wrongHost, wasLost: false)
    }
    return target
  }

  /// Returns true if a login host may redirect a request that contains secrets to this target.
  static func mayFollow(_ from: WebAddress, _ to: WebAddress, _ instanceURL: String?) -> Bool {
    if from.isLoopback, to.isLoopback { return !from.isEncrypted || to.isEncrypted }
    guard to.isEncrypted else { return false }
    if let instance = instanceURL.flatMap({ WebAddress($0) }), instance == to { return true }
    return [".salesforce.com", ".salesforce.mil", ".sfcrmproducts.cn"].contains {
      from.host.hasSuffix($0) && to.host.hasSuffix($0) && to.port == 443
    }
  }

  /// Returns the path without query and fragment.
  private static func path(of url: String) -> Substring? {
    guard let scheme = url.firstRange(ofASCII: "://") else { return nil }
    return url[scheme.upperBound...].drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "?" && $0 != "#" }
  }

  // MARK: Refusals

  /// Builds the error of a refusal: the login host, the subject, the server's message and advice.
  private func refusal(_ error: RestError, _ reason: SignInReason, wasLost: Bool) -> RestError {
    var said = error.message.count > 200 ? String(error.message.prefix(200)) + "…" : error.message
    if wasLost, reason == .sessionEnded {
      said += " (the answer to an earlier try was lost, and with it the new refresh token of an app that rotates them)"
    }
    let remedy = context.remedy(reason, error.serverCode)
    var refused = error.recoded(
      .notAuthenticated, "\(context.loginURL) refused \(context.subject): \(said); \(remedy)")
    refused.reason = reason.rawValue
    return refused
  }
}
