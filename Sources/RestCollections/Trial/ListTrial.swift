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
  package private(set) var survey: PageSurvey?
  /// The request of later runs; nil if they send the same one.
  package private(set) var later: Later?

  /// A request that asks for changes only.
  package struct Later: Sendable {
    package let request: String
    /// As ``ListTrial/outcome``.
    package let outcome: String
    package let isRefused: Bool
  }

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
    // As a sync: with the page size, and with what the first run adds.
    let request = try request(target, RunPlan(target, RunPlan.Known(), nowMs: 0).scope, settings), shown = shown(request)
    do throws(RestError) {
      let response = try await connection.send(request.restRequest(), options(target))
      let answers304 = await answers304(request, PageAnswer(response), target, connection)
      var trial = ListTrial(target, shown, settings, response, answers304: answers304)
      await trial.checkNextPage(json, response, connection)
      trial.later = try? await later(target, trial.survey, connection)
      return trial
    } catch {
      return ListTrial(
        request: shown, outcome: error.message, quota: Quota.words(error.headers, settings.quota), hint: hint(error, shown),
        survey: nil)
    }
  }

  private static func request(
    _ target: RestTarget, _ scope: FirstRequest.Scope, _ settings: ConnectionSettings
  ) throws -> PageRequest {
    do throws(URITemplate.Problem) {
      return try PageWalk(target, base: settings.baseURL, scope: scope).request
    } catch {
      throw SyncError(error)
    }
  }

  private static func shown(_ request: PageRequest) -> String { "\(request.method.rawValue) \(Redaction.url(request.url))" }

  private static func options(_ target: RestTarget) -> ConnectionOptions {
    ConnectionOptions(cache: .bypass, sameOrigin: target.staysOnOrigin, headers: target.headers.map(\.setting))
  }

  /// Asks for the page again with its tag. - Returns: nil if the page has none, or if tags are not used for the list.
  private static func answers304(
    _ request: PageRequest, _ answer: PageAnswer, _ target: RestTarget, _ connection: RestConnection
  ) async -> Bool? {
    guard [.full, .etag].contains(target.incremental.mode), request.method == .get else { return nil }
    var again = request.restRequest()
    if let tag = answer.header("ETag") {
      again.headers.append(("If-None-Match", tag))
    } else if let modified = answer.header("Last-Modified") {
      again.headers.append(("If-Modified-Since", modified))
    } else {
      return nil
    }
    return (try? await connection.send(again, options(target)))?.response.status == 304
  }

  /// Reads the next page with the keys that seem to lead there. Only what works is advised.
  private mutating func checkNextPage(
    _ json: JSONObject, _ response: ConnectionResponse, _ connection: RestConnection
  ) async {
    guard let keys = survey?.nextPageKeys else { return }
    var changed = json
    var paging = json["paging"]?.objectValue ?? [:]
    for (key, value) in keys { paging[key] = value }
    changed["paging"] = .object(paging)
    do {
      let count = try await Self.itemsOfNextPage(RestTarget(changed), response, connection)
      survey?.confirmNextPage(items: count)
    } catch {
      survey?.refuseNextPage((error as? RestError)?.message ?? "\(error)")
    }
  }

  private struct Ended: Error, CustomStringConvertible {
    let description = "the list ends with the first page"
  }

  private static func itemsOfNextPage(
    _ target: RestTarget, _ response: ConnectionResponse, _ connection: RestConnection
  ) async throws -> Int {
    let settings = connection.settings
    var walk = try PageWalk(
      target, base: settings.baseURL, allowedOrigins: settings.allowOrigins.map(\.origin), scope: .all)
    func read(_ response: ConnectionResponse, _ number: Int) throws -> CollectionPage {
      try response.body.withUnsafeBytes { try PageReader(target).read($0, of: PageAnswer(response), page: number) }
    }
    switch walk.accept(try read(response, 1)) {
    case .next(let request), .pause(let request), .again(let request), .restart(let request):
      return try await read(connection.send(request.restRequest(), options(target)), 2).itemCount
    case .end: throw Ended()
    case .fail(let error): throw error
    }
  }

  /// Sends the request of a run after the newest of these items.
  private static func later(
    _ target: RestTarget, _ survey: PageSurvey?, _ connection: RestConnection
  ) async throws -> Later? {
    guard [.param, .sorted].contains(target.incremental.mode), let newest = survey?.newestDate else { return nil }
    let request = try request(target, .since(newest), connection.settings), shown = shown(request)
    do throws(RestError) {
      let response = try await connection.send(request.restRequest(), options(target)), answer = PageAnswer(response)
      return Later(request: shown, outcome: outcome(answer, response), isRefused: false)
    } catch {
      return Later(request: shown, outcome: error.message, isRefused: true)
    }
  }

  private static func outcome(_ answer: PageAnswer, _ response: ConnectionResponse) -> String {
    "\(response.status) \(answer.mediaType ?? "without Content-Type"), \(response.body.count) bytes"
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

  private init(
    _ target: RestTarget, _ request: String, _ settings: ConnectionSettings, _ response: ConnectionResponse, answers304: Bool?
  ) {
    let answer = PageAnswer(response)
    self.request = request
    hint = nil
    outcome = ListTrial.outcome(answer, response)
    quota = Quota.words(response.response.headers, settings.quota)
    survey = response.body.withUnsafeBytes {
      PageSurvey(
        target, answer, body: $0, base: settings.baseURL, allowedOrigins: settings.allowOrigins.map(\.origin),
        answers304: answers304)
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
