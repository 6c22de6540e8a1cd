import JSON

/// The kinds of faults that happen inside the org.
enum SalesforceFaultKinds {
  static let all = sessions + signIns + writes + stamps

  // MARK: Sessions and limits

  private static let sessions: [FaultKind] = [
    FaultKind(
      "expireSession", .service, "The session ends before the call: 401 INVALID_SESSION_ID.",
      [FaultParameter("scope", .choice(["this", "all"]), "this", "the caller's session, or every one")],
      applies: { isData($0) && $0.sessionToken != nil }
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "revokeRefreshToken", .service, "The refresh token that is sent is revoked before it is used: 400 invalid_grant.",
      applies: { Form($0)["refresh_token"] != nil }
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "expireLocator", .service, "Every open query locator is forgotten before the call: 400 INVALID_QUERY_LOCATOR.",
      applies: isNextPage
    ) { _ in .service(isHeard: true) },
    FaultKind("requestLimit", .service, "The day's calls are used up: 403 REQUEST_LIMIT_EXCEEDED.", applies: isData) { _ in
      let error = SandboxError(status: 403, code: "REQUEST_LIMIT_EXCEEDED", message: "TotalRequests Limit exceeded.")
      let usage = "api-usage=\(Tuning.dailyCalls)/\(Tuning.dailyCalls)"
      return .answer(.json(403, error.body, headers: [("Sforce-Limit-Info", usage)]), executed: false)
    },
  ]

  // MARK: Sign-in

  private static let signIns: [FaultKind] = [
    FaultKind(
      "signInRefusal", .service, "A request for a token is refused.",
      [
        FaultParameter("error", .text, "invalid_grant", "the error"),
        FaultParameter("description", .text, "authentication failure", "its description"),
        FaultParameter("status", .integer(400...499), 400, "the status"),
      ], applies: TokenRoutes.isMeant
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "tokenBusy", .service,
      "The org works on a refresh for so long; others with the same refresh token are 400 invalid_grant meanwhile.",
      [
        FaultParameter("milliseconds", .integer(0...ServerTuning.faultMilliseconds), 1_000, "how long"),
        FaultParameter("clock", .choice(["real", "org"]), "real", "the computer's clock, or the org's"),
      ], sample: ["milliseconds": 1], applies: { TokenRoutes.isMeant($0) && Form($0)["refresh_token"] != nil }
    ) { _ in .service(isHeard: true) },
  ]

  // MARK: Writes

  private static let writes: [FaultKind] = [
    FaultKind(
      "lockRows", .service, "Another transaction holds rows: writing them, or children of them, is UNABLE_TO_LOCK_ROW.",
      [
        FaultParameter("ids", .texts, .null, "which rows; all when neither ids nor objects are given"),
        FaultParameter("objects", .texts, .null, "rows of which objects"),
        FaultParameter("share", .share, 1, "which share of those rows"),
      ], applies: isWrite
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "failItems", .service, "Records or requests of a call that holds several fail by themselves.",
      [
        FaultParameter("indexes", .integers(0...ServerTuning.faultCount), .null, "which, from 0 on"),
        FaultParameter("share", .share, 0.5, "which share, when no indexes are given"),
        FaultParameter("code", .text, "FIELD_CUSTOM_VALIDATION_EXCEPTION", "the statusCode"),
        FaultParameter("message", .text, "refused on purpose", "the message"),
      ], applies: holdsItems
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "lateCommit", .service, "A write is stamped when it comes and committed later.",
      [
        FaultParameter("requests", .integer(0...ServerTuning.faultCount), .null, "after so many further data calls"),
        FaultParameter(
          "seconds", .integer(0...ServerTuning.faultSeconds), .null, "when the org's clock has gone so far; 0 by default"),
        FaultParameter(
          "answer", .choice(["held", "lost"]), "held", "the answer comes with the commit, or the connection is closed at once"),
      ], sample: ["seconds": 0], applies: isWrite
    ) { .service(isHeard: $0.text("answer") != "lost") },
  ]

  // MARK: Stamps

  private static let stamps: [FaultKind] = [
    FaultKind(
      "equalStamps", .service, "Stamps of the call's writes are cut to a coarse clock: many are equal.",
      [FaultParameter("seconds", .integer(1...ServerTuning.faultSeconds), 60, "its step")], applies: isWrite
    ) { _ in .service(isHeard: true) },
    FaultKind(
      "stampSkew", .service, "Stamps of the call's writes come from a clock that is off.",
      [
        FaultParameter(
          "seconds", .integer(-ServerTuning.faultSeconds...ServerTuning.faultSeconds), -60, "how far; negative is the past")
      ],
      applies: isWrite
    ) { _ in .service(isHeard: true) },
  ]

  // MARK: Requests

  private static func isData(_ request: ServerRequest) -> Bool { SalesforceService.wantsSession(request.segments) }

  private static func isWrite(_ request: ServerRequest) -> Bool {
    isData(request) && ["POST", "PATCH", "PUT", "DELETE"].contains(request.method)
  }

  /// Collections, composites, graphs, batches, trees, and the call that sets a Bulk job going.
  private static func holdsItems(_ request: ServerRequest) -> Bool {
    guard isWrite(request) else { return false }
    let resource = request.segments.dropFirst(3).map { $0.lowercased() }
    return switch resource.first {
    // Ids sent to the collection of one object are a read.
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
  /// Every kind a sandbox org knows: those of any HTTP service, then the org's own.
  public static let all = HTTPFaultKinds.all + SalesforceFaultKinds.all
}
