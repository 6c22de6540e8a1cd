import NIOCore
import Synchronization

/// How patient the server is with one connection.
package struct ConnectionLimits: Sendable {
  /// From the first byte of a request to the end of its head, and from connecting to the first head.
  package var head = TimeAmount.seconds(20)
  /// From the head to the end of the body, and again after each `bodyStep`: a slow upload is not a dead one.
  package var body = TimeAmount.seconds(60)
  /// Bytes of a body that earn it another `body`.
  package var bodyStep = 256 * 1024
  /// Between an answer and the next request. Longer than clients keep connections, so that they close first.
  package var idle = TimeAmount.seconds(120)
  /// While the peer does not read its answer.
  package var stalledAnswer = TimeAmount.seconds(60)
  /// For the peer to close, after the server has said its last word.
  package var linger = TimeAmount.seconds(5)
  /// Open at once. Each may hold one request body. Before they are all taken, the one that is idle for the longest time is
  /// closed; when none is idle, further ones wait to be accepted.
  package var connections = 256
  /// What the deadlines above are kept by.
  package var timer: any ConnectionTimer = EventLoopTimer()

  package init() {}
}

/// A deadline that has been set.
package struct Deadline: Sendable {
  package let cancel: @Sendable () -> Void

  package init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
}

/// Keeps deadlines of connections; a test keeps them by hand.
package protocol ConnectionTimer: Sendable {
  /// Runs `body` on the loop when the time has passed, unless it is cancelled before.
  func schedule(_ time: TimeAmount, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) -> Deadline
}

struct EventLoopTimer: ConnectionTimer {
  func schedule(_ time: TimeAmount, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) -> Deadline {
    let task = loop.scheduleTask(in: time, body)
    return Deadline { task.cancel() }
  }
}

/// The open connections of a server: makes room for new ones by closing those that are idle. Any thread.
final class ConnectionRoom: Sendable {
  private struct State {
    var last = 0
    var close: [Int: @Sendable () -> Void] = [:]
    /// Those between two requests, and those that have sent none yet; the one that is idle for the longest time first.
    var idle: [Int] = []
  }
  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// - Parameter close: Closes the connection if it is still idle.
  /// - Returns: The connection's number.
  func enter(_ close: @escaping @Sendable () -> Void) -> Int {
    let number = state.withLock { state in
      state.last += 1
      state.close[state.last] = close
      return state.last
    }
    isIdle(number)
    return number
  }

  func isBusy(_ number: Int) { state.withLock { state in state.idle.removeAll { $0 == number } } }

  /// The newest idle connection stays: closing it would only make its client connect again.
  func isIdle(_ number: Int) {
    let close = state.withLock { state -> (@Sendable () -> Void)? in
      state.idle.removeAll { $0 == number }
      state.idle.append(number)
      guard state.close.count >= limit, state.idle.count > 1 else { return nil }
      return state.close[state.idle.removeFirst()]
    }
    close?()
  }

  func leave(_ number: Int) {
    state.withLock { state in
      state.close[number] = nil
      state.idle.removeAll { $0 == number }
    }
  }
}
