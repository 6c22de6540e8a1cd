import JSON
import PostgresStore

/// What a worker says to the ledger of jobs, and what it makes of the answers.
extension JobWorker {
  /// Connects, and reads whose jobs the worker can run. Retries a database that is out of reach, unless the worker drains.
  func start() throws {
    try runner.refresh()
    nextRefresh = now + settings.accountsMs
    do {
      _ = try link.connection()
    } catch let error as PostgresError where error.isRetryable && !settings.isDraining {
      databaseFailed(error)
    } catch {
      throw JobError.converting(error)
    }
    tell(.ready(owner: settings.owner, queue: settings.queue, slots: settings.slots, accounts: runner.accounts))
  }

  /// Runs statements unless the database is out of reach.
  /// - Returns: False if they did not run to their end.
  @discardableResult
  private func onDatabase(_ body: (PostgresConnection) throws -> Void) -> Bool {
    guard now >= retryAt else { return false }
    do {
      try body(link.connection())
    } catch {
      databaseFailed(error)
      return false
    }
    if isDatabaseLost { tell(.databaseBack) }
    isDatabaseLost = false
    backOff.reset()
    return true
  }

  private func databaseFailed(_ error: any Error) {
    let pause = backOff.next(random: .random(in: 0...1))
    isDatabaseLost = true
    retryAt = now + pause
    let message = (JobError.converting(error) as? JobError)?.message ?? "\(error)"
    tell(.databaseLost(message: message, pauseMs: pause))
  }

  // MARK: Keeping jobs

  /// Sends the heartbeat if it is due, and stops the jobs that are another worker's now, or may be.
  func keepJobs() {
    let mine = running.values.filter { !$0.isLost }
    guard !mine.isEmpty else { return }
    if now >= nextBeat {
      nextBeat = now + settings.heartbeatPauseMs
      let began = now
      onDatabase { connection in
        let kept = try ledger.renew(mine.map(\.job), owner: settings.owner, on: connection)
        for one in mine {
          if kept.contains(one.job.id) { running[one.job.id]?.renewedAt = began } else { lose(one.job.id) }
        }
      }
      if isDatabaseLost { nextBeat = max(now, min(nextBeat, retryAt)) }
    }
    for one in mine where now - one.renewedAt > settings.claimMs { lose(one.job.id) }
  }

  private func lose(_ id: Int64) {
    guard let one = running[id], !one.isLost else { return }
    running[id]?.isLost = true
    one.attempt.stop()
    tell(.lost(one.claimed.summary))
  }

  // MARK: Ends

  /// Tells the database how attempts ended.
  func settle() {
    while let (claimed, end, isLost) = unsettled.first {
      let outcome = outcome(of: end, isLost)
      var isAccepted = true
      let isKnown = onDatabase { connection in
        let counts: String? = if case .done(let counts) = end { JSONValue.object(counts).text } else { nil }
        isAccepted = try ledger.finish(claimed.job, outcome, counts: counts, owner: settings.owner, on: connection)
        if isAccepted, outcome == .released { try ledger.notify(queue: settings.queue, on: connection) }
      }
      guard isKnown else { return }
      unsettled.removeFirst()
      report(claimed, end, outcome, isAccepted: isAccepted, wasLost: isLost)
    }
  }

  private func outcome(of end: AttemptEnd, _ isLost: Bool) -> JobLedger.Outcome {
    switch end {
    case .done: .done
    case .failed(let message, let isFinal): .failed(message, isFinal: isFinal)
    case .postponed(let message): .postponed(message)
    case .stopped:
      isStopping || isLost ? .released : .failed("it was stopped by another program before its end", isFinal: false)
    }
  }

  private func report(
    _ claimed: ClaimedJob, _ end: AttemptEnd, _ outcome: JobLedger.Outcome, isAccepted: Bool, wasLost: Bool
  ) {
    let job = claimed.summary
    guard isAccepted else {
      if !wasLost { tell(.lost(job)) }
      return
    }
    switch outcome {
    case .done: if case .done(let counts) = end { tell(.done(job, counts: counts)) }
    case .released: tell(.released(job))
    case .postponed(let message): tell(.postponed(job, message: message))
    case .failed(let message, let isFinal):
      failures += 1
      tell(.failed(job, message: message, isLast: isFinal || claimed.job.attempts >= claimed.job.maximumAttempts))
    }
  }

  // MARK: New jobs

  /// Claims jobs for the free slots.
  func look() {
    isIdle = false
    nextLook = .max
    refresh()
    // A job that this worker may have lost must end here before it can begin here again.
    guard running.count < settings.slots, !running.values.contains(where: \.isLost) else { return }
    let isDone = onDatabase { connection in
      // Before the look, so that no job is missed in between.
      try link.listen(ledger.channel)
      let stores = try schema.stores(connection), served = stores.filter(runner.canRun)
      while running.count < settings.slots {
        guard
          let job = try ledger.claim(
            queue: settings.queue, owner: settings.owner, stores: served.map(\.id), kinds: runner.kinds, on: connection)
        else {
          try rest(stores, served, connection)
          return
        }
        guard let store = stores.first(where: { $0.id == job.store }) else { continue }
        begin(ClaimedJob(job: job, store: store))
      }
    }
    if !isDone { nextLook = retryAt }
  }

  private func refresh() {
    guard now >= nextRefresh else { return }
    nextRefresh = now + settings.accountsMs
    do {
      try runner.refresh()
    } catch {
      tell(.trouble("the accounts of the home cannot be read: \(error)"))
    }
  }

  private func begin(_ claimed: ClaimedJob) {
    let id = claimed.job.id
    if running.isEmpty { nextBeat = now + settings.heartbeatPauseMs }
    tell(.began(claimed.summary))
    let attempt = runner.begin(claimed) { [weak self] end in self?.ended(id, end) }
    running[id] = Running(claimed: claimed, attempt: attempt, renewedAt: now)
  }

  /// Nothing that this worker can run is due: sets the time of the next look, and says what is left to other workers.
  private func rest(
    _ stores: [PostgresSchema.Store], _ served: [PostgresSchema.Store], _ connection: PostgresConnection
  ) throws {
    isIdle = true
    let wait = try ledger.msUntilDue(queue: settings.queue, stores: served.map(\.id), kinds: runner.kinds, on: connection)
    nextLook = now + min(max(wait ?? settings.pollMs, Tuning.jobPauseMs), settings.pollMs)
    for (id, kind) in try ledger.due(queue: settings.queue, on: connection) {
      guard let store = stores.first(where: { $0.id == id }) else { continue }
      let what: String
      if !served.contains(store) {
        what =
          "jobs of \(JobSummary.placeText(store)) are due and left to other workers: "
          + (store.user.isEmpty
            ? "this worker has no default org" : "that user is not signed in here; tureen login signs in")
      } else if !runner.kinds.contains(kind) {
        what = "script jobs are due and left to other workers: this worker has no folder of scripts (--scripts)"
      } else {
        continue
      }
      if toldAbout.insert(what).inserted { tell(.leftToOthers(what)) }
    }
  }
}
