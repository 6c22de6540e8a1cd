import JSON

/// The kinds of faults inside the org.
enum SalesforceFaultKinds {
  static let all = sessions + signIns + writes + stamps

  // MARK: Sessions and limits

  private static let sessions: [FaultKind] = [
    FaultKind(
      "expireSession", .service, "Ends the session before the call: 401 INVALID_SESSION_ID.",
      [FaultParameter("scope", .choice(["this", "all"]), "this", "the caller's session, or all sessions")],
      applies: { isData($0) && $0.sessionToken != nil }
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "revokeRefreshToken", .service, "Revokes the refresh token before it is used: 400 invalid_grant.",
      applies: { Form($0)["refresh_token"] != nil }
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "expireLocator", .service, "Drops every open query locator before the call: 400 INVALID_QUERY_LOCATOR.",
      applies: isNextPage
    ) { _ in .service(isAnswered: true) },
    FaultKind("requestLimit", .service, "Answers that the daily limit is used up: 403 REQUEST_LIMIT_EXCEEDED.", applies: isData) {
      _ in
      let error = SandboxError(status: 403, code: "REQUEST_LIMIT_EXCEEDED", message: "TotalRequests Limit exceeded.")
      let usage = "api-usage=\(Tuning.dailyCalls)/\(Tuning.dailyCalls)"
      return .answer(.json(403, error.body, headers: [("Sforce-Limit-Info", usage)]), executed: false)
    },
  ]

  // MARK: Sign-in

  private static let signIns: [FaultKind] = [
    FaultKind(
      "signInRefusal", .service, "Refuses a token request.",
      [
        FaultParameter("error", .text, "invalid_grant", "the error"),
        FaultParameter("description", .text, "authentication failure", "its description"),
        FaultParameter("status", .integer(400...499), 400, "the status"),
      ], applies: TokenRoutes.isTokenRequest
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "tokenBusy", .service,
      "Delays a refresh; others with the same refresh token get 400 invalid_grant in the meantime.",
      [
        FaultParameter("milliseconds", .integer(0...ServerTuning.faultMilliseconds), 1_000, "how long"),
        FaultParameter(
          "clock", .choice(["real", "org"]), "real", "which clock measures the delay: the computer's, or the org's"),
      ], sample: ["milliseconds": 1], applies: { TokenRoutes.isTokenRequest($0) && Form($0)["refresh_token"] != nil }
    ) { _ in .service(isAnswered: true) },
  ]

  // MARK: Writes

  private static let writes: [FaultKind] = [
    FaultKind(
      "lockRows", .service,
      "Locks rows as another transaction does: writing them, or children of them, fails with UNABLE_TO_LOCK_ROW.",
      [
        FaultParameter("ids", .texts, .null, "the locked rows; any row if neither ids nor objects are given"),
        FaultParameter("objects", .texts, .null, "the objects whose rows are locked"),
        FaultParameter("share", .share, 1, "the share of those rows that is locked"),
      ], applies: isWrite
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "failItems", .service, "Fails some records or requests of a call with several.",
      [
        FaultParameter("indexes", .integers(0...ServerTuning.faultCount), .null, "the indexes of those that fail, from 0"),
        FaultParameter("share", .share, 0.5, "the share that fails if no indexes are given"),
        FaultParameter("code", .text, "FIELD_CUSTOM_VALIDATION_EXCEPTION", "the statusCode"),
        FaultParameter("message", .text, "refused on purpose", "the message"),
      ], applies: holdsItems
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "lateCommit", .service, "Stamps a write when it arrives and commits it later.",
      [
        FaultParameter("requests", .integer(0...ServerTuning.faultCount), .null, "commit after this many further data calls"),
        FaultParameter(
          "seconds", .integer(0...ServerTuning.faultSeconds), .null,
          "commit after this many seconds of the org's clock; 0 by default"),
        FaultParameter(
          "answer", .choice(["held", "lost"]), "held", "send the response with the commit, or close the connection at once"),
      ], sample: ["seconds": 0], applies: isWrite
    ) { .service(isAnswered: $0.text("answer") != "lost") },
  ]

  // MARK: Stamps

  private static let stamps: [FaultKind] = [
    FaultKind(
      "equalStamps", .service, "Rounds the timestamps of the call's writes down, so that many are equal.",
      [FaultParameter("seconds", .integer(1...ServerTuning.faultSeconds), 60, "its step")], applies: isWrite
    ) { _ in .service(isAnswered: true) },
    FaultKind(
      "stampSkew", .service, "Shifts the timestamps of the call's writes, as a wrong clock does.",
      [
        FaultParameter(
          "seconds", .integer(-ServerTuning.faultSeconds...ServerTuning.faultSeconds), -60,
          "the offset; negative values are in the past")
      ],
      applies: isWrite
    ) { _ in .service(isAnswered: true) },
  ]

  // MARK: Requests

  private static func isData(_ request: ServerRequest) -> Bool { SalesforceService.wantsSession(request.segments) }

  private static func isWrite(_ request: ServerRequest) -> Bool {
    isData(request) && ["POST", "PATCH", "PUT", "DELETE"].contains(request.method)
  }

  /// Returns true for collections, composites, graphs, batches, trees, and the call that starts a
  /// Bulk job.
  private static func holdsItems(_ request: ServerRequest) -> Bool {
    guard isWrite(request) else { return false }
    let resource = request.segments.dropFirst(3).map { $0.lowercased() }
    return switch resource.first {
    // A POST of ids to the collection of one object is a read.
    case "composite"?: !(resource.count == 3 && resource[1] == "sobjects" && request.method == "POST")
    case "connect"?: resource.count == 2 && resource[1] == "batch"
    case "jobs"?: resource.count == 3 && resource[1] == "ingest" && request.method == "PATCH"
    default: false
    }
  }

  private static func isNextPage(_ request: ServerRequest) -> Bool {
    guard isData(request), request.segments.count == 5, request.method == "GET" else { return false }
    return ["query", "queryall"].contains(request.segments[3].lowercased())
  }
}

extension FaultKind {
  /// Every kind that a sandbox org supports: the general HTTP kinds, then the org's own.
  public static let all = HTTPFaultKinds.all + SalesforceFaultKinds.all
}
