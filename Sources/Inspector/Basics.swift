import Support
import Tureen

/// The limits of the inspector.
enum Limits {
  /// Bytes of a request: a statement of smart SQL, or a decision.
  static let requestBytes = 256 * 1024
  /// Open connections. A page fetches its modules all at once.
  static let connections = 128
  /// Milliseconds until a request must be complete.
  static let requestMs = 10_000
  /// Actions that run at once; the others wait.
  static let workers = 4
  /// Actions that wait; later ones are refused.
  static let waitingActions = 64
  /// Milliseconds that a query of a page may take.
  static let queryMs = 5_000
  /// Rows of a query, and elements of a list.
  static let rows = 1_000
  /// Bytes of a text in an answer; longer ones are cut.
  static let textBytes = 2_000
  /// Bytes of all texts of one record in an answer, beyond which each is cut to ``textBytes``.
  static let recordBytes = 200_000
  /// Streams of events.
  static let streams = 8
  /// Events that a page can catch up on after its stream was cut.
  static let keptEvents = 1_000
  /// Bytes that a page may leave unread in its stream.
  static let streamBytes = 1 << 20
  /// Milliseconds between comments in an idle stream.
  static let heartbeatMs: Int64 = 15_000
  /// Milliseconds between looks at the stores while a page listens.
  static let lookMs: Int64 = 250
  /// Milliseconds between looks for new stores.
  static let storesMs: Int64 = 2_000
  /// Wrong tokens a minute.
  static let wrongTokens = 20
  /// Milliseconds to wait for a failure of a sync that was just started.
  static let startMs: Int64 = 1_000
}

/// An error in the form of the bridge's errors.
struct APIError: Error {
  let status: Int
  var headers: [(name: String, value: String)] = []
  let code: String
  let message: String
  var isRetryable = false

  init(_ status: Int, _ code: String, _ message: String, isRetryable: Bool = false) {
    (self.status, self.code, self.message, self.isRetryable) = (status, code, message, isRetryable)
  }

  static let notFound = APIError(404, "notFound", "there is no such address")
}
