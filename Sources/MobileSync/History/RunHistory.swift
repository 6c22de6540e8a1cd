import RestClient
import SmartStore
import Synchronization

/// What a run adds to the history of its store: collected here, and written with the transactions that the run makes anyway.
///
/// Its first requests and every failure are written with the next transaction. The others wait in a ring for the end of the
/// run, which writes all of them if there were few, else the last ones and their number.
final class RunHistory: Sendable {
  fileprivate struct State {
    var waiting: [HistoryEvent] = []
    var ring: [HistoryEvent] = []
    /// The position of the oldest event in the ring, once it is full.
    var oldest = 0
    /// Requests and steps so far.
    var requests = 0, steps = 0
    /// Those that the ring no longer has.
    var dropped = 0
    /// How many replaced entries may still be added.
    var updates = RunHistory.mostUpdates
  }

  /// Requests, and steps, that are written as they end.
  private static let first = 50
  /// Events that wait for the end, and those of them that are written if there were more.
  fileprivate static let ringSize = 450, last = 50
  /// Entries that a sync down has replaced.
  private static let mostUpdates = 1000

  /// The number of the run; nil if the store keeps no history.
  let run: Int64?
  /// Whether the run writes nothing before its end.
  private let isLate: Bool
  private let state = Mutex(State())

  init(_ run: Int64?) { (self.run, isLate) = (run, false) }

  /// The history of a run that writes its row and all the rest at its end.
  init(late: Bool) { (run, isLate) = (nil, late) }

  /// How many replaced entries a page may add to the log.
  var updatesLeft: Int { run == nil ? 0 : state.withLock { $0.updates } }

  // MARK: Collecting

  func note(_ trace: RestTrace) {
    guard run != nil || isLate else { return }
    var event = HistoryEvent(.request, at: trace.startedAt)
    event.bytes = Int64(trace.bytesReceived)
    (event.server, event.method, event.path) = (trace.server, trace.method.rawValue, HistoryText.cut(trace.localPath))
    event.status = trace.status.map { Int64($0) }
    event.attempt = Int64(trace.attempt)
    event.ms = Int64(saturating: trace.durationMs.rounded())
    event.error = trace.errorCode?.rawValue
    let hasFailed = trace.status.map { $0 >= 400 } ?? true, found = event
    state.withLock { state in
      state.requests += 1
      if hasFailed || state.requests <= Self.first { state.waiting.append(found) } else { state.keep(found) }
    }
  }

  // MARK: Writing

  /// What one transaction of the run writes.
  struct Step: Sendable {
    fileprivate let events: [HistoryEvent]
    fileprivate let rest: [HistoryEvent]
    fileprivate let omitted: Int
    fileprivate let isEarly: Bool
    /// An event with the number of its soup, which waits for the end.
    fileprivate var late: HistoryEvent?
    fileprivate var updates = 0
  }

  /// Returns what the next transaction writes.
  func step() -> Step? {
    guard run != nil || isLate else { return nil }
    return state.withLock { state in
      let rest = state.atEnd
      return Step(
        events: state.waiting, rest: rest.events, omitted: state.dropped + rest.omitted, isEarly: state.steps < Self.first)
    }
  }

  /// Adds what has happened so far, and has the changes of the transaction belong to the run. Call first in it.
  func begin(_ step: Step?, in transaction: StoreTransaction, now: Int64) {
    guard let run, let step, let rows = transaction.history else { return }
    rows.run = run
    rows.now = now
    for event in step.events { rows.add(event) }
  }

  /// Adds a step of the run to the transaction that makes it.
  func add(_ made: RunStep, to step: inout Step?, in transaction: StoreTransaction) throws {
    guard step != nil, let rows = transaction.history else { return }
    let soup = try transaction.soupExists(made.soup) ? transaction.soupNumber(of: made.soup) : nil
    let event = HistoryEvent(made.kind, at: rows.now, soup: soup, rows: Int64(made.rows))
    if step?.isEarly == true { rows.add(event) } else { step?.late = event }
  }

  /// Adds the end of the run.
  func end(_ state: SyncState, _ step: Step?, in transaction: StoreTransaction) {
    guard let step, let run, let rows = transaction.history else { return }
    end(
      RunEnd(status: state.status.rawValue, at: state.endTime, text: RunSummary(state).text(rows.level)), run, step, to: rows)
  }

  func end(_ end: RunEnd, _ step: Step?, in transaction: StoreTransaction) {
    guard let step, let run, let rows = transaction.history else { return }
    self.end(end, run, step, to: rows)
  }

  /// Adds all that a run did whose row was added by the same transaction.
  /// - Parameter run: The number of the row; nil without a history.
  func write(_ end: RunEnd, of run: Int64?, in transaction: StoreTransaction) {
    guard let run, let step = step(), let rows = transaction.history else { return }
    rows.now = end.at
    for event in step.events { rows.add(event) }
    self.end(end, run, step, to: rows)
  }

  private func end(_ end: RunEnd, _ run: Int64, _ step: Step, to rows: HistoryRows) {
    for event in step.rest { rows.add(event) }
    rows.add(HistoryEvent(.end, at: end.at, rows: Int64(step.omitted)))
    var ended = HistoryRun(0, name: nil, .syncDown, pid: nil, job: nil, startedAt: 0)
    (ended.number, ended.status, ended.endedAt, ended.state) = (run, end.status, end.at, end.text)
    rows.end(ended)
  }

  /// Call after the commit.
  func written(_ step: Step?) {
    guard let step else { return }
    state.withLock { state in
      state.waiting.removeFirst(min(step.events.count, state.waiting.count))
      state.updates -= step.updates
      if let late = step.late { state.keep(late) }
      state.steps += 1
    }
  }
}

/// A step of a run that the history tells.
struct RunStep: Sendable {
  let kind: HistoryEvent.Kind
  let soup: String
  let rows: Int
}

/// How a run ended.
struct RunEnd: Sendable {
  let status: String
  /// Ms since 1970 UTC.
  let at: Int64
  let text: String
}

extension RunHistory.Step {
  /// Counts the replaced entries that the transaction has added.
  mutating func count(updates: Int) { self.updates = updates }
}

extension RunHistory.State {
  fileprivate mutating func keep(_ event: HistoryEvent) {
    guard ring.count == RunHistory.ringSize else { return ring.append(event) }
    ring[oldest] = event
    oldest = (oldest + 1) % ring.count
    dropped += 1
  }

  /// What the end of the run writes, and how many events it leaves out.
  fileprivate var atEnd: (events: [HistoryEvent], omitted: Int) {
    let all = Array(ring[oldest...] + ring[..<oldest])
    return dropped == 0 ? (all, 0) : (Array(all.suffix(RunHistory.last)), all.count - RunHistory.last)
  }
}

/// The job whose attempt the current task works for.
package enum JobOrigin {
  /// Its id and fence, as in `tureen job runs`: `ID/FENCE`.
  @TaskLocal package static var current: String?
}
