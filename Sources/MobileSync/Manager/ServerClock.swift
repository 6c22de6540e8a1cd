import RestClient
import Synchronization

/// How far the server's clock is ahead of this machine's, by the `Date` of its answers. Any thread.
///
/// What was sent is looked for by the server's time stamps, and this machine's clock may be off by any time.
final class ServerClock: Sendable {
  private let now: @Sendable () -> Int64
  private let offset = Mutex<Int64?>(nil)

  /// How far two readings may differ although no clock was set, ms. A slower answer says too little about when its date was
  /// written.
  static let accuracyMs: Int64 = 10_000

  /// - Parameter now: This machine's clock, ms since 1970 UTC.
  init(now: @escaping @Sendable () -> Int64) { self.now = now }

  /// ms; nil before an answer with a readable date.
  var offsetMs: Int64? { offset.withLock { $0 } }

  /// Sends something and reads the date of the answer, be it a refusal.
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
    // The date is cut to the second, and was written somewhere on the way.
    let found = time + 500 - (sent + received) / 2
    offset.withLock { known in
      if !isSlow || known == nil { known = found }
    }
  }
}
