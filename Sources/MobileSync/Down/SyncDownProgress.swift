/// How far a sync down got, and from where the next one must ask. No store, network or clock.
///
/// Two stamps. `maxTimeStamp` is what the model shows: the newest modification stored. `covered` is what can be relied on:
/// a stamp is given when a record is saved, but others see the record only when its transaction is committed, and several
/// records share a stamp. So a record may appear with a stamp that was passed already. Up to `horizon`, the server's time
/// of the run's first answer less an allowance, everything was committed when the server answered.
/// A re-sync asks for what is newer than `covered`. On a server at rest that is `maxTimeStamp` itself.
struct SyncDownProgress: Equatable, Sendable {
  private(set) var maxTimeStamp: Int64
  private(set) var covered: Int64
  /// Then each page moves the stamps, else only the last one does.
  let isSortedByModification: Bool
  /// Newest stamp of the pages so far.
  private var newest: Int64
  /// Nothing is committed any more with a stamp up to here. nil: no answer yet.
  private(set) var horizon: Int64?
  /// A record of the run with a stamp behind this one was not stored.
  private var limit = Int64.max

  /// - Parameter ended: Whether the previous run reached its end. If not, it may hold only part of its last millisecond.
  init(maxTimeStamp: Int64, covered: Int64, previousRunEnded ended: Bool, isSortedByModification: Bool) {
    self.maxTimeStamp = ended ? maxTimeStamp : max(TimeStamp.never, maxTimeStamp - 1)
    self.covered = min(covered, self.maxTimeStamp)
    self.isSortedByModification = isSortedByModification
    newest = self.maxTimeStamp
  }

  /// The server is to be asked for what is newer; -1 for everything.
  var since: Int64 { covered > 0 ? covered : TimeStamp.never }

  /// A record with this stamp may come although the soup has it already.
  func mayBeKnown(stamp: Int64) -> Bool { since > 0 && stamp <= maxTimeStamp }

  /// Call with the first answer of a run.
  /// - Parameters:
  ///   - serverTime: The server's clock when it looked, ms; nil when the answer does not tell.
  ///   - allowance: How long a record may stay invisible after it got its stamp, ms.
  ///   - latestModification: Newest stamp of this first page: it stands in for a missing server time, as a lower bound.
  mutating func started(serverTime: Int64?, allowance: Int64, latestModification: Int64) {
    horizon = (serverTime ?? max(newest, latestModification)) - allowance
  }

  /// Call for a page whose commit carries the new stamps, with the page's newest stamp or -1.
  mutating func stored(latestModification: Int64, isLastPage: Bool) {
    newest = max(newest, latestModification)
    guard isSortedByModification || isLastPage else { return }
    maxTimeStamp = max(maxTimeStamp, newest)
    guard let horizon else { return }
    // Of the page's newest stamp only a part may be on this page.
    let complete = isLastPage ? newest : min(latestModification, newest) - 1
    covered = min(limit, max(covered, min(complete, horizon)))
  }

  /// Call for a record that was left out and that the next run must ask for again, with its stamp.
  mutating func left(stamp: Int64) {
    limit = min(limit, max(TimeStamp.never, stamp - 1))
    covered = min(covered, limit)
  }
}

/// The numbers of the callbacks. Records that turn out to be known already leave the total.
struct ProgressCounter: Equatable, Sendable {
  /// -1 while the target cannot say.
  private var announced: Int
  private var leftOut = 0
  private(set) var done = 0
  /// Done before the target was asked again for the rest.
  private var before = 0
  /// Done, and to come once more.
  private var again = 0
  /// What was shown before the target was asked again: it never shows less.
  private var leastPercent = 0

  init(total: Int) { announced = max(-1, total) }

  /// -1 while it is not known.
  var total: Int { announced < 0 ? -1 : max(0, before + announced - leftOut) }

  /// What the target says by now of the whole run.
  mutating func announce(_ total: Int) { announced = max(-1, total) }

  /// The run has ended: what is done is all there was, where the target could not say so or only guess.
  mutating func end(isGuess: Bool) { if announced < 0 || isGuess { (announced, before, leftOut) = (done, 0, 0) } }

  mutating func advance(_ count: Int) {
    let repeated = min(again, max(0, count))
    again -= repeated
    done += count - repeated
  }

  /// What the target says from now on is about the rest only.
  mutating func goOn() {
    leastPercent = percent
    before = done
    leftOut = 0
  }

  /// The target begins at its first record again; progress waits until it is as far as it was.
  mutating func startAgain() {
    leastPercent = percent
    again = done
    leftOut = 0
  }

  /// - Parameter count: Records of the announced total that are neither new nor changed.
  mutating func leaveOut(_ count: Int) { leftOut += count }

  /// 0...99: only the end is 100.
  var percent: Int { max(leastPercent, total > 0 ? min(99, done * 100 / total) : 0) }

  /// True while the model reports a page: the last one is reported by DONE.
  var isReported: Bool { announced < 0 || done < total }
}
