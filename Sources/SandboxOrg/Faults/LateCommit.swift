import JSON

/// When a change that was made becomes visible.
public enum CommitMoment: Sendable, Equatable {
  /// Before the data call that follows so many others.
  case requests(Int)
  /// When the org's clock has gone so many seconds.
  case seconds(Int)
}

/// Something that has happened in the org and is not visible yet: a long transaction of another client.
struct LateCommit {
  enum Moment {
    case requests(Int)
    /// Seconds since 1970 UTC.
    case time(Int64)
  }

  /// Seconds since 1970 UTC: when it happened, as its records will say.
  let stamp: Int64
  var moment: Moment
  let commit: (Org) -> Void
}

extension Org {
  /// Keeps work until its moment has come. The stamps are those of now.
  func later(_ moment: CommitMoment, _ commit: @escaping (Org) -> Void) {
    let when: LateCommit.Moment =
      switch moment {
      case .requests(let count): .requests(count)
      case .seconds(let seconds): .time(configuration.clock.now() + Int64(seconds))
      }
    lateCommits.append(LateCommit(stamp: stamp(), moment: when, commit: commit))
    commitDue(isRequest: false)
  }

  /// Commits what has waited long enough. Called before records are read; `isRequest` for a client's data call.
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
  /// Takes a write whose commit comes late. The answer comes with the commit.
  func lateReply(to request: ServerRequest, _ draw: FaultDraw) async throws -> ServerReply {
    let moment = draw.integer("requests").map(CommitMoment.requests) ?? .seconds(draw.integer("seconds") ?? 0)
    // Ends without an answer when the server stops.
    let (answers, continuation) = AsyncStream.makeStream(of: ServerReply.self)
    try await org.perform { org in
      org.later(moment) { org in
        continuation.yield(self.answered(request, org))
        continuation.finish()
      }
    }
    guard draw.text("answer") != "lost" else { return .empty(202) }
    for await answer in answers { return answer }
    throw SandboxError(status: 503, code: "SERVER_UNAVAILABLE", message: "the sandbox has been stopped")
  }
}
