/// How far a sync down got, and where the next one must start. No store, network or clock.
///
/// There are two time stamps. `maxTimeStamp` is the one of the Mobile SDK: the newest modification
/// stored. `covered` is the one to rely on: a record gets its stamp when it is saved but becomes
/// visible when its transaction commits, and several records can share a stamp. So a record may
/// appear later with a stamp that was already passed. Up to `horizon`, the server's time of the
/// run's first answer minus an allowance, everything was committed when the server answered. A
/// re-sync requests what is newer than `covered`. On an idle server that equals `maxTimeStamp`.
struct SyncDownProgress: Equatable, Sendable {
  private(set) var maxTimeStamp: Int64
  private(set) var covered: Int64
  /// Whether each page moves the stamps; otherwise only the last one does.
  let isSortedByModification: Bool
  /// The newest stamp of the pages so far.
  private var newest: Int64
  /// No further record is committed with a stamp up to this one; nil before the first answer.
  private(set) var horizon: Int64?
  /// A record of the run with a later stamp than this one was not stored.
  private var limit = Int64.max

  /// - Parameter ended: Whether the previous run reached its end. If not, it may have stored only
  ///   part of its last millisecond.
  init(maxTimeStamp: Int64, covered: Int64, previousRunEnded ended: Bool, isSortedByModification: Bool) {
    self.maxTimeStamp = ended ? maxTimeStamp : max(TimeStamp.never, maxTimeStamp - 1)
    self.covered = min(covered, self.maxTimeStamp)
    self.isSortedByModification = isSortedByModification
    newest = self.maxTimeStamp
  }

  /// The time after which the server is asked for changes; -1 for everything.
  var since: Int64 { covered > 0 ? covered : TimeStamp.never }

  /// Returns whether a record with this stamp may come although the soup already has it.
  func mayBeKnown(stamp: Int64) -> Bool { since > 0 && stamp <= maxTimeStamp }

  /// Call with the first answer of a run.
  /// - Parameters:
  ///   - serverTime: The server's clock when it read its data, ms; nil if the answer does not show
  ///     it.
  ///   - allowance: How long a record may stay invisible after it got its stamp, ms.
  ///   - latestModification: The newest stamp of the first page, a lower bound that replaces a
  ///     missing server time.
  mutating func started(serverTime: Int64?, allowance: Int64, latestModification: Int64) {
    horizon = (serverTime ?? max(newest, latestModification)) - allowance
  }

  /// Call for a page whose commit stores the new stamps, with the page's newest stamp or -1.
  mutating func stored(latestModification: Int64, isLastPage: Bool) {
    newest = max(newest, latestModification)
    guard isSortedByModification || isLastPage else { return }
    maxTimeStamp = max(maxTimeStamp, newest)
    guard let horizon else { return }
    // The page may contain only some of the records with its newest stamp.
    let complete = isLastPage ? newest : min(latestModification, newest) - 1
    covered = min(limit, max(covered, min(complete, horizon)))
  }

  /// Call for a skipped record that the next run must request again, with its stamp.
  mutating func left(stamp: Int64) {
    limit = min(limit, max(TimeStamp.never, stamp - 1))
    covered = min(covered, limit)
  }
}

/// The numbers of the progress callbacks. Records that turn out to be unchanged are subtracted from
/// the total.
struct ProgressCounter: Equatable, Sendable {
  /// -1 while unknown.
  private var announced: Int
  private var leftOut = 0
  private(set) var done = 0
  /// Records done before the target was asked for the rest.
  private var before = 0
  /// Records done that will come again.
  private var again = 0
  /// The percentage shown before the target was asked again; it never decreases.
  private var leastPercent = 0

  init(total: Int) { announced = max(-1, total) }

  /// -1 while unknown.
  var total: Int { announced < 0 ? -1 : max(0, before + announced - leftOut) }

  /// Sets the total that the target announces for the whole run.
  mutating func announce(_ total: Int) { announced = max(-1, total) }

  /// Ends the count. If the target announced no total, or only an estimate, the records done are
  /// the total.
  mutating func end(isGuess: Bool) { if announced < 0 || isGuess { (announced, before, leftOut) = (done, 0, 0) } }

  mutating func advance(_ count: Int) {
    let repeated = min(again, max(0, count))
    again -= repeated
    done += count - repeated
  }

  /// From now on, the target's totals are about the rest only.
  mutating func continueWithRest() {
    leastPercent = percent
    before = done
    leftOut = 0
  }

  /// The target starts again at its first record; progress pauses until it is as far as before.
  mutating func restart() {
    leastPercent = percent
    again = done
    leftOut = 0
  }

  /// - Parameter count: Records of the announced total that are neither new nor changed.
  mutating func leaveOut(_ count: Int) { leftOut += count }

  /// 0 to 99: only the end of a run is 100.
  var percent: Int { max(leastPercent, total > 0 ? min(99, done * 100 / total) : 0) }

  /// Whether a page is reported, as in the Mobile SDK: the last one is reported by DONE.
  var isReported: Bool { announced < 0 || done < total }
}
