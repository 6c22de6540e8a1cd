/// How much a request log tells; each level tells what the ones before it tell, too.
public enum RequestLogLevel: String, CaseIterable, Sendable, Comparable {
  case off
  /// Exchanges without an answer, and server errors (5xx).
  case error
  /// Every other refusal, and exchanges that are sent again.
  case warn
  /// A line for each exchange.
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
