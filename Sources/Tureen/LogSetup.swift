import Glibc
import JSON
import Logging
import Synchronization

/// Where the core's log goes unless the program decides: to stderr, and only what `TUREEN_LOG` asks for.
///
/// Failures reach scripts and callers anyway; the log is for finding out more. A program that embeds the Swift library sets up
/// its logging itself and does not call this.
public enum LogSetup {
  /// Levels: `trace`, `debug`, `info`, `notice`, `warning`, `error` (the default), `critical`. Safe to call again.
  public static func standardError() {
    set { $0 ?? .error }
    _ = once
  }

  /// For programs that embed the library: nothing is written, unless `TUREEN_LOG` is set. A Lua state of the same process that
  /// wants the log on stderr still gets it. Safe to call again.
  static func silent() {
    set { $0 }
    _ = once
  }

  /// What is wrong with `TUREEN_LOG`. Hosts ask before they start; a program without a host may ask itself.
  /// - Throws: ``HostError`` `.invalidConfiguration`.
  public static func check() throws {
    guard let word = state.withLock({ $0.unknown }) else { return }
    let hint = NearestName.hint(for: word, among: Logger.Level.allCases.map(\.rawValue))
    throw HostError(.invalidConfiguration, "TUREEN_LOG: '\(word)' is not a level\(hint)")
  }

  private struct State {
    /// What is written from this level on; nil: nothing.
    var threshold: Logger.Level?
    /// The value of `TUREEN_LOG` where it is not a level.
    var unknown: String?
  }

  private static let state = Mutex(State())

  private static func set(_ choice: (Logger.Level?) -> Logger.Level?) {
    let word = Environment["TUREEN_LOG"]
    let asked = word.flatMap { Logger.Level(rawValue: $0.lowercased()) }
    state.withLock { state in
      state.threshold = asked ?? choice(state.threshold)
      state.unknown = asked == nil ? word : nil
    }
  }

  private static let once: Void = {
    LoggingSystem.bootstrap { label in
      guard let level = state.withLock({ $0.threshold }) else { return SwiftLogNoOpLogHandler() }
      var handler = StreamLogHandler(label: label, stream: EscapedStandardError())
      handler.logLevel = level
      return handler
    }
  }()
}

/// Standard error without what would command a terminal: servers' words are in the log.
private struct EscapedStandardError: TextOutputStream {
  mutating func write(_ text: String) {
    var text = TerminalText.escaped(text)
    text.withUTF8 { bytes in
      // Whole in one call, so that lines of several threads stay apart.
      _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
