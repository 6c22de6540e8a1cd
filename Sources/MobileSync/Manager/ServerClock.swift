import RestClient
import Synchronization

/// How far the server's clock is ahead of this machine's, judged by the `Date` headers of its
/// answers. Any thread.
///
/// Lost creates are looked up by the server's time stamps, and this machine's clock may be wrong by
/// any amount.
final class ServerClock: Sendable {
  private let now: @Sendable () -> Int64
  private let offset = Mutex<Int64?>(nil)

  /// How far two readings may differ although no clock was set, in ms. A slower answer does not
  /// show precisely enough when its date was written.
  static let accuracyMs: Int64 = 10_000

  /// - Parameter now: This machine's clock, ms since 1970 UTC.
  init(now: @escaping @Sendable () -> Int64) { self.now = now }

  /// In ms; nil before an answer with a valid date.
  var offsetMs: Int64? { offset.withLock { $0 } }

  /// Sends a request and reads the date of the answer, even if it is an error.
  func reading(_ send: () async throws -> RestResponse) async throws -> RestResponse {
    let sent = now()
    do {
      let response = try await send()
      note(response.header("Date"), sent: sent)
      return response
    } catch let error as RestError {
      note(error.header("Date"), sent: sent)
      throw error
    }
  }

  private func note(_ date: String?, sent: Int64) {
    guard let date, let time = TimeStamp.milliseconds(httpDate: date) else { return }
    let received = now(), isSlow = received - sent > Self.accuracyMs
    // The date is truncated to seconds and was written at some point between request and answer.
    let found = time + 500 - (sent + received) / 2
    offset.withLock { known in
      if !isSlow || known == nil { known = found }
    }
  }
}
