import JSON
import MobileSync
import RestClient
import Support

/// Requests the first page of a target's list in order to examine the response.
package struct ListTrial: Sendable {
  /// Such as `GET https://…`, without secrets.
  package let request: String
  /// Such as `200 application/json, 1024 bytes`; for a refusal, the server's message.
  package let outcome: String
  /// The quota reported in the headers; nil if there is none.
  package let quota: String?
  /// A sentence that suggests what to check after a refusal; nil if the server's message is
  /// sufficient.
  package let hint: String?
  /// nil if there is no response to examine.
  package let survey: PageSurvey?

  /// - Throws: ``SyncError`` for an invalid definition, `RestConnections.Problem` for an unknown
  ///   connection.
  package static func run(_ json: JSONObject, _ connections: RestConnections) async throws -> ListTrial {
    let target: RestTarget
    do throws(RestTargetError) {
      target = try RestTarget(json)
    } catch {
      throw SyncError(error)
    }
    let connection = try connections.connection(named: target.connection), settings = connection.settings
    let request: PageRequest
    do throws(URITemplate.Problem) {
      request = try FirstRequest(target: target, base: settings.baseURL).request(.all)
    } catch {
      throw SyncError(error)
    }
    let shown = "\(request.method.rawValue) \(Redaction.url(request.url))"
    do throws(RestError) {
      let options = ConnectionOptions(cache: .bypass, sameOrigin: target.staysOnOrigin, headers: target.headers.map(\.setting))
      return ListTrial(target, shown, settings, try await connection.send(request.restRequest(), options))
    } catch {
      return ListTrial(
        request: shown, outcome: error.message, quota: Quota.words(error.headers, settings.quota), hint: hint(error, shown),
        survey: nil)
    }
  }

  private init(request: String, outcome: String, quota: String?, hint: String?, survey: PageSurvey?) {
    (self.request, self.outcome, self.quota, self.hint, self.survey) = (request, outcome, quota, hint, survey)
  }

  private static func hint(_ error: RestError, _ url: String) -> String? {
    let answer = PageAnswer(url: url, status: error.status ?? 0, headers: error.headers)
    guard error.status == 404, !answer.decides(bodyIsEmpty: error.body?.isEmpty ?? true) else { return nil }
    return
      "A 404 with a web page usually means a wrong path: check 'baseURL', 'url' and their trailing slashes against the "
      + "documentation."
  }

  private init(_ target: RestTarget, _ request: String, _ settings: ConnectionSettings, _ response: ConnectionResponse) {
    let answer = PageAnswer(response)
    self.request = request
    hint = nil
    outcome = "\(response.status) \(answer.mediaType ?? "without Content-Type"), \(response.body.count) bytes"
    quota = Quota.words(response.response.headers, settings.quota)
    survey = response.body.withUnsafeBytes {
      PageSurvey(target, answer, body: $0, base: settings.baseURL, allowedOrigins: settings.allowOrigins.map(\.origin))
    }
  }
}

extension Quota {
  /// - Returns: nil if the headers report no quota.
  fileprivate static func words(
    _ headers: [(name: String, value: String)], _ settings: ConnectionSettings.QuotaHeaders
  ) -> String? {
    guard let quota = Quota(headers, settings, now: SystemClock.secondsSince1970()) else { return nil }
    let limit = quota.limit.map { " of \($0)" } ?? ""
    return quota.remaining.map { "\($0)\(limit) requests are left" } ?? quota.limit.map { "\($0) requests are allowed" }
  }
}
