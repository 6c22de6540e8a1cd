import Synchronization

/// Works off the org's jobs in the background, a slice at a time, between the requests of clients. Any thread may call it.
final class BulkRunner: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    /// The runner was woken since it last looked for work.
    var isWoken = false
    var isPaused = false
    var isStopped = false
  }
  private let state = Mutex(State())

  /// Makes sure that a task looks at the jobs after this call.
  func wake(_ org: Org) {
    state.withLock { state in
      state.isWoken = true
      guard state.task == nil, !state.isPaused, !state.isStopped else { return }
      state.task = Task { await self.work(org) }
    }
  }

  /// While paused, jobs stay as they are after the slice that is being worked on.
  func setPaused(_ isPaused: Bool, _ org: Org) {
    state.withLock { $0.isPaused = isPaused }
    if !isPaused { wake(org) }
  }

  /// Returns when no job waits for work, or the runner is paused.
  func finish() async {
    while let task = state.withLock({ $0.task }) { await task.value }
  }

  /// Ends after the current slice; jobs continue when the org is opened again and a client asks for them.
  func stop() async {
    state.withLock { $0.isStopped = true }
    await finish()
  }

  private func work(_ org: Org) async {
    while goesOn() {
      // What goes wrong with a job is kept in the job; a closed org ends the work.
      while !isHeld(), (try? await org.perform({ try BulkEngine(org: $0).step() })) == true {}
    }
  }

  private func isHeld() -> Bool { state.withLock { $0.isPaused || $0.isStopped } }

  /// Decides in one step whether to look again or to end: a call of `wake` in between is not lost.
  private func goesOn() -> Bool {
    state.withLock { state in
      let goesOn = state.isWoken && !state.isPaused && !state.isStopped
      if goesOn { state.isWoken = false } else { state.task = nil }
      return goesOn
    }
  }
}

extension SandboxServer {
  /// Returns when every Bulk job that was waiting has been worked off.
  public func finishBulkJobs() async { await org.jobs.finish() }

  /// Holds the Bulk jobs where they are, or lets them go on. A test sees every state that way.
  public func setBulkJobsPaused(_ isPaused: Bool) { org.jobs.setPaused(isPaused, org) }
}
