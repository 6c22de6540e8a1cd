import SmartStore

extension SyncManager {
  /// Ends one sync at its next check point, STOPPED. Nothing happens when it does not run here.
  public func cancel(_ id: Int64) {
    shared.withLock { $0.active[id] }?.stop()
  }

  /// Accepts no more syncs and ends those that run at their next check point: before a page is stored, before a batch is
  /// sent. Does not wait for them.
  public func stop() {
    let controls = shared.withLock { shared in
      shared.isAccepting = false
      return Array(shared.active.values)
    }
    for control in controls { control.stop() }
  }

  /// The ids of the syncs that are queued or run, and of those whose ghosts are being cleaned, in this manager.
  public var runningSyncs: [Int64] { shared.withLock { $0.active.keys.sorted() } }

  /// Accepts syncs again after ``stop()``.
  ///
  /// - Parameters:
  ///   - restartStopped: Also runs every sync whose status is STOPPED. One that cannot start is logged and passed over.
  ///   - onUpdate: Told the states of these runs.
  /// - Returns: The ids of the syncs that run again.
  /// - Throws: ``SyncError`` `.cannotRestart` when it was not stopped.
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
    // One that has had its pages waits to be asked for more, and a server that named a time is not asked before.
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

  /// Ends everything, also requests under way and what is just being started, and waits for it. Every listener has had its last
  /// call then. Creates whose answer is abandoned so are looked for by the next sync up.
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

  /// Calls `body` once none of these syncs runs any more and their listeners have had their last call.
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

  /// Waits until nothing runs, without stopping anything.
  public func waitUntilIdle() async {
    while let task = shared.withLock({ $0.tasks.first?.value }) { await task.value }
  }
}
