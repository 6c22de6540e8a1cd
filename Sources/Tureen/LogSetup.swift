import Glibc
import JSON
import Logging
import RestClient
import Synchronization

/// Sets up logging to stderr, with the level in `TUREEN_LOG`.
///
/// Scripts and callers get failures as errors; the log adds details. Programs that embed the Swift library configure logging
/// themselves and do not call this; until they do, only warnings and errors are printed.
public enum LogSetup {
  /// Logs to stderr. Levels: `trace`, `debug`, `info`, `notice`, `warning`, `error` (the default), `critical`. May be called
  /// repeatedly.
  public static func standardError() {
    set { $0 ?? .error }
    _ = once
  }

  /// Logs nothing unless `TUREEN_LOG` is set, for programs that embed the library. If a Lua state in the same process has called
  /// ``standardError()``, its log continues. May be called repeatedly.
  static func silent() {
    set { $0 }
    _ = once
  }

  /// Checks `TUREEN_LOG`. Hosts call it before they start; a program without a host may call it itself.
  /// - Throws: ``HostError`` `.invalidConfiguration` if the value is not a level.
  public static func check() throws {
    guard let word = state.withLock({ $0.unknown }) else { return }
    let hint = NearestName.hint(for: word, among: Logger.Level.allCases.map(\.rawValue))
    throw HostError(.invalidConfiguration, "TUREEN_LOG: '\(word)' is not a level\(hint)")
  }

  private struct State {
    /// The lowest level that is logged; nil to log nothing.
    var threshold: Logger.Level?
    /// The value of `TUREEN_LOG` if it is not a level.
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
    LogChoice.make()
    LoggingSystem.bootstrap { label in
      guard let level = state.withLock({ $0.threshold }) else { return SwiftLogNoOpLogHandler() }
      var handler = StreamLogHandler(label: label, stream: EscapedStandardError())
      handler.logLevel = level
      return handler
    }
  }()
}

/// Writes to stderr and escapes terminal control characters and line breaks inside a message, because log messages contain text
/// from servers and scripts: each event has one line.
private struct EscapedStandardError: TextOutputStream {
  mutating func write(_ text: String) {
    var text = text.hasSuffix("\n") ? TerminalText.line(text.dropLast()) + "\n" : TerminalText.line(text)
    text.withUTF8 { bytes in
      // A single call, so that lines of several threads do not mix.
      _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
