import JSON
import LuaBridge
import PostgresStore

/// A job with its store, for display.
package struct JobSummary: Sendable, Equatable {
  let job: Job
  /// The folders' names of the store's org and user; empty for a global store.
  let org: String, user: String
  let store: String

  init(_ job: Job, in store: PostgresSchema.Store?) {
    self.job = job
    org = store.map { OrgEntry.name(ofFolder: $0.org) } ?? ""
    user = store.map { OrgEntry.name(ofFolder: $0.user) } ?? ""
    self.store = store?.name ?? "-"
  }

  package var id: Int64 { job.id }
  package var name: String { job.name }
  package var kind: String { job.kind.rawValue }
  package var queue: String { job.queue }
  package var isGlobal: Bool { org.isEmpty && user.isEmpty }

  /// `7: sync 'contactsDown'`
  package var title: String { "\(id): \(kind) '\(name)'" }

  /// The store of the job: `acme/ada@acme.example`, with the store's name if it is not the default one.
  package var place: String {
    let owner = isGlobal ? "global" : "\(org)/\(user)"
    return store == StoreReference.defaultName ? owner : "\(owner)/\(store)"
  }

  /// `ready`, `running`, `done` or `failed`; `failing` for a job that waits for another attempt.
  package var state: String { job.state == .ready && job.error != nil ? "failing" : job.state.rawValue }

  package var interval: String { job.everyMs.map { "\(JobInterval(milliseconds: $0))" } ?? "once" }

  /// Ms since 1970 UTC; nil for a job that is over.
  package var due: Int64? { [.done, .failed].contains(job.state) ? nil : job.due }

  package var attempts: String { "\(job.attempts)/\(job.maximumAttempts)" }

  /// The worker that runs it, else why the last attempt failed.
  package var remark: String { job.owner.map { "on \($0)" } ?? job.error ?? "" }

  package var json: JSONObject {
    var object: JSONObject = [
      "id": .integer(id), "kind": .string(kind), "name": .string(name), "org": org.isEmpty ? .null : .string(org),
      "user": user.isEmpty ? .null : .string(user), "storeName": .string(store), "isGlobalStore": .bool(isGlobal),
      "queue": .string(queue), "state": .string(state), "everyMs": job.everyMs.map { .integer($0) } ?? .null,
      "due": due.map { .integer($0) } ?? .null, "attempts": .integer(job.attempts),
      "maximumAttempts": .integer(job.maximumAttempts), "owner": job.owner.map { .string($0) } ?? .null,
      "error": job.error.map { .string($0) } ?? .null,
    ]
    object["args"] = (try? JSONValue(parsing: Array(job.arguments.utf8))) ?? .string(job.arguments)
    return object
  }
}

/// One attempt of a job, for display.
package struct JobRunSummary: Sendable, Equatable {
  let run: JobLedger.Run

  package var number: Int64 { run.fence }
  /// Ms since 1970 UTC.
  package var began: Int64 { run.began }
  package var owner: String { run.owner }
  /// `running`, `done`, `failed`, `released`, `postponed` or `lost`.
  package var outcome: String { run.outcome ?? "running" }
  /// `1.2 s`; empty while it runs.
  package var duration: String { run.ended.map { "\(($0 - run.began) / 1000).\(($0 - run.began) % 1000 / 100) s" } ?? "" }
  /// Why it failed, else its counts, such as `fetched 5000, stored 5000`.
  package var remark: String {
    if let error = run.error { return error }
    guard let text = run.counts, let counts = (try? JSONValue(parsing: Array(text.utf8)))?.objectValue else { return "" }
    return counts.figures
  }

  package var json: JSONObject {
    [
      "attempt": .integer(number), "owner": .string(owner), "began": .integer(began),
      "ended": run.ended.map { .integer($0) } ?? .null, "outcome": .string(outcome),
      "error": run.error.map { .string($0) } ?? .null,
      "counts": run.counts.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? .null,
    ]
  }
}

extension JSONObject {
  /// The counts of a run for people: `fetched 5000, stored 5000`.
  var figures: String { map { "\($0.key) \($0.value.text)" }.joined(separator: ", ") }
}
