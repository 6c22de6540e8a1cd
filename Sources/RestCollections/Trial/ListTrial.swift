import JSON
import MobileSync
import RestClient
import Support

/// The first request of a target's list, made to look at its answer.
package struct ListTrial: Sendable {
  /// Such as `GET https://…`, without secrets.
  package let request: String
  /// Such as `200 application/json, 1024 bytes`; of a refusal with the server's words.
  package let outcome: String
  /// What the connection reads of a quota; nil when the answer says nothing of it.
  package let quota: String?
  /// What to look at after a refusal, a sentence; nil where the server's words are all there is.
  package let hint: String?
  /// nil when there was no answer to look at.
  package let survey: PageSurvey?

  /// - Throws: ``SyncError`` for a definition that cannot work, `RestConnections.Problem` for an unknown connection.
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
      "A 404 with a page comes from a wrong path: compare 'baseURL' and 'url' with the documentation, and their slash at the end."
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
  /// - Returns: nil when the headers say nothing of it.
  fileprivate static func words(
    _ headers: [(name: String, value: String)], _ settings: ConnectionSettings.QuotaHeaders
  ) -> String? {
    guard let quota = Quota(headers, settings, now: SystemClock.secondsSince1970()) else { return nil }
    let limit = quota.limit.map { " of \($0)" } ?? ""
    return quota.remaining.map { "\($0)\(limit) requests are left" } ?? quota.limit.map { "\($0) requests are allowed" }
  }
}
