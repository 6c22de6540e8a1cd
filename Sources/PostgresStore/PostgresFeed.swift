import Dispatch
import SmartStore

/// Tells observers what transactions changed, on this host and on others, from the store's table of changes. Exists
/// while there are observers; used on the writer's queue only.
final class PostgresFeed: @unchecked Sendable {
  private let session: PostgresSession
  private let schema: String
  private let readers: PostgresReaders
  private var inboxes: [ChangeInbox] = []
  /// The number of the last commit that was looked at.
  private var seq: Int64
  private let timer: any DispatchSourceTimer

  /// - Parameters:
  ///   - schema: The quoted schema of the store.
  ///   - queue: The writer's queue.
  ///   - readers: With which observers look at what changed.
  init(_ session: PostgresSession, schema: String, queue: DispatchQueue, _ readers: PostgresReaders) throws {
    self.session = session
    self.schema = schema
    self.readers = readers
    seq = try session.query("SELECT seq FROM \(schema).state").only().int64(0)
    timer = DispatchSource.makeTimerSource(queue: queue)
    let interval = DispatchTimeInterval.milliseconds(Tuning.otherHostsPollMs)
    timer.schedule(deadline: .now() + interval, repeating: interval)
    timer.setEventHandler { [weak self] in self?.look() }
    timer.activate()
  }

  func add(_ inbox: ChangeInbox) { inboxes.append(inbox) }

  /// Removes ended observers.
  /// - Returns: False if none are left.
  func prune() -> Bool {
    inboxes.removeAll { $0.isEnded }
    return !inboxes.isEmpty
  }

  func stop() { timer.cancel() }

  /// Ends every observer, because the store closes.
  func close() {
    stop()
    for inbox in inboxes { inbox.close() }
    inboxes = []
  }

  /// Reports the commits since the last look. If the server cannot be reached, the next look finds them.
  func look() {
    guard let changes = try? newChanges() else { return }
    for (name, change) in changes {
      for inbox in inboxes {
        for wanted in inbox.soupNames where name == nil || wanted.utf8.elementsEqual((name ?? "").utf8) {
          inbox.put(wanted, change)
        }
      }
    }
  }

  /// - Returns: The changes with the names of their soups; nil for all soups.
  private func newChanges() throws -> [(name: String?, changes: EntryChanges)] {
    try session.run { link in
      let connection = try link.connection()
      var flight = Flight()
      flight.add("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      flight.add("SELECT seq, pruned FROM \(schema).state")
      flight.add(
        """
        SELECT seq, name, created, updated, removed, everything FROM \(schema).changes WHERE seq > $1 ORDER BY seq
        """, [.int64(seq)])
      flight.add("COMMIT")
      let results = try connection.run(flight), state = try results[1].only(), rows = results[2]
      let last = seq
      seq = try state.int64(0)
      readers.note(seq)
      var all = EntryChanges()
      all.noteAll()
      // Old changes were removed before this look; or a crash of the server has undone some.
      if try state.int64(1) > last || seq < last { return [(nil, all)] }
      return try rows.map { row in
        guard try !row.bool(5) else { return (try row.string(1), all) }
        var changes = EntryChanges()
        for id in try row.int64s(2) { changes.note(.created, id) }
        for id in try row.int64s(3) { changes.note(.updated, id) }
        for id in try row.int64s(4) { changes.note(.removed, id) }
        return (try row.string(1), changes)
      }
    }
  }
}
