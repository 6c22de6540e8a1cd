import RestClient

/// What a run requests, decided before its first request.
struct RunPlan: Sendable, Equatable {
  let scope: FirstRequest.Scope
  /// At the end of the run, remove rows that it has not seen, by the rules for ghosts, because
  /// their tombstones may have expired.
  var removesUnseen = false

  /// What the sync's state records about earlier runs.
  struct Known: Sendable, Equatable {
    /// The ``ServerDate/position`` of the last complete run; nil before the first one.
    var watermark: Int64?
    /// The token of the mode `token`.
    var token: String?
    /// When the last complete run started, in ms since 1970 UTC.
    var lastRunMs: Int64?
    /// When the last verified full walk started, in ms since 1970 UTC.
    var lastFullWalkMs: Int64?
    /// The last run found an item without a date, so requests by date are unreliable.
    var lacksDates = false
    /// A run that had to remove unseen rows did not finish.
    var owesRemoval = false
  }

  /// - Parameter nowMs: The wall clock in ms since 1970 UTC.
  init(_ target: RestTarget, _ known: Known, nowMs: Int64) {
    let rules = target.incremental
    let isToken = rules.mode == .token
    let everything = rules.wholeList
    let isFirst = isToken ? known.token == nil : known.watermark == nil
    if known.owesRemoval {
      scope = everything
      removesUnseen = true
      return
    }
    guard !isFirst, rules.mode != .full, rules.mode != .hash, rules.mode != .etag else {
      scope = everything
      return
    }
    if let lifetime = rules.tombstonesS, RunPlan.isOver(lifetime, since: RunPlan.lastKnown(target, known), nowMs) {
      scope = everything
      removesUnseen = true
      return
    }
    if known.lacksDates || (rules.fullEveryS > 0 && RunPlan.isOver(rules.fullEveryS, since: known.lastFullWalkMs, nowMs)) {
      scope = everything
    } else if isToken {
      scope = .token(known.token ?? "")
    } else {
      scope = .since(known.watermark ?? 0)
    }
  }

  /// Returns the plan after the server rejected a token: read everything again and remove what is
  /// missing.
  ///
  /// - Parameters:
  ///   - answer: The response to the first request, which used a stored token.
  ///   - bodyIsEmpty: Whether the response has no body.
  /// - Returns: nil if the response does not say that the token has expired.
  static func afterExpiry(_ target: RestTarget, _ answer: PageAnswer, bodyIsEmpty: Bool) -> RunPlan? {
    guard target.incremental.mode == .token, target.incremental.expiredStatuses.contains(answer.status),
      answer.decides(bodyIsEmpty: bodyIsEmpty)
    else { return nil }
    return RunPlan(scope: .firstToken, removesUnseen: true)
  }

  /// Returns the URL to which a 410 redirects the new walk, if it is on the same server.
  static func newStart(_ answer: PageAnswer) -> String? {
    guard answer.status == 410, let location = answer.header("Location") else { return nil }
    let url = URLReference(URLReference.repaired(location)).resolved(against: answer.url)
    return url.origin == URLReference(answer.url).origin ? url.withoutFragment.text : nil
  }

  init(scope: FirstRequest.Scope, removesUnseen: Bool = false) {
    self.scope = scope
    self.removesUnseen = removesUnseen
  }

  /// Whether the run requests only changes.
  var isIncremental: Bool {
    switch scope {
    case .since, .token: true
    case .all, .firstToken: false
    }
  }

  /// When the soup was last known to be current, in ms since 1970 UTC. Uses the time of the last
  /// run as well, since the watermark stays old on a quiet server while tombstones made after that
  /// run still exist.
  private static func lastKnown(_ target: RestTarget, _ known: Known) -> Int64? {
    let watermark = target.items.dateFormat == .integer ? nil : known.watermark
    return [watermark, known.lastRunMs].compactMap { $0 }.max()
  }

  private static func isOver(_ seconds: Int64, since time: Int64?, _ nowMs: Int64) -> Bool {
    guard let time else { return true }
    let (limit, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    return !overflows && nowMs.subtractingSafely(time) > limit
  }
}
