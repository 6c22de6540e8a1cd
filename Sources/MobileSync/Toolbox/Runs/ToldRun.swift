import JSON
import SmartStore

/// A run of a sync as the history has it.
public struct ToldRun: Sendable {
  /// An attempt of a request, or a step.
  public struct Event: Sendable {
    let event: HistoryEvent
    let soupName: String?

    /// The form that scripts get.
    public var json: JSONObject {
      func number(_ value: Int64?) -> JSONValue { value.map { .integer($0) } ?? .null }
      func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
      return [
        "at": .integer(event.at), "kind": .string(event.kind.rawValue), "soupName": text(soupName), "rows": number(event.rows),
        "bytes": number(event.bytes), "server": text(event.server), "method": text(event.method), "path": text(event.path),
        "status": number(event.status), "attempt": number(event.attempt), "ms": number(event.ms), "error": text(event.error),
      ]
    }
  }

  /// What a run did to entries, by cause.
  public struct Group: Sendable {
    let cause: String
    var count = 0
    var records: [Record] = []

    var json: JSONObject {
      [
        "cause": .string(cause), "count": .integer(Int64(count)), "records": .array(records.map { .object($0.json) }),
      ]
    }
  }

  /// What a run did to an entry.
  public struct Record: Sendable {
    let soupName: String
    let row: HistoryRow

    var json: JSONObject {
      func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
      return [
        "soupName": .string(soupName), "entryId": .integer(row.integers[4] ?? 0), "recordId": text(row.texts[3]),
        "at": .integer(row.integers[0] ?? 0), "version": .integer(row.integers[5] ?? 0), "reason": text(row.texts[1]),
        "fields": HistoryText.list(row.texts[2]).map { .array($0.map { .string($0) }) } ?? .null,
      ]
    }
  }

  /// The details of one run.
  public struct Detail: Sendable {
    var events: [Event] = []
    /// Requests and steps that were counted and not kept.
    var omitted: Int64 = 0
    var entries: [Group] = []

    /// The failures of requests by status, or by error without an answer.
    var errors: [(code: String, count: Int)] {
      var found: [(code: String, count: Int)] = []
      for event in events.map(\.event) where event.kind == .request && (event.status.map { $0 >= 400 } ?? true) {
        let code = event.status.map { "\($0)" } ?? event.error ?? "no answer"
        if let i = found.firstIndex(where: { $0.code == code }) { found[i].count += 1 } else { found.append((code, 1)) }
      }
      return found
    }
  }

  let run: HistoryRun
  let by: HistoryActor?
  /// Whether it says that it is running although its process died. The row stays as it is.
  let isAbandoned: Bool
  public internal(set) var detail: Detail?

  public var number: Int64 { run.number }
  public var syncId: Int64 { run.syncId }
  /// The sync's name; nil if it has none.
  public var name: String? { run.name }
  /// In ms since 1970 UTC; nil while it runs.
  public var startedAt: Int64 { run.startedAt }
  public var endedAt: Int64? { run.endedAt }
  /// The status as people see it.
  public var status: String { isAbandoned ? HistoryRun.abandoned : run.status }

  private var state: JSONValue? { run.state.flatMap { try? JSONValue(parsing: $0) } }

  /// Whether a run that is done has left records that a person has to look at: `tureen sync` ends with 2 then.
  public var needsALook: Bool {
    guard status == SyncStatus.done.rawValue, let state = state, let counts = state["counts"] else { return false }
    if let verified = state["verified"] { return verified["equal"] != true }
    return ["failed", "conflicting", "inDoubt", "flagged", "skipped"].contains { counts[$0]?.integerValue ?? 0 > 0 }
  }

  /// The form that scripts get.
  public var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    let state = state
    var json: JSONObject = [
      "run": .integer(run.number), "syncId": .integer(run.syncId), "name": text(run.name), "kind": .string(run.kind.rawValue),
      "status": .string(status), "look": .bool(needsALook), "startedAt": .integer(run.startedAt),
      "endedAt": run.endedAt.map { .integer($0) } ?? .null, "error": state?["error"] ?? .null,
      "limitInfo": state?["limitInfo"] ?? .null, "warnings": state?["warnings"] ?? [], "counts": counts(state),
      "by": by.map { .object($0.json(pid: run.pid)) } ?? .null, "job": text(run.job), "plan": text(run.plan),
    ]
    if let verified = state?["verified"] { json["verified"] = verified }
    guard let detail else { return json }
    json["events"] = .array(detail.events.map { .object($0.json) })
    json["omitted"] = .integer(detail.omitted)
    json["errors"] = .array(detail.errors.map { ["code": .string($0.code), "count": .integer(Int64($0.count))] })
    json["entries"] = .array(detail.entries.map { .object($0.json) })
    return json
  }

  private func counts(_ state: JSONValue?) -> JSONValue {
    guard let known = state?["counts"] else { return .null }
    return .object(JSONObject(SyncCounts.fields.map { ($0.name, known[$0.name] ?? 0) }))
  }
}

/// Which runs are asked for.
public struct RunFilter: Sendable {
  /// Only those of this sync; nil for all.
  public var sync: SyncReference?
  /// Only those that began then or later, in ms since 1970 UTC.
  public var since: Int64?
  /// Only those that failed, ended early, or left records to look at.
  public var onlyFailed = false
  /// Only older ones than this run.
  public var before: Int64?
  public var limit = 100

  public init() {}

  /// The largest ``limit``.
  public static let mostRuns = 1000
}
