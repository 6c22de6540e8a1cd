@preconcurrency import Glibc
import Support
import Synchronization

/// Writes a line for each HTTP exchange to stderr or a file, never to stdout. Threads: any. Each
/// write blocks the caller.
public final class RequestLog: Sendable {
  public let level: RequestLogLevel
  private let sink: @Sendable (String) -> Void
  /// Whether the output is a file. Bodies that must not be stored are left out then.
  private let isStored: Bool
  private let now: @Sendable () -> Double
  /// Nil for the format of the process.
  private let format: LogFormat?

  /// - Parameter write: Called with complete lines, each with its line break.
  package init(
    level: RequestLogLevel, isStored: Bool = false, format: LogFormat? = nil,
    now: @escaping @Sendable () -> Double = { SystemClock.secondsSince1970() }, write: @escaping @Sendable (String) -> Void
  ) {
    self.level = level
    self.isStored = isStored
    self.format = format
    self.now = now
    sink = write
  }

  /// Logs to a file, created with mode 0600 and appended to; nil logs to stderr.
  public convenience init(level: RequestLogLevel, file: String?) {
    guard let file else {
      self.init(level: level) { RequestLog.write($0, to: STDERR_FILENO) }
      return
    }
    let target = LogFile(file)
    self.init(level: level, isStored: true) { target.append($0) }
  }

  /// Returns a log with the same destination and another level.
  package func with(level: RequestLogLevel) -> RequestLog {
    RequestLog(level: level, isStored: isStored, format: format, now: now, write: sink)
  }

  package func write(_ record: ExchangeRecord) {
    guard level > .off, record.level <= level else { return }
    switch format ?? .current {
    case .text: sink(record.text(level: level, isStored: isStored, now: now()))
    case .json: sink(record.json(level: level, isStored: isStored, now: now()))
    }
  }

  /// Writes all lines in one call, so that lines of several threads and processes do not mix.
  ///
  /// - Returns: Whether the text was written.
  @discardableResult
  fileprivate static func write(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return true
    }
  }
}

/// A log file that is opened for each line, so that it can be rotated.
private final class LogFile: Sendable {
  private let path: String
  private let hasWarned = Mutex(false)

  init(_ path: String) { self.path = path }

  func append(_ text: String) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      defer { close(descriptor) }
      if RequestLog.write(text, to: descriptor) { return }
    }
    let reason = String(cString: strerror(errno))
    let isFirst = hasWarned.withLock { warned in
      defer { warned = true }
      return !warned
    }
    // A failed write must not fail a request.
    guard isFirst else { return }
    let message = "the request log \(path) cannot be written: \(reason)"
    let line =
      LogFormat.current == .text
      ? "tureen: \(message)\n"
      : LogLine.json(time: SystemClock.secondsSince1970(), level: "warning", label: "tureen.requests", message: message)
    RequestLog.write(line, to: STDERR_FILENO)
  }
}
