import JSON
import RestClient
import SmartStore

extension SyncManager {
  /// Compares the soup of a sync down with what its server would send. Local changes do not count as
  /// differences.
  ///
  /// Without a repair it changes nothing in the soup and may go on while syncs run; a record that changes meanwhile makes the
  /// result incomplete. With one it runs as the sync does, not beside it.
  /// - Parameters:
  ///   - reference: A sync down.
  ///   - level: How much is compared.
  ///   - repair: Whether missing and different records are stored, and extra entries removed. Entries with local changes stay.
  ///   - max: How many differences are mended at most; nil for 1,000, and a tenth of the records.
  ///   - completion: Called once on the task of the comparison with what it found, or with the error that ended it; nothing is
  ///     known then. With too many differences that is ``SyncError`` `.tooMuch`, and nothing is changed.
  /// - Returns: A function that ends the comparison with ``SyncError`` `.stopped`.
  /// - Throws: ``SyncError`` `.managerStopped`, `.noSuchSync`, `.wrongSyncType`, `.alreadyRunning`, `.invalidArguments`.
  @discardableResult
  public func verifySync(
    _ reference: SyncReference, level: VerifyLevel = .content, repair: Bool = false, max: Int? = nil,
    completion: @escaping @Sendable (Result<VerifyResult, SyncError>) -> Void
  ) throws -> @Sendable () -> Void {
    let control = RunControl()
    try verifySync(reference, VerifyOrder(level: level, repairs: repair, most: max), control, completion)
    return { control.stop() }
  }

  /// See ``verifySync(_:level:repair:max:completion:)``.
  /// - Parameters:
  ///   - reference: A sync down.
  ///   - level: How much is compared.
  ///   - repair: Whether differences are mended.
  ///   - max: How many of them at most.
  /// - Throws: ``SyncError`` also if the comparison could not finish.
  public func verifySync(
    _ reference: SyncReference, level: VerifyLevel = .content, repair: Bool = false, max: Int? = nil
  ) async throws -> VerifyResult {
    let order = VerifyOrder(level: level, repairs: repair, most: max)
    return try await ending { control, end in
      try self.verifySync(reference, order, control) { end($0.mapError { $0 }) }
    }
  }

  /// The task of a comparison.
  struct VerifyOrder: Sendable {
    let level: VerifyLevel
    let repairs: Bool
    let most: Int?
  }

  func verifySync(
    _ reference: SyncReference, _ order: VerifyOrder, _ control: RunControl,
    _ completion: @escaping @Sendable (Result<VerifyResult, SyncError>) -> Void
  ) throws {
    try checkAccepting()
    guard let state = try getSyncStatus(reference) else { throw SyncError.noSuchSync(reference) }
    guard state.type == .syncDown else {
      throw SyncError(.wrongSyncType, "sync \(reference) is a sync up; only what a sync down brings can be verified")
    }
    if let most = order.most {
      guard order.repairs else { throw SyncError(.invalidArguments, "'max' is for a repair; give 'repair' as well") }
      guard most > 0 else { throw SyncError(.invalidArguments, "max must be positive, got \(most)") }
    }
    try checkRestraint(state)
    let target = try targets.down(state.target)
    for mapping in target.mappings(state.soupName) {
      guard try store.readBlocking({ try $0.soupExists(mapping.soup) }) else { throw StoreError.noSuchSoup(mapping.soup) }
    }
    restrain(state, control)
    let run = VerifyRun(
      store: store, client: client, control: control, configuration: configuration.running(state), targets: targets, state: state,
      target: target, level: order.level)
    try order.repairs ? repair(run, order, completion) : compare(run, completion)
  }

  // MARK: Comparing

  private func compare(
    _ run: VerifyRun, _ completion: @escaping @Sendable (Result<VerifyResult, SyncError>) -> Void
  ) throws {
    let control = run.control
    let key = try shared.withLock { shared in
      guard shared.isAccepting else { throw SyncError(.managerStopped, "sync manager was stopped") }
      shared.lastTask += 1
      shared.checks[shared.lastTask] = control
      return shared.lastTask
    }
    let job = job
    launch {
      let began = self.configuration.now(), history = RunHistory(late: true), meter = RequestMeter(history: history)
      var result: Result<VerifyResult, SyncError> = await meter.counting {
        do {
          _ = try await self.newOrg(of: run.state, control)
          return .success(try await run.perform())
        } catch {
          return .failure(control.failure(error))
        }
      }
      result = result.map { $0.requesting(meter.totals) }
      await self.write(result, of: run.state, began, job, history, meter.totals)
      self.shared.withLock { $0.checks[key] = nil }
      completion(result)
    }
  }

  /// Adds the row of a comparison to the history, which is all that it writes.
  private func write(
    _ result: Result<VerifyResult, SyncError>, of state: SyncState, _ began: Int64, _ job: String?, _ history: RunHistory,
    _ traffic: RequestMeter.Totals
  ) async {
    guard store.history.level != .off else { return }
    let end = end(of: result, traffic)
    do {
      try await store.write(.pulled) { transaction in
        let run = self.beginHistory(of: state, .verify, job, now: began, in: transaction)
        history.write(end, of: run, in: transaction)
      }
    } catch {
      configuration.logger.warning("the history has no row of a comparison: \(SyncError(wrapping: error).message)")
    }
  }

  func end(of result: Result<VerifyResult, SyncError>, _ traffic: RequestMeter.Totals) -> RunEnd {
    var numbers = [("requests", traffic.requests), ("retries", traffic.retries), ("bytes", traffic.bytes)]
    var failure: SyncError?, status = SyncStatus.done, verified: JSONObject?
    switch result {
    case .success(let found):
      let isEqual = found.repair.map { $0.left == 0 && found.isComplete } ?? found.isEqual
      verified = ["level": .string(found.level.rawValue), "equal": .bool(isEqual), "complete": .bool(found.isComplete)]
      numbers += VerifyFinding.Reason.allCases.map { ($0.rawValue, found.counts[$0, default: 0]) }
      if let repair = found.repair { numbers += [("stored", repair.stored), ("removed", repair.removed)] }
    case .failure(let error):
      status = error.is(.stopped) ? .stopped : .failed
      failure = error.is(.stopped) ? nil : error
    }
    var summary = RunSummary(counts: JSONObject(numbers.map { ($0.0, .integer(Int64($0.1))) }), error: failure)
    summary.verified = verified
    return RunEnd(status: status.rawValue, at: configuration.now(), text: summary.text(store.history.level))
  }
}

extension VerifyResult {
  /// Returns the result with the number of attempts of requests.
  func requesting(_ traffic: RequestMeter.Totals) -> VerifyResult {
    var result = self
    result.requests = traffic.requests + traffic.retries
    return result
  }
}

extension RunControl {
  /// The error that ended a search or a comparison.
  func failure(_ error: any Error) -> SyncError {
    // A lost lease stops the run, too.
    let wasStopped = isStopping && !(error is StoreError) && !(error is SyncError)
    return wasStopped ? SyncError(.stopped, reason ?? "the sync was stopped") : SyncError(wrapping: error)
  }
}
