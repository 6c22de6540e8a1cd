extension RestConnection {
  /// Makes the token keeper of a connection with an OAuth grant. Its requests do not count towards
  /// the connection's limits.
  static func tokens(
    _ settings: ConnectionSettings, _ environment: Environment, _ transport: HTTPTransport, _ log: RequestLog
  ) -> TokenKeeper? {
    guard case .clientCredentials(let credentials) = settings.authorization else { return nil }
    let folder = environment.home.map { "\($0)/connections/\(settings.name.lowercased())" }
    let retrying = environment.retry
    return TokenKeeper(name: settings.name, credentials: credentials, folder: folder, now: retrying.now) {
      (headers, form) throws(RestError) in
      var retry = ConnectionRetry(isRepeatable: true, maxWaitS: settings.maxWaitS, quota: .init())
      let fields = headers + [(name: "User-Agent", value: settings.userAgent ?? environment.userAgent())]
      while true {
        var record = ExchangeRecord(settings.name, .POST, url: credentials.tokenURL, headers: fields, body: Array(form.utf8))
        let step: ConnectionRetry.Step, outcome: Result<RestResponse, RestError>
        do throws(RestError) {
          let response = try await transport.exchange(
            .POST, url: credentials.tokenURL, headers: fields, body: Array(form.utf8), timeoutS: settings.timeoutS)
          record.end(with: response)
          step = response.status == 403 ? .stop : retry.step(after: response, now: retrying.now(), random: retrying.random())
          outcome = .success(response)
        } catch {
          record.end(with: error)
          step = retry.step(after: error, random: retrying.random())
          outcome = .failure(error)
        }
        if case .wait(let seconds) = step { record.repeatsIn = seconds }
        log.write(record)
        guard case .wait(let seconds) = step else { return try outcome.get() }
        do {
          try await retrying.sleep(seconds)
        } catch {
          throw .cancelled(outcome: .notSent)
        }
      }
    }
  }
}
