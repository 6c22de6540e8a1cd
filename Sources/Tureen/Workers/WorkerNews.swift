import JSON
import PostgresStore

/// What a worker tells about its work.
package enum WorkerNews: Sendable {
  case ready(owner: String, queue: String, slots: Int, accounts: [String])
  case began(JobSummary)
  /// - `isLast`: no attempt follows, except the next regular run of a repeated job.
  case done(JobSummary, counts: JSONObject)
  case failed(JobSummary, message: String, isLast: Bool)
  case released(JobSummary)
  case postponed(JobSummary, message: String)
  /// Another worker has taken the job over, because this one was silent for too long.
  case lost(JobSummary)
  /// Jobs are due that this worker cannot run.
  case leftToOthers(String)
  case databaseLost(message: String, pauseMs: Int64)
  case databaseBack
  /// The home's accounts cannot be read.
  case trouble(String)
  case stopping(running: Int)
  /// The attempts did not stop in time.
  case ending(running: Int)
  case notGivenBack([JobSummary], claimMs: Int64)

  /// The event's name in JSON.
  private var name: String {
    switch self {
    case .ready: "ready"
    case .began: "began"
    case .done: "done"
    case .failed: "failed"
    case .released: "released"
    case .postponed: "postponed"
    case .lost: "lost"
    case .leftToOthers: "leftToOthers"
    case .databaseLost: "databaseLost"
    case .databaseBack: "databaseBack"
    case .trouble: "trouble"
    case .stopping: "stopping"
    case .ending: "ending"
    case .notGivenBack: "notGivenBack"
    }
  }

  /// Whether something did not go as it should.
  package var isTrouble: Bool {
    switch self {
    case .ready, .began, .done, .released, .postponed, .databaseBack, .stopping: false
    case .failed, .lost, .leftToOthers, .databaseLost, .trouble, .ending, .notGivenBack: true
    }
  }

  /// The line for people.
  package var text: String {
    switch self {
    case .ready(let owner, let queue, let slots, let accounts):
      "worker \(owner) runs jobs of queue '\(queue)', \(slots) at once, for \(accounts.joined(separator: ", "))"
    case .began(let job): "job \(job.title) of \(job.place) began, attempt \(job.attempts)"
    case .done(let job, let counts):
      "job \(job.title) is done"
        + (counts.isEmpty ? "" : ": " + counts.figures)
    case .failed(let job, let message, let isLast):
      "job \(job.title) failed in attempt \(job.attempts): \(message)" + (isLast ? "" : "; it is tried again later")
    case .released(let job): "job \(job.title) was stopped and given back"
    case .postponed(let job, let message): "job \(job.title) waits: \(message)"
    case .lost(let job): "job \(job.title) was taken over by another worker, because this one could not be heard; it stops here"
    case .leftToOthers(let what): what
    case .databaseLost(let message, let pause):
      "the database cannot be used: \(message); trying again in \(max(1, (pause + 500) / 1000)) s"
    case .databaseBack: "the database can be used again"
    case .trouble(let message): message
    case .stopping(let running): running == 0 ? "stopping" : "stopping \(Self.jobs(running)) at the next page"
    case .ending(let running): "\(Self.jobs(running)) did not stop in time; cancelling what is in flight"
    case .notGivenBack(let jobs, let claimMs):
      "the database cannot be used, so other workers take over only after \(claimMs / 1000) s: "
        + jobs.map { "job \($0.title)" }.joined(separator: ", ")
    }
  }

  private static func jobs(_ count: Int) -> String { "\(count) job\(count == 1 ? "" : "s")" }

  /// The event as an object: its name, the job, and a text for people.
  package var json: JSONObject {
    var object: JSONObject = ["event": .string(name)]
    switch self {
    case .began(let job), .released(let job), .lost(let job): object["job"] = .object(job.json)
    case .done(let job, let counts):
      object["job"] = .object(job.json)
      object["counts"] = .object(counts)
    case .postponed(let job, let message):
      object["job"] = .object(job.json)
      object["error"] = .string(message)
    case .failed(let job, let message, let isLast):
      object["job"] = .object(job.json)
      object["error"] = .string(message)
      object["isLast"] = .bool(isLast)
    case .ready(let owner, _, _, _): object["owner"] = .string(owner)
    default: break
    }
    object["text"] = .string(text)
    return object
  }
}
