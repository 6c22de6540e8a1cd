import Logging

/// Where the core's log goes when nobody else has decided: to stderr, and only what `TUREEN_LOG` asks for.
///
/// Failures reach scripts and callers anyway; the log is for finding out more. A program that embeds the Swift library sets up
/// its logging itself and does not call this.
public enum LogSetup {
  /// Levels: `trace`, `debug`, `info`, `notice`, `warning`, `error` (the default), `critical`. Safe to call again.
  public static func standardError() { _ = once }

  private static let once: Void = {
    let level = Environment["TUREEN_LOG"].flatMap { Logger.Level(rawValue: $0.lowercased()) } ?? .error
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
  }()
}
