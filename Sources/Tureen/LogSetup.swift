import Glibc
import JSON
import Logging
import RestClient
import Support
import Synchronization

/// Sets up logging to stderr, with the level in `TUREEN_LOG` and the format in `TUREEN_LOG_FORMAT`.
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

  /// Checks `TUREEN_LOG` and `TUREEN_LOG_FORMAT`. Hosts call it before they start; a program without a host may call it itself.
  /// - Throws: ``HostError`` `.invalidConfiguration` if a value is not a level, or not a format.
  public static func check() throws {
    if let word = takeFormat() {
      let hint = NearestName.hint(for: word, among: LogFormat.allCases.map(\.rawValue))
      throw HostError(.invalidConfiguration, "TUREEN_LOG_FORMAT: '\(word)' is not a format; give text or json\(hint)")
    }
    guard let word = state.withLock({ $0.unknown }) else { return }
    let hint = NearestName.hint(for: word, among: Logger.Level.allCases.map(\.rawValue))
    throw HostError(.invalidConfiguration, "TUREEN_LOG: '\(word)' is not a level\(hint)")
  }

  /// Chooses the format that the environment names, which also the request log has.
  /// - Returns: The value if it is not a format.
  @discardableResult
  private static func takeFormat() -> String? {
    guard let word = Environment["TUREEN_LOG_FORMAT"] else { return nil }
    guard let format = LogFormat(rawValue: word.lowercased()) else { return word }
    LogFormat.choose(format)
    return nil
  }

  private struct State {
    /// The lowest level that is logged; nil to log nothing.
    var threshold: Logger.Level?
    /// The value of `TUREEN_LOG` if it is not a level.
    var unknown: String?
  }

  private static let state = Mutex(State())

  private static func set(_ choice: (Logger.Level?) -> Logger.Level?) {
    takeFormat()
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
      guard LogFormat.current == .text else { return JSONLogHandler(label: label, logLevel: level) }
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
    writeLine(text)
  }
}

/// Writes in a single call, so that lines of several threads do not mix.
private func writeLine(_ line: String) {
  var line = line
  line.withUTF8 { bytes in _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}

/// Writes a JSON object a line to stderr.
private struct JSONLogHandler: LogHandler {
  let label: String
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let facts = JSONObject(all.sorted { $0.key < $1.key }.map { ($0.key, Self.json($0.value)) })
    writeLine(
      LogLine.json(
        time: SystemClock.secondsSince1970(), level: event.level.rawValue, label: label, message: event.message.description, facts
      ))
  }

  /// Numbers that were logged as such stay numbers.
  private static func json(_ value: Logger.MetadataValue) -> JSONValue {
    switch value {
    case .string(let text): .string(text)
    case .stringConvertible(let value as Int): .integer(Int64(value))
    case .stringConvertible(let value as Int64): .integer(value)
    case .stringConvertible(let value as Bool): .bool(value)
    case .stringConvertible(let value): .string(value.description)
    case .array(let values): .array(values.map(json))
    case .dictionary(let values): .object(JSONObject(values.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) }))
    }
  }
}
