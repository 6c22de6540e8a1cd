import Glibc

/// The signals that this process was started with ignored, as `nohup` and shells without job control do for jobs in the
/// background. They stay ignored.
enum InheritedSignals {
  private static let ignored: Set<Int32> = Set([SIGINT, SIGTERM, SIGTSTP].filter(isIgnored))

  /// Call it first: the process ignores signals itself later.
  static func note() { _ = ignored }

  static func isIgnoredForGood(_ number: Int32) -> Bool { ignored.contains(number) }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0, action.sa_flags & SA_SIGINFO == 0 else { return false }
    return action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) } == 1
  }
}
