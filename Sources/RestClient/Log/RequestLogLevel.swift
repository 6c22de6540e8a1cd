/// The verbosity of a request log. Each level includes the ones before it.
public enum RequestLogLevel: String, CaseIterable, Sendable, Comparable {
  case off
  /// Exchanges without a response, and server errors (5xx).
  case error
  /// All other error statuses, and exchanges that are retried.
  case warn
  /// One line for each exchange.
  case info
  /// Also headers, and the beginning of the bodies.
  case debug

  public static func < (a: RequestLogLevel, b: RequestLogLevel) -> Bool { a.rank < b.rank }

  private var rank: Int {
    switch self {
    case .off: 0
    case .error: 1
    case .warn: 2
    case .info: 3
    case .debug: 4
    }
  }
}
