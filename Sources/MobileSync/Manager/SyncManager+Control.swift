import SmartStore

extension SyncManager {
  /// Stops a sync at its next check point, with the status STOPPED. Does nothing if it is not
  /// running in this manager.
  public func cancel(_ id: Int64) {
    shared.withLock { $0.active[id] }?.stop()
  }

  /// Rejects new syncs and stops the running ones at their next check point: before a page is
  /// stored or a batch is sent. Does not wait for them.
  public func stop() {
    let controls = shared.withLock { shared in
      shared.isAccepting = false
      return Array(shared.active.values) + Array(shared.checks.values)
    }
    for control in controls { control.stop() }
  }

  /// The ids of the syncs that are queued, running, or being cleaned of ghosts in this manager.
  public var runningSyncs: [Int64] { shared.withLock { $0.active.keys.sorted() } }

  /// Accepts syncs again after ``stop()``.
  ///
  /// - Parameters:
  ///   - restartStopped: Also runs every sync with the status STOPPED. One that cannot start is
  ///     logged and skipped.
  ///   - onUpdate: Gets the states of these runs.
  /// - Returns: The ids of the restarted syncs.
  /// - Throws: ``SyncError`` `.cannotRestart` if the manager was not stopped.
  @discardableResult
  public func restart(restartStopped: Bool, onUpdate: @escaping Listener) throws -> [Int64] {
    let wasAccepting = shared.withLock { shared in
      defer { shared.isAccepting = true }
      return shared.isAccepting
    }
    guard !wasAccepting else {
      throw SyncError(.cannotRestart, "restart() called on a sync manager that has state: accepting_syncs")
    }
    guard restartStopped else { return [] }
    try recoverAbandoned()
    let now = configuration.now()
    // Skip syncs that paused at their page limit, and those whose server named a later time.
    let stopped = try store.readBlocking({ try SyncsSoup.all(.stopped, in: $0) }).filter { !$0.hasMore && $0.resumeAt <= now }
    return stopped.compactMap { state -> Int64? in
      do {
        return try reSync(.id(state.id), onUpdate: onUpdate).id
      } catch {
        configuration.logger.warning("sync \(state.id) was not restarted: \(error)")
        return nil
      }
    }
  }

  /// Cancels everything, including requests in flight and runs that are just starting, and waits
  /// for the end. Every listener has had its last call by then. The next sync up looks for creates
  /// whose answers were abandoned.
  public func shutdown() async {
    stop()
    let tasks = shared.withLock { shared in
      shared.isShuttingDown = true
      return Array(shared.tasks.values)
    }
    for task in tasks { task.cancel() }
    await waitUntilNothingIsActive()
    shared.withLock { $0.isShuttingDown = false }
    hub.end()
    conflictHub.end()
    forgetInstance()
  }

  /// Calls `body` once none of these syncs is running and their listeners have had their last call.
  public func whenEnded(_ ids: [Int64], _ body: @escaping @Sendable () -> Void) {
    let runs = shared.withLock { shared in ids.compactMap { shared.runs[$0].flatMap { shared.tasks[$0] } } }
    launch {
      for run in runs { await run.value }
      body()
    }
  }

  private func waitUntilNothingIsActive() async {
    await withCheckedContinuation { continuation in
      let isIdle = shared.withLock { shared in
        if !shared.isIdle { shared.waitingForEnd.append(continuation) }
        return shared.isIdle
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Waits until nothing is running, without stopping anything.
  public func waitUntilIdle() async {
    while let task = shared.withLock({ $0.tasks.first?.value }) { await task.value }
  }
}
