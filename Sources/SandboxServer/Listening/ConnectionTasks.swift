import NIOCore
import Synchronization

/// The tasks that serve a server's connections, one each. Any thread.
final class ConnectionTasks: Sendable {
  private struct State {
    var isStopped = false
    var last = 0
    var running: [Int: Task<Void, Never>] = [:]
  }
  private let state = Mutex(State())

  /// Starts a task. After a stop it starts cancelled: swift-nio ends the process if a connection that
  /// it has handed over is not closed by its owner.
  func start(_ serve: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      state.last += 1
      let number = state.last
      let task = Task { [self] in
        await serve()
        self.state.withLock { $0.running[number] = nil }
      }
      state.running[number] = task
      if state.isStopped { task.cancel() }
    }
  }

  /// Cancels all tasks, also those that start later, and returns when they have ended.
  func stop() async {
    let tasks = state.withLock { state in
      state.isStopped = true
      return Array(state.running.values)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}

/// Stops accepting while a port has the maximum of open connections; the system keeps the next ones
/// waiting. On the port's event loop.
final class AcceptLimit: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  private let limit: Int
  private var open = 0
  private var isWaiting = false

  init(_ limit: Int) { self.limit = limit }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    open += 1
    let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
    unwrapInboundIn(data).closeFuture.hop(to: context.eventLoop).whenComplete { _ in
      let (handler, context) = bound.value
      handler.open -= 1
      guard handler.isWaiting, handler.open < handler.limit else { return }
      handler.isWaiting = false
      context.read()
    }
    context.fireChannelRead(data)
  }

  func read(context: ChannelHandlerContext) {
    if open < limit { context.read() } else { isWaiting = true }
  }
}
