import Synchronization

/// One request as it was answered.
public struct LoggedRequest: Sendable, Equatable {
  public let method: String
  /// As sent, without the query.
  public let path: String
  /// Percent-decoded, in order, as `name=value` pairs.
  public let query: [String]
  /// Its first 16 KB; empty for the sign-in resources, which carry secrets.
  public let body: String
  /// 0 while it is unanswered (in an interceptor), and when the connection was closed instead.
  public internal(set) var status: Int
  /// Body bytes of the answer.
  public internal(set) var bytes: Int

  /// The value of a query parameter.
  public func parameter(_ name: String) -> String? {
    query.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }
}

/// What an interceptor does to a request instead of letting it through.
public enum Interception: Sendable {
  /// Answers without asking the org.
  case respond(status: Int, headers: [(name: String, value: String)] = [], body: String)
  /// Lets the org handle the request, then closes the socket after so many body bytes of its answer; the head has
  /// announced the whole length.
  case dropConnection(afterBytes: Int)
  /// Closes the socket; the org never sees the request.
  case dropBeforeHandling
  /// Lets the org handle the request and closes the socket without a word: a lost acknowledgement.
  case dropAfterHandling
  /// Waits, then goes on as usual.
  case delay(Duration)
}

/// The last requests, and the hook that may interfere with them. Any thread.
final class RequestLog: Sendable {
  typealias Interceptor = @Sendable (LoggedRequest) -> Interception?
  private struct State {
    var requests: [LoggedRequest] = []
    var interceptor: Interceptor?
  }
  private let state = Mutex(State())

  func append(_ request: LoggedRequest) {
    state.withLock { state in
      // Cut in one go now and then: removing the first each time would move them all.
      if state.requests.count >= 2 * Tuning.loggedRequests { state.requests.removeFirst(Tuning.loggedRequests) }
      state.requests.append(request)
    }
  }

  var requests: [LoggedRequest] { state.withLock { Array($0.requests.suffix(Tuning.loggedRequests)) } }
  func clear() { state.withLock { $0.requests.removeAll() } }
  func setInterceptor(_ interceptor: Interceptor?) { state.withLock { $0.interceptor = interceptor } }

  /// The interceptor runs outside the lock.
  func interception(of request: LoggedRequest) -> Interception? { state.withLock { $0.interceptor }?(request) }
}
