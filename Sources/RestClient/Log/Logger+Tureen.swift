import Logging
import Synchronization

extension Logger {
  /// Returns a logger of the library.
  ///
  /// Programs that use the Swift library set up logging themselves. Until they do, swift-log prints everything from `info` on
  /// to stderr; a library must not, so only warnings and errors are printed there.
  public static func tureen(_ label: String) -> Logger {
    var logger = Logger(label: "tureen.\(label)")
    if !LogChoice.isMade, logger.handler is StreamLogHandler, logger.logLevel == .info { logger.logLevel = .warning }
    return logger
  }
}

/// Whether this process has chosen its level, as the command does with `TUREEN_LOG`.
package enum LogChoice {
  private static let made = Atomic<Bool>(false)

  package static var isMade: Bool { made.load(ordering: .relaxed) }
  package static func make() { made.store(true, ordering: .relaxed) }
}
