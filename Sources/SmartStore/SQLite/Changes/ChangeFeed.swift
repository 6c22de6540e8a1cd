import Database
import Dispatch
import Support

/// Notifies observers of what transactions changed. Exists while there are observers; used on the
/// writer's queue only.
///
/// SQLite reports the changed rows, so the code that writes entries need not: see ``RowObserver``.
/// Transactions report what SQLite does not with ``noteAll(_:)``.
final class ChangeFeed {
  private struct Watched {
    let name: String
    var changes = EntryChanges()
    var inboxes: [ChangeInbox]
  }

  private let connection: Connection
  private var inboxes: [ChangeInbox] = []
  /// The observed soups of the current transaction, by number.
  private var watched: [Int64: Watched] = [:]
  /// True while row changes leave the entries unchanged: only index columns or the table itself
  /// change.
  var isPaused = false
  private var dataVersion: Int64
  private var observer: RowObserver?
  private let timer: any DispatchSourceTimer

  /// - Parameters:
  ///   - queue: The writer's queue.
  ///   - poll: Called periodically on the queue, to detect commits of other processes.
  init(connection: Connection, queue: DispatchQueue, poll: @escaping @Sendable () -> Void) throws {
    self.connection = connection
    dataVersion = try ChangeFeed.version(connection)
    timer = DispatchSource.makeTimerSource(queue: queue)
    let observer = RowObserver { [unowned self] change, table, id in self.row(change, table, id) }
    self.observer = observer
    connection.setRowObserver(observer)
    let interval = DispatchTimeInterval.milliseconds(Tuning.otherProcessPollMs)
    timer.schedule(deadline: .now() + interval, repeating: interval)
    timer.setEventHandler(handler: poll)
    timer.activate()
  }

  func add(_ inbox: ChangeInbox) { inboxes.append(inbox) }

  /// Removes ended observers. - Returns: False if none are left.
  func prune() -> Bool {
    inboxes.removeAll { $0.isEnded }
    return !inboxes.isEmpty
  }

  /// Stops the feed; it reports nothing afterwards.
  func stop() {
    timer.cancel()
    connection.setRowObserver(nil)
  }

  /// Stops the feed and ends every observer, because the store closes.
  func close() {
    stop()
    for inbox in inboxes { inbox.close() }
    inboxes = []
  }

  // MARK: Transactions

  /// Prepares for a transaction. Call first in it.
  func begin(_ snapshot: SQLiteSnapshot) throws {
    try watch(snapshot)
    try checkOtherProcesses()
  }

  private func watch(_ snapshot: SQLiteSnapshot) throws {
    isPaused = false
    watched = [:]
    for inbox in inboxes {
      for name in inbox.soupNames {
        guard let soup = try snapshot.find(name) else { continue }
        watched[soup.number, default: Watched(name: soup.name, inboxes: [])].inboxes.append(inbox)
      }
    }
  }

  /// Records a row change of the current transaction. This is the hot path of a sync into an
  /// observed soup.
  private func row(_ change: RowChange, _ table: UnsafePointer<CChar>, _ id: Int64) {
    guard !isPaused, let number = ChangeFeed.soupNumber(table), watched[number] != nil else { return }
    let kind: EntryChanges.Kind =
      switch change {
      case .inserted: .created
      case .updated: .updated
      case .deleted: .removed
      }
    watched[number]?.changes.note(kind, id)
  }

  /// Records that any entry of a soup may have changed, for changes that SQLite does not report.
  func noteAll(_ soup: Soup) { watched[soup.number]?.changes.noteAll() }

  /// Delivers the changes of the transaction. Call after the commit.
  func committed() {
    for soup in watched.values {
      for inbox in soup.inboxes { inbox.put(soup.name, soup.changes) }
    }
    watched = [:]
  }

  func rolledBack() { watched = [:] }

  // MARK: Other processes

  /// Notifies every observer if another connection has written to the file. The affected soups are
  /// unknown.
  func checkOtherProcesses() throws {
    let version = try ChangeFeed.version(connection)
    guard version != dataVersion else { return }
    dataVersion = version
    var changes = EntryChanges()
    changes.noteAll()
    for inbox in inboxes {
      for name in inbox.soupNames { inbox.put(name, changes) }
    }
  }

  /// Returns a number that changes when another connection commits.
  private static func version(_ connection: Connection) throws -> Int64 {
    guard case .integer(let version)? = try connection.firstValue("PRAGMA data_version") else { return 0 }
    return version
  }

  /// Returns the n of `TABLE_n`; nil for any other table.
  private static func soupNumber(_ table: UnsafePointer<CChar>) -> Int64? {
    var p = table
    for c in "TABLE_".utf8 {
      guard UInt8(bitPattern: p.pointee) == c else { return nil }
      p += 1
    }
    var number: Int64 = 0
    while p.pointee != 0 {
      let digit = UInt8(bitPattern: p.pointee)
      guard digit.isASCIIDigit, number < .max / 10 - 1 else { return nil }
      number = number * 10 + Int64(digit - UInt8(ascii: "0"))
      p += 1
    }
    return number
  }
}
