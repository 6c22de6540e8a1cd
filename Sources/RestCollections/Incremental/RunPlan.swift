import RestClient

/// What a run asks for, decided before its first request.
struct RunPlan: Sendable, Equatable {
  let scope: FirstRequest.Scope
  /// Rows that this run does not see are removed at its end, by the rules for ghosts: the marks of their deletion may be gone.
  var removesUnseen = false

  /// What the sync's state knows.
  struct Known: Sendable, Equatable {
    /// ``ServerDate/position`` of the last complete run; nil before the first one.
    var watermark: Int64?
    /// Of the mode `token`.
    var token: String?
    /// When the last complete run began, ms since 1970 UTC.
    var lastRunMs: Int64?
    /// When the last sure full walk began, ms since 1970 UTC.
    var lastFullWalkMs: Int64?
    /// The last run met an item without a date: nothing can be asked by date.
    var lacksDates = false
    /// A run that was to remove what it did not see has not reached its end.
    var owesRemoval = false
  }

  /// - Parameter nowMs: The wall clock, ms since 1970 UTC.
  init(_ target: RestTarget, _ known: Known, nowMs: Int64) {
    let rules = target.incremental
    let isToken = rules.mode == .token
    let everything = isToken ? FirstRequest.Scope.firstToken : .all
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

  /// A token that the server no longer takes: everything is read again, and what it does not bring is gone.
  /// - Parameters:
  ///   - answer: To the first request, which used a stored token.
  ///   - bodyIsEmpty: It has no body.
  /// - Returns: nil when the answer does not say that the token has expired.
  static func afterExpiry(_ target: RestTarget, _ answer: PageAnswer, bodyIsEmpty: Bool) -> RunPlan? {
    guard target.incremental.mode == .token, target.incremental.expiredStatuses.contains(answer.status),
      answer.decides(bodyIsEmpty: bodyIsEmpty)
    else { return nil }
    return RunPlan(scope: .firstToken, removesUnseen: true)
  }

  /// Where a 410 sends the new walk, when that is on the same server.
  static func newStart(_ answer: PageAnswer) -> String? {
    guard answer.status == 410, let location = answer.header("Location") else { return nil }
    let url = URLReference(URLReference.repaired(location)).resolved(against: answer.url)
    return url.origin == URLReference(answer.url).origin ? url.withoutFragment.text : nil
  }

  init(scope: FirstRequest.Scope, removesUnseen: Bool = false) {
    self.scope = scope
    self.removesUnseen = removesUnseen
  }

  /// The run asks only for what changed.
  var isIncremental: Bool {
    switch scope {
    case .since, .token: true
    case .all, .firstToken: false
    }
  }

  /// When the soup was last known to be up to date, ms since 1970 UTC. A quiet server has an old watermark, and marks of deletion
  /// made since the last run are still there.
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
