/// What one run of `tureen sync` came to: the worst of its syncs.
struct SyncRun {
  /// The end of one sync.
  enum End {
    case done(Int32)
    case failed(Int32)
    /// Another process, or another call, runs the sync.
    case elsewhere
  }

  /// Whether another attempt may mend it: not if a sync only runs elsewhere.
  var hasFailed = false
  /// The exit status of this run alone.
  var status: Int32 = 0
  /// Whether a sync was started.
  var hasBegun = false
  /// Whether standard output has no reader any more.
  var hasLostItsReader = false

  mutating func note(_ end: End) {
    let own: Int32
    switch end {
    case .done(let status): own = status
    case .elsewhere: own = ExitStatus.tryAgain
    case .failed(let status):
      own = status
      hasFailed = true
    }
    if Self.rank(own) > Self.rank(status) { status = own }
  }

  /// Whether a person must act before any run can succeed, as far as a first run can tell.
  var needsPerson: Bool {
    switch status {
    case 0, ExitStatus.recordsRefused, ExitStatus.tryAgain: false
    case ExitStatus.signInNeeded, ExitStatus.configuration: true
    default: !hasBegun
    }
  }

  /// The severity of a status: records to look at, then transient failures, then failures that need a person.
  private static func rank(_ status: Int32) -> Int {
    switch status {
    case 0: 0
    case ExitStatus.recordsRefused: 1
    case ExitStatus.tryAgain: 2
    default: 3
    }
  }
}
