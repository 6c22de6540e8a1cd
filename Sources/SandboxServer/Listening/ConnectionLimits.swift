import NIOCore
import Synchronization

/// Deadlines and limits for connections.
package struct ConnectionLimits: Sendable {
  /// From the first byte of a request to the end of its head, and from connecting to the first
  /// head.
  package var head = TimeAmount.seconds(20)
  /// From the head to the end of the body. Restarted for each `bodyStep`, so that slow uploads are
  /// not cut off.
  package var body = TimeAmount.seconds(60)
  /// Body bytes that restart the `body` deadline.
  package var bodyStep = 256 * 1024
  /// From a response to the next request. Longer than clients keep connections, so that they close
  /// first.
  package var idle = TimeAmount.seconds(120)
  /// While the peer does not read its response.
  package var stalledAnswer = TimeAmount.seconds(60)
  /// After the last response, for the peer to close.
  package var linger = TimeAmount.seconds(5)
  /// The maximum number of open connections; each may hold one request body. When it is reached,
  /// the connection that has been idle longest is closed; if none is idle, new ones wait to be
  /// accepted.
  package var connections = 256
  /// Runs the deadlines above.
  package var timer: any ConnectionTimer = EventLoopTimer()

  package init() {}
}

/// A scheduled deadline.
package struct Deadline: Sendable {
  package let cancel: @Sendable () -> Void

  package init(cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
}

/// Schedules deadlines; tests replace it with a manual one.
package protocol ConnectionTimer: Sendable {
  /// Runs `body` on the event loop after the given time unless the deadline is cancelled first.
  func schedule(_ time: TimeAmount, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) -> Deadline
}

struct EventLoopTimer: ConnectionTimer {
  func schedule(_ time: TimeAmount, on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) -> Deadline {
    let task = loop.scheduleTask(in: time, body)
    return Deadline { task.cancel() }
  }
}

/// Tracks a server's open connections and closes idle ones to make room. Any thread.
final class OpenConnections: Sendable {
  private struct State {
    var last = 0
    var close: [Int: @Sendable () -> Void] = [:]
    /// Connections between two requests or before their first, longest idle first.
    var idle: [Int] = []
  }
  private let state = Mutex(State())
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Adds a connection, which counts as idle.
  ///
  /// - Parameter close: Closes the connection if it is still idle.
  /// - Returns: The connection's number.
  func enter(_ close: @escaping @Sendable () -> Void) -> Int {
    let number = state.withLock { state in
      state.last += 1
      state.close[state.last] = close
      return state.last
    }
    markIdle(number)
    return number
  }

  func markBusy(_ number: Int) { state.withLock { state in state.idle.removeAll { $0 == number } } }

  /// Marks a connection as idle and closes the one that has been idle longest if the limit is
  /// reached. The newest one stays open: its client would only reconnect.
  func markIdle(_ number: Int) {
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
