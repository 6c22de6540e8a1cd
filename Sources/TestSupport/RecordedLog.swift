import Logging
import Synchronization

/// Records every line of a logger, including metadata.
public final class RecordedLog: Sendable {
  private let lines = Mutex<[String]>([])

  public init() {}

  /// All lines so far.
  public var text: String { lines.withLock { $0.joined(separator: "\n") } }

  /// A logger that records here, at any level.
  public var logger: Logger {
    var logger = Logger(label: "test") { _ in Handler(log: self) }
    logger.logLevel = .trace
    return logger
  }

  private struct Handler: LogHandler {
    let log: RecordedLog
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      log.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
  }
}
