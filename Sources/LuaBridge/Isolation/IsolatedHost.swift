import Support

/// Counts the bytes of answers that wait for a worker in this process's memory.
final class WorkerBacklog: @unchecked Sendable {  // all state is touched only with `lock` held
  private let lock = Lock()
  private var bytes = 0, isClosed = false

  /// The number of waiting bytes.
  var count: Int { lock.withLock { bytes } }

  /// Called by the mailbox at each change.
  func note(_ count: Int) {
    lock.withLock {
      bytes = count
      if bytes <= Tuning.workerBacklogBytes { lock.broadcast() }
    }
  }

  /// Blocks until the worker has caught up.
  func wait() {
    lock.withLock { while bytes > Tuning.workerBacklogBytes, !isClosed { lock.wait() } }
  }

  /// Releases all waiting threads; later calls do not wait.
  func close() {
    lock.withLock {
      isClosed = true
      lock.broadcast()
    }
  }
}

/// A host whose store calls wait while the worker does not take its answers.
final class IsolatedHost: ForwardingHost {
  let wrapped: any BridgeHost
  let backlog = WorkerBacklog()

  init(_ wrapped: any BridgeHost) { self.wrapped = wrapped }

  func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8] {
    backlog.wait()
    let answer = try wrapped.smartStore(action, call)
    // A call that has written is answered, or the script would repeat it.
    let onlyReads = action == .retrieveSoupEntries || (action.isQuery && action.onlyReads)
    guard !onlyReads || backlog.count + answer.count <= Tuning.workerBacklogMost else {
      throw BridgeError.bridge(
        .mailboxFull, "the answers that wait for the script are too large together; ask for fewer rows, or wait for each answer",
        isRetryable: true)
    }
    return answer
  }

  func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8] {
    backlog.wait()
    return try wrapped.keyValue(action, call)
  }

  func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8] {
    backlog.wait()
    return try wrapped.asset(action, call)
  }
}
