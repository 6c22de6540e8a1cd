import Synchronization

/// Processes the org's jobs in the background, in slices between the requests of clients. Any
/// thread.
final class BulkRunner: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    /// True if the runner was woken after it last looked for work.
    var isWoken = false
    var isPaused = false
    var isStopped = false
  }
  private let state = Mutex(State())

  /// Ensures that a task checks for jobs after this call.
  func wake(_ org: Org) {
    state.withLock { state in
      state.isWoken = true
      guard state.task == nil, !state.isPaused, !state.isStopped else { return }
      state.task = Task { await self.work(org) }
    }
  }

  /// Pauses or resumes. A slice that has started is completed first.
  func setPaused(_ isPaused: Bool, _ org: Org) {
    state.withLock { $0.isPaused = isPaused }
    if !isPaused { wake(org) }
  }

  /// Returns when no job is waiting, or when the runner is paused.
  func finish() async {
    while let task = state.withLock({ $0.task }) { await task.value }
  }

  /// Stops after the current slice. Jobs continue when the org is reopened and a client asks for
  /// them.
  func stop() async {
    state.withLock { $0.isStopped = true }
    await finish()
  }

  private func work(_ org: Org) async {
    while shouldContinue() {
      // A job stores its own errors; only a closed org ends the loop.
      while !isHeld(), (try? await org.perform({ try BulkEngine(org: $0).step() })) == true {}
    }
  }

  private func isHeld() -> Bool { state.withLock { $0.isPaused || $0.isStopped } }

  /// Decides in one step whether to check for jobs again or to end, so that no `wake` is lost.
  private func shouldContinue() -> Bool {
    state.withLock { state in
      let continues = state.isWoken && !state.isPaused && !state.isStopped
      if continues { state.isWoken = false } else { state.task = nil }
      return continues
    }
  }
}

extension SandboxServer {
  /// Returns when every waiting Bulk job has been processed.
  public func finishBulkJobs() async { await org.jobs.finish() }

  /// Pauses or resumes the Bulk jobs, so that a test can see every state.
  public func setBulkJobsPaused(_ isPaused: Bool) { org.jobs.setPaused(isPaused, org) }
}
