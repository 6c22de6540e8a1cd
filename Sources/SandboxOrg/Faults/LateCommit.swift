import JSON

/// When a change becomes visible.
public enum CommitMoment: Sendable, Equatable {
  /// Before the data call that follows this many others.
  case requests(Int)
  /// After this many seconds of the org's clock.
  case seconds(Int)
}

/// A change in the org that is not visible yet, like a long transaction of another client.
struct LateCommit {
  enum Moment {
    case requests(Int)
    /// Seconds since 1970 UTC.
    case time(Int64)
  }

  /// When the change was made, in seconds since 1970 UTC; the timestamp of its records.
  let stamp: Int64
  var moment: Moment
  let commit: (Org) -> Void
}

extension Org {
  /// Schedules a commit for a later moment; its timestamps are the current ones.
  func scheduleCommit(after moment: CommitMoment, _ commit: @escaping (Org) -> Void) {
    let when: LateCommit.Moment =
      switch moment {
      case .requests(let count): .requests(count)
      case .seconds(let seconds): .time(configuration.clock.now() + Int64(seconds))
      }
    lateCommits.append(LateCommit(stamp: stamp(), moment: when, commit: commit))
    commitDue(isRequest: false)
  }

  /// Makes due commits. Called before records are read.
  ///
  /// - Parameter isRequest: True for a client's data call.
  func commitDue(isRequest: Bool) {
    guard !lateCommits.isEmpty else { return }
    var due: [LateCommit] = []
    let now = configuration.clock.now()
    lateCommits = lateCommits.compactMap { late in
      var late = late
      switch late.moment {
      case .time(let time) where time <= now: due.append(late)
      case .requests(0) where isRequest: due.append(late)
      case .requests(let count):
        if isRequest { late.moment = .requests(count - 1) }
        return late
      case .time: return late
      }
      return nil
    }
    for late in due {
      interference.fixedStamp = late.stamp
      late.commit(self)
      interference.fixedStamp = nil
    }
  }
}

extension SalesforceService {
  /// Accepts a write that is committed later; the response comes with the commit.
  func lateReply(to request: ServerRequest, _ draw: FaultDraw) async throws -> ServerReply {
    let moment = draw.integer("requests").map(CommitMoment.requests) ?? .seconds(draw.integer("seconds") ?? 0)
    // The stream ends without a response if the server stops.
    let (answers, continuation) = AsyncStream.makeStream(of: ServerReply.self)
    try await org.perform { org in
      org.scheduleCommit(after: moment) { org in
        continuation.yield(self.answered(request, org))
        continuation.finish()
      }
    }
    guard draw.text("answer") != "lost" else { return .empty(202) }
    for await answer in answers { return answer }
    throw SandboxError(status: 503, code: "SERVER_UNAVAILABLE", message: "the sandbox has been stopped")
  }
}
